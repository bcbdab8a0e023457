//! A boundary constellation, or any unit of a plan, with the squares that it leaves free.

use queens::rows::free_rows;
use queens::{Position, Square};

use super::board::framed;
use super::paint::GREEN;
use super::scene::Picture;
use crate::setting::Piece;

/// The queens of the position, and a dot on every square on which its completions may put one. Squares attacked or
/// forbidden stay empty. Row 0 of the position is drawn on top.
pub fn constellation(position: &Position, caption: &str) -> Picture {
    let n = position.board().n();
    let free = free_squares(position);
    let placed = position.queens().len();
    let legend =
        format!("{placed} queens placed, {} squares free (green dots); the others are attacked.", free.len());
    let (mut picture, squares) = framed((n, n), caption, &legend);
    let from_the_bottom = |square: &Square| (square.col, n - 1 - square.row);
    for square in &free {
        picture.circle(squares.middle(from_the_bottom(square)), squares.cell * 0.17, GREEN);
    }
    squares.draw_pieces(&mut picture, Piece::Queen, position.queens().iter().map(from_the_bottom));
    picture
}

/// The squares free in at least one of the position's pairs of boundary queens, each once.
fn free_squares(position: &Position) -> Vec<Square> {
    let board = position.board();
    let mut columns = vec![0u32; usize::from(board.n())];
    for row in free_rows(position).flatten() {
        columns[usize::from(row.row)] |= !row.blocked & board.full();
    }
    let square = |(row, col): (u8, u8)| Square::new(row, col);
    let is_free = |&(row, col): &(u8, u8)| columns[usize::from(row)] >> col & 1 == 1;
    board
        .lines()
        .flat_map(|row| board.lines().map(move |col| (row, col)))
        .filter(is_free)
        .map(square)
        .collect()
}

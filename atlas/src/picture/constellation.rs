//! A boundary constellation, or any unit of a plan, with the squares that it leaves free.

use queens::rows::free_rows;
use queens::{Position, Square};

use super::board::{cell_for, corner, draw_coordinates, draw_squares};
use super::scene::{Anchor, Colour, FAINT, INK, Picture, QUEEN, colour, point};

/// Squares that a kernel may still use.
const FREE: Colour = colour(0x5b_9a_68);

/// The queens of the position, and a dot on every square on which its completions may put one. Squares attacked or
/// forbidden stay empty. Row 0 of the position is drawn on top.
pub fn constellation(position: &Position, caption: &str) -> Picture {
    let n = position.board().n();
    let cell = cell_for(n);
    let side = cell * f64::from(n);
    let free = free_squares(position);
    let width = (side + 76.0).max(8.0 * caption.chars().count() as f64);
    let mut picture = Picture::new(width, side + 112.0);
    let at = point((width - side) / 2.0, 44.0);
    picture.text(point(width / 2.0, 27.0), 14.0, INK, Anchor::Middle, caption);
    draw_squares(&mut picture, at, cell, n);
    draw_coordinates(&mut picture, at, cell, n);
    let from_the_bottom = |square: &Square| (square.col, n - 1 - square.row);
    for square in &free {
        let corner = corner(at, cell, n, from_the_bottom(square));
        picture.circle(point(corner.x + cell / 2.0, corner.y + cell / 2.0), cell * 0.17, FREE);
    }
    for queen in position.queens() {
        picture.symbol(&QUEEN, corner(at, cell, n, from_the_bottom(queen)), cell);
    }
    let legend = format!("{} queens placed, {} squares free", position.queens().len(), free.len());
    picture.text(point(width / 2.0, side + 94.0), 12.5, FAINT, Anchor::Middle, &legend);
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

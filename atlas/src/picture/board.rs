//! One placement as a chess board.

use super::scene::{
    Anchor, Colour, DARK, FAINT, INK, LIGHT, Paint, Picture, Point, QUEEN, ROOK, colour, point,
};
use crate::conflict::Conflict;
use crate::format::column_letter;
use crate::placement::Placement;
use crate::setting::{Piece, Surface};

/// Attacks.
const RED: Colour = colour(0xc8_32_2b);

/// A board with its coordinates and a caption above it, and in red the pairs of pieces that attack each other.
pub fn board(placement: &Placement, piece: Piece, caption: &str) -> Picture {
    let cell = cell_for(placement.n());
    let side = cell * f64::from(placement.n());
    let (margin, top) = (34.0, 44.0);
    let width = (side + 2.0 * margin).max(9.0 * caption.chars().count() as f64);
    let mut picture = Picture::new(width, side + top + margin);
    let at = point((width - side) / 2.0, top);
    picture.text(point(width / 2.0, 27.0), 15.0, INK, Anchor::Middle, caption);
    draw_squares(&mut picture, at, cell, placement.n());
    draw_coordinates(&mut picture, at, cell, placement.n());
    draw_conflicts(&mut picture, at, cell, placement, piece);
    draw_pieces(&mut picture, at, cell, placement, piece);
    picture
}

/// A line from piece to piece, and a tint on their squares.
fn draw_conflicts(picture: &mut Picture, at: Point, cell: f64, placement: &Placement, piece: Piece) {
    let n = placement.n();
    let conflicts = Conflict::all(placement, Surface::Plain, piece);
    let is_in_one = |square: &(u8, u8)| conflicts.iter().any(|pair| [pair.left, pair.right].contains(square));
    for square in placement.squares().filter(is_in_one) {
        picture.rectangle(corner(at, cell, n, square), cell, cell, RED.thin(0.3));
    }
    let middle = |square| {
        let corner = corner(at, cell, n, square);
        point(corner.x + cell / 2.0, corner.y + cell / 2.0)
    };
    for pair in &conflicts {
        let ends = vec![middle(pair.left), middle(pair.right)];
        picture.corners(ends, Paint::line(RED, (cell * 0.06).max(1.0)));
    }
}

/// The side of a square, so that large boards remain of the size of a page and small ones do not fill it.
pub(super) fn cell_for(n: u8) -> f64 {
    (480.0 / f64::from(n)).clamp(8.0, 56.0).floor()
}

/// The top left corner of a square; rows are counted from the bottom.
pub(super) fn corner(board: Point, cell: f64, n: u8, (column, row): (u8, u8)) -> Point {
    point(board.x + cell * f64::from(column), board.y + cell * f64::from(n - 1 - row))
}

/// The squares of an empty board, a1 dark.
pub(super) fn draw_squares(picture: &mut Picture, at: Point, cell: f64, n: u8) {
    let side = cell * f64::from(n);
    picture.rectangle(at, side, side, LIGHT);
    for (column, row) in (0..n).flat_map(|column| (0..n).map(move |row| (column, row))) {
        if (u16::from(column) + u16::from(row)).is_multiple_of(2) {
            picture.rectangle(corner(at, cell, n, (column, row)), cell, cell, DARK);
        }
    }
    picture.rectangle(at, side, side, Paint::line(FAINT, 1.0));
}

pub(super) fn draw_pieces(picture: &mut Picture, at: Point, cell: f64, placement: &Placement, piece: Piece) {
    let symbol = if piece == Piece::Rook { &ROOK } else { &QUEEN };
    for square in placement.squares() {
        picture.symbol(symbol, corner(at, cell, placement.n(), square), cell);
    }
}

/// Numbers at the left, letters (beyond z numbers) below; every fifth only where squares are small.
pub(super) fn draw_coordinates(picture: &mut Picture, at: Point, cell: f64, n: u8) {
    let size = (cell * 0.34).clamp(8.0, 13.0);
    let every = if cell < 16.0 { 5 } else { 1 };
    let shown = |line: &u8| *line == 0 || (u16::from(*line) + 1).is_multiple_of(every);
    for line in (0..n).filter(shown) {
        let number = (u16::from(line) + 1).to_string();
        let middle = cell * (f64::from(line) + 0.5);
        let y = at.y + cell * f64::from(n) - middle + size * 0.36;
        picture.text(point(at.x - 13.0, y), size, FAINT, Anchor::Middle, &number);
        let below = match column_letter(line) {
            Some(letter) if n <= 26 => letter.to_string(),
            _ => number,
        };
        let y = at.y + cell * f64::from(n) + 6.0 + size;
        picture.text(point(at.x + middle, y), size, FAINT, Anchor::Middle, &below);
    }
}

//! The squares of a board in their place on a picture, for all kinds of pictures.

use super::paint::{BLUE, DARK, FAINT, LIGHT, ORANGE, Paint};
use super::point::{Point, point};
use super::scene::{Anchor, Picture};
use super::symbol::{QUEEN, ROOK, Symbol};
use crate::format::column_letter;
use crate::setting::{Piece, Surface};

/// The legend of the marks of [`DrawnBoard::draw_glue`].
pub(super) const GLUE: &str =
    "Edges with the same arrows are one edge: who leaves there comes back at the other.";

/// A board on a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawnBoard {
    /// Its upper left corner.
    pub(super) at: Point,
    /// The side of a square.
    pub(super) cell: f64,
    pub(super) columns: u8,
    pub(super) rows: u8,
}

impl DrawnBoard {
    /// The side of a square, so that large boards remain of the size of a page and small ones do not fill it.
    pub(super) fn usual_cell(columns: u8, rows: u8) -> f64 {
        (480.0 / f64::from(columns.max(rows))).clamp(8.0, 56.0).floor()
    }

    pub(super) fn width(self) -> f64 {
        self.cell * f64::from(self.columns)
    }

    pub(super) fn height(self) -> f64 {
        self.cell * f64::from(self.rows)
    }

    /// The upper left corner of a square; rows are counted from the bottom.
    pub(super) fn corner(self, (column, row): (u8, u8)) -> Point {
        let above = f64::from(self.rows) - 1.0 - f64::from(row);
        point(self.at.x + self.cell * f64::from(column), self.at.y + self.cell * above)
    }

    /// The middle of a square.
    pub(super) fn middle(self, square: (u8, u8)) -> Point {
        let corner = self.corner(square);
        point(corner.x + self.cell / 2.0, corner.y + self.cell / 2.0)
    }

    /// The empty board, a1 dark.
    pub(super) fn draw(self, picture: &mut Picture) {
        picture.rectangle(self.at, self.width(), self.height(), LIGHT);
        let squares = (0..self.columns).flat_map(|column| (0..self.rows).map(move |row| (column, row)));
        let is_dark = |square: &(u8, u8)| (u16::from(square.0) + u16::from(square.1)).is_multiple_of(2);
        picture.squares(squares.filter(is_dark).map(|square| self.corner(square)), self.cell, DARK);
        picture.rectangle(self.at, self.width(), self.height(), Paint::line(FAINT, 1.0));
    }

    pub(super) fn draw_pieces(
        self,
        picture: &mut Picture,
        piece: Piece,
        squares: impl Iterator<Item = (u8, u8)>,
    ) {
        let symbol: &'static Symbol = if piece == Piece::Rook { &ROOK } else { &QUEEN };
        squares.for_each(|square| picture.symbol(symbol, self.corner(square), self.cell));
    }

    /// Arrows on the edges that are one, as topologists draw them: one head on left and right, two on bottom and top.
    pub(super) fn draw_glue(self, picture: &mut Picture, surface: Surface) {
        let size = (self.cell * 0.3).clamp(3.0, 8.0);
        let (width, height, at) = (self.width(), self.height(), self.at);
        let mut head = |x: f64, y: f64, (right, up): (f64, f64), colour| {
            let tip = point(x + size * right, y - size * up);
            let wing = |side: f64| {
                let (back, across) = (-size * 0.6, side * size);
                point(x + back * right + across * up, y - back * up + across * right)
            };
            picture.corners([wing(1.0), tip, wing(-1.0)], Paint::line(colour, (size * 0.4).max(1.5)));
        };
        if surface != Surface::Plain {
            for x in [at.x, at.x + width] {
                head(x, at.y + height / 2.0, (0.0, 1.0), BLUE);
            }
        }
        if surface == Surface::Torus {
            for (y, side) in [at.y, at.y + height].into_iter().flat_map(|y| [(y, -0.7), (y, 0.7)]) {
                head(at.x + width / 2.0 + side * size, y, (1.0, 0.0), ORANGE);
            }
        }
    }

    /// Numbers at the left, letters (beyond z numbers) below; every fifth only where squares are small.
    pub(super) fn draw_coordinates(self, picture: &mut Picture) {
        let size = (self.cell * 0.36).clamp(8.0, 15.0);
        let every = if self.cell < 16.0 { 5 } else { 1 };
        let shown = |line: &u8| *line == 0 || (u16::from(*line) + 1).is_multiple_of(every);
        for row in (0..self.rows).filter(shown) {
            let at = point(self.at.x - 13.0, self.middle((0, row)).y + size * 0.36);
            picture.text(at, size, FAINT, Anchor::Middle, &(u16::from(row) + 1).to_string());
        }
        for column in (0..self.columns).filter(shown) {
            let below = match column_letter(column) {
                Some(letter) if self.columns <= 26 => letter.to_string(),
                _ => (u16::from(column) + 1).to_string(),
            };
            let at = point(self.middle((column, 0)).x, self.at.y + self.height() + 8.0 + size);
            picture.text(at, size, FAINT, Anchor::Middle, &below);
        }
    }
}

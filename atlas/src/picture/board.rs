//! One placement as a chess board.

use super::drawn_board::{DrawnBoard, GLUE};
use super::paint::{FAINT, INK, Paint, RED};
use super::paragraph::Paragraph;
use super::point::{Point, point};
use super::scene::{Anchor, Picture};
use crate::conflict::Conflict;
use crate::placement::Placement;
use crate::rectangle::{RectanglePosition, RectangleSetting};
use crate::setting::{Piece, Surface};

/// The room around the board, where its coordinates are.
const MARGIN: f64 = 34.0;

/// The narrowest picture: there is room for words.
const NARROWEST: f64 = 300.0;

/// The largest board whose rows are listed in the title of a picture. A longer list names nothing to a reader.
pub(super) const LONGEST_LIST: u8 = 12;

/// The name of a placement in a picture: the rows of a small board, the number of pieces of a large one.
pub fn title(placement: &Placement, piece: Piece, first_row: u8) -> String {
    match placement.n() {
        ..=LONGEST_LIST => placement.counted_from(first_row).to_string(),
        n => format!("{n} {}", if piece == Piece::Rook { "rooks" } else { "queens" }),
    }
}

/// A board with its coordinates and a caption above it, and in red the pairs of pieces that attack each other.
pub fn board(placement: &Placement, surface: Surface, piece: Piece, caption: &str) -> Picture {
    let n = placement.n();
    let conflicts = Conflict::all(placement, surface, piece);
    let is_around = |pair: &Conflict| !pair.is_direct(piece);
    let mut notes = Vec::new();
    if surface != Surface::Plain {
        notes.push(GLUE);
    }
    if conflicts.iter().any(is_around) {
        notes.push("Dashed: these attack each other around an edge.");
    }
    let (mut picture, squares) = framed((n, n), caption, &notes.join(" "));
    let is_in_one = |square: &(u8, u8)| conflicts.iter().any(|pair| [pair.left, pair.right].contains(square));
    let attacked = placement.squares().filter(is_in_one).map(|square| squares.corner(square));
    picture.squares(attacked, squares.cell, RED.thin(0.3));
    for pair in &conflicts {
        let ends = [squares.middle(pair.left), squares.middle(pair.right)];
        let (width, dashed) = ((squares.cell * 0.06).max(1.0), is_around(pair));
        picture.corners(ends, Paint::Stroke { colour: RED, width, dashed });
    }
    squares.draw_pieces(&mut picture, piece, placement.squares());
    squares.draw_glue(&mut picture, surface);
    picture
}

/// A rectangle with its coordinates and a caption above it, and its pieces.
pub fn rectangle(position: &RectanglePosition, caption: &str) -> Picture {
    let RectangleSetting { surface, piece, .. } = position.setting();
    let notes = if surface == Surface::Plain { "" } else { GLUE };
    let (mut picture, squares) = framed((position.columns(), position.rows()), caption, notes);
    squares.draw_pieces(&mut picture, piece, position.squares());
    squares.draw_glue(&mut picture, surface);
    picture
}

/// A picture of an empty board with coordinates between a caption and notes, and where the board is.
pub(super) fn framed((columns, rows): (u8, u8), caption: &str, notes: &str) -> (Picture, DrawnBoard) {
    let mut squares =
        DrawnBoard { at: point(0.0, 0.0), cell: DrawnBoard::usual_cell(columns, rows), columns, rows };
    let width = (squares.width() + 2.0 * MARGIN).max(NARROWEST);
    let caption = Paragraph::new(caption, 15.0, width - 16.0);
    let notes = Paragraph::new(notes, 13.0, width - 16.0);
    let top = 20.0 + caption.height();
    squares.at = point((width - squares.width()) / 2.0, top);
    let below = top + squares.height() + MARGIN;
    let mut picture = Picture::new(width, below + notes.height());
    caption.draw(&mut picture, top_middle(width, 8.0), INK, Anchor::Middle);
    squares.draw(&mut picture);
    squares.draw_coordinates(&mut picture);
    notes.draw(&mut picture, top_middle(width, below), FAINT, Anchor::Middle);
    (picture, squares)
}

fn top_middle(width: f64, y: f64) -> Point {
    point(width / 2.0, y)
}

//! The shifts that are looked at: by one column, by one row, or by one of each.

use queens::Board;
use strum::Display;

use crate::motion::Motion;

/// A shift of all queens by one column, by one row, or by one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
#[strum(serialize_all = "kebab-case")]
pub enum Shift {
    /// One column to the right.
    Right,
    /// One column to the left.
    Left,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// Right and up at once.
    RightUp,
    /// Right and down at once.
    RightDown,
    /// Left and up at once.
    LeftUp,
    /// Left and down at once.
    LeftDown,
}

impl Shift {
    /// The four shifts by one column or one row.
    pub const STRAIGHT: [Shift; 4] = [Shift::Right, Shift::Left, Shift::Up, Shift::Down];

    /// The four straight shifts, and the four that compose two of them.
    pub const ALL: [Shift; 8] = [
        Shift::Right,
        Shift::Left,
        Shift::Up,
        Shift::Down,
        Shift::RightUp,
        Shift::RightDown,
        Shift::LeftUp,
        Shift::LeftDown,
    ];

    /// How many columns to the right and rows up a straight shift leads; nothing of a diagonal one.
    pub(super) fn straight(self) -> Option<(i32, i32)> {
        match self {
            Shift::Right => Some((1, 0)),
            Shift::Left => Some((-1, 0)),
            Shift::Up => Some((0, 1)),
            Shift::Down => Some((0, -1)),
            Shift::RightUp | Shift::RightDown | Shift::LeftUp | Shift::LeftDown => None,
        }
    }

    /// The shift of the board's squares.
    pub fn motion(self, board: Board) -> Motion {
        let (right, up) = match self {
            Shift::Right => (1, 0),
            Shift::Left => (-1, 0),
            Shift::Up => (0, 1),
            Shift::Down => (0, -1),
            Shift::RightUp => (1, 1),
            Shift::RightDown => (1, -1),
            Shift::LeftUp => (-1, 1),
            Shift::LeftDown => (-1, -1),
        };
        Motion::shift(board, right, up)
    }
}

//! What the units of a plan have in common on the border, so that counts of different plans can be compared.

use serde::Serialize;

use crate::board::{Board, Square};
use crate::constellation::Constellation;
use crate::plan::canonical::canonical;
use crate::position::Position;

/// The queens on the border lines, up to symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum Border {
    /// All of them: the representative of the constellation's orbit.
    Constellation(Constellation),
    /// The queens of top and bottom, for many constellations together.
    Family(Family),
}

/// The columns of top and bottom queen, in the image of a constellation in which they are nearest to a corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Family {
    /// Column of the queen in the top row.
    pub top: u8,
    /// Column of the queen in the bottom row.
    pub bottom: u8,
}

impl Border {
    /// The border of a part's position, which has a queen on top and at the bottom at least.
    pub(super) fn of(position: &Position) -> Self {
        let board = position.board();
        let place = |on_line: fn(&Square, u8) -> Option<u8>| {
            position.queens().iter().find_map(|queen| on_line(queen, board.last()))
        };
        let top = place(|queen, _| (queen.row == 0).then_some(queen.col));
        let bottom = place(|queen, last| (queen.row == last).then_some(queen.col));
        let left = place(|queen, _| (queen.col == 0).then_some(queen.row));
        let right = place(|queen, last| (queen.col == last).then_some(queen.row));
        let (top, bottom) = (top.unwrap_or_default(), bottom.unwrap_or_default());
        match (position.boundary(), left, right) {
            (None, Some(left), Some(right)) => {
                let constellation = Constellation { top, bottom, left, right };
                Border::Constellation(constellation.smallest_image(board))
            }
            _ => Border::Family(Family { top, bottom }),
        }
    }

    /// The family that it belongs to.
    pub fn family(self, board: Board) -> Family {
        match self {
            Border::Family(family) => family,
            Border::Constellation(constellation) => {
                let Constellation { top, bottom, .. } = canonical(board, constellation);
                Family { top, bottom }
            }
        }
    }
}

//! The eight symmetries of the square, and the classes into which they sort placements.

use serde::{Deserialize, Serialize};

use crate::board::{Board, Square};

/// A symmetry of the square. Turns go clockwise.
///
/// ```
/// use queens::{Board, Square, Symmetry};
///
/// let board = Board::new(8)?;
/// let images = Symmetry::ALL.map(|symmetry| symmetry.image(board, Square::new(0, 2)));
/// assert_eq!(images[1], Square::new(2, 7), "a quarter turn takes the top row to the right column");
/// # Ok::<(), queens::BoardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Symmetry {
    /// Leaves every square where it is.
    Identity,
    /// By 90 degrees.
    QuarterTurn,
    /// By 180 degrees.
    HalfTurn,
    /// By 270 degrees.
    ThreeQuarterTurn,
    /// Swaps left and right.
    MirrorColumns,
    /// Swaps top and bottom.
    MirrorRows,
    /// Reflects in the diagonal from the top left: swaps rows and columns.
    Transpose,
    /// Reflects in the diagonal from the top right.
    AntiTranspose,
}

impl Symmetry {
    /// All eight, the identity first.
    pub const ALL: [Symmetry; 8] = [
        Symmetry::Identity,
        Symmetry::QuarterTurn,
        Symmetry::HalfTurn,
        Symmetry::ThreeQuarterTurn,
        Symmetry::MirrorColumns,
        Symmetry::MirrorRows,
        Symmetry::Transpose,
        Symmetry::AntiTranspose,
    ];

    /// The image of the square.
    pub fn image(self, board: Board, Square { row, col }: Square) -> Square {
        let last = board.last();
        match self {
            Symmetry::Identity => Square::new(row, col),
            Symmetry::QuarterTurn => Square::new(col, last - row),
            Symmetry::HalfTurn => Square::new(last - row, last - col),
            Symmetry::ThreeQuarterTurn => Square::new(last - col, row),
            Symmetry::MirrorColumns => Square::new(row, last - col),
            Symmetry::MirrorRows => Square::new(last - row, col),
            Symmetry::Transpose => Square::new(col, row),
            Symmetry::AntiTranspose => Square::new(last - col, last - row),
        }
    }
}

/// The symmetry of a placement (a solution or a constellation).
///
/// No reflection fixes a placement of two or more queens that do not attack each other, so these four are all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SymmetryClass {
    /// None: an orbit of eight. Counted by A.
    Asymmetric,
    /// Fixed by the half turn alone: an orbit of four. Counted by P.
    Point,
    /// Fixed by the quarter turn: an orbit of two. Counted by R.
    Rotational,
    /// Fixed by all eight: the one queen of the 1 x 1 board. An orbit of one, in no class of the count.
    Full,
}

impl SymmetryClass {
    /// The class of the placement whose stabiliser has `fixed` symmetries: 1, 2, 4 or 8.
    pub(crate) fn of_stabiliser(fixed: usize) -> Self {
        match fixed {
            1 => SymmetryClass::Asymmetric,
            2 => SymmetryClass::Point,
            4 => SymmetryClass::Rotational,
            _ => SymmetryClass::Full,
        }
    }

    /// The number of different images.
    pub fn orbit_size(self) -> u8 {
        match self {
            SymmetryClass::Asymmetric => 8,
            SymmetryClass::Point => 4,
            SymmetryClass::Rotational => 2,
            SymmetryClass::Full => 1,
        }
    }
}

impl std::fmt::Display for SymmetryClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            SymmetryClass::Asymmetric => "asymmetric",
            SymmetryClass::Point => "point",
            SymmetryClass::Rotational => "rotational",
            SymmetryClass::Full => "full",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eight_symmetries_form_the_group_of_the_square() {
        let board = Board::new(5).unwrap();
        let squares = || board.lines().flat_map(|row| board.lines().map(move |col| Square::new(row, col)));
        let table = |f: &dyn Fn(Square) -> Square| squares().map(f).collect::<Vec<_>>();
        let all: Vec<_> = Symmetry::ALL.iter().map(|s| table(&|q| s.image(board, q))).collect();
        for (i, a) in Symmetry::ALL.iter().enumerate() {
            assert_eq!(all.iter().filter(|t| **t == all[i]).count(), 1, "{a:?} is listed once");
            for b in Symmetry::ALL {
                let product = table(&|q| b.image(board, a.image(board, q)));
                assert!(all.contains(&product), "{a:?} then {b:?} stays in the group");
            }
        }
        let turn = |q| Symmetry::QuarterTurn.image(board, q);
        assert!(squares().all(|q| turn(turn(q)) == Symmetry::HalfTurn.image(board, q)));
        assert!(squares().all(|q| turn(turn(turn(q))) == Symmetry::ThreeQuarterTurn.image(board, q)));
    }
}

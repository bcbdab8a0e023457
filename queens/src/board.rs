//! The board and its squares.

use crate::class::Classified;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An n x n board, 1 <= n <= 32: a row fits one 32-bit word.
///
/// ```
/// let board: queens::Board = "8".parse()?;
/// assert_eq!((board.n(), board.last(), board.full()), (8, 7, 0b1111_1111));
/// assert!(queens::Board::new(33).is_err());
/// # Ok::<(), queens::BoardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Board(u8);

/// A board size outside of 1 to 32, or no number at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the board size must be a whole number from 1 to 32, not \"{0}\"")]
pub struct BoardError(String);

impl Classified for BoardError {}

impl Board {
    /// The largest board.
    pub const LARGEST: Board = Board(32);

    /// The board with `n` rows and columns.
    ///
    /// # Errors
    /// Unless 1 <= n <= 32.
    pub fn new(n: u8) -> Result<Self, BoardError> {
        if (1..=Self::LARGEST.0).contains(&n) { Ok(Self(n)) } else { Err(BoardError(n.to_string())) }
    }

    /// The number of rows, of columns, and of queens.
    pub const fn n(self) -> u8 {
        self.0
    }

    /// The index of the last row and of the last column, n - 1.
    pub fn last(self) -> u8 {
        self.0 - 1
    }

    /// One bit for every column (or row), bit 0 for the first.
    pub fn full(self) -> u32 {
        u32::MAX >> (32 - u32::from(self.0))
    }

    /// The rows (or columns) 0 to n - 1.
    pub fn lines(self) -> impl DoubleEndedIterator<Item = u8> + Clone {
        0..self.0
    }
}

impl TryFrom<u8> for Board {
    type Error = BoardError;
    fn try_from(n: u8) -> Result<Self, BoardError> {
        Self::new(n)
    }
}

impl From<Board> for u8 {
    fn from(board: Board) -> u8 {
        board.0
    }
}

impl FromStr for Board {
    type Err = BoardError;
    fn from_str(text: &str) -> Result<Self, BoardError> {
        let n = text.trim().parse().map_err(|_| BoardError(text.to_owned()))?;
        Self::new(n)
    }
}

impl std::fmt::Display for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A square by row and column, both from 0; row 0 is the top row, column 0 the left one.
///
/// ```
/// use queens::Square;
///
/// assert!(Square::new(0, 2).attacks(Square::new(3, 5)), "on one diagonal");
/// assert!(!Square::new(0, 2).attacks(Square::new(1, 4)), "a knight's move apart");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Square {
    /// The row, 0 at the top.
    pub row: u8,
    /// The column, 0 at the left.
    pub col: u8,
}

impl Square {
    /// The square in `row` and `col`.
    pub fn new(row: u8, col: u8) -> Self {
        Self { row, col }
    }

    /// Whether queens on the two squares attack each other. A square does not attack itself.
    pub fn attacks(self, other: Square) -> bool {
        self != other
            && (self.row == other.row
                || self.col == other.col
                || self.row.abs_diff(other.row) == self.col.abs_diff(other.col))
    }

    /// The square mirrored at the diagonal: its row is this one's column.
    pub(crate) fn transposed(self) -> Self {
        Self { row: self.col, col: self.row }
    }

    /// The columns of `row` that a queen here attacks or stands in, one bit each; some may lie off the board.
    pub(crate) fn attacked_columns(self, row: u8) -> u32 {
        let distance = u32::from(self.row.abs_diff(row));
        let column = 1u64 << self.col;
        (column | column << distance | column >> distance) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_outside_1_to_32_are_refused_with_the_value() {
        for text in ["0", "33", "x", "", "-1", "1e3", "256"] {
            let error = text.parse::<Board>().unwrap_err().to_string();
            assert!(error.contains(&format!("\"{text}\"")), "{error}");
        }
        assert_eq!("32".parse::<Board>().unwrap().full(), u32::MAX);
        assert_eq!("1".parse::<Board>().unwrap().full(), 1);
    }
}

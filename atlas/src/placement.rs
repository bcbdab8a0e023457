//! Placements: n pieces on an n x n board, one in each column and in each row, written as the rows by column.
//!
//! Rows are counted from the bottom, as on a chess board. So 15863724 has a queen in column 1 row 1 (the
//! square a1), in column 2 row 5 (b5), and so on. The square in column k and row n is written k/n.

mod reading;

use queens::Classified;
use std::fmt;

use serde::{Serialize, Serializer};
use thiserror::Error;

/// The rows of the pieces, by column. Both are counted from 0 here, and from 1 in all output.
///
/// Ordered by the sequence of rows, so ascending placements are ascending numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placement(Box<[u8]>);

/// A sequence that is not a permutation of 1, 2, ..., n.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// Something other than numbers.
    #[error("\"{0}\" is no row number: give the rows by column, as 15863724 or 1,5,8,6,3,7,2,4")]
    NotANumber(String),
    /// A column for which nothing stands, or a hyphen alone.
    #[error(
        "there is a column without a queen in \"{0}\": give a row for every column, as 15863724 or 1,5,8,6,3,7,2,4"
    )]
    NoQueen(String),
    /// A row of a board, counted from 1 at the bottom, that has other than one piece, or as many squares as there are rows.
    #[error("row {row} of \"{text}\" must have {n} squares, and a piece on one of them")]
    Rank {
        /// The row.
        row: usize,
        /// How many rows there are.
        n: usize,
        /// The given text.
        text: String,
    },
    /// A row that is missing or occurs twice.
    #[error(
        "{missing} is missing from \"{text}\": give the rows by column, all from {first} to {last}, as 15863724 or \
         1,5,8,6,3,7,2,4"
    )]
    NotAPermutation {
        /// The smallest row.
        first: usize,
        /// The largest one, as many numbers as were given.
        last: usize,
        /// The smallest row that does not occur.
        missing: usize,
        /// The given text.
        text: String,
    },
    /// Two squares share a column, or a column has no square.
    #[error(
        "there must be a square in every column from {first} to {last}, but none is in {missing} in \"{text}\""
    )]
    Columns {
        /// The first column.
        first: usize,
        /// The last one, as many squares as were given.
        last: usize,
        /// The first column without a square.
        missing: usize,
        /// The given text.
        text: String,
    },
    /// No number, or more than the largest board has columns.
    #[error("a permutation has 1 to {largest} numbers, not {0}", largest = Placement::LARGEST)]
    Size(usize),
}

impl Classified for PlacementError {}

impl Placement {
    /// The largest n.
    pub const LARGEST: u8 = 255;

    /// The placement with these rows by column, both from 0.
    ///
    /// # Errors
    /// [`PlacementError`] unless each of 0 to n - 1 occurs once, for an n from 1 to 255.
    pub fn new(rows: impl Into<Box<[u8]>>) -> Result<Self, PlacementError> {
        let placement = Self(rows.into());
        placement.checked(1, None)
    }

    /// The placement, if it has every row once.
    fn checked(self, first: u8, text: Option<&str>) -> Result<Self, PlacementError> {
        let n = self.0.len();
        if n == 0 || n > usize::from(Self::LARGEST) {
            return Err(PlacementError::Size(n));
        }
        let missing = (0..n).find(|row| !self.0.iter().any(|r| usize::from(*r) == *row));
        missing.map_or(Ok(()), |row| {
            let (first, text) = (usize::from(first), text.map_or_else(|| self.to_string(), str::to_owned));
            Err(PlacementError::NotAPermutation { first, last: n - 1 + first, missing: row + first, text })
        })?;
        Ok(self)
    }

    /// The placement with these rows by column, which the caller knows to be a permutation.
    pub(crate) fn from_rows(rows: Vec<u8>) -> Self {
        debug_assert!(Self::new(rows.clone()).is_ok(), "{rows:?} is a permutation");
        Self(rows.into())
    }

    /// The number of columns, of rows and of pieces.
    pub fn n(&self) -> u8 {
        self.0.len() as u8
    }

    /// The rows by column, both from 0.
    pub fn rows(&self) -> &[u8] {
        &self.0
    }

    /// The row of the piece in `column`, both from 0.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn row(&self, column: u8) -> u8 {
        self.0[usize::from(column)]
    }

    /// The pieces as (column, row), both from 0.
    pub fn squares(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        (0u8..).zip(self.0.iter().copied())
    }

    /// The placement as it is written, its rows counted from `first`.
    pub fn counted_from(&self, first: u8) -> CountedPlacement<'_> {
        CountedPlacement { placement: self, first }
    }

    /// Whether no two pieces share a diagonal of the plain board: a solution of the n-queens problem, for every n.
    pub fn is_queens_solution(&self) -> bool {
        let mut rising = vec![false; 2 * self.0.len()];
        let mut falling = vec![false; 2 * self.0.len()];
        self.squares().all(|(column, row)| {
            let (sum, difference) = (
                usize::from(column) + usize::from(row),
                self.0.len() + usize::from(row) - usize::from(column),
            );
            !std::mem::replace(&mut falling[sum], true) && !std::mem::replace(&mut rising[difference], true)
        })
    }
}

/// A placement as it is written, its rows counted from 0 or from 1.
#[derive(Clone, Copy, Debug)]
pub struct CountedPlacement<'a> {
    placement: &'a Placement,
    first: u8,
}

/// The digits of the rows, with commas between them beyond 9 columns.
impl fmt::Display for CountedPlacement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.placement.0.len() > 9 { "," } else { "" };
        f.pad(&joined(&self.placement.0, self.first, separator))
    }
}

/// As the list of rows.
impl Serialize for CountedPlacement<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let first = u16::from(self.first);
        serializer.collect_seq(self.placement.0.iter().map(|row| u16::from(*row) + first))
    }
}

/// The rows from 1.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.counted_from(1), f)
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As the list of rows from 1.
impl Serialize for Placement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.counted_from(1).serialize(serializer)
    }
}

/// The rows, counted from `first`, with `separator` between them.
pub(crate) fn joined(rows: &[u8], first: u8, separator: &str) -> String {
    rows.iter()
        .map(|row| (u16::from(*row) + u16::from(first)).to_string())
        .collect::<Vec<_>>()
        .join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_placement_is_read_back(rows in (1u8..=60).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle())) {
            let placement = Placement::new(rows).unwrap();
            prop_assert_eq!(placement.to_string().parse::<Placement>().unwrap(), placement);
        }
    }

    #[test]
    fn a_solution_has_one_queen_on_each_diagonal_at_most() {
        assert!("15863724".parse::<Placement>().unwrap().is_queens_solution());
        assert!(!"15863742".parse::<Placement>().unwrap().is_queens_solution());
        assert!(!"12345678".parse::<Placement>().unwrap().is_queens_solution());
    }
}

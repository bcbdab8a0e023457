//! Rectangles: positions of non-attacking queens on boards with more columns than rows, or more rows than
//! columns. A column or a row may have no queen.
//!
//! ```text
//! untried[0] = the lowest row
//! repeat: k = the last column begun
//!         untried[k] = the highest row, then no row at all; after these column k is given up
//!         k = last column -> a position; untried[k+1] = the lowest row
//! ```
//!
//! No queen is placed beyond the number wanted, and no column left empty that is needed for it.

use queens::Classified;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::format::column_letter;

/// A board with this number of columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rectangle {
    columns: u8,
    rows: u8,
}

/// A text that names no rectangle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a rectangle has 1 to {largest} columns and as many rows, as in 8x10, not \"{0}\"", largest = Rectangle::LARGEST)]
pub struct RectangleError(String);

/// More queens than a board takes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a board of {board} takes 1 to {most} queens, not {queens}")]
pub struct TooManyQueens {
    /// The board.
    pub board: Rectangle,
    /// The smaller of its sides.
    pub most: u8,
    /// The requested number of queens.
    pub queens: u8,
}

impl Classified for TooManyQueens {}

/// Queens that do not attack each other: the row of each column's queen, from 0, or none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RectanglePosition {
    board_rows: u8,
    rows: Vec<Option<u8>>,
}

/// The positions of a number of queens, each once, found lazily. They ascend by the rows by column; a column
/// without a queen comes last.
#[derive(Clone, Debug)]
pub struct RectanglePositions {
    board: Rectangle,
    queens: usize,
    rows: Vec<Option<u8>>,
    /// For each column begun, the lowest row not tried yet; one beyond the highest is none at all.
    untried: Vec<u8>,
}

impl Rectangle {
    /// The longest side.
    pub const LARGEST: u8 = 32;

    /// The positions of `queens` queens.
    ///
    /// # Errors
    /// [`TooManyQueens`] unless there is at least one and each may have a column and a row.
    pub fn positions(self, queens: u8) -> Result<RectanglePositions, TooManyQueens> {
        let most = self.columns.min(self.rows);
        if !(1..=most).contains(&queens) {
            return Err(TooManyQueens { board: self, most, queens });
        }
        let queens = usize::from(queens);
        Ok(RectanglePositions { board: self, queens, rows: Vec::new(), untried: vec![0] })
    }

    /// The largest number of non-attacking queens, found by placing them.
    pub fn most_queens(self) -> u8 {
        let can = |queens: &u8| self.positions(*queens).is_ok_and(|mut positions| positions.next().is_some());
        (1..=self.columns.min(self.rows)).rev().find(can).unwrap_or(1)
    }
}

impl RectanglePositions {
    /// Whether no queen placed so far attacks this square of the next column.
    fn is_free(&self, row: u8) -> bool {
        let column = self.rows.len();
        self.rows.iter().enumerate().all(|(other, queen)| {
            queen.is_none_or(|queen| queen != row && usize::from(queen.abs_diff(row)) != column - other)
        })
    }

    /// Whether the number of queens can still be reached, and is not exceeded, with this in the next column.
    fn is_possible(&self, queen: Option<u8>) -> bool {
        let placed = self.rows.iter().flatten().count();
        let after = usize::from(self.board.columns) - self.rows.len() - 1;
        match queen {
            Some(row) => placed < self.queens && self.is_free(row),
            None => placed + after >= self.queens,
        }
    }
}

impl Iterator for RectanglePositions {
    type Item = RectanglePosition;

    fn next(&mut self) -> Option<RectanglePosition> {
        while let Some(column) = self.untried.len().checked_sub(1) {
            self.rows.truncate(column);
            let row = self.untried[column];
            if row > self.board.rows {
                self.untried.pop();
                continue;
            }
            self.untried[column] += 1;
            let queen = (row < self.board.rows).then_some(row);
            if !self.is_possible(queen) {
                continue;
            }
            self.rows.push(queen);
            if self.rows.len() == usize::from(self.board.columns) {
                return Some(RectanglePosition { board_rows: self.board.rows, rows: self.rows.clone() });
            }
            self.untried.push(0);
        }
        None
    }
}

impl RectanglePosition {
    /// How many columns the board has.
    pub fn columns(&self) -> u8 {
        self.rows.len() as u8
    }

    /// How many rows the board has.
    pub fn rows(&self) -> u8 {
        self.board_rows
    }

    /// The queens as (column, row), both from 0.
    pub fn squares(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        (0u8..).zip(&self.rows).filter_map(|(column, row)| row.map(|row| (column, row)))
    }

    /// The board as text, the highest row on top, column a at the left.
    pub fn drawn(&self) -> String {
        let mut text = String::new();
        for row in (0..self.board_rows).rev() {
            let square = |queen: &Option<u8>| if *queen == Some(row) { " Q" } else { " ." };
            let squares: String = self.rows.iter().map(square).collect();
            text += &format!("{:>3} {squares}\n", row + 1);
        }
        let letters = (0u8..).zip(&self.rows).filter_map(|(column, _)| column_letter(column));
        text + "    " + &letters.flat_map(|letter| [' ', letter]).collect::<String>() + "\n"
    }
}

/// The rows by column from 1, with commas between them beyond 9 rows; a hyphen for a column without a queen.
impl fmt::Display for RectanglePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |row: &Option<u8>| row.map_or("-".to_owned(), |row| (row + 1).to_string());
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        f.write_str(&rows.join(if self.board_rows > 9 { "," } else { "" }))
    }
}

/// Columns by rows: `8x10`.
impl fmt::Display for Rectangle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.columns, self.rows)
    }
}

impl FromStr for Rectangle {
    type Err = RectangleError;
    fn from_str(text: &str) -> Result<Self, RectangleError> {
        let side = |text: &str| text.parse().ok().filter(|side| (1..=Self::LARGEST).contains(side));
        let sides = text.split_once('x').and_then(|(columns, rows)| side(columns).zip(side(rows)));
        let (columns, rows) = sides.ok_or_else(|| RectangleError(text.to_owned()))?;
        Ok(Self { columns, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(columns: u8, rows: u8) -> Rectangle {
        Rectangle { columns, rows }
    }

    /// All sets of squares, looked at one after the other.
    fn brute(board: Rectangle, queens: u32) -> usize {
        let squares: Vec<(i32, i32)> = (0..i32::from(board.columns))
            .flat_map(|column| (0..i32::from(board.rows)).map(move |row| (column, row)))
            .collect();
        let attacks = |a: (i32, i32), b: (i32, i32)| {
            let (columns, rows) = ((a.0 - b.0).abs(), (a.1 - b.1).abs());
            columns == 0 || rows == 0 || columns == rows
        };
        let is_position = |set: &u32| {
            let of: Vec<_> = (0..squares.len()).filter(|i| set >> i & 1 == 1).map(|i| squares[i]).collect();
            of.iter().enumerate().all(|(i, a)| of[..i].iter().all(|b| !attacks(*a, *b)))
        };
        (0..1u32 << squares.len()).filter(|set| set.count_ones() == queens).filter(is_position).count()
    }

    #[test]
    fn position_count_matches_brute_force() {
        for (columns, rows) in (1..=5).flat_map(|c| (1..=4).map(move |r| (c, r))) {
            let board = board(columns, rows);
            for queens in 1..=columns.min(rows) {
                let positions: Vec<_> = board.positions(queens).unwrap().collect();
                assert_eq!(positions.len(), brute(board, queens.into()), "{queens} on {board}");
                assert!(positions.iter().all(|position| position.squares().count() == usize::from(queens)));
            }
        }
    }

    #[test]
    fn square_totals_are_known_and_reflections_agree() {
        for n in 4..=9 {
            let known = queens::known::totals(queens::Board::new(n).unwrap()).unwrap().solutions();
            assert_eq!(board(n, n).positions(n).unwrap().count() as u128, known, "n={n}");
            let (wide, high) = (board(n, n - 2), board(n - 2, n));
            assert_eq!(wide.most_queens(), high.most_queens());
            let count = |board: Rectangle| board.positions(board.most_queens()).unwrap().count();
            assert_eq!(count(wide), count(high), "n={n}");
        }
    }

    #[test]
    fn small_boards_take_fewer_queens_than_rows() {
        assert_eq!([1, 2, 3, 4, 5].map(|n| board(n, n).most_queens()), [1, 1, 2, 4, 5]);
        assert_eq!([board(2, 3), board(3, 2), board(4, 3)].map(Rectangle::most_queens), [2, 2, 3]);
    }

    #[test]
    fn empty_column_is_written_as_hyphen() {
        let first = board(4, 3).positions(3).unwrap().next().unwrap();
        assert_eq!(first.to_string(), "13-2");
        assert_eq!(first.drawn(), "  3  . Q . .\n  2  . . . Q\n  1  Q . . .\n     a b c d\n");
        assert_eq!("8x10".parse(), Ok(board(8, 10)));
        for wrong in ["8x", "x8", "0x4", "8x33", "8*8"] {
            assert!(wrong.parse::<Rectangle>().unwrap_err().to_string().contains(wrong));
        }
        let error = board(4, 6).positions(5).unwrap_err().to_string();
        assert_eq!(error, "a board of 4x6 takes 1 to 4 queens, not 5");
    }
}

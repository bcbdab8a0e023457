//! Rectangles: positions of non-attacking pieces on boards of any number of columns and rows. A column or a row may have
//! no piece. So k pieces on a square are positions too.
//!
//! ```text
//! untried[0] = the lowest row
//! repeat: k = the last column begun
//!         untried[k] = the highest row, then no row at all; after these column k is given up
//!         k = last column -> a position; untried[k+1] = the lowest row
//! ```
//!
//! No piece is placed beyond the number wanted, and no column left empty that is needed for it.

use queens::Classified;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::format::{column_letter, letter};
use crate::setting::{Piece, Surface};

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

/// More pieces than a board takes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a board of {board} takes 1 to {most} {piece}s, not {pieces}")]
pub struct TooManyPieces {
    /// The board.
    pub board: Rectangle,
    /// The piece.
    pub piece: Piece,
    /// The smaller of the board's sides.
    pub most: u8,
    /// The requested number of pieces.
    pub pieces: u8,
}

impl Classified for TooManyPieces {}

/// A rectangle, its surface, and the piece that is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RectangleSetting {
    /// The board.
    pub board: Rectangle,
    /// How its edges are glued.
    pub surface: Surface,
    /// The placed piece.
    pub piece: Piece,
}

/// Pieces that do not attack each other: the row of each column's piece, from 0, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RectanglePosition {
    setting: RectangleSetting,
    rows: Vec<Option<u8>>,
}

/// The positions of a number of pieces, each once, found lazily. They ascend by the rows by column; a column
/// without a piece comes last.
#[derive(Clone, Debug)]
pub struct RectanglePositions {
    setting: RectangleSetting,
    /// For each row and each distance, the rows, one bit each, attacked in the column that far to the right.
    attacks: Vec<Vec<u32>>,
    pieces: usize,
    rows: Vec<Option<u8>>,
    /// For each column begun, the lowest row not tried yet; one beyond the highest is none at all.
    untried: Vec<u8>,
}

impl Rectangle {
    /// The longest side.
    pub const LARGEST: u8 = 32;

    /// Queens on this board with plain edges.
    pub fn queens(self) -> RectangleSetting {
        RectangleSetting { board: self, surface: Surface::Plain, piece: Piece::Queen }
    }
}

impl RectangleSetting {
    /// The positions of that many pieces.
    ///
    /// # Errors
    /// [`TooManyPieces`] unless there is at least one and each may have a column and a row.
    pub fn positions(self, pieces: u8) -> Result<RectanglePositions, TooManyPieces> {
        let Self { board, piece, .. } = self;
        let most = board.columns.min(board.rows);
        if !(1..=most).contains(&pieces) {
            return Err(TooManyPieces { board, piece, most, pieces });
        }
        let (attacks, pieces) = (self.attacks(), usize::from(pieces));
        Ok(RectanglePositions { setting: self, attacks, pieces, rows: Vec::new(), untried: vec![0] })
    }

    /// The largest number of non-attacking pieces, found by placing them.
    pub fn most_pieces(self) -> u8 {
        let can = |pieces: &u8| self.positions(*pieces).is_ok_and(|mut positions| positions.next().is_some());
        (1..=self.board.columns.min(self.board.rows)).rev().find(can).unwrap_or(1)
    }

    /// For each row and each distance, the rows attacked in the column that far to the right. The piece is moved step by
    /// step from column 0, because a diagonal may go around a rectangle several times.
    fn attacks(self) -> Vec<Vec<u32>> {
        let (columns, rows) = (i32::from(self.board.columns), i32::from(self.board.rows));
        let line = |at: i32, lines: i32, is_glued: bool| {
            let around = if is_glued { at.rem_euclid(lines) } else { at };
            (0..lines).contains(&around).then_some(around)
        };
        let to = |column: i32, row: i32| {
            let column = line(column, columns, self.surface != Surface::Plain)?;
            Some((column, line(row, rows, self.surface == Surface::Torus)?))
        };
        let of_row = |row: i32| {
            let mut attacked = vec![0; usize::from(self.board.columns)];
            for (right, up, is_far) in moves(self.piece) {
                let steps = 1..=if is_far { columns * rows } else { 1 };
                for (column, row) in steps.map_while(|step| to(step * right, row + step * up)) {
                    attacked[column as usize] |= 1 << row;
                }
            }
            attacked
        };
        (0..rows).map(of_row).collect()
    }
}

/// The moves of the piece to other columns: columns to the right, rows up, and whether it may repeat the move.
fn moves(piece: Piece) -> Vec<(i32, i32, bool)> {
    let mut moves = vec![(1, 0, true), (-1, 0, true)];
    if piece != Piece::Rook {
        moves.extend([(1, 1, true), (-1, -1, true)]);
    }
    if matches!(piece, Piece::Queen | Piece::SuperQueen) {
        moves.extend([(1, -1, true), (-1, 1, true)]);
    }
    if piece == Piece::SuperQueen {
        for right in [-2i32, -1, 1, 2] {
            let up = 3 - right.abs();
            moves.extend([(right, up, false), (right, -up, false)]);
        }
    }
    moves
}

impl RectanglePositions {
    /// Whether no piece placed so far attacks this square of the next column.
    fn is_free(&self, row: u8) -> bool {
        let column = self.rows.len();
        self.rows.iter().enumerate().all(|(other, piece)| {
            piece.is_none_or(|piece| self.attacks[usize::from(piece)][column - other] >> row & 1 == 0)
        })
    }

    /// Whether the number of pieces can still be reached, and is not exceeded, with this in the next column.
    fn is_possible(&self, piece: Option<u8>) -> bool {
        let placed = self.rows.iter().flatten().count();
        let after = usize::from(self.setting.board.columns) - self.rows.len() - 1;
        match piece {
            Some(row) => placed < self.pieces && self.is_free(row),
            None => placed + after >= self.pieces,
        }
    }
}

impl Iterator for RectanglePositions {
    type Item = RectanglePosition;

    fn next(&mut self) -> Option<RectanglePosition> {
        while let Some(column) = self.untried.len().checked_sub(1) {
            self.rows.truncate(column);
            let row = self.untried[column];
            if row > self.setting.board.rows {
                self.untried.pop();
                continue;
            }
            self.untried[column] += 1;
            let piece = (row < self.setting.board.rows).then_some(row);
            if !self.is_possible(piece) {
                continue;
            }
            self.rows.push(piece);
            if self.rows.len() == usize::from(self.setting.board.columns) {
                return Some(RectanglePosition { setting: self.setting, rows: self.rows.clone() });
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
        self.setting.board.rows
    }

    /// The board, its surface, and the piece.
    pub fn setting(&self) -> RectangleSetting {
        self.setting
    }

    /// The pieces as (column, row), both from 0.
    pub fn squares(&self) -> impl Iterator<Item = (u8, u8)> + '_ {
        (0u8..).zip(&self.rows).filter_map(|(column, row)| row.map(|row| (column, row)))
    }

    /// The board as text, the highest row on top, column a at the left.
    pub fn drawn(&self) -> String {
        let mut text = String::new();
        let letter = letter(self.setting.piece);
        for row in (0..self.rows()).rev() {
            let square = |piece: &Option<u8>| [' ', if *piece == Some(row) { letter } else { '.' }];
            let squares: String = self.rows.iter().flat_map(square).collect();
            text += &format!("{:>3} {squares}\n", row + 1);
        }
        let letters = (0u8..).zip(&self.rows).filter_map(|(column, _)| column_letter(column));
        text + "    " + &letters.flat_map(|letter| [' ', letter]).collect::<String>() + "\n"
    }
}

/// The rows by column from 1, with commas between them beyond 9 rows; a hyphen for a column without a piece.
impl fmt::Display for RectanglePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |row: &Option<u8>| row.map_or("-".to_owned(), |row| (row + 1).to_string());
        let rows: Vec<_> = self.rows.iter().map(row).collect();
        f.write_str(&rows.join(if self.rows() > 9 { "," } else { "" }))
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
    use crate::setting::Setting;
    use strum::VariantArray;

    fn board(columns: u8, rows: u8) -> Rectangle {
        Rectangle { columns, rows }
    }

    fn most(board: Rectangle) -> u8 {
        board.queens().most_pieces()
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
                let positions: Vec<_> = board.queens().positions(queens).unwrap().collect();
                assert_eq!(positions.len(), brute(board, queens.into()), "{queens} on {board}");
                assert!(positions.iter().all(|position| position.squares().count() == usize::from(queens)));
            }
        }
    }

    #[test]
    fn square_totals_are_known_and_reflections_agree() {
        for n in 4..=9 {
            let known = queens::known::totals(queens::Board::new(n).unwrap()).unwrap().solutions();
            assert_eq!(board(n, n).queens().positions(n).unwrap().count() as u128, known, "n={n}");
            let (wide, high) = (board(n, n - 2), board(n - 2, n));
            assert_eq!(most(wide), most(high));
            let count = |board: Rectangle| board.queens().positions(most(board)).unwrap().count();
            assert_eq!(count(wide), count(high), "n={n}");
        }
    }

    #[test]
    fn small_boards_take_fewer_queens_than_rows() {
        assert_eq!([1, 2, 3, 4, 5].map(|n| most(board(n, n))), [1, 1, 2, 4, 5]);
        assert_eq!([board(2, 3), board(3, 2), board(4, 3)].map(most), [2, 2, 3]);
    }

    #[test]
    fn empty_column_is_written_as_hyphen() {
        let first = board(4, 3).queens().positions(3).unwrap().next().unwrap();
        assert_eq!(first.to_string(), "13-2");
        assert_eq!(first.drawn(), "  3  . Q . .\n  2  . . . Q\n  1  Q . . .\n     a b c d\n");
        assert_eq!("8x10".parse(), Ok(board(8, 10)));
        for wrong in ["8x", "x8", "0x4", "8x33", "8*8"] {
            assert!(wrong.parse::<Rectangle>().unwrap_err().to_string().contains(wrong));
        }
        let error = board(4, 6).queens().positions(5).unwrap_err().to_string();
        assert_eq!(error, "a board of 4x6 takes 1 to 4 queens, not 5");
    }

    /// Whether pieces on these squares of a torus attack each other, by the equations of their lines.
    fn attack_on_torus(piece: Piece, (columns, rows): (i32, i32), a: (i32, i32), b: (i32, i32)) -> bool {
        let (right, up) = (b.0 - a.0, b.1 - a.1);
        let steps = 0..columns * rows;
        let meets =
            |sign: i32| steps.clone().any(|t| (t - right) % columns == 0 && (sign * t - up) % rows == 0);
        let is_leap = |by: (i32, i32)| (by.0 - right) % columns == 0 && (by.1 - up) % rows == 0;
        let leaps = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)];
        right == 0
            || up == 0
            || piece != Piece::Rook && meets(1)
            || matches!(piece, Piece::Queen | Piece::SuperQueen) && meets(-1)
            || piece == Piece::SuperQueen && leaps.into_iter().any(is_leap)
    }

    #[test]
    fn torus_position_count_matches_brute_force() {
        for piece in [Piece::Rook, Piece::SemiQueen, Piece::Queen, Piece::SuperQueen] {
            for (columns, rows) in [(1, 1), (2, 2), (3, 3), (4, 4), (3, 4), (4, 2), (5, 3), (2, 6)] {
                let sides = (i32::from(columns), i32::from(rows));
                let squares: Vec<_> =
                    (0..sides.0).flat_map(|column| (0..sides.1).map(move |row| (column, row))).collect();
                let mut counts = vec![0; usize::from(columns.min(rows)) + 1];
                for set in 0u32..1 << squares.len() {
                    let of: Vec<_> =
                        (0..squares.len()).filter(|i| set >> i & 1 == 1).map(|i| squares[i]).collect();
                    let is_free = |(i, a): (usize, &(i32, i32))| {
                        of[..i].iter().all(|b| !attack_on_torus(piece, sides, *a, *b))
                    };
                    if of.len() < counts.len() && of.iter().enumerate().all(is_free) {
                        counts[of.len()] += 1;
                    }
                }
                let setting =
                    RectangleSetting { board: board(columns, rows), surface: Surface::Torus, piece };
                for pieces in 1..=columns.min(rows) {
                    let found = setting.positions(pieces).unwrap().count();
                    assert_eq!(found, counts[usize::from(pieces)], "{pieces} {piece}s on {columns}x{rows}");
                }
            }
        }
    }

    #[test]
    fn attacks_on_squares_are_those_of_settings() {
        for (n, surface, piece) in (1..=7).flat_map(|n| {
            let surfaces = Surface::VARIANTS.iter();
            surfaces.flat_map(move |surface| Piece::VARIANTS.iter().map(move |piece| (n, *surface, *piece)))
        }) {
            let setting = Setting { board: queens::Board::new(n).unwrap(), surface, piece };
            let attacks = RectangleSetting { board: board(n, n), surface, piece }.attacks();
            for (row, distance) in (0..n).flat_map(|row| (1..n).map(move |distance| (row, distance))) {
                let attacked = attacks[usize::from(row)][usize::from(distance)];
                assert_eq!(attacked, setting.attacked_rows(row, distance), "{setting}: {row}, {distance}");
            }
        }
    }

    #[test]
    fn full_boards_match_published_torus_counts() {
        let count = |piece, n: u8, pieces| {
            let setting = RectangleSetting { board: board(n, n), surface: Surface::Torus, piece };
            setting.positions(pieces).unwrap().count()
        };
        // OEIS A006717 and A051906.
        for (n, semi_queens, queens) in [(3, 3, 0), (4, 0, 0), (5, 15, 10), (6, 0, 0), (7, 133, 28)] {
            assert_eq!(count(Piece::SemiQueen, n, n), semi_queens, "n={n}");
            assert_eq!(count(Piece::Queen, n, n), queens, "n={n}");
        }
        // k rooks: the choices of k columns and k rows, times k!.
        assert_eq!([1, 2, 3, 4].map(|k| count(Piece::Rook, 6, k)), [36, 450, 2_400, 5_400]);
    }

    #[test]
    fn torus_takes_fewer_queens() {
        // Monsky 1989: all n for n coprime to 6; else n - 1 unless 3 or 4 divides n; else n - 2.
        let most = |n| {
            let setting =
                RectangleSetting { board: board(n, n), surface: Surface::Torus, piece: Piece::Queen };
            setting.most_pieces()
        };
        assert_eq!([1, 2, 3, 4, 5, 6, 7, 8].map(most), [1, 1, 1, 2, 5, 4, 7, 6]);
    }
}

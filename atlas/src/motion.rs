//! Motions: the maps that carry solutions to solutions. They are the eight symmetries of the square, by their
//! classic letters, and on glued boards also the shifts.
//!
//! The letters, for the queen in column k and row n (from 1, rows from the bottom) of an N x N board:
//!
//! | letter | what | k/n goes to |
//! |---|---|---|
//! | a | identity | k/n |
//! | b | reflection that swaps bottom and top | k/N+1-n |
//! | c | reflection that swaps left and right | N+1-k/n |
//! | d | quarter turn to the right | n/N+1-k |
//! | e | half turn | N+1-k/N+1-n |
//! | f | three-quarter turn to the right | N+1-n/k |
//! | g | reflection in the rising diagonal, from 1/1 to N/N | n/k |
//! | h | reflection in the falling diagonal | N+1-n/N+1-k |

use std::fmt;

use queens::{Board, Square, Symmetry};

use crate::placement::Placement;
use crate::setting::{Piece, Setting, Surface};

/// The symmetries in the order of their letters, a to h.
pub const LETTERS: [Symmetry; 8] = [
    Symmetry::Identity,
    Symmetry::MirrorRows,
    Symmetry::MirrorColumns,
    Symmetry::QuarterTurn,
    Symmetry::HalfTurn,
    Symmetry::ThreeQuarterTurn,
    Symmetry::AntiTranspose,
    Symmetry::Transpose,
];

/// The letter of the symmetry.
pub fn letter(symmetry: Symmetry) -> char {
    match symmetry {
        Symmetry::Identity => 'a',
        Symmetry::MirrorRows => 'b',
        Symmetry::MirrorColumns => 'c',
        Symmetry::QuarterTurn => 'd',
        Symmetry::HalfTurn => 'e',
        Symmetry::ThreeQuarterTurn => 'f',
        // The rising diagonal is the one from the bottom left, which is not the one from row 0 column 0.
        Symmetry::AntiTranspose => 'g',
        Symmetry::Transpose => 'h',
    }
}

/// The symmetry in words.
pub fn words(symmetry: Symmetry) -> &'static str {
    match symmetry {
        Symmetry::Identity => "identity",
        Symmetry::MirrorRows => "bottom and top swapped",
        Symmetry::MirrorColumns => "left and right swapped",
        Symmetry::QuarterTurn => "quarter turn to the right",
        Symmetry::HalfTurn => "half turn",
        Symmetry::ThreeQuarterTurn => "three-quarter turn to the right",
        Symmetry::AntiTranspose => "reflection in the rising diagonal",
        Symmetry::Transpose => "reflection in the falling diagonal",
    }
}

/// A symmetry of the square, followed by a shift around the edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Motion {
    /// The symmetry, applied first.
    pub symmetry: Symmetry,
    /// The shift to the right after it, in columns, 0 to n - 1.
    pub right: u8,
    /// The shift up after it, in rows, 0 to n - 1.
    pub up: u8,
}

impl Motion {
    /// The symmetry alone.
    pub fn of(symmetry: Symmetry) -> Self {
        Self { symmetry, right: 0, up: 0 }
    }

    /// The shift alone, by whole numbers of columns and rows of either sign.
    pub fn shift(board: Board, right: i8, up: i8) -> Self {
        let around = |by: i8| i16::from(by).rem_euclid(i16::from(board.n())) as u8;
        Self { symmetry: Symmetry::Identity, right: around(right), up: around(up) }
    }

    /// The image of a placement of that board.
    #[must_use]
    pub fn image(self, board: Board, placement: &Placement) -> Placement {
        let mut rows = vec![0; usize::from(board.n())];
        self.write_image(board, placement, &mut rows);
        Placement::from_rows(rows)
    }

    /// Writes the rows by column of the image.
    pub(crate) fn write_image(self, board: Board, placement: &Placement, rows: &mut [u8]) {
        for (column, row) in placement.squares() {
            let image = self.symmetry.image(board, Square::new(board.last() - row, column));
            let (column, row) = (image.col + self.right, board.last() - image.row + self.up);
            let around = |line: u8| if line >= board.n() { line - board.n() } else { line };
            rows[usize::from(around(column))] = around(row);
        }
    }
}

/// The letter, followed by the shift if there is one: `d+2/5` turns to the right, then moves 2 columns to the
/// right and 5 rows up.
impl fmt::Display for Motion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = letter(self.symmetry);
        if self.right == 0 && self.up == 0 {
            write!(f, "{letter}")
        } else {
            write!(f, "{letter}+{}/{}", self.right, self.up)
        }
    }
}

impl Setting {
    /// All motions that carry solutions of this setting to solutions: a group, the identity first.
    ///
    /// - plain board: the eight symmetries of the square;
    /// - cylinder: a, b, c and e, each followed by any shift along the rows, 4n in all;
    /// - torus: the eight, each followed by any shift, 8n² in all;
    ///
    /// The semi-queen distinguishes rising diagonals from falling ones, so it has only the motions that do
    /// not swap the two: a, e, g, h (a and e on the cylinder). A rook could be moved in more ways: any
    /// permutation of rows keeps rooks from attacking each other. Such permutations are no motions of the
    /// board and are not among these.
    pub fn motions(self) -> Vec<Motion> {
        let keeps_the_axis = |s: &Symmetry| {
            self.surface != Surface::Cylinder
                || matches!(
                    s,
                    Symmetry::Identity | Symmetry::MirrorRows | Symmetry::MirrorColumns | Symmetry::HalfTurn
                )
        };
        let keeps_rising_diagonals = |s: &Symmetry| {
            self.piece != Piece::SemiQueen
                || matches!(
                    s,
                    Symmetry::Identity | Symmetry::HalfTurn | Symmetry::Transpose | Symmetry::AntiTranspose
                )
        };
        let rights = if self.surface == Surface::Plain { 1 } else { self.board.n() };
        let ups = if self.surface == Surface::Torus { self.board.n() } else { 1 };
        LETTERS
            .into_iter()
            .filter(keeps_the_axis)
            .filter(keeps_rising_diagonals)
            .flat_map(|symmetry| {
                (0..rights).flat_map(move |right| (0..ups).map(move |up| Motion { symmetry, right, up }))
            })
            .collect()
    }

    /// The motions of the torus for this piece, the eight symmetries without a shift first. On other boards some of them
    /// lead from a solution to a placement that is none.
    pub fn motions_of_torus(self) -> Vec<Motion> {
        let mut motions = Self { surface: Surface::Torus, ..self }.motions();
        motions.sort_by_key(|motion| (motion.right, motion.up) != (0, 0));
        motions
    }

    /// The motions that neither turn nor reflect: the shifts around glued edges.
    pub fn shifts(self) -> Vec<Motion> {
        let mut motions = self.motions();
        motions.retain(|motion| motion.symmetry == Symmetry::Identity);
        motions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn symmetry_letters_match_classic_formulas() {
        // The path of one queen shows in any placement with this queen: take all placements that shift the diagonal.
        let n = 7;
        let board = Board::new(n).unwrap();
        for shift in 0..n {
            let placement = Placement::new((0..n).map(|k| (k + shift) % n).collect::<Vec<_>>()).unwrap();
            for (column, row) in placement.squares() {
                let (k, r, m) = (column + 1, row + 1, n + 1);
                let expected = [
                    (k, r),
                    (k, m - r),
                    (m - k, r),
                    (r, m - k),
                    (m - k, m - r),
                    (m - r, k),
                    (r, k),
                    (m - r, m - k),
                ];
                for (i, symmetry) in LETTERS.into_iter().enumerate() {
                    assert_eq!(letter(symmetry), (b'a' + i as u8) as char);
                    let image = Motion::of(symmetry).image(board, &placement);
                    let (to, at) = expected[i];
                    assert_eq!(image.row(to - 1) + 1, at, "{} {k}/{r}", letter(symmetry));
                }
            }
        }
    }

    #[test]
    fn motions_keep_neighbours_and_attacks() {
        // Both are asked square by square here, not read off a table.
        for n in 4..=6 {
            let board = Board::new(n).unwrap();
            let all = || {
                LETTERS.into_iter().flat_map(move |symmetry| {
                    (0..n).flat_map(move |right| (0..n).map(move |up| Motion { symmetry, right, up }))
                })
            };
            for &surface in Surface::VARIANTS {
                for piece in [Piece::SemiQueen, Piece::Queen, Piece::SuperQueen] {
                    let setting = Setting { board, surface, piece };
                    let expected: Vec<_> = all().filter(|motion| keeps_all(setting, *motion)).collect();
                    assert_eq!(setting.motions(), expected, "{setting}");
                }
            }
        }
    }

    /// Whether the motion takes neighbours to neighbours and attacks to attacks, and nothing else to either.
    fn keeps_all(setting: Setting, motion: Motion) -> bool {
        let (board, n) = (setting.board, setting.board.n());
        let apart = |a: u8, b: u8, glued: bool| {
            let direct = a.abs_diff(b);
            if glued { direct.min(n - direct) } else { direct }
        };
        let neighbours = |a: (u8, u8), b: (u8, u8)| {
            let columns = apart(a.0, b.0, setting.surface != Surface::Plain);
            let rows = apart(a.1, b.1, setting.surface == Surface::Torus);
            columns + rows == 1
        };
        let attacks = |a: (u8, u8), b: (u8, u8)| {
            let (left, right) = if a.0 <= b.0 { (a, b) } else { (b, a) };
            left.0 == right.0 && left.1 != right.1
                || left.0 != right.0 && setting.attacked_rows(left.1, right.0 - left.0) >> right.1 & 1 == 1
        };
        let moved = |(column, row): (u8, u8)| {
            let to = motion.symmetry.image(board, Square::new(board.last() - row, column));
            ((to.col + motion.right) % n, (board.last() - to.row + motion.up) % n)
        };
        let squares: Vec<_> = (0..n).flat_map(|c| (0..n).map(move |r| (c, r))).collect();
        squares.iter().all(|&a| {
            squares.iter().all(|&b| {
                let (to_a, to_b) = (moved(a), moved(b));
                attacks(a, b) == attacks(to_a, to_b) && neighbours(a, b) == neighbours(to_a, to_b)
            })
        })
    }
}

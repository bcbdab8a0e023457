//! The textbook methods for the same list. One tries all permutations in turn; the other extends all partial
//! solutions of r columns by one column, recursively or in a loop.
//!
//! They are the baseline that shows what backtracking saves, and they check [`Solutions`] by being nothing like it.

use std::str::FromStr;

use queens::{Board, Classified};
use strum::{Display, VariantArray, VariantNames};
use thiserror::Error;

use crate::placement::Placement;
use crate::setting::{Setting, UnknownName, named};
use crate::solutions::Solutions;

/// How solutions are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, VariantArray, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum ListingMethod {
    /// Backtracking, lazily.
    Search,
    /// Every permutation is generated and looked at when it is complete. n! of them: n up to 12.
    Permutations,
    /// The list for r columns is the list for r - 1 columns, each of its members extended by every free row. The
    /// whole list is held in memory: n up to 14.
    Rows,
    /// The lists of partial solutions of `Rows`, made in a loop instead of a recursion.
    Iterative,
}

/// A board too large for the method.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the method {method} is for n up to {largest}, not {n}; the method search has no such limit")]
pub struct BeyondMethod {
    /// The requested method.
    pub method: ListingMethod,
    /// Its largest board.
    pub largest: u8,
    /// The board given.
    pub n: Board,
}

impl Classified for BeyondMethod {}

impl ListingMethod {
    /// The largest board that the method can do in minutes.
    fn largest(self) -> u8 {
        match self {
            ListingMethod::Search => Board::LARGEST.n(),
            ListingMethod::Permutations => 12,
            ListingMethod::Rows | ListingMethod::Iterative => 14,
        }
    }

    /// All solutions of the setting in ascending order.
    ///
    /// # Errors
    /// [`BeyondMethod`] if the board is too large for it.
    pub fn solutions(self, setting: Setting) -> Result<Box<dyn Iterator<Item = Placement>>, BeyondMethod> {
        if setting.board.n() > self.largest() {
            return Err(BeyondMethod { method: self, largest: self.largest(), n: setting.board });
        }
        Ok(match self {
            ListingMethod::Search => Box::new(Solutions::ascending(setting)),
            ListingMethod::Permutations => Box::new(
                Permutations::of(setting.board).filter(move |placement| setting.is_solution(placement)),
            ),
            ListingMethod::Rows => Box::new(complete(recursive(setting, setting.board.n()))),
            ListingMethod::Iterative => {
                let extended = |partial, _| extend(setting, partial);
                Box::new(complete(setting.board.lines().fold(vec![vec![]], extended)))
            }
        })
    }
}

impl FromStr for ListingMethod {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        named("method", name)
    }
}

/// The rows of the first columns of a solution in the making.
type Partial = Vec<u8>;

fn complete(solutions: Vec<Partial>) -> impl Iterator<Item = Placement> {
    solutions.into_iter().map(Placement::from_rows)
}

/// All partial solutions of that many columns, ascending.
fn recursive(setting: Setting, columns: u8) -> Vec<Partial> {
    if columns == 0 { vec![vec![]] } else { extend(setting, recursive(setting, columns - 1)) }
}

/// Every partial solution extended by one column in every way.
fn extend(setting: Setting, partial: Vec<Partial>) -> Vec<Partial> {
    let extensions = |partial: Partial| {
        let is_free = |row: &u8| {
            let columns = partial.len() as u8;
            (0..columns)
                .zip(&partial)
                .all(|(column, r)| setting.attacked_rows(*r, columns - column) >> row & 1 == 0)
        };
        let free: Vec<u8> = setting.board.lines().filter(is_free).collect();
        free.into_iter().map(move |row| partial.iter().copied().chain([row]).collect())
    };
    partial.into_iter().flat_map(extensions).collect()
}

/// All permutations of the rows in ascending order.
struct Permutations {
    next: Option<Vec<u8>>,
}

impl Permutations {
    fn of(board: Board) -> Self {
        Self { next: Some(board.lines().collect()) }
    }
}

/// The next larger permutation, or nothing after the largest.
fn successor(mut rows: Vec<u8>) -> Option<Vec<u8>> {
    let descent = rows.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let larger = rows.iter().rposition(|row| *row > rows[descent])?;
    rows.swap(descent, larger);
    rows[descent + 1..].reverse();
    Some(rows)
}

/// How many permutations of the list, generated position by position, come up to this one, itself included. They are of
/// one board of up to 32 columns.
pub fn tried(list: &Placement, permutation: &Placement) -> u128 {
    let mut left = list.rows().to_vec();
    let mut before = 0;
    for row in permutation.rows() {
        let place = left.iter().position(|other| other == row).expect("both are of one board");
        before = before * left.len() as u128 + place as u128;
        left.remove(place);
    }
    before + 1
}

impl Iterator for Permutations {
    type Item = Placement;
    fn next(&mut self) -> Option<Placement> {
        let rows = self.next.take()?;
        self.next = successor(rows.clone());
        Some(Placement::from_rows(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Piece, Surface};

    #[test]
    fn all_methods_give_the_same_list() {
        for n in 1..=8 {
            let board = Board::new(n).unwrap();
            for &surface in <Surface as VariantArray>::VARIANTS {
                for &piece in <Piece as VariantArray>::VARIANTS {
                    let setting = Setting { board, surface, piece };
                    let expected: Vec<_> = Solutions::ascending(setting).collect();
                    for &method in <ListingMethod as VariantArray>::VARIANTS {
                        let list: Vec<_> = method.solutions(setting).unwrap().collect();
                        assert!(list == expected, "{method}: {setting}");
                    }
                }
            }
        }
    }

    #[test]
    fn tried_count_equals_generated_permutations() {
        let list = Placement::new((0..6).collect::<Vec<_>>()).unwrap();
        for (number, permutation) in (1..).zip(Permutations::of(Board::new(6).unwrap())) {
            assert_eq!(tried(&list, &permutation), number, "{permutation}");
        }
        let list: Placement = "42751863".parse().unwrap();
        assert_eq!(tried(&list, &list), 1);
        assert_eq!(tried(&list, &"36815724".parse().unwrap()), 40_320, "the list backwards comes last");
    }

    #[test]
    fn board_over_method_limit_is_refused_with_limit() {
        let error =
            ListingMethod::Permutations.solutions(Setting::queens(Board::new(13).unwrap())).err().unwrap();
        let expected =
            "the method permutations is for n up to 12, not 13; the method search has no such limit";
        assert_eq!(error.to_string(), expected);
    }
}

//! Solutions one by one: a lazy iterator, in ascending order or in the order of any list.
//!
//! ```text
//! untried[0] = all rows
//! repeat: k = the last column begun
//!         untried[k] empty  -> give column k up
//!         otherwise         -> take the first row of untried[k] in the order of the list, place a piece there
//!                              k = last column -> a solution
//!                              untried[k+1] = the rows of column k+1 that no piece attacks
//! ```
//!
//! For every later column the search keeps the rows that the placed pieces attack. So it notices at once that
//! a column has no free row, or a row no free column. While many columns remain, a second search checks
//! whether the current pieces have any solution at all; it takes the column with the fewest free rows first.
//! Without that check the first solution of n = 30 would take seconds. Memory is n² words, whatever the
//! number of solutions.

use queens::{Board, Classified};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use thiserror::Error;

use crate::attacks::{AttackTable, COLUMNS, RowsByColumn, bits};
use crate::placement::Placement;
use crate::setting::Setting;

/// With fewer columns to come it is not worth while to look ahead for a solution.
const LOOK_AHEAD: u32 = 14;

/// The solutions of a setting, each once, found lazily.
#[derive(Clone, Debug)]
pub struct Solutions {
    board: Board,
    attacks: AttackTable,
    /// For each column, all rows in those on its right, none in the others.
    to_come: Vec<RowsByColumn>,
    /// The rows in the order in which they are tried, and the place of each row in that order.
    order: Vec<u8>,
    places: Vec<u32>,
    /// For each column begun, the places of the rows untried, one bit each.
    untried: Vec<u32>,
    /// For each column begun, the rows attacked in every column by the pieces left of it.
    attacked: Vec<RowsByColumn>,
    rows: Vec<u8>,
}

/// A list that does not fit the board.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the list to begin from has {given} numbers, but the board has {board} columns")]
pub struct WrongLength {
    /// The length of the list.
    pub given: u8,
    /// The size of the board.
    pub board: Board,
}

impl Classified for WrongLength {}

impl Solutions {
    /// All solutions in ascending order of the rows by column.
    pub fn ascending(setting: Setting) -> Self {
        Self::in_order_of(setting, setting.board.lines().collect())
    }

    /// All solutions in the order of the permutations of the list, generated position by position. In each
    /// column the remaining rows are tried in the order of the list. The first permutation is the list
    /// itself.
    ///
    /// # Errors
    /// [`WrongLength`] if the list is of another board.
    pub fn from_list(setting: Setting, list: &Placement) -> Result<Self, WrongLength> {
        if list.n() != setting.board.n() {
            return Err(WrongLength { given: list.n(), board: setting.board });
        }
        Ok(Self::in_order_of(setting, list.rows().to_vec()))
    }

    /// All solutions from a random start: in the order of a list that follows from the seed.
    pub fn from_random(setting: Setting, seed: u64) -> Self {
        let mut list: Vec<u8> = setting.board.lines().collect();
        list.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        Self::in_order_of(setting, list)
    }

    fn in_order_of(setting: Setting, order: Vec<u8>) -> Self {
        let n = setting.board.n();
        let to_come = |column: u8| {
            let mut rows = [0; COLUMNS];
            rows[usize::from(column) + 1..usize::from(n)].fill(setting.board.full());
            rows
        };
        let mut places = vec![0; usize::from(n)];
        for (place, row) in (0u32..).zip(&order) {
            places[usize::from(*row)] = place;
        }
        Self {
            board: setting.board,
            attacks: AttackTable::of(setting),
            to_come: (0..n).map(to_come).collect(),
            order,
            places,
            untried: vec![setting.board.full()],
            attacked: vec![[0; COLUMNS]; usize::from(n)],
            rows: Vec::with_capacity(usize::from(n)),
        }
    }

    /// Places a piece in `row` of the next column. Returns whether every later column still has a free row,
    /// and every row without a piece a free column.
    fn place(&mut self, row: u8) -> bool {
        let column = self.rows.len();
        self.rows.push(row);
        let (before, after) = self.attacked.split_at_mut(column + 1);
        let Some(after) = after.first_mut() else { return true };
        let (before, to_come) = (&before[column], &self.to_come[column]);
        let attacks = self.attacks.over_columns(row, column);
        let (mut reached, mut stuck) = (0u32, false);
        for (((after, before), attacks), to_come) in after.iter_mut().zip(before).zip(attacks).zip(to_come) {
            *after = before | attacks;
            let free = to_come & !*after;
            reached |= free;
            stuck |= free == 0 && *to_come != 0;
        }
        let left = self.board.n() as usize - self.rows.len();
        !stuck && reached.count_ones() as usize >= left
    }

    /// Whether there is a solution with the pieces placed so far, as far as that is worth finding out.
    fn is_promising(&self) -> bool {
        let column = self.rows.len();
        let to_come = u32::MAX << column & self.board.full();
        to_come.count_ones() < LOOK_AHEAD || self.completes(&self.attacked[column], to_come)
    }

    /// Whether pieces can be placed in all of these columns too, the most crowded one first.
    fn completes(&self, attacked: &RowsByColumn, columns: u32) -> bool {
        let free = |column: u32| self.board.full() & !attacked[column as usize];
        let Some(column) = bits(columns).min_by_key(|column| free(*column).count_ones()) else { return true };
        let reached = bits(columns).fold(0, |reached, column| reached | free(column));
        reached.count_ones() >= columns.count_ones()
            && bits(free(column)).any(|row| {
                let attacks = self.attacks.over_columns(row as u8, column as usize);
                let mut after = *attacked;
                after.iter_mut().zip(attacks).for_each(|(after, attacks)| *after |= attacks);
                self.completes(&after, columns & !(1 << column))
            })
    }

    /// The places, in the order of the list, of the free rows in the next column.
    fn free_places(&self) -> u32 {
        let column = self.rows.len();
        let free = self.board.full() & !self.attacked[column][column];
        bits(free).fold(0, |places, row| places | 1 << self.places[row as usize])
    }
}

impl Iterator for Solutions {
    type Item = Placement;

    fn next(&mut self) -> Option<Placement> {
        while let Some(column) = self.untried.len().checked_sub(1) {
            self.rows.truncate(column);
            let untried = &mut self.untried[column];
            if *untried == 0 {
                self.untried.pop();
                continue;
            }
            let row = self.order[untried.trailing_zeros() as usize];
            *untried &= *untried - 1;
            let all_free = self.place(row);
            if self.rows.len() == usize::from(self.board.n()) {
                return Some(Placement::from_rows(self.rows.clone()));
            }
            if all_free && self.is_promising() {
                self.untried.push(self.free_places());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Piece, Surface};
    use proptest::prelude::*;
    use strum::VariantArray;

    fn queens(n: u8) -> Setting {
        Setting::queens(Board::new(n).unwrap())
    }

    #[test]
    fn solutions_of_8_are_92_in_ascending_order() {
        let all: Vec<_> = Solutions::ascending(queens(8)).collect();
        assert_eq!(all.len(), 92);
        assert_eq!(all[0].to_string(), "15863724");
        assert_eq!(all[91].to_string(), "84136275");
        assert!(all.is_sorted());
        assert!(all.iter().all(Placement::is_queens_solution));
    }

    #[test]
    fn solutions_are_as_many_as_the_published_counts() {
        for n in 1..=11 {
            let known = queens::known::totals(Board::new(n).unwrap()).unwrap().solutions();
            assert_eq!(Solutions::ascending(queens(n)).count() as u128, known, "n={n}");
        }
    }

    #[test]
    fn looking_ahead_loses_no_solution() {
        // From n = 15 on the search looks ahead. The lists begin like the textbook's search by hand.
        for n in [15, 16] {
            let (mut by_hand, mut rows) = (Vec::new(), Vec::new());
            naive(n, &mut rows, &mut by_hand, 500);
            let found: Vec<_> =
                Solutions::ascending(queens(n)).take(500).map(|p| p.rows().to_vec()).collect();
            assert_eq!(found, by_hand, "n={n}");
        }
    }

    fn naive(n: u8, rows: &mut Vec<u8>, found: &mut Vec<Vec<u8>>, enough: usize) {
        let column = rows.len();
        if column == usize::from(n) {
            found.push(rows.clone());
        }
        for row in (0..n).take_while(|_| column < usize::from(n)) {
            let is_free = |(c, r): (usize, &u8)| *r != row && usize::from(r.abs_diff(row)) != column - c;
            if found.len() < enough && rows.iter().enumerate().all(is_free) {
                rows.push(row);
                naive(n, rows, found, enough);
                rows.pop();
            }
        }
    }

    #[test]
    fn the_first_solution_of_n_30_comes_at_once() {
        let first = Solutions::ascending(queens(30)).next().unwrap();
        assert!(first.is_queens_solution());
        assert_eq!(
            &first.rows()[..5],
            [0, 2, 4, 1, 3],
            "1 3 5 2 4, the published first solution's beginning"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn solutions_follow_the_permutation_order_of_a_list(
            list in (4u8..=8).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
            surface in proptest::sample::select(Surface::VARIANTS),
            piece in proptest::sample::select(Piece::VARIANTS),
        ) {
            let list = Placement::new(list).unwrap();
            let setting = Setting { board: Board::new(list.n()).unwrap(), surface, piece };
            let found: Vec<_> = Solutions::from_list(setting, &list).unwrap().collect();
            let place = |row: &u8| list.rows().iter().position(|r| r == row).unwrap();
            let places = |p: &Placement| p.rows().iter().map(place).collect::<Vec<_>>();
            prop_assert!(found.is_sorted_by_key(places), "in the order of the list");
            let mut sorted = found;
            sorted.sort();
            prop_assert_eq!(sorted, Solutions::ascending(setting).collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_start_gives_all_solutions_by_seed() {
        let from = |seed| Solutions::from_random(queens(8), seed).collect::<Vec<_>>();
        assert_eq!(from(1), from(1));
        assert_ne!(from(1), from(2));
        assert_eq!(from(1).len(), 92);
    }

    #[test]
    fn a_list_of_another_length_is_refused() {
        let error = Solutions::from_list(queens(7), &"15863724".parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the list to begin from has 8 numbers, but the board has 7 columns");
    }
}

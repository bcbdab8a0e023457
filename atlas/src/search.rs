//! Backtracking as a process that is not tied to one order: sets of untried placements, one for each row.
//!
//! ```text
//! untried[1] = all columns
//! repeat: j = the deepest row with an untried placement; none -> there is no solution
//!         take the queens off rows j, j + 1, ...
//!         choose a column of untried[j], the smallest or any; take it out; place a queen there
//!         j = n -> a solution
//!         untried[j+1] = the columns of row j + 1 that no queen attacks
//! ```
//!
//! Random choices with [restarts](crate::restarts) after a number of placements find a first solution of
//! large boards; the smallest-first search would not find one in a lifetime.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::columns::{Columns, OccupiedLines};
use crate::placement::Placement;

/// How the next placement is chosen among the untried ones of its row.
#[derive(Debug)]
pub enum ColumnChoice {
    /// The smallest column: the same search every time.
    Smallest,
    /// In so many first rows any, each as likely as the others; in the others the smallest.
    Random(u8, Box<ChaCha8Rng>),
}

impl ColumnChoice {
    /// Random choices that follow from the seed and the number of the stream alone, on every machine.
    pub fn random(seed: u64, stream: u64) -> Self {
        Self::random_in_first_rows(u8::MAX, seed, stream)
    }

    /// The same in so many first rows alone, and the smallest column in the others.
    pub fn random_in_first_rows(rows: u8, seed: u64, stream: u64) -> Self {
        ColumnChoice::Random(rows, Box::new(random_numbers(seed, stream)))
    }

    fn among(&mut self, columns: &Columns, row: u8) -> u8 {
        let before = match self {
            ColumnChoice::Random(rows, rng) if row < *rows => rng.random_range(0..columns.len()),
            ColumnChoice::Smallest | ColumnChoice::Random(..) => 0,
        };
        columns.nth(before).expect("a choice is made among at least one")
    }
}

/// Random numbers that follow from the seed and the number of the stream alone, on every machine.
pub(crate) fn random_numbers(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// The effect of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// Placed a queen in this row and column, both from 0.
    Placed {
        /// The row.
        row: u8,
        /// The column.
        column: u8,
    },
    /// No row has an untried placement: there is no solution.
    Exhausted,
}

/// A search under way: queens in the first rows, and the untried placements of these and the next.
#[derive(Clone, Debug)]
pub struct Backtracking {
    n: u8,
    queens: Vec<u8>,
    untried: Vec<Columns>,
    lines: OccupiedLines,
    placements: u64,
}

impl Backtracking {
    /// A search of the n x n board, 1 <= n <= 255, that has placed nothing yet.
    ///
    /// # Panics
    /// If n is 0.
    pub fn new(n: u8) -> Self {
        assert!(n > 0, "a board has at least one row");
        Self {
            n,
            queens: Vec::new(),
            untried: vec![Columns::all(n)],
            lines: OccupiedLines::new(n),
            placements: 0,
        }
    }

    /// Places one queen, after taking off those that have nothing untried behind them.
    pub fn step(&mut self, choice: &mut ColumnChoice) -> SearchStep {
        while self.untried.last().is_some_and(Columns::is_empty) {
            self.untried.pop();
            self.queens.truncate(self.untried.len());
            if let Some(column) = self.queens.pop() {
                self.lines.flip(self.queens.len() as u8, column);
            }
        }
        let Some(untried) = self.untried.last_mut() else { return SearchStep::Exhausted };
        let row = self.queens.len() as u8;
        let column = choice.among(untried, row);
        untried.remove(column);
        self.queens.push(column);
        self.lines.flip(row, column);
        self.placements += 1;
        if row + 1 < self.n {
            self.untried.push(self.lines.free(row + 1));
        }
        SearchStep::Placed { row, column }
    }

    /// Searches until a solution is found or `limit` placements have been made in all. `None` if no solution
    /// is found.
    pub fn run(&mut self, choice: &mut ColumnChoice, limit: u64) -> Option<Placement> {
        while self.placements < limit && self.solution().is_none() {
            if self.step(choice) == SearchStep::Exhausted {
                return None;
            }
        }
        self.solution()
    }

    /// The solution, once there is a queen in every row.
    pub fn solution(&self) -> Option<Placement> {
        (self.queens.len() == usize::from(self.n)).then(|| {
            let mut rows = vec![0; self.queens.len()];
            (0u8..).zip(&self.queens).for_each(|(row, column)| rows[usize::from(*column)] = row);
            Placement::from_rows(rows)
        })
    }

    /// How many queens have been placed since the beginning, those taken off again included.
    pub fn placements(&self) -> u64 {
        self.placements
    }

    /// The columns of the queens on the board, by row, both from 0.
    pub fn queens(&self) -> &[u8] {
        &self.queens
    }

    /// For each row begun, the columns not tried yet.
    pub fn untried(&self) -> &[Columns] {
        &self.untried
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::solutions::Solutions;
    use proptest::prelude::*;
    use queens::Board;

    /// The naive search of the first solution: (squares looked at, queens placed).
    fn naive(n: usize, queens: &mut Vec<usize>, looked_at: &mut u64, placed: &mut u64) -> bool {
        for column in 0..n {
            *looked_at += 1;
            let row = queens.len();
            if queens.iter().enumerate().all(|(r, c)| *c != column && c.abs_diff(column) != row - r) {
                *placed += 1;
                queens.push(column);
                if row + 1 == n || naive(n, queens, looked_at, placed) {
                    return true;
                }
                queens.pop();
            }
        }
        false
    }

    #[test]
    fn smallest_first_matches_naive_search_and_a140450() {
        // OEIS A140450, n = 4 to 19: the squares that the naive search tests, attacked ones included.
        let published = [
            26, 15, 171, 42, 876, 333, 975, 517, 3_066, 1_365, 26_495, 20_280, 160_712, 91_222, 743_229,
            48_184,
        ];
        for (n, squares) in (4u8..).zip(published) {
            let (mut looked_at, mut placed) = (0, 0);
            assert!(naive(usize::from(n), &mut Vec::new(), &mut looked_at, &mut placed));
            assert_eq!(looked_at, squares, "n={n}");
            let mut search = Backtracking::new(n);
            assert!(search.run(&mut ColumnChoice::Smallest, u64::MAX).unwrap().is_queens_solution());
            assert_eq!(search.placements(), placed, "n={n}");
        }
    }

    #[test]
    fn smallest_first_finds_first_listed_solution() {
        let first = Solutions::ascending(Setting::queens(Board::new(12).unwrap())).next().unwrap();
        let mut search = Backtracking::new(12);
        search.run(&mut ColumnChoice::Smallest, u64::MAX).unwrap();
        assert_eq!(search.queens(), first.rows());
    }

    #[test]
    fn board_without_solution_exhausts_search() {
        for n in [2, 3] {
            for mut choice in [ColumnChoice::Smallest, ColumnChoice::random(1, 0)] {
                assert_eq!(Backtracking::new(n).run(&mut choice, u64::MAX), None);
            }
        }
    }

    proptest! {
        #[test]
        fn untried_sets_exclude_attacked_squares(
            n in 1u8..=255, seed: u64, steps in 1usize..300
        ) {
            let (mut search, mut choice) = (Backtracking::new(n), ColumnChoice::random(seed, 0));
            for _ in 0..steps {
                if search.solution().is_some() || search.step(&mut choice) == SearchStep::Exhausted {
                    break;
                }
                let row = search.untried().len() - 1;
                let attacked = |column: u8| (0..row).zip(search.queens()).any(|(r, c)| {
                    *c == column || usize::from(c.abs_diff(column)) == row - r
                });
                if row == search.queens().len() {
                    let expected: Vec<u8> = (0..n).filter(|column| !attacked(*column)).collect();
                    prop_assert_eq!(search.untried()[row].iter().collect::<Vec<_>>(), expected);
                }
            }
        }
    }
}

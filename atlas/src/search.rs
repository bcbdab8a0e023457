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
//! Choosing at random, and beginning anew after a number of placements, finds a first solution of large boards that
//! the smallest-first search would not find in a lifetime (Gomes, Selman, Crato, Kautz, *Heavy-tailed phenomena in
//! satisfiability and constraint satisfaction problems*, J. Automated Reasoning 24, 2000).

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::placement::Placement;

/// Words of a set of columns: enough for n = 255.
const WORDS: usize = 4;

/// A set of columns, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns([u64; WORDS]);

impl Columns {
    fn all(n: u8) -> Self {
        let mut columns = Self::default();
        (0..n).for_each(|column| columns.0[usize::from(column / 64)] |= 1 << (column % 64));
        columns
    }

    /// How many there are.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The columns, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|column| self.0[usize::from(column / 64)] >> (column % 64) & 1 == 1)
    }

    /// The column that has `before` smaller ones in the set, if there is one.
    pub fn nth(&self, mut before: u32) -> Option<u8> {
        for (index, &word) in self.0.iter().enumerate() {
            let mut word = word;
            let here = word.count_ones();
            if before < here {
                (0..before).for_each(|_| word &= word - 1);
                return Some((64 * index) as u8 + word.trailing_zeros() as u8);
            }
            before -= here;
        }
        None
    }

    fn remove(&mut self, column: u8) {
        self.0[usize::from(column / 64)] &= !(1 << (column % 64));
    }
}

/// How the next placement is chosen among the untried ones of its row.
#[derive(Debug)]
pub enum Choice {
    /// The smallest column: the same search every time.
    Smallest,
    /// Any, each as likely as the others.
    Random(Box<ChaCha8Rng>),
}

impl Choice {
    /// Random choices that follow from the seed and the number of the stream alone, on every machine.
    pub fn random(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Choice::Random(Box::new(rng))
    }

    fn among(&mut self, columns: &Columns) -> u8 {
        let before = match self {
            Choice::Smallest => 0,
            Choice::Random(rng) => rng.random_range(0..columns.len()),
        };
        columns.nth(before).expect("a choice is made among at least one")
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Placed a queen in this row and column, both from 0.
    Placed {
        /// The row.
        row: u8,
        /// The column.
        column: u8,
    },
    /// Nothing: no row has an untried placement. There is no solution.
    Exhausted,
}

/// A search under way: queens in the first rows, and the untried placements of these and the next.
#[derive(Clone, Debug)]
pub struct Search {
    n: u8,
    queens: Vec<u8>,
    untried: Vec<Columns>,
    lines: Lines,
    placements: u64,
}

impl Search {
    /// A search of the n x n board, 1 <= n <= 255, that has placed nothing yet.
    ///
    /// # Panics
    /// If n is 0.
    pub fn new(n: u8) -> Self {
        assert!(n > 0, "a board has at least one row");
        Self { n, queens: Vec::new(), untried: vec![Columns::all(n)], lines: Lines::new(n), placements: 0 }
    }

    /// Places one queen, after taking off those that have nothing untried behind them.
    pub fn step(&mut self, choice: &mut Choice) -> Step {
        while self.untried.last().is_some_and(Columns::is_empty) {
            self.untried.pop();
            self.queens.truncate(self.untried.len());
            if let Some(column) = self.queens.pop() {
                self.lines.flip(self.queens.len() as u8, column);
            }
        }
        let Some(untried) = self.untried.last_mut() else { return Step::Exhausted };
        let (row, column) = (self.queens.len() as u8, choice.among(untried));
        untried.remove(column);
        self.queens.push(column);
        self.lines.flip(row, column);
        self.placements += 1;
        if row + 1 < self.n {
            self.untried.push(self.lines.free(row + 1));
        }
        Step::Placed { row, column }
    }

    /// Goes on until there is a solution or that many placements have been made in all. Nothing when there is none.
    pub fn run(&mut self, choice: &mut Choice, limit: u64) -> Option<Placement> {
        while self.placements < limit && self.solution().is_none() {
            if self.step(choice) == Step::Exhausted {
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

/// The lines that queens stand on, one bit each.
#[derive(Clone, Debug)]
struct Lines {
    last: usize,
    full: Columns,
    columns: [u64; WORDS],
    /// Bit column + row, with a word to spare for reading across words.
    falling: [u64; 2 * WORDS + 1],
    /// Bit column - row + last.
    rising: [u64; 2 * WORDS + 1],
}

impl Lines {
    fn new(n: u8) -> Self {
        Self {
            last: usize::from(n) - 1,
            full: Columns::all(n),
            columns: [0; WORDS],
            falling: [0; 2 * WORDS + 1],
            rising: [0; 2 * WORDS + 1],
        }
    }

    /// Puts a queen there, or takes it off.
    fn flip(&mut self, row: u8, column: u8) {
        let (row, column) = (usize::from(row), usize::from(column));
        let flip = |words: &mut [u64], bit: usize| words[bit / 64] ^= 1 << (bit % 64);
        flip(&mut self.columns, column);
        flip(&mut self.falling, column + row);
        flip(&mut self.rising, column + self.last - row);
    }

    /// The columns of the row that no queen attacks.
    fn free(&self, row: u8) -> Columns {
        let row = usize::from(row);
        let from = |words: &[u64], bit: usize, index: usize| {
            let (word, shift) = (index + bit / 64, bit % 64);
            words[word] >> shift | (words[word + 1] << 1 << (63 - shift))
        };
        let mut free = self.full;
        for index in 0..=self.last / 64 {
            free.0[index] &= !(self.columns[index]
                | from(&self.falling, row, index)
                | from(&self.rising, self.last - row, index));
        }
        free
    }
}

/// A first solution, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The solution.
    pub solution: Placement,
    /// Placements over all attempts.
    pub placements: u64,
    /// Attempts, the successful one included.
    pub attempts: u64,
}

/// Searches at random, beginning anew after every `limit` placements, until there is a solution. Nothing if there is
/// none: n = 2 and n = 3.
pub fn with_restarts(n: u8, choice: &mut Choice, limit: u64) -> Option<Found> {
    if n == 2 || n == 3 {
        return None;
    }
    let (mut placements, mut attempts) = (0, 0);
    loop {
        let mut search = Search::new(n);
        let solution = search.run(choice, limit.max(u64::from(n)));
        placements += search.placements();
        attempts += 1;
        if let Some(solution) = solution {
            return Some(Found { solution, placements, attempts });
        }
    }
}

/// Solutions found one independently of the other, each by a search with restarts: for boards too large for a list.
/// Without end, and one may come twice; nothing for n = 2 and n = 3.
pub fn at_random(n: u8, seed: u64) -> impl Iterator<Item = Placement> {
    (0..).map_while(move |stream| {
        let found = with_restarts(n, &mut Choice::random(seed, stream), usual_limit(n));
        found.map(|found| found.solution)
    })
}

/// A limit that serves for a first solution of any n.
pub fn usual_limit(n: u8) -> u64 {
    5 * u64::from(n)
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
    fn smallest_first_places_as_many_queens_as_the_naive_search_whose_squares_are_published() {
        // OEIS A140450, n = 4 to 19: the squares that the naive search looks at, attacked ones included.
        let published = [
            26, 15, 171, 42, 876, 333, 975, 517, 3_066, 1_365, 26_495, 20_280, 160_712, 91_222, 743_229,
            48_184,
        ];
        for (n, squares) in (4u8..).zip(published) {
            let (mut looked_at, mut placed) = (0, 0);
            assert!(naive(usize::from(n), &mut Vec::new(), &mut looked_at, &mut placed));
            assert_eq!(looked_at, squares, "n={n}");
            let mut search = Search::new(n);
            assert!(search.run(&mut Choice::Smallest, u64::MAX).unwrap().is_queens_solution());
            assert_eq!(search.placements(), placed, "n={n}");
        }
    }

    #[test]
    fn smallest_first_finds_the_first_solution_of_the_list_column_by_row() {
        let first = Solutions::ascending(Setting::queens(Board::new(12).unwrap())).next().unwrap();
        let mut search = Search::new(12);
        search.run(&mut Choice::Smallest, u64::MAX).unwrap();
        assert_eq!(search.queens(), first.rows());
    }

    #[test]
    fn a_board_without_solution_exhausts_the_search_whatever_the_choice() {
        for n in [2, 3] {
            for mut choice in [Choice::Smallest, Choice::random(1, 0)] {
                assert_eq!(Search::new(n).run(&mut choice, u64::MAX), None);
            }
            assert_eq!(with_restarts(n, &mut Choice::Smallest, 10), None);
        }
    }

    #[test]
    fn every_n_from_4_to_200_has_a_first_solution_by_restarts() {
        for n in 4..=200 {
            let found = with_restarts(n, &mut Choice::random(1, u64::from(n)), usual_limit(n)).unwrap();
            assert!(found.solution.n() == n && found.solution.is_queens_solution(), "n={n}");
        }
    }

    proptest! {
        #[test]
        fn the_untried_sets_hold_only_squares_that_no_queen_above_attacks(
            n in 1u8..=255, seed: u64, steps in 1usize..300
        ) {
            let (mut search, mut choice) = (Search::new(n), Choice::random(seed, 0));
            for _ in 0..steps {
                if search.solution().is_some() || search.step(&mut choice) == Step::Exhausted {
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

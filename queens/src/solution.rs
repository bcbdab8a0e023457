//! Solutions of a board, all or at random: the samples by which a plan is checked.
//!
//! ```text
//! search: of the rows without a queen, one with the fewest free squares; none left? a solution
//!     for each free square of that row, in random order:  place a queen there, and on the images that a turn asks for
//! ```

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;

use arrayvec::ArrayVec;

use crate::bits::{scaled, set_bits};
use crate::board::{Board, Square};
use crate::symmetric::{Placed, Turn};
use crate::symmetry::Symmetry;

/// A random search begins again after this many placements, because few searches take very long.
const MOST_PLACEMENTS: u32 = 1000;

/// So many random searches without a solution mean that there is none.
const MOST_SEARCHES: u32 = 1000;

/// A placement of n queens, none of which attacks another.
///
/// It is written as the rows by column, both from 1, rows from the bottom, as `diadem atlas` writes placements.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Solution {
    board: Board,
    /// The column of each row's queen.
    columns: ArrayVec<u8, 32>,
}

impl Solution {
    /// One solution of each orbit, for boards so small that all are found at once.
    ///
    /// ```
    /// use queens::{Board, Solution};
    ///
    /// assert_eq!(Solution::of_orbits(Board::new(8)?).len(), 12);
    /// # Ok::<(), queens::BoardError>(())
    /// ```
    pub fn of_orbits(board: Board) -> Vec<Self> {
        let mut found = Vec::new();
        let mut visit = |solution: Self| {
            if solution.images().first() == Some(&solution) {
                found.push(solution);
            }
            ControlFlow::Continue(())
        };
        let mut search = Search { board, turn: None, left: u32::MAX, random: None, visit: &mut visit };
        let _ = search.descend(Placed::default(), &mut board.lines().collect::<ArrayVec<_, _>>());
        found
    }

    /// A random solution, or a random solution that the turn fixes. `None` if the board has none. Randomness comes from the
    /// caller, as fractions of 2^64. Not all solutions are equally likely.
    pub fn random(board: Board, turn: Option<Turn>, random: &mut dyn FnMut() -> u64) -> Option<Self> {
        if turn == Some(Turn::Quarter) && board.n() % 4 > 1 {
            // Around the centre queens come in fours.
            return None;
        }
        let mut found = None;
        for _ in 0..MOST_SEARCHES {
            let mut visit = |solution| {
                found = Some(solution);
                ControlFlow::Break(())
            };
            let left = MOST_PLACEMENTS;
            let mut search = Search { board, turn, left, random: Some(&mut *random), visit: &mut visit };
            let _ = search.descend(Placed::default(), &mut board.lines().collect::<ArrayVec<_, _>>());
            if found.is_some() {
                break;
            }
        }
        found
    }

    /// The board.
    pub fn board(&self) -> Board {
        self.board
    }

    /// The queens, from the top row to the bottom row.
    pub fn queens(&self) -> impl Iterator<Item = Square> + '_ {
        self.board.lines().zip(&self.columns).map(|(row, col)| Square::new(row, *col))
    }

    /// Whether a queen stands on the square.
    pub fn has(&self, square: Square) -> bool {
        self.columns[usize::from(square.row)] == square.col
    }

    /// The row of the queen in that column.
    pub fn row_of(&self, col: u8) -> u8 {
        self.queens().find(|queen| queen.col == col).expect("each column has a queen").row
    }

    /// The image under a symmetry.
    #[must_use]
    pub fn image(&self, symmetry: Symmetry) -> Self {
        let mut columns = self.columns.clone();
        for image in self.queens().map(|queen| symmetry.image(self.board, queen)) {
            columns[usize::from(image.row)] = image.col;
        }
        Self { board: self.board, columns }
    }

    /// The different images: eight, or four or two if a turn fixes it.
    pub fn images(&self) -> BTreeSet<Self> {
        Symmetry::ALL.into_iter().map(|symmetry| self.image(symmetry)).collect()
    }

    /// Whether the turn fixes it.
    pub fn is_fixed_by(&self, turn: Turn) -> bool {
        self.queens().all(|queen| turn.orbit(self.board, queen).all(|image| self.has(image)))
    }
}

impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.board.lines().map(|col| (self.board.n() - self.row_of(col)).to_string());
        f.write_str(&rows.collect::<Vec<_>>().join(","))
    }
}

struct Search<'a> {
    board: Board,
    /// The turn that fixes what is searched for.
    turn: Option<Turn>,
    /// Placements until it is broken off.
    left: u32,
    /// `None` takes squares in ascending order.
    random: Option<&'a mut dyn FnMut() -> u64>,
    visit: &'a mut dyn FnMut(Solution) -> ControlFlow<()>,
}

impl Search<'_> {
    /// `columns` has the columns of the rows that are occupied.
    fn descend(&mut self, placed: Placed, columns: &mut ArrayVec<u8, 32>) -> ControlFlow<()> {
        let empty = self.board.lines().filter(|row| !placed.has_row(*row));
        let rows = empty.map(|row| (row, placed.free(self.board, row)));
        let Some((row, mut free)) = rows.min_by_key(|(_, free)| free.count_ones()) else {
            return (self.visit)(Solution { board: self.board, columns: columns.clone() });
        };
        while free != 0 {
            let col = self.choose(free);
            free &= !(1 << col);
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                return ControlFlow::Break(());
            }
            if let Some(next) = self.place(placed, Square::new(row, col), columns) {
                self.descend(next, columns)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// One of these columns.
    fn choose(&mut self, free: u32) -> u8 {
        let random = self.random.as_mut().map_or(0, |random| random());
        let at = scaled(random, free.count_ones().into()) as usize;
        set_bits(free).nth(at).expect("a number below that of the columns")
    }

    /// Adds a queen, with its images under the turn. `None` if one of them is attacked.
    fn place(&self, placed: Placed, square: Square, columns: &mut ArrayVec<u8, 32>) -> Option<Placed> {
        let add = |placed: Placed, square: Square, columns: &mut ArrayVec<u8, 32>| {
            columns[usize::from(square.row)] = square.col;
            (!placed.attacks(self.board, square)).then(|| placed.with(self.board, square))
        };
        match self.turn {
            None => add(placed, square, columns),
            Some(turn) => {
                turn.orbit(self.board, square).try_fold(placed, |placed, image| add(placed, image, columns))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known;

    fn places() -> impl FnMut() -> u64 {
        let mut state = 0u64;
        move || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state ^ state >> 29
        }
    }

    #[test]
    fn orbits_of_small_boards_are_the_published_ones() {
        for n in 1..=10 {
            let board = Board::new(n).unwrap();
            let found = Solution::of_orbits(board);
            assert_eq!(found.len() as u128, known::totals(board).unwrap().fundamental(), "n={n}");
            let of_size = |size| found.iter().filter(|solution| solution.images().len() == size).count();
            assert_eq!(of_size(4) as u128, known::symmetric(board).p, "n={n}");
            assert_eq!(of_size(2) as u128, known::symmetric(board).r, "n={n}");
        }
    }

    #[test]
    fn random_solutions_differ_and_are_solutions() {
        let mut places = places();
        for n in [8, 13, 20, 28, 29, 32] {
            let board = Board::new(n).unwrap();
            for turn in [None, Some(Turn::Half), Some(Turn::Quarter)] {
                let found: BTreeSet<_> =
                    (0..8).filter_map(|_| Solution::random(board, turn, &mut places)).collect();
                // n = 8 has no solution that the quarter turn fixes.
                assert_eq!(found.is_empty(), (n, turn) == (8, Some(Turn::Quarter)), "n={n} {turn:?}");
                assert!(found.len() > 1 || n < 20, "n={n} {turn:?}");
                for solution in found {
                    let attacked = |a: &Square| solution.queens().any(|b| a.attacks(b));
                    assert!(!solution.queens().any(|queen| attacked(&queen)), "{solution}");
                    assert!(turn.is_none_or(|turn| solution.is_fixed_by(turn)), "{solution}");
                }
            }
        }
    }

    #[test]
    fn solution_is_written_as_rows_by_column() {
        let found = Solution::of_orbits(Board::new(8).unwrap());
        assert!(found.iter().any(|solution| {
            solution.images().iter().any(|image| image.to_string() == "1,5,8,6,3,7,2,4")
        }));
    }
}

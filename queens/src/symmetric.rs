//! The direct search for the completions that a turn of the board fixes: the symmetric counts p and r.
//!
//! A queen is placed together with its images under the turn, in pairs for the half turn, in fours for the
//! quarter turn. It is always placed in the first row that is still empty. This finds exactly the solutions
//! that the turn fixes and visits no other solution, so all point-symmetric solutions of n = 27 take minutes.

use crate::bits::set_bits;
use crate::board::{Board, Square};
use crate::kernel::{Count, Stop};
use crate::position::Position;
use crate::symmetry::Symmetry;

/// Nodes between two looks at the stop flag.
const POLL: u64 = 1 << 14;

/// A turn that fixes more than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// By 180 degrees.
    Half,
    /// By 90 degrees.
    Quarter,
}

impl Turn {
    /// A square and its images, each once; the square itself first.
    pub(crate) fn orbit(self, board: Board, square: Square) -> impl Iterator<Item = Square> {
        let images: &[Symmetry] = match self {
            Turn::Half => &[Symmetry::Identity, Symmetry::HalfTurn],
            Turn::Quarter => {
                &[Symmetry::Identity, Symmetry::QuarterTurn, Symmetry::HalfTurn, Symmetry::ThreeQuarterTurn]
            }
        };
        // The only square that a turn fixes is the centre, and the quarter turn moves every other one four times.
        let distinct = if images[1].image(board, square) == square { 1 } else { images.len() };
        images[..distinct].iter().map(move |s| s.image(board, square))
    }
}

/// The number of completions of the position that the turn fixes, or nothing if it was stopped.
///
/// The turn must fix the placed queens as a set, as in constellations of class point or rotational. Otherwise
/// no solution is fixed and the count is 0. The count is also 0 if placed queens attack each other. Allowed
/// squares and boundary pairs are ignored: a symmetric count belongs to a constellation.
pub fn count_fixed(position: &Position, turn: Turn, stop: &Stop) -> Option<Count> {
    let board = position.board();
    let queens = position.queens();
    let closed = queens.iter().all(|q| turn.orbit(board, *q).all(|image| queens.contains(&image)));
    if !closed || !position.is_consistent() {
        return Some(Count::default());
    }
    let mut search = SymmetricSearch { board, turn, stop, completions: 0, nodes: 0 };
    let placed = queens.iter().fold(Placed::default(), |placed, q| placed.with(board, *q));
    search.descend(placed)?;
    Some(Count { completions: search.completions, nodes: search.nodes })
}

/// The lines that queens occupy: rows, columns and both kinds of diagonals, one bit each.
#[derive(Clone, Copy, Default)]
pub(crate) struct Placed {
    rows: u32,
    cols: u32,
    /// Bit row + col.
    rising: u64,
    /// Bit col - row + n - 1.
    falling: u64,
}

impl Placed {
    pub(crate) fn with(self, board: Board, Square { row, col }: Square) -> Self {
        Self {
            rows: self.rows | 1 << row,
            cols: self.cols | 1 << col,
            rising: self.rising | 1 << (row + col),
            falling: self.falling | 1 << (board.last() + col - row),
        }
    }

    pub(crate) fn has_row(self, row: u8) -> bool {
        self.rows >> row & 1 == 1
    }

    /// The columns of `row` that no queen attacks.
    pub(crate) fn free(self, board: Board, row: u8) -> u32 {
        let attacked =
            self.cols | (self.rising >> row) as u32 | (self.falling >> (board.last() - row)) as u32;
        if self.has_row(row) { 0 } else { board.full() & !attacked }
    }

    pub(crate) fn attacks(self, board: Board, Square { row, col }: Square) -> bool {
        self.free(board, row) >> col & 1 == 0
    }
}

struct SymmetricSearch<'a> {
    board: Board,
    turn: Turn,
    stop: &'a Stop,
    completions: u64,
    nodes: u64,
}

impl SymmetricSearch<'_> {
    fn descend(&mut self, placed: Placed) -> Option<()> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(POLL) && self.stop.is_stopped() {
            return None;
        }
        let row = placed.rows.trailing_ones() as u8;
        if row == self.board.n() {
            self.completions = self.completions.checked_add(1).expect("a symmetric count fits 64 bits");
            return Some(());
        }
        for col in set_bits(placed.free(self.board, row)) {
            if let Some(next) = self.place_orbit(placed, Square::new(row, col)) {
                self.descend(next)?;
            }
        }
        Some(())
    }

    /// Adds the queens on the orbit of `square`; `None` if one of them is attacked.
    fn place_orbit(&self, placed: Placed, square: Square) -> Option<Placed> {
        self.turn.orbit(self.board, square).try_fold(placed, |placed, image| {
            (!placed.attacks(self.board, image)).then(|| placed.with(self.board, image))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known;

    #[test]
    fn fixed_solutions_match_the_published_classes() {
        for n in 2..=18 {
            let board = Board::new(n).unwrap();
            let known = known::totals(board).unwrap();
            let empty = Position::empty(board);
            let fixed = |turn| u128::from(count_fixed(&empty, turn, &Stop::new()).unwrap().completions);
            assert_eq!(fixed(Turn::Half), 4 * known.p + 2 * known.r, "n={n}");
            assert_eq!(fixed(Turn::Quarter), 2 * known.r, "n={n}");
        }
    }

    #[test]
    fn quarter_turn_counts_of_large_boards_are_published() {
        for n in 19..=29 {
            let board = Board::new(n).unwrap();
            let found = count_fixed(&Position::empty(board), Turn::Quarter, &Stop::new()).unwrap();
            assert_eq!(u128::from(found.completions), 2 * known::symmetric(board).r, "n={n}");
        }
    }

    #[test]
    fn a_stopped_search_yields_nothing() {
        let stop = Stop::new();
        stop.stop();
        assert_eq!(count_fixed(&Position::empty(Board::new(20).unwrap()), Turn::Half, &stop), None);
    }
}

//! The symmetric counts p and r once more, by another algorithm, to check those of [`symmetric`](crate::symmetric).
//!
//! The turn sorts the squares into orbits, and a fixed solution occupies each orbit as a whole or not at all.
//! So it is a set of orbits that do not attack each other and that occupy every row. This is an exact cover.
//! The search takes the row with the fewest remaining possibilities next.
//!
//! ```text
//! conflicts(a): the orbits that cannot stand beside orbit a, itself included, found by looking at pairs of queens
//! search(possible): of the rows without a queen, one with the fewest possible orbits; none left? a solution
//!     for each possible orbit a of that row:  search(possible - conflicts(a))
//! ```
//!
//! It shares with the other search only what a symmetry does to a square and when two queens attack each other: no
//! lines, no diagonals, no order of rows.

use crate::bits::set_bits;
use crate::board::{Board, Square};
use crate::kernel::Stop;
use crate::position::Position;
use crate::symmetric::Turn;
use crate::symmetry::Symmetry;

/// Nodes between two looks at the stop flag.
const POLL: u64 = 1 << 14;

/// A set of orbits: 32 x 32 squares in pairs are 512.
type Orbits = [u64; 8];

fn insert(set: &mut Orbits, orbit: usize) {
    set[orbit / 64] |= 1 << (orbit % 64);
}

/// The number of completions of the position that the turn fixes, or nothing if it was stopped; the same number as
/// [`count_fixed`](crate::symmetric::count_fixed) finds.
pub fn count_fixed_again(position: &Position, turn: Turn, stop: &Stop) -> Option<u64> {
    let board = position.board();
    let orbits = orbits_of(board, turn);
    let queens = position.queens();
    let is_placed = |orbit: &Vec<Square>| orbit.iter().any(|square| queens.contains(square));
    let placed: Vec<&Vec<Square>> = orbits.iter().filter(|orbit| is_placed(orbit)).collect();
    let whole = placed.iter().all(|orbit| orbit.iter().all(|square| queens.contains(square)));
    if !whole || !position.is_consistent() {
        return Some(0);
    }
    let free: Vec<&Vec<Square>> = orbits
        .iter()
        .filter(|orbit| !is_placed(orbit) && !attack(orbit, orbit))
        .filter(|orbit| !placed.iter().any(|placed| attack(orbit, placed)))
        .collect();
    // Queens that stand twice in a row attack each other, so each row is covered once.
    let rows = board.lines().filter(|row| queens.iter().all(|queen| queen.row != *row)).collect();
    OrbitSearch::new(rows, &free, stop).count()
}

/// Whether a queen of one orbit attacks one of the other. The turn takes both orbits to themselves, so one queen of the first
/// speaks for all.
fn attack(orbit: &[Square], other: &[Square]) -> bool {
    other.iter().any(|square| orbit[0].attacks(*square))
}

/// The squares of the board, sorted into orbits of the turn.
fn orbits_of(board: Board, turn: Turn) -> Vec<Vec<Square>> {
    let step = match turn {
        Turn::Half => Symmetry::HalfTurn,
        Turn::Quarter => Symmetry::QuarterTurn,
    };
    let mut orbits: Vec<Vec<Square>> = Vec::new();
    for square in board.lines().flat_map(|row| board.lines().map(move |col| Square::new(row, col))) {
        let around = std::iter::successors(Some(square), |at| {
            Some(step.image(board, *at)).filter(|next| *next != square)
        });
        // Each orbit once: from its smallest square.
        if around.clone().all(|other| square <= other) {
            orbits.push(around.collect());
        }
    }
    orbits
}

struct OrbitSearch<'a> {
    /// For each row without a queen, the orbits that put one there.
    rows: Vec<Orbits>,
    /// For each orbit, the entries of `rows` that it covers.
    covered: Vec<u32>,
    /// For each orbit, those that cannot stand beside it.
    conflicts: Vec<Orbits>,
    /// The number of words of a set that have members.
    words: usize,
    stop: &'a Stop,
    nodes: u64,
    found: u64,
}

impl<'a> OrbitSearch<'a> {
    /// Of ways to cover those rows, ascending, by some of the orbits.
    fn new(lines: Vec<u8>, orbits: &[&Vec<Square>], stop: &'a Stop) -> Self {
        let mut rows = vec![Orbits::default(); lines.len()];
        let mut covered = vec![0; orbits.len()];
        let mut conflicts = vec![Orbits::default(); orbits.len()];
        for (a, orbit) in orbits.iter().enumerate() {
            for square in *orbit {
                let row = lines.binary_search(&square.row).expect("the row of a free square is open");
                insert(&mut rows[row], a);
                covered[a] |= 1 << row;
            }
            insert(&mut conflicts[a], a);
            for b in (0..a).filter(|b| attack(orbit, orbits[*b])) {
                insert(&mut conflicts[a], b);
                insert(&mut conflicts[b], a);
            }
        }
        Self { rows, covered, conflicts, words: orbits.len().div_ceil(64), stop, nodes: 0, found: 0 }
    }

    fn count(mut self) -> Option<u64> {
        let mut all = Orbits::default();
        (0..self.covered.len()).for_each(|orbit| insert(&mut all, orbit));
        self.descend(all, u32::MAX)?;
        Some(self.found)
    }

    /// `open` has a bit for each entry of `rows` that is not covered yet.
    fn descend(&mut self, possible: Orbits, open: u32) -> Option<()> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(POLL) && self.stop.is_stopped() {
            return None;
        }
        let choices = |row: &Orbits| -> u32 {
            (0..self.words).map(|word| (row[word] & possible[word]).count_ones()).sum()
        };
        let is_open = |row: &usize| open >> row & 1 == 1;
        let next = (0..self.rows.len()).filter(is_open).min_by_key(|row| choices(&self.rows[*row]));
        let Some(next) = next else {
            self.found = self.found.checked_add(1).expect("a symmetric count fits 64 bits");
            return Some(());
        };
        for word in 0..self.words {
            for orbit in set_bits(self.rows[next][word] & possible[word]) {
                let orbit = 64 * word + usize::from(orbit);
                let conflicts = self.conflicts[orbit];
                let rest = std::array::from_fn(|word| possible[word] & !conflicts[word]);
                self.descend(rest, open & !self.covered[orbit])?;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constellation::Constellation;
    use crate::symmetric::count_fixed;
    use crate::symmetry::SymmetryClass;

    fn both(position: &Position, turn: Turn) -> (u64, u64) {
        let first = count_fixed(position, turn, &Stop::new()).unwrap().completions;
        (first, count_fixed_again(position, turn, &Stop::new()).unwrap())
    }

    #[test]
    fn algorithms_agree_on_symmetric_constellations() {
        for n in 1..=16 {
            let board = Board::new(n).unwrap();
            let orbits =
                Constellation::orbits(board).filter(|orbit| orbit.class != SymmetryClass::Asymmetric);
            let positions = orbits.map(|orbit| Position::of_constellation(board, orbit.representative));
            for position in positions.chain([Position::empty(board)]) {
                for turn in [Turn::Half, Turn::Quarter] {
                    let (first, again) = both(&position, turn);
                    assert_eq!(first, again, "n={n} {turn:?} {:?}", position.queens());
                }
            }
        }
    }

    #[test]
    fn algorithms_agree_on_placements_of_no_plan() {
        let board = Board::new(9).unwrap();
        for first in 0..81u8 {
            for second in 0..81u8 {
                let [a, b] = [first, second].map(|at| Square::new(at / 9, at % 9));
                let position = Position::empty(board).with_queen(a).with_queen(b);
                for turn in [Turn::Half, Turn::Quarter] {
                    let (first, again) = both(&position, turn);
                    assert_eq!(first, again, "{turn:?} {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn a_stopped_search_yields_nothing() {
        let stop = Stop::new();
        stop.stop();
        assert_eq!(count_fixed_again(&Position::empty(Board::new(20).unwrap()), Turn::Half, &stop), None);
    }
}

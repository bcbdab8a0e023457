//! The search itself, once for all instruction sets.
//!
//! ```text
//! search: level 0 has one state; until no level has any:
//!     take a level; for each of its states:                       # a state is not full: it has a candidate
//!         take a candidate square out of the state, and form the child with a queen there
//!         keep the child on the next level if it may still be completed
//!         keep the state on its level if it has a candidate left
//! ```
//!
//! What makes it fast, in the order of what it gave (docs/performance.md has the figures):
//!
//! 1. `WIDTH` states at a time, without a branch that depends on them: survivors are packed to the end of a buffer.
//! 2. One candidate of each state a pass, and states with candidates left packed in place for the next pass: every
//!    lane always has a candidate, however differently many the states have.
//! 3. A child is looked at from further ahead: it is dropped if one of the next rows has no free square, and, when
//!    few rows are left, if a row or a column without a queen has none.
//! 4. Depth first between passes: the deepest level with [`BATCH`] states goes next, so that buffers stay in the
//!    cache; only when no level has as many goes the shallowest one.
//! 5. The last two rows are never searched: a child with two rows and two columns left has two ways to go on at
//!    most, and both are tested at once.
//! 6. The next vector of states is loaded before survivors are stored. Otherwise processors that once saw a load
//!    meet an earlier store make each load wait for the addresses of all earlier stores, which follow from counts.

use super::lanes::Lanes;
use super::levels::{CAPACITY, Levels};
use crate::kernel::{Count, Stop};
use crate::rows::FreeRow;

/// States that are worth a pass over a deeper level; well below [`CAPACITY`], so that a pass finds room for its
/// children.
const BATCH: usize = 256;

/// The most rows that a child is looked at.
const MOST_LOOKS: usize = 5;

/// The fewest free rows that the body can search.
pub(super) const FEWEST_ROWS: usize = 3;

/// One row that a child is looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    /// How far below the child's next row, at most 31.
    distance: u32,
    /// The squares that the placed queens leave open.
    open: u32,
}

/// What happens to the states of a level.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// How far the next free row is, at most 31.
    distance: u32,
    /// The next free rows.
    looks: [Look; MOST_LOOKS],
    /// The number of free rows that the children have left.
    left: usize,
}

/// The free rows of a position, prepared for the body.
#[derive(Clone, Debug)]
pub(super) struct Descent {
    steps: Vec<Step>,
    /// The open squares of the first free row.
    first: u32,
    /// The columns that need a queen.
    columns: u32,
}

impl Descent {
    /// Prepares at least [`FEWEST_ROWS`] free rows; `None` if there is a column that no queen can ever take.
    pub fn new(rows: &[FreeRow]) -> Option<Self> {
        debug_assert!(rows.len() >= FEWEST_ROWS);
        let columns = rows.iter().fold(0, |columns, row| columns | !row.blocked);
        // As many columns as rows are without a placed queen, and only those can have an open square.
        if (columns.count_ones() as usize) < rows.len() {
            return None;
        }
        let steps = rows.windows(2).enumerate().map(|(i, pair)| Step {
            distance: u32::from(pair[1].row - pair[0].row),
            looks: std::array::from_fn(|ahead| match rows.get(i + 1 + ahead) {
                Some(row) => Look { distance: u32::from(row.row - pair[1].row), open: !row.blocked },
                None => Look::default(),
            }),
            left: rows.len() - 1 - i,
        });
        Some(Self { steps: steps.collect(), first: !rows[0].blocked, columns })
    }
}

/// The completions of the position that was prepared; `None` if stopped.
///
/// # Safety
/// As the methods of `L`: the caller is compiled for its instruction set, and runs on a machine that has it.
#[inline(always)]
pub(super) unsafe fn search<L: Lanes>(descent: &Descent, levels: &mut Levels, stop: &Stop) -> Option<Count> {
    let mut total = Count::default();
    if descent.first == 0 {
        return Some(total);
    }
    levels.begin(descent.first);
    total.nodes = 1;
    let deepest = descent.steps.len() + 1 - FEWEST_ROWS;
    while let Some((level, vectors)) = next_pass::<L>(levels, deepest) {
        if stop.is_stopped() {
            return None;
        }
        let step = &descent.steps[level];
        let mut pass = Pass { step, columns: descent.columns, levels, level, vectors };
        // SAFETY: the caller vouches for the instruction set; `next_pass` for full vectors and room for children.
        let found = unsafe {
            match step.left {
                2 => pass.count_pairs::<L>(),
                3 => pass.descend::<L, 3, true>(),
                4 => pass.descend::<L, 4, true>(),
                5 => pass.descend::<L, 5, true>(),
                6 => pass.descend::<L, 3, false>(),
                _ => pass.descend::<L, 2, false>(),
            }
        };
        let sum = |a: u64, b: u64| a.checked_add(b).expect("a unit's count fits 64 bits");
        total.completions = sum(total.completions, found.completions);
        total.nodes = sum(total.nodes, found.nodes);
    }
    Some(total)
}

/// The level that goes next and its number of full vectors; `None` if no state waits. Below the deepest level with a
/// batch there is less than a batch, and above the shallowest level nothing: so children always find room.
#[inline(always)]
fn next_pass<L: Lanes>(levels: &mut Levels, deepest: usize) -> Option<(usize, usize)> {
    if let Some(level) = (0..=deepest).rev().find(|level| levels.waiting(*level) >= BATCH) {
        let room = if level == deepest { CAPACITY } else { CAPACITY - levels.waiting(level + 1) };
        return Some((level, levels.waiting(level).min(room) / L::WIDTH));
    }
    let level = (0..=deepest).find(|level| levels.waiting(*level) > 0)?;
    if levels.waiting(level) < L::WIDTH {
        levels.pad(level, L::WIDTH);
    }
    Some((level, levels.waiting(level) / L::WIDTH))
}

/// One pass over the last `vectors` full vectors of a level, from the first of them to the last.
struct Pass<'a> {
    step: &'a Step,
    columns: u32,
    levels: &'a mut Levels,
    level: usize,
    vectors: usize,
}

/// A vector of states: columns used, falling diagonals, rising diagonals, candidates.
type States<L> = [<L as Lanes>::Word; 4];

impl Pass<'_> {
    /// Forms a child of each state and keeps it on the next level if each of the next `LOOKS` rows has a free square
    /// and, where `COLUMNS` (then these are all rows left), each column without a queen has one too.
    #[inline(always)]
    unsafe fn descend<L: Lanes, const LOOKS: usize, const COLUMNS: bool>(&mut self) -> Count {
        let to = self.levels.arrays(self.level + 1);
        let before = self.levels.waiting(self.level + 1);
        let mut end = before;
        // SAFETY: the caller vouches for the instruction set, and that the next level has room for a child of each
        // state: so end + WIDTH <= CAPACITY + WIDEST words are writable.
        unsafe {
            let columns = L::splat(self.columns);
            let distances: [_; LOOKS] = std::array::from_fn(|i| L::splat(self.step.looks[i].distance));
            let open: [_; LOOKS] = std::array::from_fn(|i| L::splat(self.step.looks[i].open));
            self.each_child::<L>(|[cols, falling, rising]| {
                let candidates = L::and(L::neither(cols, falling, rising), open[0]);
                let mut alive = L::meet(candidates, candidates);
                let mut reached = candidates;
                for i in 1..LOOKS {
                    let fall = L::shl(falling, distances[i]);
                    let rise = L::shr(rising, distances[i]);
                    let free = L::neither(cols, fall, rise);
                    alive = L::meet_within(alive, free, open[i]);
                    if COLUMNS {
                        reached = L::or_and(reached, free, open[i]);
                    }
                }
                if COLUMNS {
                    alive = L::apart_within(alive, L::neither(cols, reached, reached), columns);
                }
                end += L::append(alive, [cols, falling, rising, candidates], to.map(|array| array.add(end)));
            });
        }
        self.levels.set_waiting(self.level + 1, end);
        Count { completions: 0, nodes: (end - before) as u64 }
    }

    /// Forms a child of each state and counts its completions, two rows and two columns: one queen on the lower and
    /// one on the higher column, or the other way round, neither way if they stand on a common diagonal.
    #[inline(always)]
    unsafe fn count_pairs<L: Lanes>(&mut self) -> Count {
        let mut completions = 0;
        // SAFETY: the caller vouches for the instruction set.
        unsafe {
            let columns = L::splat(self.columns);
            let [first, second, ..] = self.step.looks.map(|look| L::splat(look.open));
            let distance = L::splat(self.step.looks[1].distance);
            self.each_child::<L>(|[cols, falling, rising]| {
                let upper = L::and(L::neither(cols, falling, rising), first);
                let lower = L::neither(cols, L::shl(falling, distance), L::shr(rising, distance));
                let lower = L::and(lower, second);
                let left = L::and(columns, L::neither(cols, cols, cols));
                let high = L::without_lowest(left);
                let low = L::xor(left, high);
                let apart = L::apart_within(L::meet(upper, upper), L::shl(low, distance), high);
                let rising_pair = L::meet_within(L::meet_within(apart, upper, high), lower, low);
                let falling_pair = L::meet_within(L::meet_within(apart, upper, low), lower, high);
                completions += L::count(rising_pair) + L::count(falling_pair);
            });
        }
        Count { completions: completions as u64, nodes: 0 }
    }

    /// Takes the lowest candidate out of each state, calls `child` with the columns and diagonals of a vector of
    /// children, and packs the states that have candidates left.
    #[inline(always)]
    unsafe fn each_child<L: Lanes>(&mut self, mut child: impl FnMut([L::Word; 3])) {
        let states = self.levels.arrays(self.level);
        let waiting = self.levels.waiting(self.level);
        let mut kept = waiting - self.vectors * L::WIDTH;
        // SAFETY: the caller vouches for the instruction set. Loads reach to waiting + WIDTH <= CAPACITY + WIDEST. At
        // most as many states were kept as were loaded and not more than WIDTH words are stored after them: stores
        // reach no state that is still to be loaded, nor past CAPACITY.
        unsafe {
            let distance = L::splat(self.step.distance);
            let load = |at: usize| -> States<L> { states.map(|array| L::load(array.add(at))) };
            let mut next = load(kept);
            for at in (kept..waiting).step_by(L::WIDTH) {
                let [cols, falling, rising, candidates] = next;
                next = load(at + L::WIDTH);
                let others = L::without_lowest(candidates);
                let queen = L::xor(candidates, others);
                child([
                    L::or(cols, queen),
                    L::shl(L::or(falling, queen), distance),
                    L::shr(L::or(rising, queen), distance),
                ]);
                let rest = [cols, falling, rising, others];
                kept += L::append(L::meet(others, others), rest, states.map(|array| array.add(kept)));
            }
        }
        self.levels.set_waiting(self.level, kept);
    }
}

//! One pass: the states of a level, vector by vector, each with one candidate square taken.

use super::descent::RowStep;
use super::lanes::{Lanes32, WIDEST};
use super::levels::{CAPACITY, Levels, STRIDE};
use crate::kernel::contract::Count;

/// One pass over the last `vectors` full vectors of a level, from the first of them to the last.
pub(super) struct LevelPass<'a, L> {
    isa: L,
    step: &'a RowStep,
    columns: u32,
    levels: &'a mut Levels,
    level: usize,
    vectors: usize,
}

/// A vector of states: columns used, falling diagonals, rising diagonals, candidates.
type States<L> = [<L as Lanes32>::U32s; 4];

impl<'a, L: Lanes32> LevelPass<'a, L> {
    /// A pass over the states before one free row, whose `columns` need a queen.
    ///
    /// # Panics
    /// There are fewer states, or the next level has no room for a child of each.
    #[inline(always)]
    pub fn new(
        isa: L,
        step: &'a RowStep,
        columns: u32,
        levels: &'a mut Levels,
        level: usize,
        vectors: usize,
    ) -> Self {
        const { assert!(L::WIDTH <= WIDEST && CAPACITY + 2 * WIDEST <= STRIDE) };
        assert!(vectors * L::WIDTH <= levels.waiting(level).min(CAPACITY - levels.waiting(level + 1)));
        Self { isa, step, columns, levels, level, vectors }
    }

    /// Forms a child of each state. Keeps it on the next level if each of the next `LOOKS` rows has a free
    /// square. With `COLUMNS` these are all remaining rows, and each column without a queen must have a free
    /// square too.
    #[inline(always)]
    pub fn descend<const LOOKS: usize, const COLUMNS: bool>(&mut self) -> Count {
        let isa = self.isa;
        let [from, to] = self.levels.arrays(self.level);
        let before = self.levels.waiting(self.level + 1);
        let mut end = before;
        let columns = isa.splat(self.columns);
        let distances: [_; LOOKS] = std::array::from_fn(|i| isa.splat(self.step.looks[i].distance));
        let open: [_; LOOKS] = std::array::from_fn(|i| isa.splat(self.step.looks[i].open));
        let child = |[cols, falling, rising]: [L::U32s; 3]| {
            let candidates = isa.and(isa.neither(cols, falling, rising), open[0]);
            let mut alive = isa.meet(candidates, candidates);
            let mut reached = candidates;
            for i in 1..LOOKS {
                let fall = isa.shl(falling, distances[i]);
                let rise = isa.shr(rising, distances[i]);
                let free = isa.neither(cols, fall, rise);
                alive = isa.meet_within(alive, free, open[i]);
                if COLUMNS {
                    reached = isa.or_and(reached, free, open[i]);
                }
            }
            if COLUMNS {
                alive = isa.apart_within(alive, isa.neither(cols, reached, reached), columns);
            }
            // SAFETY: `each_child` calls this once for each of `vectors` vectors, and `append` moves `end` on by at
            // most WIDTH each time: `new` checked that before + vectors * WIDTH <= CAPACITY, so that all WIDTH words
            // from `end` on lie within the STRIDE words of each array.
            unsafe {
                let places = to.map(|array| array.add(end));
                end += isa.append(alive, [cols, falling, rising, candidates], places);
            }
        };
        // SAFETY: `from` are the arrays of this level, and `child` writes to those of the next one only.
        unsafe { self.each_child(from, child) };
        self.levels.set_waiting(self.level + 1, end);
        Count { completions: 0, nodes: (end - before) as u64 }
    }

    /// Forms a child of each state and counts its completions in two rows and two columns. Either queen may
    /// take the lower column, and a completion counts if the two queens share no diagonal.
    #[inline(always)]
    pub fn count_pairs(&mut self) -> Count {
        let isa = self.isa;
        let [from, _] = self.levels.arrays(self.level);
        let mut completions = 0;
        let columns = isa.splat(self.columns);
        let [upper, lower, ..] = self.step.looks;
        let [first, second, distance] =
            [isa.splat(upper.open), isa.splat(lower.open), isa.splat(lower.distance)];
        let child = |[cols, falling, rising]: [L::U32s; 3]| {
            let upper = isa.and(isa.neither(cols, falling, rising), first);
            let lower = isa.neither(cols, isa.shl(falling, distance), isa.shr(rising, distance));
            let lower = isa.and(lower, second);
            let left = isa.and(columns, isa.neither(cols, cols, cols));
            let high = isa.without_lowest(left);
            let low = isa.xor(left, high);
            let apart = isa.apart_within(isa.meet(upper, upper), isa.shl(low, distance), high);
            let rising_pair = isa.meet_within(isa.meet_within(apart, upper, high), lower, low);
            let falling_pair = isa.meet_within(isa.meet_within(apart, upper, low), lower, high);
            completions += isa.count(rising_pair) + isa.count(falling_pair);
        };
        // SAFETY: `from` are the arrays of this level, and `child` writes to no array.
        unsafe { self.each_child(from, child) };
        Count { completions: completions as u64, nodes: 0 }
    }

    /// Takes the lowest candidate out of each state, calls `child` with the columns and diagonals of a vector of
    /// children, and packs the states that have candidates left.
    ///
    /// # Safety
    /// `states` must be the arrays of this level, and `child` must not write to them.
    #[inline(always)]
    unsafe fn each_child(&mut self, states: [*mut u32; 4], mut child: impl FnMut([L::U32s; 3])) {
        let isa = self.isa;
        let waiting = self.levels.waiting(self.level);
        let mut kept = waiting - self.vectors * L::WIDTH;
        let distance = isa.splat(self.step.distance);
        // SAFETY: called for `at` <= waiting <= CAPACITY: `new` checked that there are `vectors` vectors, so the loop
        // ends with the vector that ends at `waiting`, and loads one more ahead. So loads end within CAPACITY + WIDEST
        // words, of STRIDE, all of which were initialised when the levels were made.
        let load = |at: usize| -> States<L> { unsafe { load(isa, states, at) } };
        let mut next = load(kept);
        for at in (kept..waiting).step_by(L::WIDTH) {
            let [cols, falling, rising, candidates] = next;
            next = load(at + L::WIDTH);
            let others = isa.without_lowest(candidates);
            let queen = isa.xor(candidates, others);
            child([
                isa.or(cols, queen),
                isa.shl(isa.or(falling, queen), distance),
                isa.shr(isa.or(rising, queen), distance),
            ]);
            let rest = [cols, falling, rising, others];
            // SAFETY: `append` moves `kept` on by at most WIDTH for each vector, so that `kept` <= `at`: the WIDTH words
            // stored from there end no later than the vector at `at`, which was loaded before, at CAPACITY at most.
            kept +=
                unsafe { isa.append(isa.meet(others, others), rest, states.map(|array| array.add(kept))) };
        }
        self.levels.set_waiting(self.level, kept);
    }
}

/// The states from `at` on. (`map` would not always be inlined, and not be compiled for the instruction set then.)
///
/// # Safety
/// Each array must have `WIDTH` initialised words from `at` on.
#[inline(always)]
unsafe fn load<L: Lanes32>(isa: L, arrays: [*mut u32; 4], at: usize) -> States<L> {
    let [cols, falling, rising, candidates] = arrays;
    // SAFETY: the caller has promised the words behind each pointer.
    unsafe {
        [
            isa.load(cols.add(at)),
            isa.load(falling.add(at)),
            isa.load(rising.add(at)),
            isa.load(candidates.add(at)),
        ]
    }
}

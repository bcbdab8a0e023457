//! The waiting states of a search: for each free row a small buffer of four parallel arrays of words.
//!
//! A state before row i is (columns used, falling diagonals, rising diagonals, candidates). The first three
//! are the squares of row i that searched queens take; the last are the squares still to be tried. A buffer
//! holds at most [`CAPACITY`] states, 8 KiB, so that the few levels a search moves between stay in the
//! first-level cache.

use super::lanes::WIDEST;

/// The most free rows: every row of the largest board.
const LEVELS: usize = 32;

/// The most states of a level.
pub(super) const CAPACITY: usize = 512;

/// Words in an array. A vector may be loaded up to two whole vectors past the last state (the search loads ahead) and
/// stored one past it.
pub(super) const STRIDE: usize = CAPACITY + 3 * WIDEST;

/// One word of each state of a level. Aligned to cache lines so that timings do not depend on the allocator.
#[derive(Clone)]
#[repr(align(64))]
struct StateWords([u32; STRIDE]);

/// The waiting states of a search, reused from one search to the next.
pub(super) struct Levels {
    states: Vec<[StateWords; 4]>,
    waiting: [usize; LEVELS],
}

impl Levels {
    /// No state at all.
    pub fn new() -> Self {
        Self { states: vec![[const { StateWords([0; STRIDE]) }; 4]; LEVELS], waiting: [0; LEVELS] }
    }

    /// Forgets all states but one: nothing searched yet, and these candidates in the first free row.
    pub fn begin(&mut self, candidates: u32) {
        self.waiting = [0; LEVELS];
        self.waiting[0] = 1;
        for (array, word) in self.states[0].iter_mut().zip([0, 0, 0, candidates]) {
            array.0[0] = word;
        }
    }

    /// How many states wait before that free row: at most [`CAPACITY`].
    #[inline(always)]
    pub fn waiting(&self, level: usize) -> usize {
        self.waiting[level]
    }

    /// Says how many states wait before that free row now.
    ///
    /// # Panics
    /// If they are more than [`CAPACITY`].
    #[inline(always)]
    pub fn set_waiting(&mut self, level: usize, states: usize) {
        assert!(states <= CAPACITY, "{states} states do not fit level {level}");
        self.waiting[level] = states;
    }

    /// The arrays of a level and of the one below it, each of [`STRIDE`] words.
    #[inline(always)]
    pub fn arrays(&mut self, level: usize) -> [[*mut u32; 4]; 2] {
        let [upper, lower] = self.states.get_disjoint_mut([level, level + 1]).expect("a level and the next");
        let pointers = |[cols, falling, rising, candidates]: &mut [StateWords; 4]| {
            [cols.0.as_mut_ptr(), falling.0.as_mut_ptr(), rising.0.as_mut_ptr(), candidates.0.as_mut_ptr()]
        };
        [pointers(upper), pointers(lower)]
    }

    /// Fills the level up to `states` with states that have no candidate and can have no child.
    pub fn pad(&mut self, level: usize, states: usize) {
        for (array, word) in self.states[level].iter_mut().zip([u32::MAX, 0, 0, 0]) {
            array.0[self.waiting[level]..states].fill(word);
        }
        self.set_waiting(level, states);
    }
}

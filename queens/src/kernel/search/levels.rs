//! Where the states of a search wait: for each free row a small buffer of four parallel arrays of words.
//!
//! A state before row i is (columns used, falling diagonals, rising diagonals, candidates): the first three are the
//! squares of row i that searched queens take, the last the squares still to be tried. A buffer holds at most
//! [`CAPACITY`] states, 8 KiB, so that the few levels a search moves between stay in the first-level cache.

use super::lanes::WIDEST;

/// The most free rows: every row of the largest board.
const LEVELS: usize = 32;

/// The most states of a level.
pub(super) const CAPACITY: usize = 512;

/// Words from one array to the next. A vector may be loaded up to two whole vectors past the last state (the body
/// loads ahead) and stored one past it.
const STRIDE: usize = CAPACITY + 3 * WIDEST;

/// A cache line. Aligned so that timings do not depend on the allocator.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "read through pointers to its words")] [u32; WIDEST]);

/// The waiting states of a search, reused from one search to the next.
pub(super) struct Levels {
    lines: Vec<Line>,
    waiting: [usize; LEVELS],
}

impl Levels {
    /// No state at all.
    pub fn new() -> Self {
        Self { lines: vec![Line([0; WIDEST]); LEVELS * 4 * STRIDE / WIDEST], waiting: [0; LEVELS] }
    }

    /// Forgets all states but one: nothing searched yet, and these candidates in the first free row.
    pub fn begin(&mut self, candidates: u32) {
        self.waiting = [0; LEVELS];
        self.waiting[0] = 1;
        for (array, word) in self.arrays(0).into_iter().zip([0, 0, 0, candidates]) {
            // SAFETY: `arrays` points to `STRIDE` > 0 words each.
            unsafe { array.write(word) };
        }
    }

    /// How many states wait before that free row.
    #[inline(always)]
    pub fn waiting(&self, level: usize) -> usize {
        self.waiting[level]
    }

    /// Says how many states wait before that free row now, at most [`CAPACITY`].
    #[inline(always)]
    pub fn set_waiting(&mut self, level: usize, states: usize) {
        debug_assert!(states <= CAPACITY, "{states} states do not fit level {level}");
        self.waiting[level] = states;
    }

    /// The arrays of a level, each of `STRIDE` readable and writable words: `CAPACITY` + 3 [`WIDEST`].
    #[inline(always)]
    pub fn arrays(&mut self, level: usize) -> [*mut u32; 4] {
        assert!(level < LEVELS);
        let words: *mut u32 = self.lines.as_mut_ptr().cast();
        // SAFETY: LEVELS * 4 * STRIDE words were allocated, and level < LEVELS.
        std::array::from_fn(|array| unsafe { words.add((level * 4 + array) * STRIDE) })
    }

    /// Fills the level up to `states` with states that have no candidate and can have no child.
    pub fn pad(&mut self, level: usize, states: usize) {
        let waiting = self.waiting[level];
        debug_assert!(waiting <= states && states <= CAPACITY);
        for (array, word) in self.arrays(level).into_iter().zip([u32::MAX, 0, 0, 0]) {
            for at in waiting..states {
                // SAFETY: at < states <= CAPACITY < STRIDE.
                unsafe { array.add(at).write(word) };
            }
        }
        self.waiting[level] = states;
    }
}

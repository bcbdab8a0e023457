//! Which passes are made: all of them, or some at random that stand for the others.
//!
//! ```text
//! the row sets of all cuts of a position lie one behind the other, in the order in which passes come to them;
//! of each stride of them the first few are drawn, a block; the first stride begins at a random place
//! a pass over L row sets, which lie together, is made if one of them is drawn: with the chance min(1, (L + block - 1) / stride)
//! what it takes and finds counts for the inverse of that
//! ```
//!
//! A pass is made whenever a pass within it is made, so the lists that it needs exist. They cost as much as
//! in the whole count: once for all passes within. The passes of a block share them. The sums estimate the
//! whole count without bias (Horvitz and Thompson 1952, with draws at equal distances as by Madow and Madow 1944).

use crate::bits::scaled;
use crate::kernel::contract::Count;

/// Decides which passes are made, and takes in what they come to.
pub trait Coverage {
    /// Whether the next pass is made, which is over so many row sets. If not, they are passed over.
    fn takes(&mut self, sets: u64) -> bool;

    /// Reports that the work since the last call was for the lists of a pass over `sets` row sets.
    fn spent(&mut self, sets: u64);

    /// Reports that the work since the last call was to join the `halves` of a pass over `sets` row sets, which
    /// completes the pass. `pairs` returns the pairs that the whole count has found.
    fn joined(&mut self, sets: u64, halves: u64, pairs: impl FnOnce() -> u64);
}

/// Every pass is made.
#[derive(Debug, Default)]
pub struct Everything {
    /// Complete halves that met a bucket of the other side.
    pub halves: u64,
}

impl Coverage for Everything {
    #[inline(always)]
    fn takes(&mut self, _: u64) -> bool {
        true
    }

    #[inline(always)]
    fn spent(&mut self, _: u64) {}

    #[inline(always)]
    fn joined(&mut self, _: u64, halves: u64, _: impl FnOnce() -> u64) {
        self.halves += halves;
    }
}

/// Which row sets are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinning {
    stride: u64,
    /// Where in a stride the row sets begin.
    phase: u64,
    block: u64,
}

/// No board has as many row sets as that, and nothing overflows yet.
const THINNEST: u64 = 1 << 60;

impl Thinning {
    /// Draws one of `stride` row sets (at least 1), at a random place: a fraction of 2^64.
    ///
    /// # Panics
    /// If `stride` is 0.
    pub fn new(stride: u64, place: u64) -> Self {
        assert!(stride > 0, "one of no row sets cannot be drawn");
        Self { stride, phase: scaled(place, stride), block: 1 }
    }

    /// Draws `block` row sets, one behind the other, for each that is drawn now. At most all are.
    #[must_use]
    pub fn in_blocks_of(self, block: u64) -> Self {
        Self { block: block.clamp(1, self.stride), ..self }
    }

    /// One block of so many row sets is drawn.
    pub fn stride(self) -> u64 {
        self.stride
    }

    /// Draws one of `times` (at least 1) of the blocks drawn so far, at a random place.
    #[must_use]
    pub fn thinner(self, times: u64, place: u64) -> Self {
        let phase = self.phase.saturating_add(self.stride.saturating_mul(scaled(place, times)));
        Self {
            stride: self.stride.saturating_mul(times).min(THINNEST),
            phase: phase.min(THINNEST - 1),
            ..self
        }
    }
}

/// The estimate of a whole count from some of its passes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Projection {
    /// The completions.
    pub completions: f64,
    /// The nodes.
    pub nodes: f64,
    /// The estimated time, by the clock.
    pub time: f64,
    /// The time spent on lists that longer blocks would share, and on all else.
    pub spent: [f64; 2],
    /// How many row sets there are.
    pub row_sets: u64,
}

/// Passes are made that hold a row set which is drawn.
pub struct Thinned<'a> {
    stride: u64,
    block: u64,
    /// Where in a stride the next pass begins.
    phase: u64,
    clock: &'a dyn Fn() -> f64,
    /// What the clock and the matcher said at the last word.
    time: f64,
    pairs: u64,
    sums: Projection,
}

impl<'a> Thinned<'a> {
    /// From now on, by that clock.
    pub fn new(Thinning { stride, phase, block }: Thinning, clock: &'a dyn Fn() -> f64) -> Self {
        Self { stride, block, phase, clock, time: clock(), pairs: 0, sums: Projection::default() }
    }

    /// Reports that every count does the work since the last call.
    pub fn spent_anyway(&mut self) {
        self.spent(u64::MAX);
    }

    /// The estimated sum of all passes, plus the completions and nodes `besides` that were found without
    /// passes.
    pub fn into_projection(mut self, besides: Count) -> Projection {
        self.spent_anyway();
        let Projection { completions, nodes, .. } = self.sums;
        Projection {
            completions: completions + besides.completions as f64,
            nodes: nodes + besides.nodes as f64,
            ..self.sums
        }
    }

    /// The number of passes over `sets` row sets that one of them stands for.
    fn factor(&self, sets: u64) -> f64 {
        (self.stride as f64 / sets.saturating_add(self.block - 1) as f64).max(1.0)
    }

    fn pass_over(&mut self, sets: u64) {
        self.phase = (self.phase + sets % self.stride) % self.stride;
        self.sums.row_sets += sets;
    }
}

impl Coverage for Thinned<'_> {
    fn takes(&mut self, sets: u64) -> bool {
        let is_drawn = self.phase < self.block || sets > self.stride - self.phase;
        if !is_drawn {
            self.pass_over(sets);
        }
        is_drawn
    }

    fn spent(&mut self, sets: u64) {
        let now = (self.clock)();
        self.sums.time += self.factor(sets) * (now - self.time);
        self.sums.spent[usize::from(sets <= self.block)] += now - self.time;
        self.time = now;
    }

    fn joined(&mut self, sets: u64, halves: u64, pairs: impl FnOnce() -> u64) {
        let (factor, pairs) = (self.factor(sets), pairs());
        self.sums.completions += factor * (pairs - self.pairs) as f64;
        self.sums.nodes += factor * halves as f64;
        self.pairs = pairs;
        self.spent(sets);
        self.pass_over(sets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the first row sets are drawn.
    fn drawn(thinning: Thinning, sets: usize) -> Vec<usize> {
        let clock = || 0.0;
        let mut thinned = Thinned::new(thinning, &clock);
        (0..sets)
            .filter(|_| {
                let is_drawn = thinned.takes(1);
                if is_drawn {
                    thinned.joined(1, 0, || 0);
                }
                is_drawn
            })
            .collect()
    }

    #[test]
    fn drawn_row_sets_are_equidistant_and_nested() {
        let sparse = Thinning::new(5, u64::MAX / 2);
        assert_eq!(drawn(sparse, 20), [3, 8, 13, 18]);
        assert_eq!(drawn(Thinning::new(1, u64::MAX), 3), [0, 1, 2]);
        let sparser = sparse.thinner(3, u64::MAX / 2);
        assert_eq!((drawn(sparser, 40), sparser.stride()), (vec![8, 23, 38], 15));
        assert_eq!(drawn(sparser.in_blocks_of(3), 26), [8, 9, 10, 23, 24, 25]);
        assert_eq!(drawn(sparse.in_blocks_of(100), 3), [0, 1, 2]);
    }

    #[test]
    fn drawn_passes_are_made_and_extrapolated() {
        let time = std::cell::Cell::new(0.0);
        let clock = || time.get();
        let mut thinned = Thinned::new(Thinning::new(10, u64::MAX / 2), &clock);
        // The seventh row set is drawn, and the seventeenth.
        assert!(!thinned.takes(5) && thinned.takes(4));
        time.set(1.0);
        thinned.spent(4);
        time.set(3.0);
        thinned.joined(4, 7, || 11);
        assert!(!thinned.takes(6) && thinned.takes(20));
        thinned.joined(20, 1, || 12);
        let besides = Count { completions: 100, nodes: 200 };
        let expected = Projection {
            completions: 100.0 + 28.5,
            nodes: 200.0 + 18.5,
            time: 7.5,
            spent: [3.0, 0.0],
            row_sets: 35,
        };
        assert_eq!(thinned.into_projection(besides), expected);
    }

    #[test]
    fn longer_block_takes_more_passes() {
        let clock = || 0.0;
        let mut thinned = Thinned::new(Thinning::new(10, u64::MAX / 2).in_blocks_of(3), &clock);
        // The seventh to ninth row sets are drawn. A pass over two is made in four cases of ten.
        assert!(!thinned.takes(5) && thinned.takes(2));
        thinned.joined(2, 4, || 8);
        assert!(thinned.takes(2));
        thinned.joined(2, 4, || 16);
        assert!(!thinned.takes(5));
        let spent = Projection { completions: 40.0, nodes: 20.0, row_sets: 14, ..Projection::default() };
        assert_eq!(thinned.into_projection(Count::default()), spent);
    }
}

//! Which passes are made: all of them, or some at random that stand for the others.
//!
//! ```text
//! the row sets of all cuts of a position lie one behind the other, in the order in which passes come to them;
//! every stride-th of them is drawn, from a random one on
//! a pass over L row sets, which lie together, is made if one of them is drawn: with the chance min(1, L / stride)
//! what it takes and finds counts for the inverse of that
//! ```
//!
//! A pass is made whenever a pass within it is made, so the lists that it needs exist. They cost as much as
//! in the whole count: once for all passes within. The sums estimate the whole count without bias (Horvitz
//! and Thompson 1952, with draws at equal distances as by Madow and Madow 1944).

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
    first: u64,
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
        Self { stride, first: scaled(place, stride) }
    }

    /// One of so many row sets is drawn.
    pub fn stride(self) -> u64 {
        self.stride
    }

    /// Draws one of `times` (at least 1) of the row sets drawn so far, at a random place.
    #[must_use]
    pub fn thinner(self, times: u64, place: u64) -> Self {
        Self {
            stride: self.stride.saturating_mul(times).min(THINNEST),
            first: self.first.saturating_add(self.stride.saturating_mul(scaled(place, times))).min(THINNEST),
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
}

/// Passes are made that hold a row set which is drawn.
pub struct Thinned<'a> {
    stride: u64,
    /// Between the next pass and the next row set that is drawn.
    ahead: u64,
    clock: &'a dyn Fn() -> f64,
    /// What the clock and the matcher said at the last word.
    time: f64,
    pairs: u64,
    sums: Projection,
}

impl<'a> Thinned<'a> {
    /// From now on, by that clock.
    pub fn new(Thinning { stride, first }: Thinning, clock: &'a dyn Fn() -> f64) -> Self {
        Self { stride, ahead: first, clock, time: clock(), pairs: 0, sums: Projection::default() }
    }

    /// Reports that every count does the work since the last call.
    pub fn spent_anyway(&mut self) {
        self.spent(u64::MAX);
    }

    /// The estimated sum of all passes, plus the completions and nodes `besides` that were found without
    /// passes.
    pub fn into_projection(mut self, besides: Count) -> Projection {
        self.spent_anyway();
        let Projection { completions, nodes, time } = self.sums;
        Projection {
            completions: completions + besides.completions as f64,
            nodes: nodes + besides.nodes as f64,
            time,
        }
    }

    /// The number of passes over `sets` row sets that one of them stands for.
    fn factor(&self, sets: u64) -> f64 {
        (self.stride as f64 / sets as f64).max(1.0)
    }

    fn pass_over(&mut self, sets: u64) {
        let drawn = sets.saturating_sub(self.ahead).div_ceil(self.stride);
        self.ahead = self.ahead + drawn * self.stride - sets;
    }
}

impl Coverage for Thinned<'_> {
    fn takes(&mut self, sets: u64) -> bool {
        let is_drawn = self.ahead < sets;
        if !is_drawn {
            self.pass_over(sets);
        }
        is_drawn
    }

    fn spent(&mut self, sets: u64) {
        let now = (self.clock)();
        self.sums.time += self.factor(sets) * (now - self.time);
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
        assert_eq!(drawn(sparse, 20), [2, 7, 12, 17]);
        assert_eq!(drawn(Thinning::new(1, u64::MAX), 3), [0, 1, 2]);
        let sparser = sparse.thinner(3, u64::MAX / 2);
        assert_eq!((drawn(sparser, 40), sparser.stride()), (vec![7, 22, 37], 15));
    }

    #[test]
    fn drawn_passes_are_made_and_extrapolated() {
        let time = std::cell::Cell::new(0.0);
        let clock = || time.get();
        let mut thinned = Thinned::new(Thinning::new(10, u64::MAX / 2), &clock);
        // The fifth row set is drawn, and the fifteenth.
        assert!(!thinned.takes(4) && thinned.takes(5));
        time.set(1.0);
        thinned.spent(5);
        time.set(3.0);
        thinned.joined(5, 7, || 11);
        assert!(!thinned.takes(5) && thinned.takes(20));
        thinned.joined(20, 1, || 12);
        let besides = Count { completions: 100, nodes: 200 };
        let expected = Projection { completions: 100.0 + 23.0, nodes: 200.0 + 15.0, time: 6.0 };
        assert_eq!(thinned.into_projection(besides), expected);
    }
}

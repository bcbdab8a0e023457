//! How heavy the tail of the lengths is: that a run takes more than x placements becomes rarer like x to the power of
//! minus the tail's index. Below 2 the lengths have no variance, below 1 no mean, that more runs would come closer to.
//!
//! The index is Hill's estimate (B. M. Hill, *A simple general approach to inference about the tail of a
//! distribution*, Annals of Statistics 3, 1975) from the k longest runs. Let t be the length of a run and s the
//! length of the next longest run. The index is k divided by the sum of ln(t / s) over these runs. Its standard
//! error is the index over the root of k. A run broken off adds its length so far to the sum, but does not
//! count in k.

use super::lengths::{Lengths, PATIENCE};

/// The tail is one in this many runs, the longest ones.
const SHARE: usize = 10;

/// Runs in a tail below which nothing follows from it.
const LEAST: usize = 10;

/// The estimate from the longest runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeavyTail {
    /// The runs longer than this are the tail.
    pub from: u64,
    /// Its index.
    pub index: f64,
    /// The standard error of the index.
    pub error: f64,
}

impl Lengths {
    /// The tail of a tenth of the runs; nothing where these are fewer than ten, or not longer than others.
    pub fn tail(&self) -> Option<HeavyTail> {
        let longest = self.runs() / SHARE;
        let first = self.runs() - longest;
        let from = *self.found.get(first.checked_sub(1)?)?;
        let found = &self.found[first..];
        let times = |length: u64| logarithm(length as f64 / from as f64);
        let logarithms: f64 =
            found.iter().map(|length| times(*length)).sum::<f64>() + self.broken_off as f64 * times(PATIENCE);
        let number = found.len() as f64;
        (found.len() >= LEAST && logarithms > 0.0).then(|| {
            let index = number / logarithms;
            HeavyTail { from, index, error: index / number.sqrt() }
        })
    }
}

/// The natural logarithm of a number of at least 1, by additions, multiplications and divisions alone. These
/// round alike on every machine; the last bit of a library's logarithm does not.
///
/// The number is m times a power of two with m < 2. Then ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (m -
/// 1) / (m + 1) < 1/3.
fn logarithm(number: f64) -> f64 {
    let (mut m, mut halvings) = (number, 0.0);
    while m >= 2.0 {
        (m, halvings) = (m / 2.0, halvings + 1.0);
    }
    let s = (m - 1.0) / (m + 1.0);
    // The smallest terms first; those left out are below 10^-17.
    let series = (0..18u32).rev().fold(0.0, |sum, k| sum * s * s + 1.0 / f64::from(2 * k + 1));
    2.0 * s * series + halvings * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_matches_library_within_rounding() {
        for number in [1.0, 1.0001, 1.5, 1.999, 2.0, 2.5, 10.0, 1e3, 123_456.789, 1e6] {
            let (here, there): (f64, f64) = (logarithm(number), number.ln());
            assert!((here - there).abs() <= 4e-15 * there.max(0.1), "{number}: {here} {there}");
        }
    }

    /// Lengths that are the quantiles of a Pareto distribution of this index, broken off where runs are.
    fn pareto(index: f64, runs: u32) -> Lengths {
        let quantile = |i: u32| 100.0 * ((f64::from(i) - 0.5) / f64::from(runs)).powf(-1.0 / index);
        let mut found: Vec<u64> = (1..=runs).map(|i| quantile(i) as u64).filter(|l| *l < PATIENCE).collect();
        found.sort_unstable();
        Lengths { broken_off: runs as usize - found.len(), found }
    }

    #[test]
    fn the_index_of_a_pareto_distribution_is_found() {
        for index in [0.5, 0.8, 1.0, 1.5, 2.5] {
            let lengths = pareto(index, 10_000);
            let tail = lengths.tail().unwrap();
            assert!((tail.index - index).abs() < tail.error, "{index}: {tail:?}");
            let expected = index / (1_000.0 - lengths.broken_off as f64).sqrt();
            assert!((tail.error / expected - 1.0).abs() < 0.05, "{index}: {tail:?}");
        }
        assert!(pareto(0.5, 10_000).broken_off > 50, "some are broken off");
    }

    #[test]
    fn tail_index_is_large_or_absent_without_a_heavy_tail() {
        let exponential = |i: u32| (1_000.0 - 100.0 * (1.0 - (f64::from(i) - 0.5) / 10_000.0).ln()) as u64;
        let found = (1..=10_000).map(exponential).collect();
        assert!(Lengths { found, broken_off: 0 }.tail().unwrap().index > 5.0);
        assert_eq!(pareto(1.0, 99).tail(), None);
        assert_eq!(Lengths { found: vec![7; 1_000], broken_off: 0 }.tail(), None);
        assert_eq!(Lengths { found: Vec::new(), broken_off: 100 }.tail(), None);
    }
}

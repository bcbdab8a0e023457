//! The lengths of random runs: their mean and its error, their quantiles, and the expected work with
//! restarts.

/// The limit of a random run, in placements.
pub const PATIENCE: u64 = 1_000_000;

/// A mean, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its standard error: the deviation of single values over the root of their number. `None` for a single
    /// value.
    pub error: Option<f64>,
}

impl Mean {
    /// The mean of at least one value.
    pub fn of(values: &[u64]) -> Self {
        let count = values.len() as f64;
        let value = values.iter().sum::<u64>() as f64 / count;
        let squares: f64 = values.iter().map(|length| *length as f64 - value).map(|off| off * off).sum();
        let error = (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        Self { value, error }
    }
}

/// The random runs of a board, in ascending order of their length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Placements until the first solution, of the runs that found one.
    pub found: Vec<u64>,
    /// The runs broken off.
    pub broken_off: usize,
}

impl Lengths {
    /// All runs, those broken off included.
    pub fn runs(&self) -> usize {
        self.found.len() + self.broken_off
    }

    /// The length that a share `q` of the runs (0 to 1) does not exceed; nothing if that run was broken off.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = (q * self.runs() as f64).ceil().max(1.0) as usize;
        self.found.get(rank - 1).copied()
    }

    /// The mean length. A run that was broken off counts with its length so far.
    pub fn mean(&self) -> Mean {
        let broken_off = std::iter::repeat_n(PATIENCE, self.broken_off);
        Mean::of(&self.found.iter().copied().chain(broken_off).collect::<Vec<_>>())
    }

    /// The share of the runs that are no longer than `limit`, with its standard error: the chance of an attempt.
    pub fn chance(&self, limit: u64) -> Mean {
        let (runs, short) =
            (self.runs() as f64, self.found.partition_point(|length| *length <= limit) as f64);
        let value = short / runs;
        Mean { value, error: Some((value * (1.0 - value) / runs).sqrt()) }
    }

    /// How many attempts of that chance a success takes, by the geometric law.
    pub fn expected_attempts(&self, limit: u64) -> Mean {
        let Mean { value, error } = self.chance(limit);
        Mean { value: 1.0 / value, error: error.map(|error| error / value / value) }
    }

    /// The mean number of placements to expect when every attempt is broken off after `limit`; infinite if none of
    /// the runs was as short.
    pub fn expected_with_restarts(&self, limit: u64) -> f64 {
        let short = self.found.partition_point(|length| *length <= limit);
        let spent = self.found[..short].iter().sum::<u64>() + (self.runs() - short) as u64 * limit;
        spent as f64 / short as f64
    }

    /// The limit among the found lengths with the fewest expected placements.
    pub fn best_limit(&self) -> Option<u64> {
        let expected = |(short, limit): (usize, u64), sum: u64| {
            (sum + (self.runs() - short) as u64 * limit) as f64 / short as f64
        };
        let mut sum = 0;
        let candidates = (1..).zip(&self.found).map(|(short, &limit)| {
            sum += limit;
            (expected((short, limit), sum), limit)
        });
        candidates.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, limit)| limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_textbooks_standard_error() {
        // Deviations -3, -1, 1, 3: a variance of 20/3, over 4 values.
        let mean = Mean::of(&[2, 4, 6, 8]);
        assert!((mean.value - 5.0).abs() < 1e-9);
        assert!((mean.error.unwrap() - (20.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-9);
        assert_eq!(Mean::of(&[7]), Mean { value: 7.0, error: None });
        let lengths = Lengths { found: vec![0], broken_off: 1 };
        assert!((lengths.mean().value - PATIENCE as f64 / 2.0).abs() < 1e-9);
    }

    #[test]
    fn quantiles_and_restarts_follow_from_the_lengths() {
        let lengths = Lengths { found: vec![8, 10, 20, 400], broken_off: 0 };
        assert_eq!([0.25, 0.5, 0.75, 1.0].map(|q| lengths.quantile(q)), [8, 10, 20, 400].map(Some));
        // Limit 8: one attempt in four succeeds, each costs 8. Limit 10: two in four, 38 placements in all.
        assert!((lengths.expected_with_restarts(8) - 32.0).abs() < 1e-9);
        assert!((lengths.expected_with_restarts(10) - 19.0).abs() < 1e-9);
        assert!((lengths.expected_with_restarts(20) - 58.0 / 3.0).abs() < 1e-9);
        // By the geometric law four attempts and two; the error of a share of 1/4 among 4 is the root of 3/64.
        let attempts = lengths.expected_attempts(8);
        assert!((attempts.value - 4.0).abs() < 1e-9, "{attempts:?}");
        assert!((attempts.error.unwrap() - 16.0 * (3.0f64 / 64.0).sqrt()).abs() < 1e-9, "{attempts:?}");
        assert!((lengths.expected_attempts(10).value - 2.0).abs() < 1e-9);
        assert_eq!(lengths.best_limit(), Some(10));
        assert!(lengths.expected_with_restarts(7).is_infinite());
        assert_eq!(Lengths { found: vec![8], broken_off: 3 }.quantile(0.5), None);
    }
}

//! How much happens a second, lately.

use std::time::Duration;

/// The memory of the rate: what is older counts for less than 1/e.
const MEMORY: Duration = Duration::from_mins(2);

/// An exponentially weighted rate that is right from the first seconds on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    /// When the first amount was added, and the last.
    span: Option<(Duration, Duration)>,
    /// The amounts, each weighted by its age when the last was added.
    weighted: f64,
}

impl Rate {
    /// Something happened.
    pub fn add(&mut self, now: Duration, amount: f64) {
        let (first, last) = self.span.unwrap_or((now, now));
        self.weighted = self.weighted * decay(now.saturating_sub(last)) + amount;
        self.span = Some((first, now));
    }

    /// The rate at that time; nothing before anything has happened for a while.
    pub fn per_second(&self, now: Duration) -> Option<f64> {
        let (first, last) = self.span?;
        let weighted = self.weighted * decay(now.saturating_sub(last));
        // The weight that a constant rate of 1 a second would have gathered since the first amount.
        let full = MEMORY.as_secs_f64() * (1.0 - decay(now.saturating_sub(first)));
        (full > 0.1).then(|| weighted / full).filter(|rate| *rate > 0.0)
    }
}

fn decay(age: Duration) -> f64 {
    (-age.as_secs_f64() / MEMORY.as_secs_f64()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_told_soon_and_a_new_one_is_followed() {
        let mut rate = Rate::default();
        let mut now = Duration::ZERO;
        assert_eq!(rate.per_second(now), None);
        for (per_second, seconds) in [(10u32, 30), (2, 1200)] {
            for _ in 0..seconds * per_second {
                now += Duration::from_secs(1) / per_second;
                rate.add(now, 1.0);
            }
            let found = rate.per_second(now).unwrap();
            assert!((found / f64::from(per_second) - 1.0).abs() < 0.05, "{found} instead of {per_second}");
        }
    }
}

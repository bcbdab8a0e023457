//! How many units to hold, so that no thread waits for the network and a lost worker costs little.

use std::time::Duration;

/// The default time for which units are fetched ahead.
pub const AHEAD: Duration = Duration::from_secs(10);

/// Time of the units below which the pool is about to run dry: about the time until more units arrive.
const LOW_TIME: Duration = Duration::from_millis(4);

/// Maximum number of held units, because messages are limited.
const MAX_TARGET: usize = 50_000;

/// Factor over the mean time of a unit after which a thread hangs.
const HUNG_FACTOR: f64 = 100.0;
/// Minimum time after which a thread hangs.
const MIN_HUNG_TIME: Duration = Duration::from_mins(10);

/// Weight of the newest unit in the average.
const NEWEST_WEIGHT: f64 = 1.0 / 16.0;

/// The time of a unit of the plan's mean work, from the actual and expected times of units. The ratio is needed because
/// the first units differ from the others.
#[derive(Clone, Copy, Debug)]
pub struct AskingPace {
    threads: u32,
    /// Expected seconds of one thread for a unit of the mean work.
    mean: f64,
    /// The recent units, weighted by age: expected seconds, and actual seconds.
    expected: f64,
    taken: f64,
    /// Time for which units are fetched ahead.
    ahead: Duration,
}

impl AskingPace {
    /// The initial pace, from the expected time of a unit in nanoseconds.
    pub fn new(threads: u32, nanoseconds: f64, ahead: Duration) -> Self {
        let mean = nanoseconds / 1e9;
        Self { threads, mean, expected: mean, taken: mean, ahead }
    }

    /// Adds a counted unit, with its expected nanoseconds and the time of its thread.
    pub fn counted(&mut self, nanoseconds: f64, time: Duration) {
        self.expected += nanoseconds / 1e9 - self.expected * NEWEST_WEIGHT;
        self.taken += time.as_secs_f64() - self.taken * NEWEST_WEIGHT;
    }

    /// Seconds of one thread for a unit of the mean work.
    fn seconds(&self) -> f64 {
        self.mean * self.taken / self.expected.max(f64::MIN_POSITIVE)
    }

    /// The number of units to hold: enough for the time ahead, and at least one for each thread in addition to its
    /// running unit.
    pub fn target(&self) -> usize {
        self.units_in(self.ahead)
    }

    /// With fewer units than this a thread may soon be idle.
    pub fn least(&self) -> usize {
        2 * self.threads as usize
    }

    /// With fewer units than this the pool will soon be idle.
    pub fn low(&self) -> usize {
        self.units_in(LOW_TIME)
    }

    /// A thread that counts one unit for this long hangs.
    pub fn hung(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds() * HUNG_FACTOR).unwrap_or(Duration::MAX).max(MIN_HUNG_TIME)
    }

    /// How many units are counted in that time, two for each thread at least.
    fn units_in(&self, time: Duration) -> usize {
        let units = time.as_secs_f64() * f64::from(self.threads) / self.seconds().max(1e-9);
        (units as usize).clamp(self.least(), MAX_TARGET.max(self.least()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_is_two_units_a_thread_or_ten_seconds() {
        let mut pace = AskingPace::new(4, 60e9, AHEAD);
        assert_eq!(pace.target(), 8);
        for _ in 0..200 {
            pace.counted(60e9, Duration::from_millis(100));
        }
        assert!((395..=405).contains(&pace.target()), "{}", pace.target());
        let outlasting = AskingPace { ahead: Duration::from_mins(10), ..pace };
        assert!((23_700..=24_300).contains(&outlasting.target()), "{}", outlasting.target());
    }

    #[test]
    fn short_first_units_do_not_predict_long_units() {
        let mut pace = AskingPace::new(1, 350e9, AHEAD);
        for _ in 0..200 {
            pace.counted(1e9, Duration::from_millis(1500));
        }
        assert_eq!(pace.target(), 2);
        // A unit of the mean work takes half as long again as expected, and a heavy unit some times that.
        assert!(pace.hung() > Duration::from_hours(10), "{:?}", pace.hung());
    }
}

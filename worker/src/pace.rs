//! How many units to hold, so that no thread waits for the network and a lost worker costs little.

use std::time::Duration;

/// Units are fetched ahead for this long a time, unless the worker is told otherwise.
pub const AHEAD: Duration = Duration::from_secs(10);

/// Units for this long a time will soon be counted: about the time until more are there.
const SOON: Duration = Duration::from_millis(4);

/// No worker holds more: a message has its limits.
const MOST: f64 = 50_000.0;

/// No unit takes so many times as long as the mean, and
const FAR_LONGER: f64 = 100.0;
/// whatever the mean is, none hangs before this time.
const NOT_BEFORE: Duration = Duration::from_mins(10);

/// How strongly the newest unit moves the mean.
const NEWEST: f64 = 1.0 / 16.0;

/// The measured time of a unit.
#[derive(Clone, Copy, Debug)]
pub struct AskingPace {
    threads: u32,
    /// Mean seconds of one thread for a unit.
    seconds: f64,
    /// Units are fetched ahead for so long.
    ahead: Duration,
}

impl AskingPace {
    /// A first guess from the expected nanoseconds of a unit.
    pub fn new(threads: u32, nanoseconds: f64, ahead: Duration) -> Self {
        Self { threads, seconds: nanoseconds / 1e9, ahead }
    }

    /// A unit took one thread so long.
    pub fn counted(&mut self, time: Duration) {
        self.seconds += (time.as_secs_f64() - self.seconds) * NEWEST;
    }

    /// How many units to hold: enough for the time ahead, and at least one for each thread besides the one that it
    /// counts.
    pub fn target(&self) -> usize {
        self.units_in(self.ahead)
    }

    /// With fewer units than this there will soon be nothing to count.
    pub fn low(&self) -> usize {
        self.units_in(SOON)
    }

    /// A thread that counts one unit for this long hangs.
    pub fn hung(&self) -> Duration {
        Duration::from_secs_f64(self.seconds * FAR_LONGER).max(NOT_BEFORE)
    }

    /// How many units are counted in that time, two for each thread at least.
    fn units_in(&self, time: Duration) -> usize {
        let threads = f64::from(self.threads);
        let units = time.as_secs_f64() * threads / self.seconds.max(1e-9);
        units.clamp(2.0 * threads, MOST.max(2.0 * threads)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_units_are_held_two_a_thread_and_short_ones_for_ten_seconds() {
        let mut pace = AskingPace::new(4, 60e9, AHEAD);
        assert_eq!(pace.target(), 8);
        for _ in 0..200 {
            pace.counted(Duration::from_millis(100));
        }
        assert!((395..=405).contains(&pace.target()), "{}", pace.target());
        let outlasting = AskingPace { ahead: Duration::from_mins(10), ..pace };
        assert!((23_700..=24_300).contains(&outlasting.target()), "{}", outlasting.target());
    }
}

//! The speed of a run, and the estimate of its remaining time.

mod rate;
mod speed;

use std::time::Duration;

use domain::TimeLeft;

pub use rate::Rate;
pub use speed::RemainingWork;
use speed::Speed;

/// The speed of a run.
#[derive(Debug)]
pub struct Progress {
    /// Units recorded a second.
    units: Rate,
    speed: Speed,
}

impl Progress {
    /// The progress of a run. `unit` is the expected time of a unit. `units` are on record: they were expected to take
    /// `expected` and took `processor`. All times are in seconds of one core.
    pub fn new(unit: f64, units: u64, expected: f64, processor: f64) -> Self {
        Self { units: Rate::default(), speed: Speed::new(unit, units, expected, processor) }
    }

    /// A first count of a unit is on record.
    pub fn note_first_count(&mut self, now: Duration, expected: f64, took: f64, threads: u64) {
        self.units.add(now, expected, took, threads);
    }

    /// A count of a unit by a worker is on record.
    pub fn note_count(&mut self, now: Duration, is_symmetric: bool, expected: f64, processor: f64) {
        self.speed.add_unit(now, is_symmetric, expected, processor);
    }

    /// Notes the number of connected threads.
    pub fn note_threads(&mut self, now: Duration, threads: u64) {
        self.speed.note_threads(now, threads);
    }

    /// Restarts the measurement of how busy the threads are, after a pause.
    pub fn resume(&mut self, now: Duration) {
        self.speed.resume(now);
    }

    /// Units recorded per second, recently.
    pub fn rate(&self, now: Duration) -> f64 {
        self.units.per_second(now).unwrap_or(0.0)
    }

    /// The estimated remaining time; none if it is unknown.
    pub fn left(&self, now: Duration, rest: RemainingWork) -> Option<TimeLeft> {
        self.speed.left(now, rest)
    }
}

//! How fast the run goes, and how long the rest takes.

mod rate;
mod speed;

use std::time::Duration;

use domain::TimeLeft;

pub use rate::Rate;
pub use speed::Rest;
use speed::Speed;

/// The speed of a run.
#[derive(Debug)]
pub struct Progress {
    /// Units recorded a second.
    units: Rate,
    speed: Speed,
}

impl Progress {
    /// Of a run of which a unit is expected to take so many seconds, with so many units on record that took so many seconds of the
    /// processor where so many were expected.
    pub fn new(unit: f64, units: u64, expected: f64, processor: f64) -> Self {
        Self { units: Rate::default(), speed: Speed::new(unit, units, expected, processor) }
    }

    /// A first count of a unit is on record.
    pub fn recorded(&mut self, now: Duration, expected: f64, took: f64, threads: u64) {
        self.units.add(now, expected, took, threads);
    }

    /// A count of a unit by a worker is on record.
    pub fn counted(&mut self, now: Duration, is_symmetric: bool, expected: f64, processor: f64) {
        self.speed.counted(now, is_symmetric, expected, processor);
    }

    /// So many threads are there.
    pub fn follow(&mut self, now: Duration, threads: u64) {
        self.speed.follow(now, threads);
    }

    /// How busy threads were in a pause says nothing.
    pub fn resume(&mut self, now: Duration) {
        self.speed.resume(now);
    }

    /// Units recorded a second, lately.
    pub fn rate(&self, now: Duration) -> f64 {
        self.units.per_second(now).unwrap_or(0.0)
    }

    /// How long the rest takes, where that can be said.
    pub fn left(&self, now: Duration, rest: Rest) -> Option<TimeLeft> {
        self.speed.left(now, rest)
    }
}

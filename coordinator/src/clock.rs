//! The clock that the core is told the time by, so that a test can tell it another.

use std::time::{Duration, Instant};

/// Something that tells the time since a moment of its own.
pub trait Clock: Send {
    /// Never less than before.
    fn now(&self) -> Duration;
}

/// The system's monotonic clock.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

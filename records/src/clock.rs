//! The clock of a coordinator, and its only source of time, so that tests can replace it.

use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Tells the time, for intervals and for people.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The time since a moment of the clock's own; never less than before.
    fn now(&self) -> Duration;

    /// The time since the beginning of 1970 (UTC). It may step back.
    fn since_1970(&self) -> Duration;
}

/// The system's clocks.
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

    fn since_1970(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

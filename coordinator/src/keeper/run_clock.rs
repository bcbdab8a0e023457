//! The clock of a run: it stands still while a slow disk keeps the keeper from hearing anybody, so that workers do not seem lost.

use std::sync::Arc;
use std::time::Duration;

use records::Clock;

/// The times that the keeper works with.
#[derive(Debug)]
pub(super) struct RunClock {
    clock: Arc<dyn Clock>,
    /// How long nobody could be heard.
    stalled: Duration,
}

impl RunClock {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, stalled: Duration::ZERO }
    }

    /// The time for the core: without the time that the disk took.
    pub fn now(&self) -> Duration {
        self.clock.now().saturating_sub(self.stalled)
    }

    /// The time since the process began.
    pub fn elapsed(&self) -> Duration {
        self.clock.now()
    }

    /// Leaves that time out of [`now`](Self::now).
    pub fn leave_out(&mut self, stalled: Duration) {
        self.stalled += stalled;
    }

    /// The time since 1970 (UTC).
    pub fn since_1970(&self) -> Duration {
        self.clock.since_1970()
    }

    /// Seconds since 1970 (UTC).
    pub fn unix_time(&self) -> u64 {
        self.clock.since_1970().as_secs()
    }
}

//! The clock of a run. It stands still while a slow disk blocks the keeper, so that workers do not seem lost.

use std::sync::Arc;
use std::time::Duration;

use records::Clock;

/// The times that the keeper works with.
#[derive(Debug)]
pub(super) struct RunClock {
    clock: Arc<dyn Clock>,
    /// The time for which the keeper was blocked.
    stalled: Duration,
}

impl RunClock {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, stalled: Duration::ZERO }
    }

    /// The time for the core, without the time of slow writes.
    pub fn now(&self) -> Duration {
        self.clock.now().saturating_sub(self.stalled)
    }

    /// The time since the process began.
    pub fn elapsed(&self) -> Duration {
        self.clock.now()
    }

    /// Leaves this time out of [`now`](Self::now).
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

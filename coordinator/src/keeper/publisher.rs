//! Publishes snapshots of the run from time to time, and has a watchdog say so when the keeper stands still.

use std::io;
use std::time::Duration;

use tokio::sync::watch;

use super::snapshot::Snapshot;
use super::watchdog::Watchdog;

/// Between two snapshots.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(500);

/// Where snapshots go.
#[derive(Debug)]
pub(super) struct Publisher {
    snapshots: watch::Sender<Snapshot>,
    /// When the next snapshot is due.
    next: Duration,
    /// None for a run in memory, which never hangs.
    watchdog: Option<Watchdog>,
}

impl Publisher {
    /// Publishes the first snapshot of a run.
    pub fn new(first: Snapshot) -> Self {
        let (snapshots, _) = watch::channel(first);
        Self { snapshots, next: Duration::ZERO, watchdog: None }
    }

    /// Has a watchdog look at the keeper from now on.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn watch_keeper(&mut self) -> io::Result<()> {
        self.watchdog = Some(Watchdog::start(self.snapshots.clone())?);
        Ok(())
    }

    /// The snapshots from now on.
    pub fn snapshots(&self) -> watch::Receiver<Snapshot> {
        self.snapshots.subscribe()
    }

    /// Shows the watchdog that the keeper goes on.
    pub fn beat(&self) {
        if let Some(watchdog) = &self.watchdog {
            watchdog.pulse.beat();
        }
    }

    /// How often the keeper showed that it goes on.
    #[cfg(test)]
    pub fn pulse(&self) -> super::standstill::Pulse {
        self.watchdog.as_ref().unwrap().pulse.clone()
    }

    /// True if it is time for a snapshot, or the last one says that the keeper stands still.
    pub fn is_due(&self, now: Duration) -> bool {
        now >= self.next || self.snapshots.borrow().is_stalled
    }

    /// Makes the next snapshot due.
    pub fn publish_soon(&mut self) {
        self.next = Duration::ZERO;
    }

    /// Publishes that snapshot.
    pub fn publish(&mut self, snapshot: Snapshot, now: Duration) {
        self.next = now + SNAPSHOT_INTERVAL;
        self.snapshots.send_replace(snapshot);
    }
}

//! Publishes snapshots of the run, and runs a watchdog that reports a hanging keeper.

use std::io;
use std::time::Duration;

use tokio::sync::watch;

use super::snapshot::Snapshot;
use super::watchdog::Watchdog;

/// Minimum time between two snapshots.
const SNAPSHOT_INTERVAL: Duration = Duration::from_millis(500);

/// Publishes snapshots.
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

    /// Starts the watchdog of the keeper.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn watch_keeper(&mut self) -> io::Result<()> {
        self.watchdog = Some(Watchdog::start(self.snapshots.clone())?);
        Ok(())
    }

    /// The snapshots from now on.
    pub fn snapshots(&self) -> watch::Receiver<Snapshot> {
        self.snapshots.subscribe()
    }

    /// Shows the watchdog that the keeper works.
    pub fn beat(&self) {
        if let Some(watchdog) = &self.watchdog {
            watchdog.pulse.beat();
        }
    }

    /// The pulse of the keeper.
    #[cfg(test)]
    pub fn pulse(&self) -> super::standstill::Pulse {
        self.watchdog.as_ref().unwrap().pulse.clone()
    }

    /// True if a snapshot is due, or if the last snapshot reports a hanging keeper.
    pub fn is_due(&self, now: Duration) -> bool {
        now >= self.next || self.snapshots.borrow().is_stalled
    }

    /// Makes the next snapshot due.
    pub fn publish_soon(&mut self) {
        self.next = Duration::ZERO;
    }

    /// Publishes this snapshot.
    pub fn publish(&mut self, snapshot: Snapshot, now: Duration) {
        self.next = now + SNAPSHOT_INTERVAL;
        self.snapshots.send_replace(snapshot);
    }
}

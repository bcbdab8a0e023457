//! The watchdog: tells those who watch that the keeper hears nobody, because its disk does not answer. Such a disk gives no error,
//! and the keeper, which waits for it, publishes nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;
use tracing::error;

use super::snapshot::Snapshot;

/// Between two looks at the keeper, and at what it waits for.
pub(super) const EVERY: Duration = Duration::from_secs(1);

/// After so many looks in a row at which it stands still something hangs. Looks are counted rather than seconds: a process that was
/// stopped for a while is none that hangs.
pub(super) const LOOKS: u32 = 10;

/// What is then told.
const STALLED: &str =
    "nothing is recorded or lent: the disk of the run has not answered for ten seconds or more";

/// What the keeper shows of itself: that it goes round. The watchdog ends with it.
#[derive(Debug)]
pub(super) struct Pulse {
    rounds: Arc<AtomicU64>,
    _alive: Sender<()>,
}

impl Pulse {
    /// One round more.
    pub fn beat(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }
}

/// Watches a keeper that publishes these snapshots.
///
/// # Errors
/// The system gives no thread.
pub(super) fn start(snapshots: watch::Sender<Snapshot>) -> io::Result<Pulse> {
    let (rounds, (alive, keeper)) = (Arc::new(AtomicU64::new(0)), channel());
    let of_keeper = Arc::clone(&rounds);
    thread::Builder::new().name("watchdog".into()).spawn(move || watch(&keeper, &of_keeper, &snapshots))?;
    Ok(Pulse { rounds, _alive: alive })
}

fn watch(keeper: &Receiver<()>, rounds: &AtomicU64, snapshots: &watch::Sender<Snapshot>) {
    let (mut seen, mut looks) = (0, 0);
    while keeper.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        let now = rounds.load(Ordering::Relaxed);
        looks = if now == seen { looks + 1 } else { 0 };
        seen = now;
        if looks == LOOKS {
            let is_told = snapshots.send_if_modified(|snapshot| {
                // It may have gone on just now, and published what is true.
                let stands_still = rounds.load(Ordering::Relaxed) == seen;
                if stands_still {
                    snapshot.stall(STALLED);
                }
                stands_still
            });
            if is_told {
                error!("{STALLED}");
            }
        }
    }
}

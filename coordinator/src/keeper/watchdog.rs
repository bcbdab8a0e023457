//! The watchdog: tells those who watch that the keeper hears nobody, because its disk does not answer. The keeper, which waits for it,
//! publishes nothing.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tracing::error;

use super::snapshot::Snapshot;
use super::standstill::{EVERY, Pulse, Standstill};

/// What is then told.
const STALLED: &str = "nothing is recorded or lent: the disk of the run has not answered for ten seconds or more; the run continues when it answers";

/// The watchdog of a keeper, with whom it ends.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// What the keeper shows of itself: that it hears somebody, or nobody is there to be heard.
    pub pulse: Pulse,
    _alive: Sender<()>,
}

impl Watchdog {
    /// Watches from now on a keeper that publishes these snapshots.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(snapshots: watch::Sender<Snapshot>) -> io::Result<Self> {
        let (pulse, (alive, keeper)) = (Pulse::default(), channel());
        let standstill = Standstill::of(pulse.clone(), Duration::ZERO);
        thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || watch(&keeper, standstill, &snapshots))?;
        Ok(Self { pulse, _alive: alive })
    }
}

fn watch(keeper: &Receiver<()>, mut pulse: Standstill, snapshots: &watch::Sender<Snapshot>) {
    let begun = Instant::now();
    let mut hung = false;
    while keeper.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
        pulse.look(begun.elapsed());
        if pulse.is_hanging() && !hung {
            let is_told = snapshots.send_if_modified(|snapshot| {
                // It may have gone on just now, and published what is true.
                let stands_still = !pulse.has_moved();
                if stands_still {
                    snapshot.stall(STALLED);
                }
                stands_still
            });
            if is_told {
                error!("{STALLED}");
            }
        }
        hung = pulse.is_hanging();
    }
}

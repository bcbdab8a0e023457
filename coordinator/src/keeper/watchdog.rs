//! The watchdog: publishes that the keeper hangs because its disk does not answer. The keeper waits for the disk and
//! cannot publish anything.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tracing::error;

use super::snapshot::Snapshot;
use super::standstill::{LOOK_INTERVAL, Pulse, Standstill};

/// The message about a hanging disk.
const HANGING_DISK: &str = "nothing is recorded or lent: the disk of the run has not answered for ten seconds or more; the run continues when it answers";

/// The watchdog of a keeper. It ends with the keeper.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// Shows that the keeper works, or that no request waits.
    pub pulse: Pulse,
    _alive: Sender<()>,
}

impl Watchdog {
    /// Starts the watchdog of the keeper that publishes these snapshots.
    ///
    /// # Errors
    /// The system cannot start a thread.
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
    while keeper.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        pulse.look(begun.elapsed());
        if pulse.is_hanging() && !hung {
            let is_told = snapshots.send_if_modified(|snapshot| {
                // The keeper may have resumed just now, and published a current snapshot.
                let stands_still = !pulse.has_moved();
                if stands_still {
                    snapshot.stall(HANGING_DISK);
                }
                stands_still
            });
            if is_told {
                error!("{HANGING_DISK}");
            }
        }
        hung = pulse.is_hanging();
    }
}

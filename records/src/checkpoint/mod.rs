//! The checkpoint: a sled store from which a run resumes without reading its whole ledger.
//!
//! [`entries`] describes the content of the checkpoint, [`store`] how it is written and read. A save writes the changed
//! entries in one batch, with a seal over all entries. The checkpoint is never the only copy of any data. If it cannot
//! be opened, or does not match its seal or the ledger, it is set aside and rebuilt from the ledger.
//!
//! A valid seal needs `lease.key`. The audit after each start compares the sums with the ledger, so it finds errors of
//! failing memory before the seal.

pub mod acknowledged;
pub mod resumption;

mod entries;
mod error;
mod store;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use queens::Plan;
use tracing::warn;

pub use error::{CheckpointError, NoCheckpoint};
pub use store::is_checkpoint_thread;

use crate::ledger::{LedgerPosition, LineHash};
use crate::run_directory::{LeaseKey, RunDirectory};
use crate::standing::Standing;
use store::StoreThread;

/// A save is awaited this long. The disk may answer later.
const SAVE_TIME: Duration = Duration::from_secs(5);

/// Minimum time between two saves, in multiples of the time of the last save.
const SAVE_INTERVAL_FACTOR: u32 = 20;

/// The start of the name of a checkpoint that was set aside.
const ASIDE: &str = "checkpoint.unusable-";

/// The checkpoint that a process writes.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    key: LeaseKey,
    thread: Option<StoreThread>,
    /// The position of the last save that is on disk.
    saved: Option<LedgerPosition>,
    took: Duration,
    saving: Option<Saving>,
    limit: Duration,
}

/// A save that has begun.
#[derive(Debug)]
struct Saving {
    position: LedgerPosition,
    begun: Instant,
    result: Receiver<Result<Duration, CheckpointError>>,
}

impl Checkpoint {
    /// A checkpoint that the first save writes to `path`, in place of one that may be there.
    pub fn new(path: PathBuf, key: LeaseKey) -> Self {
        Self { path, key, thread: None, saved: None, took: Duration::ZERO, saving: None, limit: SAVE_TIME }
    }

    /// Starts a save of the standing at this position of the ledger, after the former save. Returns the time to wait
    /// before the next save, which reports an error of this save.
    ///
    /// # Errors
    /// The save before failed, or is not done in time. The caller may try again.
    pub fn save(
        &mut self,
        run: LineHash,
        plan: &Plan,
        position: &LedgerPosition,
        standing: &Standing,
    ) -> Result<Duration, CheckpointError> {
        self.finish()?;
        if self.saved.as_ref() != Some(position) {
            let entries = entries::entries(run, plan, position, standing);
            let thread = match self.thread.take() {
                Some(thread) => thread,
                None => StoreThread::start(self.path.clone(), self.key.clone())?,
            };
            let result = thread.save(entries).ok_or(CheckpointError::Panicked)?;
            self.thread = Some(thread);
            self.saving = Some(Saving { position: position.clone(), begun: Instant::now(), result });
        }
        Ok(self.took * SAVE_INTERVAL_FACTOR)
    }

    /// Waits for the save that has begun, if there is one.
    ///
    /// # Errors
    /// The save failed, or is not finished within five seconds.
    pub fn finish(&mut self) -> Result<(), CheckpointError> {
        let Some(Saving { position, begun, result }) = self.saving.take() else { return Ok(()) };
        match result.recv_timeout(self.limit.saturating_sub(begun.elapsed())) {
            Ok(took) => self.took = took?,
            Err(RecvTimeoutError::Timeout) => {
                self.saving = Some(Saving { position, begun, result });
                return Err(CheckpointError::Silent(self.limit));
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.thread = None;
                return Err(CheckpointError::Panicked);
            }
        }
        self.saved = Some(position);
        Ok(())
    }

    /// Waits for the save that has begun, and closes the store; the next save writes a new one.
    pub fn close(&mut self) {
        let limit = if self.finish().is_ok() { self.limit } else { Duration::ZERO };
        self.saved = None;
        if let Some(thread) = self.thread.take() {
            thread.close(limit);
        }
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        self.close();
    }
}

/// The standing that a run's checkpoint holds, and its position in the ledger. Reads a copy and changes nothing.
///
/// # Errors
/// There is no checkpoint, or it cannot be read or trusted.
pub fn read(directory: &RunDirectory, key: &LeaseKey) -> Result<(LedgerPosition, Standing), NoCheckpoint> {
    let entries = store::read(&directory.checkpoint())?;
    entries::restore(entries, key, directory.run().hash(), directory.plan())
}

/// Renames an unusable checkpoint, so that the user can inspect it. The new name contains the time. Removes checkpoints
/// that were set aside earlier, because each has megabytes.
///
/// # Errors
/// The folder cannot be renamed.
pub fn set_aside(folder: &Path, since_1970: Duration) -> io::Result<PathBuf> {
    let aside = folder.with_file_name(format!("{ASIDE}{}", since_1970.as_millis()));
    fs::rename(folder, &aside)?;
    let mut removed = 0;
    for other in fs::read_dir(folder.parent().unwrap_or(Path::new(".")))?.filter_map(Result::ok) {
        let is_old = other.file_name().to_string_lossy().starts_with(ASIDE) && other.path() != aside;
        if is_old && fs::remove_dir_all(other.path()).or_else(|_| fs::remove_file(other.path())).is_ok() {
            removed += 1;
        }
    }
    warn!(kept = %aside.display(), older_removed = removed, "set an unusable checkpoint aside");
    Ok(aside)
}

/// Changes the entries of a checkpoint, and seals it again: for tests.
#[cfg(any(test, feature = "test-support"))]
pub(crate) fn rewrite(
    path: &Path,
    key: &LeaseKey,
    limit: Duration,
    change: impl FnOnce(&mut entries::Entries),
) {
    let mut entries = store::read(path).expect("there is a checkpoint");
    change(&mut entries);
    let thread = StoreThread::start(path.to_owned(), key.clone()).expect("the system gives a thread");
    let result = thread.save(entries).expect("the thread runs");
    result.recv_timeout(limit).expect("it is saved in time").expect("it can be saved");
    thread.close(limit);
}

#[cfg(test)]
impl Checkpoint {
    /// Delays the end of the last save until the returned sender sends its result.
    pub(crate) fn delay(&mut self) -> std::sync::mpsc::SyncSender<Result<Duration, CheckpointError>> {
        let (done, result) = std::sync::mpsc::sync_channel(1);
        let position = self.saved.clone().expect("one is saved");
        self.saving = Some(Saving { position, begun: Instant::now(), result });
        self.limit = Duration::from_millis(500);
        done
    }
}

#[cfg(test)]
mod loss_tests;
#[cfg(test)]
mod tests;

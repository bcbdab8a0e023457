//! The checkpoint: a file from which a run resumes without reading its whole ledger.
//!
//! ```text
//! the seal of all that follows: its hash by the run's key, in hexadecimal digits
//! the head: a line of JSON
//! the marks: a bit for each unit, mark after mark
//! ```
//!
//! It says which units are done and checked (never a key per unit), the sums, and the position in the ledger up to which
//! it speaks. Each one takes the place of the one before whole or not at all. It is never the only copy of anything: what
//! cannot be read, does not fit its seal or does not fit the ledger is set aside, and rebuilt from the ledger.
//!
//! Whoever has not `lease.key` cannot seal one. What failing memory has spoilt is sealed all the same: the audit after each
//! start compares it with the ledger.

pub mod acknowledged;
pub mod resumption;

mod error;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use queens::Plan;
use serde::{Deserialize, Serialize};
use tracing::warn;

pub use error::{CheckpointError, NoCheckpoint};

use crate::ledger::{LedgerPosition, LineHash};
use crate::regular_file;
use crate::run_directory::LeaseKey;
use crate::standing::{Marks, Standing, Sums};

/// What is kept besides the marks.
#[derive(Serialize, Deserialize)]
struct Head<Kept> {
    layout: u32,
    /// The expected work of the whole plan, by which that of the units on record was added up.
    plan_work: u128,
    /// The hash of the run: the checkpoint of another one says nothing.
    run: LineHash,
    position: LedgerPosition,
    sums: Kept,
}

/// What a head says of how it was made, whatever else it says.
#[derive(Deserialize)]
struct Made {
    layout: u32,
}

/// What is kept, and how: another number for every change. Up to 2 it was a folder.
const LAYOUT: u32 = 9;

/// One is shorter, in bytes, though a hundred thousand machines have counted; of a longer one the ledger has all.
const LONGEST: u64 = 1 << 28;

/// Machines expect the same work but for rounding, which makes no more than one part in so many.
const ROUNDING: u128 = 1_000_000;

/// One that is written is waited for no longer than until it has taken so long. The disk may become ready later.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the name of a checkpoint begins with that was set aside.
const ASIDE: &str = "checkpoint.unusable-";

/// Where checkpoints of a run are written.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    key: LeaseKey,
    /// What the last one speaks for that is on disk.
    saved: Option<LedgerPosition>,
    /// How many bytes the last one has.
    bytes: u64,
    writing: Option<Writing>,
    patience: Duration,
}

/// One that is being written, in a thread of its own: a disk that has failed keeps it for ever.
#[derive(Debug)]
struct Writing {
    position: LedgerPosition,
    begun: Instant,
    written: Receiver<io::Result<()>>,
}

impl Checkpoint {
    /// Nothing is written yet; what may be at `path` will be replaced. `key` seals.
    pub fn new(path: PathBuf, key: LeaseKey) -> Self {
        Self { path, key, saved: None, bytes: 0, writing: None, patience: PATIENCE }
    }

    /// Begins to write what stands at that position of the ledger, once the one before is written; gives how many bytes that are. Whether the
    /// disk takes it, the next call tells.
    ///
    /// # Errors
    /// The one before could not be written, or not in time; it may be tried again.
    pub fn save(
        &mut self,
        run: LineHash,
        plan: &Plan,
        position: &LedgerPosition,
        standing: &Standing,
    ) -> Result<u64, CheckpointError> {
        self.finish()?;
        if self.saved.as_ref() == Some(position) {
            return Ok(self.bytes);
        }
        let content = content(run, plan, position, standing);
        self.bytes = content.len() as u64;
        let (path, key, (done, written)) = (self.path.clone(), self.key.clone(), channel());
        thread::Builder::new().name("checkpoint".into()).spawn(move || {
            let sealed = [key.seal(&content).to_string().as_bytes(), b"\n", &content].concat();
            done.send(regular_file::replace(&path, &sealed, 0o644)).ok();
        })?;
        self.writing = Some(Writing { position: position.clone(), begun: Instant::now(), written });
        Ok(self.bytes)
    }

    /// Waits for the one that is being written, if there is one, as long as it may take: of a disk that hangs whoever serves is held up
    /// once.
    ///
    /// # Errors
    /// As with [`save`](Self::save).
    pub fn finish(&mut self) -> Result<(), CheckpointError> {
        let Some(Writing { position, begun, written }) = self.writing.take() else { return Ok(()) };
        match written.recv_timeout(self.patience.saturating_sub(begun.elapsed())) {
            Ok(result) => result?,
            Err(RecvTimeoutError::Timeout) => {
                self.writing = Some(Writing { position, begun, written });
                return Err(CheckpointError::Silent(self.patience));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("its writer has ended").into());
            }
        }
        self.saved = Some(position);
        Ok(())
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        self.finish().ok();
    }
}

fn content(run: LineHash, plan: &Plan, position: &LedgerPosition, standing: &Standing) -> Vec<u8> {
    let (plan_work, position) = (plan.total_weight(), position.clone());
    let head = Head { layout: LAYOUT, plan_work, run, position, sums: standing.sums() };
    let mut content = serde_json::to_vec(&head).expect("numbers and text");
    content.push(b'\n');
    standing.marks().write_to(&mut content);
    content
}

/// What the checkpoint at `path` says, and up to where.
fn read(
    path: &Path,
    key: &LeaseKey,
    run: LineHash,
    plan: &Plan,
) -> Result<(LedgerPosition, Standing), NoCheckpoint> {
    if path.is_dir() {
        return Err(NoCheckpoint::OtherRelease);
    }
    let bytes = regular_file::read(path, LONGEST).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => NoCheckpoint::Missing,
        _ => NoCheckpoint::Unreadable(error),
    })?;
    let (seal, content) = cut_line(&bytes).ok_or(NoCheckpoint::Damaged)?;
    let is_sealed_by = |hash: LineHash| seal == hash.to_string().as_bytes();
    if !is_sealed_by(key.seal(content)) {
        // Up to layout 3 the seal was the hash that everybody can make.
        let is_old = is_sealed_by(LineHash::of(content));
        return Err(if is_old { NoCheckpoint::OtherRelease } else { NoCheckpoint::Damaged });
    }
    let (head, marks) = cut_line(content).ok_or(NoCheckpoint::Damaged)?;
    let head = str::from_utf8(head).map_err(|_| NoCheckpoint::Damaged)?;
    let made: Made = serde_json::from_str(head).map_err(|_| NoCheckpoint::OtherRelease)?;
    if made.layout != LAYOUT {
        return Err(NoCheckpoint::OtherRelease);
    }
    let head: Head<Sums> = serde_json::from_str(head).map_err(|_| NoCheckpoint::Damaged)?;
    if head.run != run {
        return Err(NoCheckpoint::OtherRun);
    }
    let plan_work = plan.total_weight();
    if head.plan_work.abs_diff(plan_work) > plan_work / ROUNDING {
        return Err(NoCheckpoint::OtherRelease);
    }
    let marks = Marks::read(plan.units(), marks).ok_or(NoCheckpoint::Damaged)?;
    if !head.sums.fits(plan) {
        return Err(NoCheckpoint::Damaged);
    }
    let standing = Standing::restored(plan, marks, head.sums);
    // A unit that only seems to be open would be counted, and go on record, a second time.
    let on_record = standing.sums().history.milestones().last().map_or(0, |last| last.done);
    if standing.done() != on_record {
        return Err(NoCheckpoint::Damaged);
    }
    Ok((head.position, standing))
}

/// The first line, and what follows it.
pub(crate) fn cut_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Moves a checkpoint that cannot be used out of the way; it may tell somebody what happened to it. Its new name says
/// when that was. Those that were moved there before are removed: each has megabytes.
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
    warn!(kept = %aside.display(), older_removed = removed, "an unusable checkpoint is set aside");
    Ok(aside)
}

#[cfg(test)]
impl Checkpoint {
    /// Makes the last one late: it is written when that is said.
    pub(crate) fn delay(&mut self) -> std::sync::mpsc::Sender<io::Result<()>> {
        let (done, written) = channel();
        let position = self.saved.clone().expect("one is saved");
        let begun = Instant::now();
        (self.writing, self.patience) =
            (Some(Writing { position, begun, written }), Duration::from_millis(500));
        done
    }
}

#[cfg(test)]
mod loss_tests;
#[cfg(test)]
mod tests;

//! The checkpoint: a sled store from which a run resumes without reading its whole ledger.
//!
//! It keeps which units are done and checked (bitmap blocks, never a key per unit), the sums, the position in the ledger up to
//! which it speaks, and a seal over all of it. It is never the only copy of anything: what does not open, does not
//! fit its seal or does not fit the ledger is set aside, and rebuilt from the ledger.

pub mod resumption;

mod error;
mod patient;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use queens::Plan;
use serde::{Deserialize, Serialize};
use tracing::warn;

pub use error::CheckpointError;
use patient::{answer, begin};

use crate::ledger::{LedgerPosition, LineHash};
use crate::standing::{Marks, Standing, Sums, UnitMark};

/// What is kept besides the bitmaps.
#[derive(Serialize, Deserialize)]
struct Head {
    layout: u32,
    /// The expected work of the whole plan, by which that of the units on record was added up.
    plan_work: u128,
    /// The hash of the run: the checkpoint of another one says nothing.
    run: LineHash,
    position: LedgerPosition,
    sums: Sums,
    /// The hash over the blocks of all bitmaps.
    blocks: LineHash,
}

/// What a head says of how it was made, whatever else it says.
#[derive(Deserialize)]
struct Made {
    /// The first releases did not say it.
    #[serde(default)]
    layout: u32,
}

/// What is kept, and how: another number for every change.
const LAYOUT: u32 = 2;

/// Machines expect the same work but for rounding, which makes no more than one part in so many.
const ROUNDING: u128 = 1_000_000;

/// A batch of a running coordinator is waited for no longer; it may become ready later.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opening and reading takes no longer, at ten million units and on a slow disk.
const PATIENCE_AT_START: Duration = Duration::from_secs(30);

/// What the name of a checkpoint begins with that was set aside.
const ASIDE: &str = "checkpoint.unusable-";

const HEAD: &[u8] = b"head";
const SEAL: &[u8] = b"seal";

/// The open store.
pub struct Checkpoint {
    /// There until it is dropped.
    store: Option<sled::Db>,
    /// What becomes of the last batch, where that took too long.
    late: Option<Receiver<Result<(), CheckpointError>>>,
    patience: Duration,
}

impl std::fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checkpoint")
    }
}

impl Checkpoint {
    /// Opens the store in `folder`.
    ///
    /// # Errors
    /// sled cannot, or not in time.
    pub fn open(folder: &Path) -> Result<Self, CheckpointError> {
        let config = sled::Config::new()
            .path(folder)
            .cache_capacity(8 << 20)
            .flush_every_ms(Some(1000))
            .mode(sled::Mode::LowSpace);
        let opened = begin(move || Ok(config.open()?))?;
        let store = answer(&opened, PATIENCE_AT_START)?;
        Ok(Self { store: Some(store), late: None, patience: PATIENCE })
    }

    /// What the store holds, or nothing if it is empty.
    ///
    /// # Errors
    /// It cannot be read, or not be believed.
    pub fn load(
        &self,
        run: LineHash,
        plan: &Arc<Plan>,
    ) -> Result<Option<(LedgerPosition, Standing)>, CheckpointError> {
        let (store, plan) = (self.store.clone().ok_or(CheckpointError::Closed)?, Arc::clone(plan));
        answer(&begin(move || read(&store, run, &plan))?, PATIENCE_AT_START)
    }

    /// Writes what has changed, in one batch, once the one before is written.
    ///
    /// # Errors
    /// It cannot be written: what is there may be of no use. Or not in time ([`CheckpointError::Silent`]): then it may be
    /// tried again.
    pub fn save(
        &mut self,
        run: LineHash,
        plan: &Plan,
        position: &LedgerPosition,
        standing: &mut Standing,
    ) -> Result<(), CheckpointError> {
        self.finish()?;
        let marks = standing.marks();
        let mut batch = sled::Batch::default();
        for mark in UnitMark::ALL {
            for block in marks.of_mut(mark).take_changed() {
                batch.insert(&block_key(mark, block)[..], marks.of(mark).block(block));
            }
        }
        let blocks = hash_of_blocks(marks);
        let (layout, plan_work) = (LAYOUT, plan.total_weight());
        let (position, sums) = (position.clone(), standing.sums().clone());
        let head = Head { layout, plan_work, run, position, sums, blocks };
        let head = serde_json::to_vec(&head)?;
        batch.insert(SEAL, LineHash::of(&head).to_string().as_bytes());
        batch.insert(HEAD, head);
        let store = self.store.clone().ok_or(CheckpointError::Closed)?;
        self.late = Some(begin(move || {
            store.apply_batch(batch)?;
            store.flush()?;
            Ok(())
        })?);
        self.finish()
    }

    /// Waits for the batch that is being written, if there is one.
    fn finish(&mut self) -> Result<(), CheckpointError> {
        let Some(late) = self.late.take() else { return Ok(()) };
        let written = answer(&late, self.patience);
        if matches!(written, Err(CheckpointError::Silent(_))) {
            self.late = Some(late);
        }
        written
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        // The last one to let go of the store flushes it.
        let store = self.store.take();
        let dropped = begin(move || {
            drop(store);
            Ok(())
        });
        dropped.and_then(|dropped| answer(&dropped, self.patience)).ok();
    }
}

fn read(
    store: &sled::Db,
    run: LineHash,
    plan: &Plan,
) -> Result<Option<(LedgerPosition, Standing)>, CheckpointError> {
    let Some(head) = store.get(HEAD)? else { return Ok(None) };
    let seal = store.get(SEAL)?.ok_or(CheckpointError::NoSeal)?;
    if *seal != *LineHash::of(&head).to_string().as_bytes() {
        return Err(CheckpointError::WrongSeal);
    }
    let head = str::from_utf8(&head).map_err(|_| CheckpointError::WrongSeal)?;
    if serde_json::from_str::<Made>(head)?.layout != LAYOUT {
        return Err(CheckpointError::OtherRelease);
    }
    let head: Head = serde_json::from_str(head)?;
    if head.run != run {
        return Err(CheckpointError::OtherRun);
    }
    let plan_work = plan.total_weight();
    if head.plan_work.abs_diff(plan_work) > plan_work / ROUNDING {
        return Err(CheckpointError::OtherRelease);
    }
    let mut marks = Marks::new(plan.units());
    for mark in UnitMark::ALL {
        for block in 0..marks.of(mark).blocks() {
            if let Some(bytes) = store.get(block_key(mark, block))?
                && !marks.of_mut(mark).set_block(block, &bytes)
            {
                return Err(CheckpointError::BlockLength { block, bytes: bytes.len() });
            }
        }
    }
    if hash_of_blocks(&marks) != head.blocks {
        return Err(CheckpointError::OtherBlocks);
    }
    Ok(Some((head.position, Standing::restored(plan, marks, head.sums))))
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

fn block_key(mark: UnitMark, block: usize) -> Vec<u8> {
    [b"block".as_slice(), &[mark as u8], &(block as u32).to_be_bytes()].concat()
}

fn hash_of_blocks(marks: &Marks) -> LineHash {
    let mut hash = blake3::Hasher::new();
    for bitmap in UnitMark::ALL.map(|mark| marks.of(mark)) {
        (0..bitmap.blocks()).for_each(|block| _ = hash.update(&bitmap.block(block)));
    }
    LineHash::of(hash.finalize().as_bytes())
}

#[cfg(test)]
impl Checkpoint {
    /// Makes the last batch late: it is written when that is said.
    pub(crate) fn delay(&mut self) -> std::sync::mpsc::Sender<Result<(), CheckpointError>> {
        let (done, late) = std::sync::mpsc::channel();
        (self.late, self.patience) = (Some(late), Duration::from_millis(20));
        done
    }
}

#[cfg(test)]
mod tests;

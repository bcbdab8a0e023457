//! Where a run keeps its records: the run directory with ledger and checkpoint, or nowhere but in memory.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use queens::{Board, Plan};
use thiserror::Error;

use crate::checkpoint::{Checkpoint, set_aside};
use crate::ledger::{
    self, CommitMark, Disk, LedgerError, LedgerPosition, LineBefore, Record, SystemDisk, Tail, Writer,
};
use crate::run_directory::{Lock, RunDirectory, RunDirectoryError};
use crate::shard::Shard;
use crate::standing::Standing;

/// A run that cannot be opened or resumed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no run and none was to begin.
    #[error("there is no run in {}: run.json is missing; say --n N to begin one there", .0.display())]
    NothingToBegin(PathBuf),
    /// The directory is not usable.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// Its ledger is not.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Its checkpoint cannot even be moved out of the way.
    #[error("cannot set the checkpoint {} aside: {source}", .path.display())]
    Checkpoint {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Something about the resumption that its user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Records after the last commit mark were cut off: they were never acknowledged.
    TailCut {
        /// Their bytes.
        bytes: u64,
    },
    /// Records that the checkpoint knows of were cut off the ledger by somebody else.
    RecordsGone {
        /// Their number.
        records: u64,
    },
    /// The checkpoint was rebuilt from the ledger.
    CheckpointRebuilt {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::TailCut { bytes } => write!(
                f,
                "cut off {bytes} bytes at the end of the ledger that were never acknowledged; their units are counted again"
            ),
            Notice::RecordsGone { records } => write!(
                f,
                "the last {records} records are gone from the end of the ledger, although they were acknowledged; \
                 unless it is restored from a copy now, their units are counted again"
            ),
            Notice::CheckpointRebuilt { why } => write!(f, "rebuilt the checkpoint from the ledger: {why}"),
        }
    }
}

/// A run directory opened for writing.
#[derive(Debug)]
pub struct Store {
    directory: RunDirectory,
    writer: Writer,
    checkpoint: Option<Checkpoint>,
    /// The position that the checkpoint speaks for.
    saved: Option<LedgerPosition>,
    _lock: Lock,
}

/// How to open a run directory.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Where it is.
    pub path: PathBuf,
    /// The plan of a run that is to begin there, if none is there yet.
    pub begin: Option<Plan>,
    /// The board that a run that is there must have.
    pub board: Option<Board>,
    /// The share of the plan that is to be counted.
    pub shard: Shard,
}

impl Store {
    /// Opens or begins a run, and reads what is on record.
    pub fn open(options: OpenOptions) -> Result<(Self, Standing, Vec<Notice>), StoreError> {
        Self::open_on(Box::new(SystemDisk), options)
    }

    /// The same with a ledger that is written on that disk.
    pub(crate) fn open_on(
        disk: Box<dyn Disk>,
        options: OpenOptions,
    ) -> Result<(Self, Standing, Vec<Notice>), StoreError> {
        let OpenOptions { path, begin, board, shard } = options;
        if !RunDirectory::exists(&path) && begin.is_none() {
            return Err(StoreError::NothingToBegin(path));
        }
        let lock = Lock::take(&path)?;
        let directory = match begin {
            Some(plan) if !RunDirectory::exists(&path) => RunDirectory::begin(&path, plan, shard)?,
            _ => {
                let directory = RunDirectory::open(&path)?;
                match board {
                    Some(board) => directory.of_board(board)?.of_shard(shard)?,
                    None => directory.of_shard(shard)?,
                }
            }
        };
        let mut notices = Vec::new();
        let (checkpoint, standing, tail) = resume(&directory, &mut notices)?;
        let records_gone = notices.iter().any(|notice| matches!(notice, Notice::RecordsGone { .. }));
        if tail.bytes > 0 && !records_gone {
            notices.push(Notice::TailCut { bytes: tail.bytes });
        }
        let writer = Writer::on(disk, &directory.ledger(), tail.end);
        let mut store = Self { directory, writer, checkpoint, saved: None, _lock: lock };
        let mut standing = standing;
        if notices.iter().any(|notice| matches!(notice, Notice::CheckpointRebuilt { .. })) {
            store.save(&mut standing).ok();
        }
        Ok((store, standing, notices))
    }

    /// The directory.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// Behind the last commit mark.
    pub fn end(&self) -> &LedgerPosition {
        self.writer.end()
    }

    /// What the last commit mark says.
    pub fn mark(&self) -> CommitMark {
        self.writer.end().mark
    }

    /// Puts records on disk; see [`Writer::commit`].
    pub fn commit(&mut self, records: &[Record], elapsed: Duration, threads: u32) -> Result<(), LedgerError> {
        self.writer.commit(records, elapsed, threads)
    }

    /// Brings the checkpoint up to the ledger's end. When that fails the run goes on without: the ledger suffices.
    /// The error says why.
    pub fn save(&mut self, standing: &mut Standing) -> Result<(), String> {
        if self.saved.as_ref() == Some(self.writer.end()) {
            return Ok(());
        }
        if self.checkpoint.is_none() {
            let folder = self.directory.checkpoint();
            if folder.exists() {
                set_aside(&folder).map_err(|error| error.to_string())?;
            }
            self.checkpoint = Some(Checkpoint::open(&folder)?);
            standing.marks().change_all();
        }
        let Some(checkpoint) = &self.checkpoint else { return Ok(()) };
        if let Err(error) = checkpoint.save(self.directory.run().hash(), self.writer.end(), standing) {
            self.checkpoint = None;
            return Err(error);
        }
        self.saved = Some(self.writer.end().clone());
        Ok(())
    }
}

/// Reads what is on record: from the checkpoint and the ledger behind it, or from the whole ledger.
fn resume(
    directory: &RunDirectory,
    notices: &mut Vec<Notice>,
) -> Result<(Option<Checkpoint>, Standing, Tail), StoreError> {
    let (plan, run) = (directory.plan(), directory.run());
    let folder = directory.checkpoint();
    let beginning = LedgerPosition::beginning(run.hash());
    let replay = |from: &LedgerPosition, mut standing: Standing| {
        let tail =
            ledger::read(&directory.ledger(), from, |_, record| standing.apply(plan, run.shard, record))?;
        Ok::<_, LedgerError>((standing, tail))
    };
    let mut known = 0;
    let why = match usable_checkpoint(&folder, directory) {
        Ok(Some((checkpoint, position, standing))) => {
            match ledger::line_before(&directory.ledger(), &position)? {
                LineBefore::Fits => {
                    let (standing, tail) = replay(&position, standing)?;
                    return Ok((Some(checkpoint), standing, tail));
                }
                LineBefore::Short => known = position.mark.records,
                LineBefore::Differs => {}
            }
            "it does not fit the ledger".to_owned()
        }
        Ok(None) => "there was none".to_owned(),
        Err(why) => why,
    };
    let (standing, tail) = replay(&beginning, Standing::new(plan))?;
    if folder.exists() {
        set_aside(&folder).map_err(|source| StoreError::Checkpoint { path: folder, source })?;
    }
    let found = tail.end.mark.records;
    if known > found {
        notices.push(Notice::RecordsGone { records: known - found });
    }
    if tail.end != beginning {
        notices.push(Notice::CheckpointRebuilt { why });
    }
    Ok((None, standing, tail))
}

/// The checkpoint with what it holds; nothing if there is none.
fn usable_checkpoint(
    folder: &Path,
    directory: &RunDirectory,
) -> Result<Option<(Checkpoint, LedgerPosition, Standing)>, String> {
    if !folder.exists() {
        return Ok(None);
    }
    let checkpoint = Checkpoint::open(folder).map_err(|why| format!("it does not open ({why})"))?;
    let loaded = checkpoint.load(directory.run().hash(), directory.plan());
    let loaded = loaded.map_err(|why| format!("it cannot be believed ({why})"))?;
    Ok(loaded.map(|(position, standing)| (checkpoint, position, standing)))
}

//! The storage of a run: its run directory with ledger and checkpoint.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use domain::{CoordinatorId, Term};
use queens::plan::Scheme;
use queens::{Board, Class, Classified, Plan};
use thiserror::Error;
use tracing::warn;

use crate::checkpoint::resumption::{LedgerLoss, Resumed, Unsettled, resume};
use crate::checkpoint::{Checkpoint, set_aside};
use crate::clock::{Clock, SystemClock};
use crate::ledger::{
    AcceptedLoss, CommitMark, Disk, LedgerError, LedgerPosition, Record, SystemDisk, TermRecord, Writer,
    sync_found,
};
use crate::run_directory::LeaseKey;
use crate::run_directory::lock::Lock;
use crate::run_directory::next_term::next_term;
use crate::run_directory::notes::{self, Notes, NotesFile};
use crate::run_directory::secret::{self, lease_key};
use crate::run_directory::{RunDirectory, RunDirectoryError};
use crate::shard::Shard;
use crate::signing::{KeyError, SigningKey};
use crate::standing::Standing;

pub use crate::checkpoint::resumption::Notice;
pub use crate::checkpoint::{CheckpointError, NoCheckpoint};
pub use crate::run_directory::next_term::TermError;

/// A run that cannot be opened or resumed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The directory holds no run, and no new run was requested.
    #[error("there is no run in {}: run.json is missing; use --n N to begin one there", .0.display())]
    NothingToBegin(PathBuf),
    /// The directory holds no run to take over.
    #[error("there is no run in {} to take over; leave out --take-over to begin one there", .0.display())]
    NothingToTakeOver(PathBuf),
    /// The directory is not usable.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// Its ledger is not.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Its private key cannot be read or created.
    #[error("cannot read or make the key {}: {source}", .path.display())]
    LeaseKey {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The key of its coordinator cannot be read, or made.
    #[error(transparent)]
    SigningKey(#[from] KeyError),
    /// No term of it can be begun.
    #[error(transparent)]
    Term(#[from] TermError),
    /// Its checkpoint cannot be set aside.
    #[error("cannot set the checkpoint {} aside: {source}", .path.display())]
    Checkpoint {
        /// The folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Classified for StoreError {
    fn class(&self) -> Class {
        match self {
            Self::Ledger(error) => error.class(),
            Self::Directory(error) => error.class(),
            Self::NothingToBegin(_) | Self::NothingToTakeOver(_) | Self::Term(TermError::NotOwn { .. }) => {
                Class::Usage
            }
            _ => Class::Failed,
        }
    }
}

/// A run directory opened for writing.
#[derive(Debug)]
pub struct Store {
    directory: RunDirectory,
    writer: Writer,
    checkpoint: Checkpoint,
    notes: NotesFile,
    lease_key: LeaseKey,
    term: Term,
    /// As 64 hexadecimal digits, where its coordinator has a key.
    public_key: Option<String>,
    unsettled: Unsettled,
    /// The loss that its user accepts.
    loss: Option<AcceptedLoss>,
    /// Since 1970.
    opened: Duration,
    _lock: Lock,
}

/// How to open a run directory.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Its path.
    pub path: PathBuf,
    /// The plan of a new run, if the directory has no run yet.
    pub begin: Option<Plan>,
    /// The board that an existing run must have.
    pub board: Option<Board>,
    /// How it must be split.
    pub scheme: Option<Scheme>,
    /// The share of the plan to count.
    pub shard: Shard,
    /// True if a run may resume although acknowledged records are missing at the end of its ledger.
    pub accept_loss: bool,
    /// Whether to begin a term above that of the other coordinator that serves the run now.
    pub take_over: bool,
    /// The private key of its coordinator, created if missing; none for a process without a term.
    pub signing_key: Option<PathBuf>,
}

impl Store {
    /// Opens or creates a run, reads its records, and makes the resulting changes on disk: for writers without a
    /// `coordinator::Handle`.
    ///
    /// # Errors
    /// The directory holds no run and no new run was requested, it is in use, it holds another run than requested, or
    /// its ledger is damaged.
    pub fn open(options: OpenOptions) -> Result<(Self, Standing, Vec<Notice>), StoreError> {
        let (mut store, standing, notices) = Self::open_unsettled(options)?;
        store.settle(&standing)?;
        Ok((store, standing, notices))
    }

    /// Opens or creates a run, and reads its records. Nothing on disk changes, and no notice takes effect, before a
    /// `coordinator::Handle` starts with it: until then the command may still be refused.
    ///
    /// # Errors
    /// As with [`open`](Self::open).
    pub fn open_unsettled(options: OpenOptions) -> Result<(Self, Standing, Vec<Notice>), StoreError> {
        Self::open_on(Box::new(SystemDisk), Arc::new(SystemClock::default()), options)
    }

    /// As [`open_unsettled`](Self::open_unsettled), for a run whose ledger is written on a disk of the caller's, by a clock of the
    /// caller's.
    ///
    /// # Errors
    /// As with [`open`](Self::open).
    pub fn open_on(
        disk: Box<dyn Disk>,
        clock: Arc<dyn Clock>,
        options: OpenOptions,
    ) -> Result<(Self, Standing, Vec<Notice>), StoreError> {
        let path = options.path.clone();
        if !RunDirectory::exists(&path)? && (options.begin.is_none() || options.take_over) {
            RunDirectory::expect_nothing_left(&path)?;
            let nothing =
                if options.take_over { StoreError::NothingToTakeOver } else { StoreError::NothingToBegin };
            return Err(nothing(path));
        }
        let lock = Lock::take(&path)?;
        let (accept_loss, take_over, opened) = (options.accept_loss, options.take_over, clock.since_1970());
        let signing_key = options.signing_key.clone();
        let directory = directory(options, &*clock)?;
        let lease_key = lease_key(directory.path())
            .map_err(|source| StoreError::LeaseKey { path: directory.path().join(secret::NAME), source })?;
        let Resumed { standing, tail, notices, unsettled } =
            resume(&directory, &lease_key, accept_loss, opened)?;
        let loss = accept_loss.then(|| accepted_loss(&notices, opened)).flatten();
        sync_found(&directory.ledger(), tail.end.file)?;
        let writer = Writer::on(disk, &directory.ledger(), tail.end).opened_at(opened);
        let notes = NotesFile::read(&path)
            .map_err(|source| TermError::Notes { path: path.join(notes::NAME), source })?;
        let term = next_term(&path, notes.notes(), standing.term(), take_over)?;
        let term = lease_key.prove(directory.run().hash(), term, CoordinatorId(rand::random()));
        let signing_key = signing_key.map(|path| SigningKey::open(&path)).transpose()?;
        let public_key = signing_key.map(|key| key.public());
        let store = Self {
            checkpoint: Checkpoint::new(directory.checkpoint(), lease_key.clone()),
            directory,
            writer,
            notes,
            lease_key,
            term,
            public_key,
            unsettled,
            loss,
            opened,
            _lock: lock,
        };
        Ok((store, standing, notices))
    }

    /// Makes the changes on disk that follow from the state of the run. An accepted loss becomes permanent, even if
    /// nothing is recorded later: the next start finds no loss. The ledger records the acceptance.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn settle(&mut self, standing: &Standing) -> Result<(), StoreError> {
        let Unsettled { loss, distrusts_checkpoint, rebuilds_checkpoint } =
            std::mem::take(&mut self.unsettled);
        if let Some(LedgerLoss { renamed }) = loss {
            self.writer.begin()?;
            self.writer.give_up(&renamed)?;
        }
        let loss = self.loss.take();
        let is_recorded = loss.is_some();
        if let Some(loss) = loss {
            let CommitMark { elapsed_ms, threads, .. } = self.mark();
            self.commit(&[Record::Loss(loss)], Duration::from_millis(elapsed_ms), threads)?;
        }
        if distrusts_checkpoint {
            set_checkpoint_aside(&self.directory.checkpoint(), self.opened)?;
        }
        if rebuilds_checkpoint || is_recorded {
            self.save(standing).ok();
        }
        Ok(())
    }

    /// The directory.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// The key of the leases that the run gives.
    pub fn lease_key(&self) -> &LeaseKey {
        &self.lease_key
    }

    /// The notes of the run directory.
    pub fn notes(&self) -> &Notes {
        self.notes.notes()
    }

    /// Changes the notes of the run directory.
    ///
    /// # Errors
    /// The disk would not do it; nothing has changed.
    pub fn change_notes(&mut self, change: impl FnOnce(&mut Notes)) -> io::Result<()> {
        self.notes.change(change)
    }

    /// Notes the term of this process before it is announced, because the next process must take a higher term. From
    /// now on the run directory belongs to this coordinator.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn announce(&mut self) -> io::Result<()> {
        let number = self.term.number;
        self.notes.change(|notes| {
            notes.announced = notes.announced.max(number);
            (notes.other, notes.follower) = (None, None);
        })
    }

    /// Notes that another coordinator serves the run: the next start needs `--take-over`. If that fails, the next start hears of the
    /// other coordinator again.
    pub fn note_other(&mut self, other: &Term) {
        if let Err(error) = self.notes.change(|notes| notes.other = Some(other.into())) {
            warn!("cannot note the term {} in the run directory: {error}", other.number);
        }
    }

    /// The term in which this process writes.
    pub fn term(&self) -> Term {
        self.term
    }

    /// The record before the first records of this process: its term, and the public key of its signatures.
    pub fn term_record(&self, unix_time: u64) -> Record {
        let Term { number, coordinator, .. } = self.term;
        let key = self.public_key.clone();
        Record::Term(TermRecord { term: number, coordinator, key, at: unix_time })
    }

    /// Behind the last commit mark.
    pub fn end(&self) -> &LedgerPosition {
        self.writer.end()
    }

    /// The last commit mark.
    pub fn mark(&self) -> CommitMark {
        self.writer.end().mark
    }

    /// Puts records on disk; see [`Writer::commit`].
    ///
    /// # Errors
    /// The disk would not do it; nothing has changed.
    pub fn commit(&mut self, records: &[Record], elapsed: Duration, threads: u32) -> Result<(), LedgerError> {
        self.writer.commit(records, elapsed, threads)
    }

    /// Begins to save the checkpoint as of the ledger's end. Returns how long to wait before the next save. If it fails the run
    /// continues without: the ledger suffices.
    ///
    /// # Errors
    /// The save before failed, or is not done in time; the caller may try again.
    pub fn save(&mut self, standing: &Standing) -> Result<Duration, CheckpointError> {
        let (run, plan) = (self.directory.run().hash(), self.directory.plan());
        self.checkpoint.save(run, plan, self.writer.end(), standing)
    }

    /// Sets the checkpoint aside because its source is unreliable. The next start reads the whole ledger.
    ///
    /// # Errors
    /// The checkpoint cannot be renamed.
    pub fn distrust_checkpoint(&mut self, since_1970: Duration) -> Result<(), StoreError> {
        // A running save would restore it.
        self.checkpoint.close();
        set_checkpoint_aside(&self.directory.checkpoint(), since_1970)
    }
}

/// What a user gives up who accepts the loss that these notices tell of.
fn accepted_loss(notices: &[Notice], since_1970: Duration) -> Option<AcceptedLoss> {
    let none = AcceptedLoss { records: 0, bytes: 0, files: 0, at: since_1970.as_secs() };
    let mut loss = none.clone();
    for notice in notices {
        match notice {
            Notice::TailCut { bytes, .. } => loss.bytes = *bytes,
            Notice::FileGivenUp { .. } => loss.files += 1,
            Notice::LossAccepted { records } => loss.records = *records,
            Notice::RestGivenUp { records, bytes, .. } => (loss.records, loss.bytes) = (*records, *bytes),
            Notice::CheckpointRebuilt { .. } => {}
        }
    }
    (loss != none).then_some(loss)
}

/// Moves the checkpoint, if there is one, to where no start looks for it.
fn set_checkpoint_aside(checkpoint: &Path, since_1970: Duration) -> Result<(), StoreError> {
    if checkpoint.exists() {
        set_aside(checkpoint, since_1970)
            .map_err(|source| StoreError::Checkpoint { path: checkpoint.to_owned(), source })?;
    }
    Ok(())
}

/// The run directory to open or create.
fn directory(options: OpenOptions, clock: &dyn Clock) -> Result<RunDirectory, RunDirectoryError> {
    let OpenOptions { path, begin, board, scheme, shard, .. } = options;
    match begin {
        Some(plan) if !RunDirectory::exists(&path)? => {
            RunDirectory::begin(&path, plan, shard, clock.since_1970())
        }
        _ => {
            let mut directory = RunDirectory::open(&path)?;
            if let Some(board) = board {
                directory = directory.of_board(board)?;
            }
            if let Some(scheme) = scheme {
                directory = directory.of_scheme(scheme)?;
            }
            directory.of_shard(shard)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::testing::known_run;
    use tempfile::TempDir;

    #[test]
    fn slow_checkpoint_is_retried_and_kept() {
        let folder = TempDir::new().unwrap();
        let (mut store, mut standing, _) = Store::open(known_run::options(folder.path())).unwrap();
        let mut commit = |store: &mut Store, unit| {
            let record = known_run::record(unit);
            store.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
            standing.apply(&known_run::plan(), Shard::default(), &record).unwrap();
            store.save(&standing)
        };
        commit(&mut store, 0).unwrap();
        store.checkpoint.finish().unwrap();
        let (written, begun) = (store.checkpoint.delay(), Instant::now());
        for unit in 1..8 {
            assert!(matches!(commit(&mut store, unit), Err(CheckpointError::Silent(_))));
        }
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        written.send(Ok(Duration::ZERO)).unwrap();
        commit(&mut store, 8).unwrap();
        drop(store);
        let (_, standing, notices) = Store::open(known_run::options(folder.path())).unwrap();
        assert!(notices.is_empty() && standing.done() == 9, "{notices:?}");
    }
}

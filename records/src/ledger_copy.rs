//! A copy of a run, kept by a follower. It is verified as it arrives, and on disk before it is acknowledged.
//!
//! ```text
//! for each group of records with its mark:
//!     verify chain and CRCs, and apply its records to the standing; refuse the group if any step fails
//!     append it byte for byte: first its lines, then, when they are on disk, its mark
//! ```
//!
//! So at any moment the folder equals the folder of a killed coordinator, and can be started.

mod error;

use std::path::{Path, PathBuf};

use domain::{CoordinatorId, CopyEnd, FollowRequest, FollowedRun, LedgerPiece, Term};

use crate::clock::{Clock, SystemClock};
use crate::ledger::{Damage, Disk, Group, Intake, LedgerPosition, SystemDisk, Writer, sync_found};
use crate::replay::{Stretch, replay};
use crate::run_directory::LeaseKey;
use crate::run_directory::lock::Lock;
use crate::run_directory::notes::{self, NotesFile};
use crate::run_directory::secret::{self, keep, lease_key};
use crate::run_directory::{RunDirectory, RunDirectoryError};
use crate::standing::Standing;
pub use error::CopyError;

/// A copy of a run, in a directory without other writers.
#[derive(Debug)]
pub struct LedgerCopy {
    path: PathBuf,
    _lock: Lock,
    notes: NotesFile,
    /// Tells this copy from others.
    follower: u64,
    /// The highest term that was met, and its coordinator.
    met: (u64, CoordinatorId),
    run: Option<CopiedRun>,
    /// For the ledger, until that is opened.
    disk: Option<Box<dyn Disk>>,
}

/// The copy after the description of the run has arrived.
#[derive(Debug)]
struct CopiedRun {
    directory: RunDirectory,
    key: LeaseKey,
    standing: Standing,
    writer: Writer,
    intake: Intake,
    /// Groups that belong to the standing and that the disk has not taken yet.
    unwritten: Vec<Group>,
}

impl CopiedRun {
    /// Reads and verifies the directory.
    fn open(
        directory: RunDirectory,
        key: LeaseKey,
        disk: &mut Option<Box<dyn Disk>>,
    ) -> Result<Self, CopyError> {
        let mut standing = Standing::new(directory.plan());
        let tail =
            replay(&directory, Stretch::default(), &mut standing, |_, _| ()).map_err(CopyError::Copied)?;
        let opened = SystemClock::default().since_1970();
        let disk = disk.take().unwrap_or_else(|| Box::new(SystemDisk));
        let writer = Writer::on(disk, &directory.ledger(), tail.end.clone()).opened_at(opened);
        let intake = Intake::new(tail.end);
        Ok(Self { directory, key, standing, writer, intake, unwritten: Vec::new() })
    }

    /// Adds a group's records to the standing.
    fn apply(&mut self, group: &Group) -> Result<(), CopyError> {
        let (plan, shard) = (self.directory.plan(), self.directory.run().shard);
        for (location, record) in &group.records {
            let applied = self.standing.apply(plan, shard, record);
            let refused =
                |what| CopyError::NotSound { location: *location, what: Damage::Record(Box::new(what)) };
            applied.map_err(refused)?;
        }
        Ok(())
    }

    /// Writes pending data to disk. If `ends` is true, the mark of the last group is certain as well.
    fn write(&mut self, ends: bool) -> Result<(), CopyError> {
        let mut groups = std::mem::take(&mut self.unwritten).into_iter().peekable();
        while let Some(group) = groups.next() {
            let is_last = ends && groups.peek().is_none();
            if let Err(error) = self.writer.copy(&group, is_last) {
                self.unwritten = std::iter::once(group).chain(groups).collect();
                return Err(CopyError::NotWritten(error));
            }
        }
        Ok(())
    }

    fn end(&self) -> CopyEnd {
        let LedgerPosition { file, offset, hash, mark, .. } = self.writer.end();
        CopyEnd { file: *file, offset: *offset, hash: hash.bytes(), records: mark.records }
    }
}

impl LedgerCopy {
    /// Opens the copy in a directory and verifies it. Creates the directory if it is missing.
    ///
    /// # Errors
    /// The directory is in use, or does not hold a sound part of a run.
    pub fn open(path: &Path) -> Result<Self, CopyError> {
        Self::open_on(Box::new(SystemDisk), path)
    }

    /// Opens a copy whose ledger is written on a disk of the caller's.
    ///
    /// # Errors
    /// As [`LedgerCopy::open`].
    pub fn open_on(disk: Box<dyn Disk>, path: &Path) -> Result<Self, CopyError> {
        let lock = Lock::take(path).map_err(|error| match error {
            RunDirectoryError::LostLedger(_) => CopyError::Lost(error),
            error => error.into(),
        })?;
        let (mut run, mut disk) = (None, Some(disk));
        if RunDirectory::exists(path)? {
            let key = lease_key(path)
                .map_err(|source| CopyError::LeaseKey { path: path.join(secret::NAME), source })?;
            run = Some(CopiedRun::open(RunDirectory::open(path)?, key, &mut disk)?);
        }
        let notes = NotesFile::read(path)
            .map_err(|source| CopyError::Notes { path: path.join(notes::NAME), source })?;
        let follower = notes.notes().follower.unwrap_or_else(rand::random);
        let noted = notes.notes().other.as_ref().map(|other| (other.term, other.coordinator.clone()));
        let on_record = run.as_ref().and_then(|run| run.standing.sums().term.clone());
        let met = noted.into_iter().chain(on_record).max_by_key(|(term, _)| *term);
        let met = met.map(|(term, coordinator)| (term, coordinator.parse().unwrap_or_default()));
        let met = met.unwrap_or_default();
        Ok(Self { path: path.to_owned(), _lock: lock, notes, follower, met, run, disk })
    }

    /// The request to a coordinator, with the end of the copy. Data that the disk refused before is written first.
    ///
    /// # Errors
    /// It still does not.
    pub fn request(&mut self) -> Result<FollowRequest, CopyError> {
        let met = self.met();
        let end = match &mut self.run {
            None => CopyEnd::default(),
            Some(run) => {
                run.write(true)?;
                sync_found(&run.directory.ledger(), run.writer.end().file).map_err(CopyError::NotWritten)?;
                run.intake = Intake::new(run.writer.end().clone());
                run.end()
            }
        };
        Ok(FollowRequest { follower: self.follower, end, met: self.run.is_some().then_some(met) })
    }

    /// Applies the coordinator's description of its run, and starts the copy if there is none.
    ///
    /// # Errors
    /// It is another run, has an older coordinator, or cannot be written.
    pub fn greet(&mut self, said: &FollowedRun) -> Result<(), CopyError> {
        let key = <[u8; LeaseKey::BYTES]>::try_from(&said.lease_key[..]).map_err(|_| CopyError::NotProven)?;
        let key = LeaseKey::new(key);
        let path = self.path.clone();
        let failed = |source| CopyError::File { path: path.clone(), source };
        let run = if let Some(run) = &mut self.run {
            if !run.directory.is_of(&said.run_file)? {
                return Err(CopyError::OtherRun(path));
            }
            run
        } else {
            keep(&path, &key).map_err(failed)?;
            let directory = RunDirectory::copy(&path, &said.run_file)?;
            self.run.insert(CopiedRun::open(directory, key.clone(), &mut self.disk)?)
        };
        let hash = run.directory.run().hash();
        if !key.has_proven(hash, &said.term) {
            return Err(CopyError::NotProven);
        }
        if *key.bytes() != *run.key.bytes() {
            keep(&path, &key).map_err(failed)?;
            run.key = key;
        }
        let met = self.met();
        if !said.term.follows(&met) {
            return Err(CopyError::Older { found: said.term, met });
        }
        let follower = self.follower;
        let change = self.notes.change(|notes| {
            (notes.follower, notes.other) = (Some(follower), Some((&said.term).into()));
            // An operator paused the former coordinator of this directory; the copied run is not paused.
            notes.paused = None;
        });
        change.map_err(failed)?;
        self.met = (said.term.number, said.term.coordinator);
        Ok(())
    }

    /// Adds a piece of the ledger. If the copy is now complete and on disk, returns the acknowledgement.
    ///
    /// # Errors
    /// It does not follow, is not valid there, or the disk does not take it.
    pub fn take(&mut self, piece: &LedgerPiece) -> Result<Option<FollowRequest>, CopyError> {
        let Some(run) = &mut self.run else { return Err(CopyError::NotProven) };
        let groups =
            run.intake.take(piece).map_err(|(location, what)| CopyError::NotSound { location, what })?;
        for group in groups {
            run.apply(&group)?;
            run.unwritten.push(group);
        }
        let is_end = piece.is_end && run.intake.is_between_groups();
        run.write(is_end)?;
        let end = run.end();
        Ok(is_end.then_some(FollowRequest { follower: self.follower, end, met: None }))
    }

    /// True if all units are counted and copied, as far as the copy shows.
    ///
    /// # Errors
    /// It is not.
    pub fn finish(&self) -> Result<(), CopyError> {
        let is_complete = self.run.as_ref().is_some_and(|run| {
            let policy = run.standing.policy();
            run.unwritten.is_empty()
                && run.standing.is_settled(run.directory.plan(), run.directory.run().shard, policy)
        });
        if is_complete { Ok(()) } else { Err(CopyError::NotComplete) }
    }

    /// The number of records in the copy.
    pub fn records(&self) -> u64 {
        self.run.as_ref().map_or(0, |run| run.writer.end().mark.records)
    }

    /// The number of followers that a coordinator on this copy waits for.
    pub fn replicas(&self) -> u32 {
        self.run.as_ref().map_or(0, |run| run.standing.replicas(None))
    }

    /// The units that have a standing count, and those that the run has.
    pub fn progress(&self) -> (u64, u64) {
        self.run.as_ref().map_or((0, 0), |run| {
            let units = run.directory.run().shard.size(run.directory.plan().units());
            (run.standing.done(), units)
        })
    }

    /// The highest term that the copy has met, with a proof by the run's key.
    fn met(&self) -> Term {
        let (number, coordinator) = self.met;
        match &self.run {
            Some(run) => run.key.prove(run.directory.run().hash(), number, coordinator),
            None => Term { number, coordinator, proof: 0 },
        }
    }
}

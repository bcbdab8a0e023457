//! What a takeover of a run directory would begin, read without a lock and without a change.

use std::path::Path;

use queens::{Class, Classified};
use thiserror::Error;

use crate::audit::{AuditError, audit_each};
use crate::ledger::Record;
use crate::run_directory::lock::{is_locked, writer};
use crate::run_directory::next_term::{TermError, next_term};
use crate::run_directory::notes::{self, HigherTerm, NotesFile};
use crate::run_directory::{RunDirectory, RunDirectoryError};

/// What a takeover would begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takeover {
    /// The highest term that the directory knows.
    pub before: u64,
    /// The term of the takeover.
    pub after: u64,
    /// The coordinator that serves the run instead, if one is noted.
    pub other: Option<HigherTerm>,
    /// True if the directory is a follower's copy.
    pub is_copy: bool,
    /// The process that writes in the directory; a takeover waits for its end.
    pub writer: Option<String>,
    /// The records in the ledger, up to its last mark.
    pub records: u64,
    /// Units with a standing count.
    pub done: u64,
    /// When the last unit was counted, in seconds since 1970.
    pub last: Option<u64>,
    /// The number of followers that must have a record before it is acknowledged.
    pub replicas: u32,
}

/// Why a takeover is not foreseen.
#[derive(Debug, Error)]
pub enum TakeoverError {
    /// The directory holds no run.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// Its ledger is not sound.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// No term can begin.
    #[error(transparent)]
    Term(#[from] TermError),
}

impl Classified for TakeoverError {
    fn class(&self) -> Class {
        match self {
            Self::Directory(error) => error.class(),
            Self::Audit(error) => error.class(),
            Self::Term(_) => Class::Failed,
        }
    }
}

impl Takeover {
    /// What a takeover of the run at `path` would begin.
    ///
    /// # Errors
    /// The takeover would fail as well.
    pub fn foreseen(path: &Path) -> Result<Self, TakeoverError> {
        let directory = RunDirectory::open(path)?;
        let mut last = None;
        let audit = audit_each(&directory, |_, record| {
            if let Record::Count(r) | Record::Check(r) | Record::Conflict(r) = record {
                last = last.max(Some(r.at));
            }
        })?;
        let standing = &audit.standing;
        let notes = NotesFile::read(path)
            .map_err(|source| TermError::Notes { path: path.join(notes::NAME), source })?;
        let after = next_term(path, notes.notes(), standing.term(), true)?;
        let notes = notes.notes();
        Ok(Self {
            before: standing.term().max(notes.highest_term()),
            after,
            other: notes.other.clone(),
            is_copy: notes.follower.is_some(),
            writer: is_locked(path).then(|| writer(path)),
            records: audit.tail.end.mark.records,
            done: standing.done(),
            last,
            replicas: standing.replicas(None),
        })
    }
}

//! Terms that no ledger knows, noted in the run directory: each in a file of its own.
//!
//! A term goes on record with the first count, which may take a while; a coordinator that is killed before that has
//! announced a term that no ledger knows. Whoever opens the run again must take a higher one, or its workers, who have met
//! the other, would take it for a stranger. And where another coordinator's term has ended what this one does, its operator may
//! know that the other one is gone for good: then the next term must leave that one behind, too.

use std::io;
use std::path::{Path, PathBuf};

use proto::Term;

use crate::regular_file;

/// A file with the number of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotedTerm(&'static str);

/// The last one that was announced to workers and followers from that directory.
pub const ANNOUNCED: NotedTerm = NotedTerm("term");

/// The highest one of another coordinator that has superseded one of that directory.
pub const SUPERSEDING: NotedTerm = NotedTerm("superseded");

impl NotedTerm {
    /// The file in that run directory.
    pub fn path(self, directory: &Path) -> PathBuf {
        directory.join(self.0)
    }

    /// The number that is noted; 0 if none is, or none that anybody opens.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(self, directory: &Path) -> io::Result<u64> {
        match regular_file::read_to_string(&self.path(directory)) {
            // What a crash has left there, or a hand, says nothing.
            Ok(number) => Ok(number.trim().parse().ok().filter(|number| *number < Term::END).unwrap_or(0)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes the number of a term, unless a higher one is noted.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn note(self, directory: &Path, number: u64) -> io::Result<()> {
        if self.read(directory)? >= number {
            return Ok(());
        }
        regular_file::replace(&directory.join(self.0), format!("{number}\n").as_bytes(), 0o644)
    }
}

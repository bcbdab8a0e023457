//! What can be wrong with a ledger, from one line of it to the disk under it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Location;

/// A ledger that cannot be read or written.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// Something before the last commit mark is not as it was written.
    #[error("the ledger is damaged at {}:{}: {what}; restore the file from a copy, or set the run aside", .path.display(), .location.line)]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        location: Location,
        /// What is wrong with it.
        what: Damage,
    },
    /// A file of the ledger is not there although a later one is.
    #[error("the ledger file {} is missing; restore it from a copy, or set the run aside", .0.display())]
    Missing(PathBuf),
    /// The disk would not do it.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl LedgerError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

/// What is wrong with a line before the last commit mark.
#[derive(Debug, Error)]
pub enum Damage {
    /// The writer never wrote such a line.
    #[error(transparent)]
    Line(#[from] LineError),
    /// Its hash is that of another line than the one before.
    #[error("it does not follow the line before it")]
    Unchained,
    /// It is a mark, and says that there are more records before it, or fewer.
    #[error("the mark counts other records than there are")]
    Miscounted,
    /// Whoever read the record says that it cannot stand where it does.
    #[error(transparent)]
    Record(Box<dyn std::error::Error + Send + Sync>),
}

/// Why bytes are no line of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    /// They are not UTF-8.
    #[error("it is not text")]
    NotText,
    /// They are fewer than CRC and hash have.
    #[error("it is too short")]
    TooShort,
    /// They are more than any record has.
    #[error("it is longer than any record")]
    TooLong,
    /// No newline follows them.
    #[error("it does not end")]
    Unended,
    /// There is no CRC where it should be.
    #[error("it has no CRC")]
    NoCrc,
    /// The CRC is that of other bytes.
    #[error("its CRC does not match")]
    WrongCrc,
    /// There is no hash where it should be.
    #[error("it has no hash")]
    NoHash,
    /// There is something else where the hash should be.
    #[error("its hash is not a hash")]
    MalformedHash,
    /// Its JSON is no record that this release knows.
    #[error("its record is not understood")]
    UnknownRecord,
}

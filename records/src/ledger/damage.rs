//! Errors of a ledger, from a damaged line to a failing disk.

use queens::{Class, Classified};
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::names::renamed;
use super::position::{Location, Tail};
use domain::{counted, quoted};

/// A ledger that cannot be read or written.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// A line is not as it was written, and no interrupted write explains it.
    #[error(
        "the ledger is damaged at {}:{}: {what}; restore the file from a copy, or {}",
        .path.display(),
        .location.line,
        .rest.as_ref().map_or("set the run aside".into(), |rest| rest.acceptance())
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line.
        location: Location,
        /// The kind of damage.
        what: Damage,
        /// The part of the ledger that can be given up, if the ledger before it is sound.
        rest: Option<Box<Rest>>,
    },
    /// The lines are intact except for their ends.
    #[error(
        "{}:{} ends in CR LF, as some programs rewrite text: no record is lost; put the line ends back (with \
         sed -i 's/\\r$//' {}) and start again",
        .path.display(),
        .location.line,
        quoted(&.path.to_string_lossy())
    )]
    LineEnds {
        /// The file.
        path: PathBuf,
        /// The first such line.
        location: Location,
    },
    /// A file of the ledger is not there although a later one is, or it lies there under another name.
    #[error(
        "the ledger file {} is missing{}; restore it from a copy, or {}",
        .path.display(),
        .renamed.as_ref().map(|name| format!(" (is {} what became of it?)", name.display())).unwrap_or_default(),
        .rest.as_ref().map_or("use --accept-loss to continue without it".into(), |rest| rest.acceptance())
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// A file that has its number in its name.
        renamed: Option<PathBuf>,
        /// The files after it, if there are any.
        rest: Option<Box<Rest>>,
    },
    /// The checkpoint knows of more records than the ledger has.
    #[error(
        "the ledger ends at {}:{line} after {found} records, but its checkpoint knows of {known}: {} \
         acknowledged records are missing{}. Restore the ledger from a copy; or use --accept-loss with \
         diadem count or coordinator to count their units again",
        .path.display(),
        .known - .found,
        .renamed.as_ref().map(|name| format!(" (is {} what became of them?)", name.display())).unwrap_or_default()
    )]
    Lost {
        /// The last file.
        path: PathBuf,
        /// Its last readable line.
        line: u64,
        /// The records up to there.
        found: u64,
        /// The records that were acknowledged.
        known: u64,
        /// A file that has the number of the missing one in its name.
        renamed: Option<PathBuf>,
    },
    /// The ledger has another line than the one that its checkpoint knows.
    #[error(
        "{}:{line} is not the line that was acknowledged as the end of {known} records, and the ledger \
         has {found}. Restore it from a copy; or use --accept-loss with diadem count or coordinator to \
         keep the present one",
        .path.display()
    )]
    Rewritten {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// The records in the ledger.
        found: u64,
        /// The records up to the line, as they were acknowledged.
        known: u64,
    },
    /// Another program changed a file while it was written.
    #[error("the ledger file {} {what}; nothing is acknowledged until it is back as it was", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// The kind of change.
        what: Change,
    },
    /// The disk would not do it.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The attempted action.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Classified for LedgerError {
    fn class(&self) -> Class {
        Class::Unsound
    }
}

impl LedgerError {
    /// True if the disk failed, so that another attempt may succeed. A folder in the place of a file stays one.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() != io::ErrorKind::InvalidInput)
    }

    /// That file is not there.
    pub(crate) fn missing(path: PathBuf, rest: Option<Box<Rest>>) -> Self {
        let renamed = renamed(&path);
        Self::Missing { path, renamed, rest }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

/// The part of a damaged ledger behind its last sound mark. It may have been acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// The sound end, and the bytes behind it.
    pub tail: Tail,
    /// At most so many records are behind it.
    pub records: u64,
}

impl Rest {
    /// The command that gives it up.
    fn acceptance(&self) -> String {
        format!(
            "use --accept-loss with diadem count or coordinator to give up the rest ({} at most) and count its units again",
            counted(self.records, "record")
        )
    }
}

/// A change of a ledger file by another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Change {
    /// It is not at its path.
    #[error("was removed")]
    Removed,
    /// Another file is at its path.
    #[error("was replaced by another one")]
    Replaced,
    /// It was cut, or appended to.
    #[error("has {found} bytes instead of {expected}: another process wrote to it")]
    Size {
        /// Its bytes.
        found: u64,
        /// The bytes that were acknowledged.
        expected: u64,
    },
    /// It occupies the path of the next file.
    #[error("was put there by another process")]
    Added,
}

/// The damage of a line.
#[derive(Debug, Error)]
pub enum Damage {
    /// The writer never wrote such a line.
    #[error(transparent)]
    Line(#[from] LineError),
    /// Its hash does not match the line before it.
    #[error("it does not follow the line before it")]
    Unchained,
    /// It is the first line, and its hash belongs to another run.
    #[error("it is the ledger of another run than run.json says: one of the two was replaced or changed")]
    OtherRun,
    /// It is a mark, and says that there are more records before it, or fewer.
    #[error("the mark counts other records than there are")]
    Miscounted,
    /// The reader of the records rejects the record at this place.
    #[error(transparent)]
    Record(Box<dyn std::error::Error + Send + Sync>),
}

/// Why bytes are no line of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LineError {
    /// The line is not UTF-8.
    #[error("it is not text")]
    NotText,
    /// The line is shorter than CRC and hash.
    #[error("it is too short")]
    TooShort,
    /// The line is longer than any record.
    #[error("it is longer than any record")]
    TooLong,
    /// No newline follows them.
    #[error("it does not end")]
    Unended,
    /// It is intact except for a carriage return at its end.
    #[error("it ends in CR LF")]
    CarriageReturn,
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
    #[error("its record is not understood (if a newer diadem wrote it, continue with that one)")]
    UnknownRecord,
}

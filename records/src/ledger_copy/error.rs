//! Why a copy cannot be kept, in one sentence each.

use queens::{Class, Classified};
use std::io;
use std::path::PathBuf;

use domain::Term;
use thiserror::Error;

use crate::ledger::{Damage, LedgerError, Location};
use crate::run_directory::RunDirectoryError;

/// A copy that cannot be kept.
#[derive(Debug, Error)]
pub enum CopyError {
    /// The directory is not usable.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// The existing copy is damaged.
    #[error("{0}; or delete this copy to copy the run again")]
    Copied(#[source] LedgerError),
    /// The existing copy is gone.
    #[error("{0}; or delete this copy to copy the run again")]
    Lost(#[source] RunDirectoryError),
    /// The disk takes no data at the moment, or another program changed the files. The caller may retry.
    #[error(transparent)]
    NotWritten(LedgerError),
    /// The key of its run cannot be read, or made.
    #[error("cannot read or make the key {}: {source}", .path.display())]
    LeaseKey {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The notes of the directory cannot be read.
    #[error("cannot read {}: {source}; restore that file, or delete this copy to copy the run again", .path.display())]
    Notes {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A small file of the directory cannot be written.
    #[error("cannot write into {}: {source}", .path.display())]
    File {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The directory holds another run than the coordinator serves.
    #[error("{} holds another run than the coordinator serves; choose another --run directory", .0.display())]
    OtherRun(PathBuf),
    /// The coordinator's description of its run contradicts itself.
    #[error("the coordinator does not prove that it serves this run; its key is not that of its run")]
    NotProven,
    /// Another coordinator has taken over the run.
    #[error(
        "the coordinator has {found}, but this copy has met {met}: follow that coordinator. Only if it \
         is gone permanently, start this coordinator again with --take-over; records that the other \
         alone has are then lost"
    )]
    Older {
        /// The coordinator's term.
        found: Term,
        /// The highest one that was met.
        met: Term,
    },
    /// The received data does not follow the copy, or cannot occur in a ledger.
    #[error(
        "the coordinator's ledger is not sound at {location}: {what}; the copy keeps nothing from there on"
    )]
    NotSound {
        /// The line.
        location: Location,
        /// The kind of damage.
        what: Damage,
    },
    /// The coordinator says that all is counted, and the copy says otherwise.
    #[error(
        "the coordinator reports a complete run, but its ledger is not complete; check it with diadem \
         verify"
    )]
    NotComplete,
}

impl Classified for CopyError {
    fn class(&self) -> Class {
        match self {
            Self::Copied(_) | Self::NotSound { .. } | Self::NotComplete => Class::Unsound,
            Self::Directory(error) | Self::Lost(error) => error.class(),
            _ => Class::Failed,
        }
    }
}

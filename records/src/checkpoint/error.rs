//! Why a checkpoint cannot be used, or not be written.

use std::io;
use std::time::Duration;

use thiserror::Error;

/// A run is not resumed from its checkpoint.
#[derive(Debug, Error)]
pub enum NoCheckpoint {
    /// Nothing has been kept.
    #[error("there was none")]
    Missing,
    /// The system does not let it be read.
    #[error("it cannot be read ({0})")]
    Unreadable(#[source] io::Error),
    /// It is not as it was written, or was not written by who has the run's key.
    #[error("it is not as it was written, or lease.key is not as it was then")]
    Damaged,
    /// It keeps other things than this release, or expects other work.
    #[error("it was made by another release of diadem")]
    OtherRelease,
    /// It speaks of another ledger.
    #[error("it is that of another run")]
    OtherRun,
    /// It speaks for another place than any that the ledger has.
    #[error("it does not fit the ledger")]
    Unfit,
}

/// A checkpoint is not up to date.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// It cannot be written.
    #[error("cannot write it: {0}")]
    Io(#[from] io::Error),
    /// The disk takes longer than it is waited for.
    #[error("the disk has not taken it for {} seconds", .0.as_secs())]
    Silent(Duration),
}

//! Why a checkpoint cannot be used or saved.

use std::io;
use std::time::Duration;

use thiserror::Error;

/// The reason why a run is not resumed from its checkpoint.
#[derive(Debug, Error)]
pub enum NoCheckpoint {
    /// No checkpoint was saved yet.
    #[error("there is none")]
    Missing,
    /// The store cannot be copied or opened.
    #[error("it cannot be opened ({0})")]
    Unreadable(String),
    /// The entries do not fit their seal, or contradict each other.
    #[error("it is damaged, or lease.key has changed")]
    Damaged,
    /// The entries have another layout, or their plan another estimate of its work.
    #[error("another build of diadem made it")]
    OtherBuild,
    /// It belongs to another run.
    #[error("it belongs to another run")]
    OtherRun,
    /// Its position is not in the ledger.
    #[error("it does not fit the ledger")]
    Unfit,
}

/// A checkpoint that could not be saved.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// sled reports an error.
    #[error("cannot save it: {0}")]
    Sled(#[from] sled::Error),
    /// The system reports an error.
    #[error("cannot save it: {0}")]
    Io(#[from] io::Error),
    /// The disk does not answer.
    #[error("the disk has not answered for {} seconds", .0.as_secs())]
    Silent(Duration),
    /// sled panicked.
    #[error("cannot save it: the store failed")]
    Panicked,
}

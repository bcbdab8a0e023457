//! Why a checkpoint cannot be used.

use std::io;
use std::time::Duration;

use thiserror::Error;

/// A checkpoint that cannot be read or written.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// sled says so.
    #[error(transparent)]
    Sled(#[from] sled::Error),
    /// Its head is not what is kept there.
    #[error(transparent)]
    Head(#[from] serde_json::Error),
    /// The system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It was let go of.
    #[error("it is closed")]
    Closed,
    /// There is nothing to tell whether it is whole.
    #[error("its seal is missing")]
    NoSeal,
    /// Its head is not as it was written.
    #[error("its seal does not fit")]
    WrongSeal,
    /// It keeps other things, or expects other work.
    #[error("it was made by another release of diadem")]
    OtherRelease,
    /// It speaks of another ledger.
    #[error("it is that of another run")]
    OtherRun,
    /// A block of a bitmap has another length than all have.
    #[error("block {block} has {bytes} bytes")]
    BlockLength {
        /// Its number.
        block: usize,
        /// Its length.
        bytes: usize,
    },
    /// Its bitmaps are not as they were written.
    #[error("its blocks do not fit its seal")]
    OtherBlocks,
    /// sled takes longer than it is waited for.
    #[error("sled has not answered for {} seconds", .0.as_secs())]
    Silent(Duration),
    /// sled panicked over what it found.
    #[error("sled panicked")]
    Panicked,
}

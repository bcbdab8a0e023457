//! What is on record when a run is opened: read from its checkpoint and the ledger behind it, or from the whole ledger.

use std::fmt;

use thiserror::Error;

use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::ledger::{LedgerError, LedgerPosition, LineBefore, Tail, line_before};
use crate::replay::{Stretch, beginning, replay};
use crate::run_directory::RunDirectory;
use crate::standing::Standing;

/// Something about the resumption that its user should know.
#[derive(Debug)]
pub enum Notice {
    /// Records after the last commit mark were cut off: they were never acknowledged.
    TailCut {
        /// Their bytes.
        bytes: u64,
    },
    /// Records that the checkpoint knows of were cut off the ledger by somebody else.
    RecordsGone {
        /// Their number.
        records: u64,
    },
    /// The checkpoint was rebuilt from the ledger.
    CheckpointRebuilt {
        /// Why.
        why: NoCheckpoint,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::TailCut { bytes } => write!(
                f,
                "cut off {bytes} bytes at the end of the ledger that were never acknowledged; their units are counted again"
            ),
            Notice::RecordsGone { records } => write!(
                f,
                "the last {records} records are gone from the end of the ledger, although they were acknowledged; \
                 unless it is restored from a copy now, their units are counted again"
            ),
            Notice::CheckpointRebuilt { why } => write!(f, "rebuilt the checkpoint from the ledger: {why}"),
        }
    }
}

/// Why a run is not resumed from its checkpoint.
#[derive(Debug, Error)]
pub enum NoCheckpoint {
    /// Nothing has been kept.
    #[error("there was none")]
    Missing,
    /// sled does not open it.
    #[error("it does not open ({0})")]
    Shut(#[source] CheckpointError),
    /// It is not as it was written.
    #[error("it cannot be believed ({0})")]
    Unbelievable(#[source] CheckpointError),
    /// It speaks for another place than any that the ledger has.
    #[error("it does not fit the ledger")]
    Unfit,
}

/// A run as it stands when it is opened.
pub(crate) struct Resumed {
    /// The checkpoint, if what it says was of use.
    pub checkpoint: Option<Checkpoint>,
    /// What is on record.
    pub standing: Standing,
    /// The end of the ledger, and what follows it.
    pub tail: Tail,
    /// What the user should know.
    pub notices: Vec<Notice>,
}

/// A checkpoint that can be believed, and what it says.
struct Kept {
    checkpoint: Checkpoint,
    position: LedgerPosition,
    standing: Standing,
}

/// Reads what is on record.
///
/// # Errors
/// The ledger is damaged, or cannot be read.
pub(crate) fn resume(directory: &RunDirectory) -> Result<Resumed, LedgerError> {
    let mut acknowledged = 0;
    let why = match usable_checkpoint(directory) {
        Ok(Kept { checkpoint, position, mut standing }) => {
            match line_before(&directory.ledger(), &position)? {
                LineBefore::Fits => {
                    let stretch = Stretch { from: Some(&position), until: None };
                    let tail = replay(directory, stretch, &mut standing, |_, _| ())?;
                    let notices = tail_cut(&tail).into_iter().collect();
                    return Ok(Resumed { checkpoint: Some(checkpoint), standing, tail, notices });
                }
                LineBefore::Short => acknowledged = position.mark.records,
                LineBefore::Differs => {}
            }
            NoCheckpoint::Unfit
        }
        Err(why) => why,
    };
    let mut standing = Standing::new(directory.plan());
    let tail = replay(directory, Stretch::default(), &mut standing, |_, _| ())?;
    let found = tail.end.mark.records;
    let gone = acknowledged.saturating_sub(found);
    let mut notices = Vec::new();
    if gone > 0 {
        notices.push(Notice::RecordsGone { records: gone });
    }
    if tail.end != beginning(directory) {
        notices.push(Notice::CheckpointRebuilt { why });
    }
    if gone == 0 {
        notices.extend(tail_cut(&tail));
    }
    Ok(Resumed { checkpoint: None, standing, tail, notices })
}

fn tail_cut(tail: &Tail) -> Option<Notice> {
    (tail.bytes > 0).then_some(Notice::TailCut { bytes: tail.bytes })
}

fn usable_checkpoint(directory: &RunDirectory) -> Result<Kept, NoCheckpoint> {
    let folder = directory.checkpoint();
    if !folder.exists() {
        return Err(NoCheckpoint::Missing);
    }
    let checkpoint = Checkpoint::open(&folder).map_err(NoCheckpoint::Shut)?;
    let kept = checkpoint.load(directory.run().hash(), directory.plan());
    let (position, standing) = kept.map_err(NoCheckpoint::Unbelievable)?.ok_or(NoCheckpoint::Missing)?;
    Ok(Kept { checkpoint, position, standing })
}

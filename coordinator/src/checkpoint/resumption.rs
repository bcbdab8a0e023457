//! What is on record when a run is opened: read from its checkpoint and the ledger behind it, or from the whole ledger.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::{NoCheckpoint, read};
use crate::core::LeaseKey;
use crate::ledger::{
    LedgerError, LedgerPosition, LineBefore, Tail, file_path, kept_path, line_before, refuse_renamed_end,
    renamed,
};
use crate::replay::{Stretch, beginning, replay};
use crate::run_directory::RunDirectory;
use crate::standing::Standing;

/// Something about the resumption that its user should know.
#[derive(Debug)]
pub enum Notice {
    /// What follows the last commit mark is cut off: it was never acknowledged, or its loss was accepted.
    TailCut {
        /// Its bytes.
        bytes: u64,
        /// Where they are kept, with a star for the name of the file.
        kept: PathBuf,
    },
    /// The ledger lacks what its checkpoint knows of, and goes on without it as its user said.
    LossAccepted {
        /// How many records fewer it has.
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
            Notice::TailCut { bytes, kept } => write!(
                f,
                "cut off {bytes} bytes behind the last commit mark of the ledger, to be kept in {}; their units are counted again",
                kept.display()
            ),
            Notice::LossAccepted { records } => write!(
                f,
                "went on with the ledger as it is, although its checkpoint knew of {records} records more; their units are \
                 counted again"
            ),
            Notice::CheckpointRebuilt { why } => write!(f, "rebuilt the checkpoint from the ledger: {why}"),
        }
    }
}

/// What is accepted of a ledger that lacks what was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// What follows its last mark is cut off.
    End,
    /// The file that lies there under another name is given up: a mark stands in its place.
    File,
}

/// What is to be done on disk before a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    /// The loss that is accepted, where the ledger does not say so by itself.
    pub loss: Option<Loss>,
    /// Whether its checkpoint was of no use, and is moved out of the way.
    pub distrusts_checkpoint: bool,
    /// Whether another one takes its place at once.
    pub rebuilds_checkpoint: bool,
}

/// A run as it stands when it is opened.
pub(crate) struct Resumed {
    /// What is on record.
    pub standing: Standing,
    /// The end of the ledger, and what follows it.
    pub tail: Tail,
    /// What the user should know.
    pub notices: Vec<Notice>,
    /// What follows from that.
    pub unsettled: Unsettled,
}

/// Reads what is on record. Where that is less than the checkpoint knows, or ends in what no interrupted write leaves,
/// the run goes on from what there is only if the loss is accepted. What is cut off will be kept under a name with the
/// time `opened`, since 1970.
///
/// # Errors
/// The ledger is damaged, lacks what was acknowledged, or cannot be read.
pub(crate) fn resume(
    directory: &RunDirectory,
    key: &LeaseKey,
    accept_loss: bool,
    opened: Duration,
) -> Result<Resumed, LedgerError> {
    let mut standing = Standing::new(directory.plan());
    let mut notices = Vec::new();
    let found = read(&directory.checkpoint(), key, directory.run().hash(), directory.plan());
    let (why, contradicted) = match found {
        Ok((position, kept)) => {
            let before = line_before(&directory.ledger(), &position)?;
            if before == LineBefore::Fits {
                standing = kept;
                let tail = read_from(directory, Some(&position), &mut standing, accept_loss)?;
                notices.extend(tail_cut(directory, &tail, opened));
                let loss = accepted(directory, &tail, accept_loss);
                let unsettled = Unsettled { loss, ..Unsettled::default() };
                return Ok(Resumed { standing, tail, notices, unsettled });
            }
            (NoCheckpoint::Unfit, Some(position))
        }
        Err(why) => (why, None),
    };
    let tail = read_from(directory, None, &mut standing, accept_loss)?;
    if let Some(known) = contradicted {
        if !accept_loss {
            return Err(loss(directory, &known, &tail.end));
        }
        let records = known.mark.records.saturating_sub(tail.end.mark.records);
        notices.push(Notice::LossAccepted { records });
    }
    let rebuilds_checkpoint = tail.end != beginning(directory);
    notices.extend(rebuilds_checkpoint.then_some(Notice::CheckpointRebuilt { why }));
    notices.extend(tail_cut(directory, &tail, opened));
    let loss = accepted(directory, &tail, accept_loss);
    let unsettled = Unsettled { loss, distrusts_checkpoint: true, rebuilds_checkpoint };
    Ok(Resumed { standing, tail, notices, unsettled })
}

/// The loss that is accepted of a ledger which ends there, if it is and there is one.
fn accepted(directory: &RunDirectory, tail: &Tail, accept_loss: bool) -> Option<Loss> {
    let is_renamed = || refuse_renamed_end(&directory.ledger(), &tail.end).is_err();
    match accept_loss {
        true if is_renamed() => Some(Loss::File),
        true if tail.bytes > 0 => Some(Loss::End),
        _ => None,
    }
}

/// Adds to a standing what the ledger has from a position (or its beginning) to its end.
fn read_from(
    directory: &RunDirectory,
    from: Option<&LedgerPosition>,
    standing: &mut Standing,
    accept_loss: bool,
) -> Result<Tail, LedgerError> {
    match replay(directory, Stretch { from, until: None }, standing, |_, _| ()) {
        Err(LedgerError::DamagedEnd { tail, .. }) if accept_loss => Ok(*tail),
        Ok(tail) if !accept_loss => refuse_renamed_end(&directory.ledger(), &tail.end).map(|()| tail),
        read => read,
    }
}

/// What a ledger lacks that has not the line which its checkpoint knows.
fn loss(directory: &RunDirectory, known: &LedgerPosition, end: &LedgerPosition) -> LedgerError {
    let folder = directory.ledger();
    let (known_records, found) = (known.mark.records, end.mark.records);
    if known_records <= found {
        let path = file_path(&folder, known.file);
        return LedgerError::Rewritten { path, line: known.line, found, known: known_records };
    }
    let next = file_path(&folder, if end.offset == 0 { end.file } else { end.file + 1 });
    let path = file_path(&folder, end.file);
    LedgerError::Lost { path, line: end.line, found, known: known_records, renamed: renamed(&next) }
}

fn tail_cut(directory: &RunDirectory, tail: &Tail, opened: Duration) -> Option<Notice> {
    let kept = kept_path(&directory.ledger().join("*"), opened);
    (tail.bytes > 0).then_some(Notice::TailCut { bytes: tail.bytes, kept })
}

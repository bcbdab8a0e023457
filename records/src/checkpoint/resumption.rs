//! The records of a run when it is opened: from its checkpoint and the ledger behind it, or from the whole ledger.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use domain::counted;

use super::acknowledged::loss;
use super::{NoCheckpoint, read};
use crate::ledger::{
    LedgerError, LedgerPosition, LineBefore, Location, Tail, kept_path, line_before, refuse_renamed_end,
    renamed_files,
};
use crate::replay::{Stretch, beginning, replay};
use crate::run_directory::LeaseKey;
use crate::run_directory::RunDirectory;
use crate::standing::Standing;

/// Something about the resumption that its user should know.
#[derive(Debug)]
pub enum Notice {
    /// The data behind the last commit mark is cut off: it was never acknowledged, or its loss was accepted.
    TailCut {
        /// Its bytes.
        bytes: u64,
        /// The place of the cut-off data, with a star for the name of the file.
        kept: PathBuf,
    },
    /// The rest of a damaged ledger is cut off, as its user said.
    RestGivenUp {
        /// Its first line.
        from: Location,
        /// The number of records behind it, at most.
        records: u64,
        /// The bytes of its file that are cut off.
        bytes: u64,
        /// The place of the cut-off data, with a star for the name of the file.
        kept: PathBuf,
    },
    /// A file that may be one of the ledger's under another name is given up, as its user said.
    FileGivenUp {
        /// It.
        path: PathBuf,
        /// The new name of the file.
        kept: PathBuf,
    },
    /// The ledger lacks records of its checkpoint, and the user has accepted this loss.
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
                "cut off {bytes} bytes after the last commit mark of the ledger, to be kept in {}; their \
                 units are counted again",
                kept.display()
            ),
            Notice::RestGivenUp { from, records, kept, .. } => write!(
                f,
                "gave up the ledger from {from} on ({} at most), to be kept in {}; their units are counted again",
                counted(*records, "record"),
                kept.display()
            ),
            Notice::FileGivenUp { path, kept } => write!(
                f,
                "gave up {}, which may be a renamed file of the ledger, to be kept as {}; its units are \
                 counted again",
                path.display(),
                kept.display()
            ),
            Notice::LossAccepted { records } => write!(
                f,
                "continued without {records} records that the checkpoint knew of; their units are \
                 counted again"
            ),
            Notice::CheckpointRebuilt { why } => write!(f, "rebuilt the checkpoint from the ledger: {why}"),
        }
    }
}

/// The part of a ledger that an accepted loss gives up, in addition to the data after its last mark.
#[derive(Debug)]
pub(crate) struct LedgerLoss {
    /// The files that may be those that would follow, under other names.
    pub renamed: Vec<PathBuf>,
}

/// The changes on disk that are due before a run resumes.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    /// The accepted loss, if the ledger alone does not show it.
    pub loss: Option<LedgerLoss>,
    /// Whether its checkpoint was of no use, and is moved out of the way.
    pub distrusts_checkpoint: bool,
    /// Whether another one takes its place at once.
    pub rebuilds_checkpoint: bool,
}

/// A run as it stands when it is opened.
pub(crate) struct Resumed {
    /// The standing of the run.
    pub standing: Standing,
    /// The end of the ledger, and the data behind it.
    pub tail: Tail,
    /// Messages for the user.
    pub notices: Vec<Notice>,
    /// What follows from that.
    pub unsettled: Unsettled,
}

/// Reads the records of a run. It resumes with an accepted loss only: if the ledger lacks records of the checkpoint, or
/// if it is damaged. With `accept_loss` the whole ledger is read, because the damage may be in front of the checkpoint.
/// Cut-off data will be kept in a file whose name contains `opened`, the time since 1970.
///
/// # Errors
/// The ledger is damaged, lacks acknowledged records, or cannot be read.
pub(crate) fn resume(
    directory: &RunDirectory,
    key: &LeaseKey,
    accept_loss: bool,
    opened: Duration,
) -> Result<Resumed, LedgerError> {
    let mut standing = Standing::new(directory.plan());
    let mut notices = Vec::new();
    let (why, contradicted) = match read(directory, key) {
        Ok((position, kept)) => {
            let before = line_before(&directory.ledger(), &position)?;
            if before == LineBefore::Fits && !(accept_loss && is_damaged(directory, &position)?) {
                standing = kept;
                let end = read_from(directory, Some(&position), &mut standing, accept_loss)?;
                notices.extend(end.notice(directory, opened));
                let loss = accept_loss.then(|| end.accepted(directory)).flatten();
                notices.extend(files_given_up(loss.as_ref(), opened));
                let unsettled = Unsettled { loss, ..Unsettled::default() };
                return Ok(Resumed { standing, tail: end.tail, notices, unsettled });
            }
            (NoCheckpoint::Unfit, Some(position))
        }
        Err(why) => (why, None),
    };
    let mut end = read_from(directory, None, &mut standing, accept_loss)?;
    if let Some(known) = contradicted {
        if !accept_loss {
            return Err(loss(directory, &known, &end.tail.end));
        }
        let records = known.mark.records.saturating_sub(end.tail.end.mark.records);
        match &mut end.given_up {
            Some(given_up) => *given_up = records.max(*given_up),
            None => notices.push(Notice::LossAccepted { records }),
        }
    }
    let rebuilds_checkpoint = end.tail.end != beginning(directory);
    notices.extend(rebuilds_checkpoint.then_some(Notice::CheckpointRebuilt { why }));
    notices.extend(end.notice(directory, opened));
    let loss = accept_loss.then(|| end.accepted(directory)).flatten();
    notices.extend(files_given_up(loss.as_ref(), opened));
    let unsettled = Unsettled { loss, distrusts_checkpoint: true, rebuilds_checkpoint };
    Ok(Resumed { standing, tail: end.tail, notices, unsettled })
}

/// Whether the ledger is damaged up to this position, so that its rest can be given up.
fn is_damaged(directory: &RunDirectory, until: &LedgerPosition) -> Result<bool, LedgerError> {
    let mut standing = Standing::new(directory.plan());
    match replay(directory, Stretch { from: None, until: Some(until) }, &mut standing, |_, _| ()) {
        Ok(tail) => Ok(tail.end != *until),
        Err(LedgerError::Damaged { rest: Some(_), .. } | LedgerError::Missing { rest: Some(_), .. }) => {
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

/// The end of a ledger.
struct End {
    tail: Tail,
    /// How many records an accepted loss gives up, if the ledger is damaged.
    given_up: Option<u64>,
}

impl End {
    /// The loss of a ledger which ends there, if there is one. Were any file left that bears a number behind the end, the next
    /// start would ask for it.
    fn accepted(&self, directory: &RunDirectory) -> Option<LedgerLoss> {
        let (folder, end) = (directory.ledger(), &self.tail.end);
        let is_cut = self.given_up.is_some() || self.tail.bytes > 0;
        let is_loss = is_cut || refuse_renamed_end(&folder, end).is_err();
        is_loss.then(|| LedgerLoss { renamed: renamed_files(&folder, |number| number > end.files()) })
    }

    /// What is cut off behind it.
    fn notice(&self, directory: &RunDirectory, opened: Duration) -> Option<Notice> {
        let Tail { end, bytes } = &self.tail;
        let kept = kept_path(&directory.ledger().join("*"), opened);
        match self.given_up {
            Some(records) => {
                let from = Location { file: end.file, line: end.line + 1 };
                Some(Notice::RestGivenUp { from, records, bytes: *bytes, kept })
            }
            None => (*bytes > 0).then_some(Notice::TailCut { bytes: *bytes, kept }),
        }
    }
}

/// Adds the records from a position, or from the beginning, to the end of the ledger to a standing.
fn read_from(
    directory: &RunDirectory,
    from: Option<&LedgerPosition>,
    standing: &mut Standing,
    accept_loss: bool,
) -> Result<End, LedgerError> {
    match replay(directory, Stretch { from, until: None }, standing, |_, _| ()) {
        Err(
            LedgerError::Damaged { rest: Some(rest), .. } | LedgerError::Missing { rest: Some(rest), .. },
        ) if accept_loss => Ok(End { tail: rest.tail, given_up: Some(rest.records) }),
        Ok(tail) => {
            if !accept_loss {
                refuse_renamed_end(&directory.ledger(), &tail.end)?;
            }
            Ok(End { tail, given_up: None })
        }
        Err(error) => Err(error),
    }
}

fn files_given_up(loss: Option<&LedgerLoss>, opened: Duration) -> impl Iterator<Item = Notice> {
    let renamed = loss.into_iter().flat_map(|loss| &loss.renamed);
    renamed.map(move |path| Notice::FileGivenUp { path: path.clone(), kept: kept_path(path, opened) })
}

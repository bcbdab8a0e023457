//! Finds lost records at the end of a ledger, for commands that only read the run. A ledger that was cut at a mark looks
//! sound, but its checkpoint has later records.
//!
//! ```text
//! a writer holds the run's lock                        no check: the writer made it when it started
//! read the checkpoint                                  a writer saves only what is on disk
//! read the ledger
//! the ledger has the checkpoint's last line            sound
//! the checkpoint has changed or is gone                sound: a writer has started meanwhile
//! else                                                 records are lost
//! ```

use super::read;
use crate::ledger::{LedgerError, LedgerPosition, LineBefore, file_path, line_before, renamed};
use crate::run_directory::lock::is_locked;
use crate::run_directory::{RunDirectory, secret};
use crate::standing::Standing;

/// The standing in the checkpoint of a run, and its position in the ledger. None if a process writes the run, or if a
/// start would not use the checkpoint. Writes nothing.
pub fn stored(directory: &RunDirectory) -> Option<(LedgerPosition, Standing)> {
    if is_locked(directory.path()) {
        return None;
    }
    let key = secret::found(directory.path()).ok()??;
    read(directory, &key).ok()
}

/// The position up to which records were acknowledged, as far as the checkpoint knows; see [`stored`].
pub fn acknowledged(directory: &RunDirectory) -> Option<LedgerPosition> {
    stored(directory).map(|(position, _)| position)
}

/// Rejects a ledger that was read to its `end` if it lacks records of its checkpoint: records in `known` that the
/// checkpoint still has. Without `known` nothing is rejected.
///
/// # Errors
/// That is so, or the ledger cannot be read.
pub fn refuse_loss(
    directory: &RunDirectory,
    known: Option<&LedgerPosition>,
    end: &LedgerPosition,
) -> Result<(), LedgerError> {
    let Some(known) = known else { return Ok(()) };
    let is_there = line_before(&directory.ledger(), known)? == LineBefore::Fits;
    if is_there || acknowledged(directory).as_ref() != Some(known) {
        return Ok(());
    }
    Err(loss(directory, known, end))
}

/// The loss in a ledger that lacks the last line of its checkpoint.
pub(super) fn loss(directory: &RunDirectory, known: &LedgerPosition, end: &LedgerPosition) -> LedgerError {
    let folder = directory.ledger();
    let (known_records, found) = (known.mark.records, end.mark.records);
    if known_records <= found {
        let path = file_path(&folder, known.file);
        return LedgerError::Rewritten { path, line: known.line, found, known: known_records };
    }
    let next = file_path(&folder, end.files() + 1);
    let path = file_path(&folder, end.file);
    LedgerError::Lost { path, line: end.line, found, known: known_records, renamed: renamed(&next) }
}

//! What the checkpoint of a run knows to be acknowledged, for who reads the run without going on with it: of a ledger that was
//! cut its own lines do not tell.
//!
//! ```text
//! read the checkpoint                       a coordinator writes it when what it speaks of is on disk
//! read the ledger, to which somebody may be appending
//! has it the line that the checkpoint knows?                        sound
//! is the checkpoint another one by now, or gone?                    sound: a coordinator has looked meanwhile, and gone on
//! else                                                              records are lost
//! ```

use super::read;
use crate::ledger::{LedgerError, LedgerPosition, LineBefore, file_path, line_before, renamed};
use crate::run_directory::RunDirectory;
use crate::run_directory::secret;

/// Up to where the ledger was acknowledged, if there is a checkpoint from which a start would go on. Nothing is written.
pub fn acknowledged(directory: &RunDirectory) -> Option<LedgerPosition> {
    let key = secret::found(directory.path()).ok()??;
    let found = read(&directory.checkpoint(), &key, directory.run().hash(), directory.plan());
    found.ok().map(|(position, _)| position)
}

/// Refuses a ledger that was read to its `end` and lacks what its checkpoint knew before, as `known` says, and knows still; none
/// of which nothing was known.
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

/// What a ledger lacks that has not the line which its checkpoint knows.
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

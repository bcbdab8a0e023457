//! From the ledger of a run to what its records add up to: the one way in which a run is resumed, audited, verified and
//! joined with others.

use crate::ledger::{LedgerError, LedgerPosition, Location, Record, Tail, read};
use crate::run_directory::RunDirectory;
use crate::standing::Standing;

/// Which part of a ledger is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stretch<'a> {
    /// From here on, or from the beginning.
    pub from: Option<&'a LedgerPosition>,
    /// To here, or to the last mark.
    pub until: Option<&'a LedgerPosition>,
}

/// The beginning of a run's ledger.
pub fn beginning(directory: &RunDirectory) -> LedgerPosition {
    LedgerPosition::beginning(directory.run().hash())
}

/// Adds the records of a stretch to a standing, and shows each of them, once it stands, to `each`, and behind each group its mark.
///
/// # Errors
/// The ledger is damaged, or cannot be read.
pub fn replay(
    directory: &RunDirectory,
    stretch: Stretch<'_>,
    standing: &mut Standing,
    mut each: impl FnMut(Location, &Record),
) -> Result<Tail, LedgerError> {
    let (plan, shard) = (directory.plan(), directory.run().shard);
    let beginning = beginning(directory);
    let from = stretch.from.unwrap_or(&beginning);
    read(&directory.ledger(), from, stretch.until, |location, record, _| {
        standing.apply(plan, shard, record).inspect(|()| each(location, record))
    })
}

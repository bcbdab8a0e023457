//! Reads the ledger as a stream, group by group, and tells tail from damage.
//!
//! ```text
//! for each line from the given position on:
//!     readable and chained to the line before?  keep it; if it is a mark, hand the group to the caller
//!     else: is all from there on what a torn write leaves, and no mark among it?  tail : damage
//! ```

use std::convert::Infallible;
use std::error::Error;
use std::path::Path;

use super::damage::{Damage, LineError};
use super::hash::LineHash;
use super::line::decode;
use super::lines::{LONGEST_LINE, LineReader};
use super::record::Record;
use super::torn::{Remainder, remainder};
use super::{LedgerError, LedgerPosition, Location, file_path, files_after};

/// What follows the last commit mark: nothing, or records that were never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Behind the last mark: where writing goes on.
    pub end: LedgerPosition,
    /// Bytes behind it.
    pub bytes: u64,
}

/// Reads the ledger in `folder` from a position to its last mark and hands every committed record to `apply`, which
/// may refuse it.
///
/// # Errors
/// The ledger is damaged, a record that is refused included, or cannot be read.
pub fn read<E: Error + Send + Sync + 'static>(
    folder: &Path,
    from: &LedgerPosition,
    apply: impl FnMut(Location, &Record) -> Result<(), E>,
) -> Result<Tail, LedgerError> {
    read_until(folder, from, None, apply)
}

/// Reads the ledger in `folder` from one position to another, or to its last mark where there is none to stop at: what
/// follows `until` may be written at this moment. Every committed record goes to `apply`, which may refuse it.
///
/// # Errors
/// The ledger is damaged, a record that is refused included, or cannot be read.
pub fn read_until<E: Error + Send + Sync + 'static>(
    folder: &Path,
    from: &LedgerPosition,
    until: Option<&LedgerPosition>,
    apply: impl FnMut(Location, &Record) -> Result<(), E>,
) -> Result<Tail, LedgerError> {
    read_groups(folder, from, until, apply, |_| ())
}

/// Reads the ledger in `folder` from a position to its last mark, and shows the place behind each mark to `each`.
///
/// # Errors
/// The ledger is damaged, or cannot be read.
pub fn read_marks(
    folder: &Path,
    from: &LedgerPosition,
    each: impl FnMut(&LedgerPosition),
) -> Result<Tail, LedgerError> {
    read_groups(folder, from, None, |_, _| Ok::<_, Infallible>(()), each)
}

fn read_groups<E: Error + Send + Sync + 'static>(
    folder: &Path,
    from: &LedgerPosition,
    until: Option<&LedgerPosition>,
    mut apply: impl FnMut(Location, &Record) -> Result<(), E>,
    mut marked: impl FnMut(&LedgerPosition),
) -> Result<Tail, LedgerError> {
    let mut end = from.clone();
    let mut bytes = 0;
    let mut at = from.clone();
    let mut group: Vec<(Location, Record)> = Vec::new();
    loop {
        if until == Some(&end) {
            return Ok(Tail { end, bytes: 0 });
        }
        let path = file_path(folder, at.file);
        let Some(mut lines) = LineReader::open(&path, at.offset)? else {
            return missing_or_end(folder, &at, from, end, bytes);
        };
        while let Some(line) = lines.next()? {
            let location = Location { file: at.file, line: at.line + 1 };
            let damaged = |location, what| LedgerError::Damaged { path: path.clone(), location, what };
            let record = match chained(line, at.hash) {
                Ok((record, hash)) => {
                    at.hash = hash;
                    record
                }
                Err(what) => {
                    if matches!(what, Damage::Line(LineError::CarriageReturn)) {
                        return Err(LedgerError::LineEnds { path, location });
                    }
                    let behind = remainder(folder, &mut lines, &at, &end)?;
                    let tail = Tail { end, bytes: bytes + lines.read - at.offset };
                    return match behind {
                        Remainder::Torn => Ok(tail),
                        Remainder::Marked => Err(damaged(location, what)),
                        Remainder::Broken => {
                            Err(LedgerError::DamagedEnd { path, location, what, tail: Box::new(tail) })
                        }
                    };
                }
            };
            let length = lines.taken();
            at.line += 1;
            at.offset += length;
            bytes += length;
            let Record::Mark(mark) = record else {
                group.push((location, record));
                continue;
            };
            if mark.records != at.mark.records + group.len() as u64 {
                return Err(damaged(location, Damage::Miscounted));
            }
            at.mark = mark;
            for (location, record) in group.drain(..) {
                apply(location, &record)
                    .map_err(|refusal| damaged(location, Damage::Record(refusal.into())))?;
            }
            end = at.clone();
            marked(&end);
            bytes = 0;
            if until == Some(&end) {
                return Ok(Tail { end, bytes });
            }
        }
        at = LedgerPosition { file: at.file + 1, offset: 0, line: 0, ..at };
    }
}

/// The record of a line that follows the one with that hash, and the line's own hash.
fn chained(line: Result<&[u8], LineError>, before: LineHash) -> Result<(Record, LineHash), Damage> {
    let ((record, prev), hash) = line.and_then(|bytes| Ok((decode(bytes)?, LineHash::of(bytes))))?;
    if prev == before { Ok((record, hash)) } else { Err(Damage::Unchained) }
}

/// What the ledger has in front of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBefore {
    /// The line that has the hash that the position names.
    Fits,
    /// Another line.
    Differs,
    /// Nothing: the file ends before, or is not there.
    Short,
}

/// Compares the line that ends at the position with the hash that the position names.
///
/// # Errors
/// The position's file cannot be read.
pub fn line_before(folder: &Path, position: &LedgerPosition) -> Result<LineBefore, LedgerError> {
    if position.offset == 0 {
        let is_beginning = position.file == 1 && position.line == 0;
        return Ok(if is_beginning { LineBefore::Fits } else { LineBefore::Differs });
    }
    let path = file_path(folder, position.file);
    let from = position.offset.saturating_sub(LONGEST_LINE as u64);
    let Some(mut lines) = LineReader::open(&path, from)? else { return Ok(LineBefore::Short) };
    while let Some(line) = lines.next()? {
        let fits = line.is_ok_and(|line| LineHash::of(line) == position.hash);
        if lines.read >= position.offset {
            let fits = fits && lines.read == position.offset;
            return Ok(if fits { LineBefore::Fits } else { LineBefore::Differs });
        }
    }
    Ok(LineBefore::Short)
}

/// The file at which reading arrived is not there: the end of the ledger, unless a later one is.
fn missing_or_end(
    folder: &Path,
    at: &LedgerPosition,
    from: &LedgerPosition,
    end: LedgerPosition,
    bytes: u64,
) -> Result<Tail, LedgerError> {
    let path = file_path(folder, at.file);
    let position_is_beyond = at.file == from.file && *from != LedgerPosition::beginning(from.hash);
    if position_is_beyond || !files_after(folder, at.file)?.is_empty() {
        return Err(LedgerError::missing(path, false));
    }
    Ok(Tail { end, bytes })
}

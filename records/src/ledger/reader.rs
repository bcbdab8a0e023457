//! Reads the ledger as a stream, group by group, and distinguishes tail from damage.
//!
//! ```text
//! for each line from the given position on:
//!     if it is readable and chained to the line before: keep it; at a mark, pass the group to the caller
//!     else if a torn write explains all data from here on, and no mark is among it: tail
//!     else if the line differs when it is read again: continue with it
//!     else: damage; all behind the last mark before it can be given up
//! ```
//!
//! A writer may append data meanwhile. A half-written end is read again. The reader proceeds to the next file only if
//! nothing was added to the present file.

use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use super::chain::Chain;
use super::damage::{Damage, LedgerError, LineError};
use super::files::files_after;
use super::hash::LineHash;
use super::lines::{LONGEST_LINE, LineReader, is_there};
use super::names::file_path;
use super::position::{LedgerPosition, Location, Tail};
use super::record::Record;
use super::torn::{Remainder, later_files, remainder};

/// Reads the ledger in `folder` from one position to another, or to its last mark if `until` is `None`: others may be
/// writing behind `until`. `apply` gets every committed record, and behind each group its mark, with the position
/// behind the last mark that was read. It may refuse a record.
///
/// # Errors
/// The ledger is damaged, a record that is refused included, or cannot be read.
pub fn read<E: Error + Send + Sync + 'static>(
    folder: &Path,
    from: &LedgerPosition,
    until: Option<&LedgerPosition>,
    mut apply: impl FnMut(Location, &Record, &LedgerPosition) -> Result<(), E>,
) -> Result<Tail, LedgerError> {
    let mut end = from.clone();
    let mut bytes = 0;
    let mut chain = Chain::new(from.clone());
    let mut misfit = None;
    'files: loop {
        if until == Some(&end) {
            return Ok(Tail { end, bytes: 0 });
        }
        let path = file_path(folder, chain.at.file);
        let Some(mut lines) = LineReader::open(&path, chain.at.offset)? else {
            return missing_or_end(folder, &chain.at, from, Tail { end, bytes });
        };
        while let Some(line) = lines.next()? {
            let location = chain.location();
            let damaged =
                |location, what, rest| LedgerError::Damaged { path: path.clone(), location, what, rest };
            let length = line.map_or(0, |line| line.len() as u64 + 1);
            let is_mark = match chain.take(line, length) {
                Ok(is_mark) => is_mark,
                Err(what @ Damage::OtherRun) => return Err(damaged(location, what, None)),
                Err(Damage::Line(LineError::CarriageReturn)) => {
                    return Err(LedgerError::LineEnds { path, location });
                }
                Err(what) => {
                    let seen = Some((location, lines.raw().to_vec()));
                    let Remainder { is_torn, rest } = remainder(folder, &mut lines, &chain, &end)?;
                    if !is_torn && misfit != seen {
                        misfit = seen;
                        continue 'files;
                    }
                    return match gap_behind(folder, chain.at.file)? {
                        Some(path) if is_torn => Err(LedgerError::missing(path, Some(Box::new(rest)))),
                        None if is_torn => Ok(rest.tail),
                        _ => Err(damaged(location, what, Some(Box::new(rest)))),
                    };
                }
            };
            bytes += length;
            if !is_mark {
                continue;
            }
            let mut apply = |location, record: &Record, end: &LedgerPosition| {
                apply(location, record, end)
                    .map_err(|why| damaged(location, Damage::Record(why.into()), None))
            };
            for (location, record) in chain.group.drain(..) {
                apply(location, &record, &end)?;
            }
            end = chain.at.clone();
            apply(location, &Record::Mark(end.mark), &end)?;
            bytes = 0;
            if until == Some(&end) {
                return Ok(Tail { end, bytes });
            }
        }
        let next = chain.at.in_next_file();
        let next_path = file_path(folder, next.file);
        if !is_there(&next_path) {
            match missing_or_end(folder, &next, from, Tail { end: end.clone(), bytes }) {
                // The file was begun just now.
                Err(LedgerError::Missing { .. }) if is_there(&next_path) => continue,
                ended => return ended,
            }
        }
        if !has_more(&path, chain.at.offset)? {
            chain.next_file();
        }
    }
}

/// Reads the ledger in `folder` from a position to its last mark, and shows the position behind each mark to `each`.
///
/// # Errors
/// The ledger is damaged, or cannot be read.
pub fn read_marks(
    folder: &Path,
    from: &LedgerPosition,
    mut each: impl FnMut(&LedgerPosition),
) -> Result<Tail, LedgerError> {
    read(folder, from, None, |_, record, end| {
        if matches!(record, Record::Mark(_)) {
            each(end);
        }
        Ok::<_, Infallible>(())
    })
}

/// Whether the file has bytes behind that offset.
fn has_more(path: &Path, offset: u64) -> Result<bool, LedgerError> {
    let length = fs::metadata(path).map_err(LedgerError::io("read", path))?.len();
    Ok(length > offset)
}

/// The line of the ledger before a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBefore {
    /// The line that has the hash that the position names.
    Fits,
    /// Another line.
    Differs,
    /// No line: the file ends earlier or does not exist.
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

/// The first missing file after this file, if a later file exists.
fn gap_behind(folder: &Path, file: u32) -> Result<Option<PathBuf>, LedgerError> {
    let last = files_after(folder, file)?.last().map_or(0, |last| *last);
    Ok((file + 1..last).map(|between| file_path(folder, between)).find(|path| !is_there(path)))
}

/// The file at which reading arrived is not there: the end of the ledger, unless a later one is.
fn missing_or_end(
    folder: &Path,
    at: &LedgerPosition,
    from: &LedgerPosition,
    tail: Tail,
) -> Result<Tail, LedgerError> {
    let path = file_path(folder, at.file);
    let position_is_beyond = at.file == from.file && *from != LedgerPosition::beginning(from.hash);
    if position_is_beyond {
        return Err(LedgerError::missing(path, None));
    }
    if !files_after(folder, at.file)?.is_empty() {
        let rest = later_files(folder, at.file, &tail.end)?;
        return Err(LedgerError::missing(path, Some(Box::new(rest))));
    }
    Ok(tail)
}

//! Reads the ledger as a stream, group by group, and tells tail from damage.
//!
//! ```text
//! for each line from the given position on:
//!     readable and chained to the line before?  keep it; if it is a mark, hand the group to the caller
//!     else: is it a mark, or is there a readable mark anywhere behind it?  damage : tail
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use super::damage::{Damage, LineError};
use super::line::{LineHash, decode};
use super::record::Record;
use super::{LedgerError, LedgerPosition, Location, file_path, files_after};

/// Longer lines than this were never written: they are read no further.
const LONGEST_LINE: usize = 1 << 16;

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
    mut apply: impl FnMut(Location, &Record) -> Result<(), E>,
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
                Err(unfit) => {
                    if unfit.is_mark || lines.rest()?.has_mark || later_file_has_mark(folder, at.file)? {
                        return Err(damaged(location, unfit.what));
                    }
                    return Ok(Tail { end, bytes: bytes + lines.unread_since(at.offset) });
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
            bytes = 0;
            if until == Some(&end) {
                return Ok(Tail { end, bytes });
            }
        }
        at = LedgerPosition { file: at.file + 1, offset: 0, line: 0, ..at };
    }
}

/// A line that does not go on where the one before it ended.
struct Unfit {
    what: Damage,
    is_mark: bool,
}

/// The record of a line that follows the one with that hash, and the line's own hash.
fn chained(line: Result<&[u8], LineError>, before: LineHash) -> Result<(Record, LineHash), Unfit> {
    let decoded = line.and_then(|bytes| Ok((decode(bytes)?, LineHash::of(bytes))));
    let ((record, prev), hash) = decoded.map_err(|error| Unfit { what: error.into(), is_mark: false })?;
    if prev == before {
        return Ok((record, hash));
    }
    Err(Unfit { what: Damage::Unchained, is_mark: matches!(record, Record::Mark(_)) })
}

/// What the ledger has in front of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBefore {
    /// The line that has the hash that the position names.
    Fits,
    /// Another line.
    Differs,
    /// Nothing: the file ends before.
    Short,
}

/// Compares the line that ends at the position with the hash that the position names.
///
/// # Errors
/// The position's file is missing or cannot be read.
pub fn line_before(folder: &Path, position: &LedgerPosition) -> Result<LineBefore, LedgerError> {
    if position.offset == 0 {
        let is_beginning = position.file == 1 && position.line == 0;
        return Ok(if is_beginning { LineBefore::Fits } else { LineBefore::Differs });
    }
    let path = file_path(folder, position.file);
    let from = position.offset.saturating_sub(LONGEST_LINE as u64);
    let Some(mut lines) = LineReader::open(&path, from)? else { return Err(LedgerError::Missing(path)) };
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
        return Err(LedgerError::Missing(path));
    }
    Ok(Tail { end, bytes })
}

fn later_file_has_mark(folder: &Path, file: u32) -> Result<bool, LedgerError> {
    for later in files_after(folder, file)? {
        let path = file_path(folder, later);
        let Some(mut lines) = LineReader::open(&path, 0)? else { continue };
        if lines.rest()?.has_mark {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The lines of one file.
struct LineReader<'a> {
    path: &'a Path,
    file: BufReader<File>,
    line: Vec<u8>,
    /// Bytes of the file up to and with the line read last.
    read: u64,
}

struct Rest {
    has_mark: bool,
}

impl<'a> LineReader<'a> {
    /// The lines from that offset on; nothing if there is no such file.
    fn open(path: &'a Path, offset: u64) -> Result<Option<Self>, LedgerError> {
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LedgerError::io("open", path)(error)),
        };
        file.seek(SeekFrom::Start(offset)).map_err(LedgerError::io("read", path))?;
        let file = BufReader::with_capacity(1 << 18, file);
        Ok(Some(Self { path, file, line: Vec::new(), read: offset }))
    }

    /// The next line without its newline, or what is wrong with it; nothing at the end of the file.
    fn next(&mut self) -> Result<Option<Result<&[u8], LineError>>, LedgerError> {
        self.line.clear();
        let mut file = (&mut self.file).take(LONGEST_LINE as u64 + 1);
        let taken = file.read_until(b'\n', &mut self.line).map_err(LedgerError::io("read", self.path))?;
        self.read += taken as u64;
        Ok(match self.line.split_last() {
            None => None,
            Some((b'\n', line)) => Some(Ok(line)),
            Some(_) if taken > LONGEST_LINE => Some(Err(LineError::TooLong)),
            Some(_) => Some(Err(LineError::Unended)),
        })
    }

    /// The length of the line read last, with its newline.
    fn taken(&self) -> u64 {
        self.line.len() as u64
    }

    /// Reads to the end of the file and tells whether there is a commit mark.
    fn rest(&mut self) -> Result<Rest, LedgerError> {
        let mut has_mark = false;
        while let Some(line) = self.next()? {
            has_mark |= matches!(line.map(decode), Ok(Ok((Record::Mark(_), _))));
        }
        Ok(Rest { has_mark })
    }

    /// Bytes between the offset and what has been read.
    fn unread_since(&self, offset: u64) -> u64 {
        self.read - offset
    }
}

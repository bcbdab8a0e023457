//! Distinguishes the result of an interrupted write (by a crash, a power cut, a full disk) from damage.
//!
//! A group is appended and synced before its mark. An interrupted write can therefore leave three things behind the
//! last mark:
//!
//! - whole lines;
//! - an incomplete line at the end of the file;
//! - blocks of zeros that never reached the disk.
//!
//! Anything else is damage: a complete but unreadable line was changed by another cause, and may have been
//! acknowledged.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::chain::Chain;
use super::damage::{LedgerError, Rest};
use super::files::files_after;
use super::line::decode;
use super::lines::{LONGEST_LINE, LineReader};
use super::names::file_path;
use super::position::{LedgerPosition, Tail};
use super::record::Record;
use crate::regular_file;

/// No disk writes less at a time, or at other places than its multiples.
const BLOCK: u64 = 64;
/// No writer ends a line so, and no disk.
const CR_LF: &[u8] = b"\r\n";

/// The data behind the last sound mark.
pub(super) struct Remainder {
    /// True if an interrupted write explains all of it.
    pub is_torn: bool,
    /// Its extent.
    pub rest: Rest,
}

/// Judges all from the line on that `lines` read last and that does not fit: the next line of the chain. The last sound
/// mark ends at `end`.
pub(super) fn remainder(
    folder: &Path,
    lines: &mut LineReader<'_>,
    chain: &Chain,
    end: &LedgerPosition,
) -> Result<Remainder, LedgerError> {
    let file = chain.at.file;
    let mut rest = Rest { tail: Tail { end: end.clone(), bytes: 0 }, records: chain.group.len() as u64 };
    let mut has_mark = count_line(&mut rest, lines.raw().trim_ascii_end());
    let mut is_torn = is_cut_or_zeros(lines.raw()) && !lines.raw().ends_with(CR_LF);
    let mut goes_on = !lines.raw().ends_with(b"\n");
    while let Some(line) = lines.next()? {
        let is_readable = line.is_ok_and(|line| decode(line).is_ok());
        has_mark |= count_line(&mut rest, line.unwrap_or_default());
        is_torn &= (goes_on || is_readable || is_cut_or_zeros(lines.raw())) && !lines.raw().ends_with(CR_LF);
        goes_on = !lines.raw().ends_with(b"\n");
    }
    let written_from = if file == end.file { end.offset } else { 0 };
    rest.tail.bytes = lines.read - written_from;
    let has_later_lines = count_later_files(folder, file, &mut rest)?;
    let is_torn =
        is_torn && !has_mark && !has_later_lines && has_whole_blocks(&file_path(folder, file), written_from)?;
    Ok(Remainder { is_torn, rest })
}

/// The files after this file, if the ledger soundly ends at `end`.
pub(super) fn later_files(folder: &Path, file: u32, end: &LedgerPosition) -> Result<Rest, LedgerError> {
    let mut rest = Rest { tail: Tail { end: end.clone(), bytes: 0 }, records: 0 };
    count_later_files(folder, file, &mut rest)?;
    Ok(rest)
}

/// Adds the files after this file. Returns true if they have any line.
fn count_later_files(folder: &Path, file: u32, rest: &mut Rest) -> Result<bool, LedgerError> {
    let mut has_lines = false;
    for later in files_after(folder, file)? {
        let path = file_path(folder, later);
        let Some(mut lines) = LineReader::open(&path, 0)? else { continue };
        while let Some(line) = lines.next()? {
            count_line(rest, line.unwrap_or_default());
            has_lines = true;
        }
        rest.tail.bytes += lines.read;
    }
    Ok(has_lines)
}

/// Counts the records up to this line, which is part of the rest: a mark has their number. Returns true if it is a mark.
fn count_line(rest: &mut Rest, line: &[u8]) -> bool {
    let Ok((Record::Mark(mark), _)) = decode(line) else {
        rest.records += 1;
        return false;
    };
    rest.records = mark.records.checked_sub(rest.tail.end.mark.records).unwrap_or(rest.records);
    true
}

/// Whether these bytes, with their newline if there is one, have zeros or end too early. A whole line with anything but
/// a newline behind it is neither.
fn is_cut_or_zeros(raw: &[u8]) -> bool {
    let is_cut = !raw.ends_with(b"\n") && raw.len() <= LONGEST_LINE;
    let is_more = raw.split_last().is_some_and(|(_, line)| decode(line).is_ok());
    raw.contains(&0) || is_cut && !is_more
}

/// True if the zeros from this place on fill whole blocks. They begin at a block or at the end of the synced data (a
/// whole line), and they end at the end of a block.
fn has_whole_blocks(path: &Path, from: u64) -> Result<bool, LedgerError> {
    let mut file = regular_file::open(path).map_err(LedgerError::io("open", path))?;
    file.seek(SeekFrom::Start(from)).map_err(LedgerError::io("read", path))?;
    let mut file = BufReader::with_capacity(1 << 18, file);
    let mut length = BLOCK - from % BLOCK;
    let mut block = Vec::new();
    loop {
        block.clear();
        let taken =
            (&mut file).take(length).read_to_end(&mut block).map_err(LedgerError::io("read", path))?;
        if taken == 0 {
            return Ok(true);
        }
        let written = &block[..block.iter().position(|byte| *byte == 0).unwrap_or(taken)];
        let is_whole = written.len() == taken || written.is_empty() || written.ends_with(b"\n");
        if !is_whole || block[written.len()..].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        length = BLOCK;
    }
}

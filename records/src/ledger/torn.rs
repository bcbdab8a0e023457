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

use super::damage::LedgerError;
use super::files::files_after;
use super::line::decode;
use super::lines::{LONGEST_LINE, LineReader, is_mark};
use super::names::file_path;
use super::position::LedgerPosition;
use crate::regular_file;

/// No disk writes less at a time, or at other places than its multiples.
const BLOCK: u64 = 64;
/// No writer ends a line so, and no disk.
const CR_LF: &[u8] = b"\r\n";

/// The kind of data behind the last readable mark.
pub(super) enum Remainder {
    /// What an interrupted write leaves.
    Torn,
    /// Other data without a readable mark.
    Broken,
    /// Something else, and commit marks behind it.
    Marked,
}

/// Judges all from the line on that `lines` read last and that does not fit. It is in the file of `at`; the last mark
/// ends at `end`.
pub(super) fn remainder(
    folder: &Path,
    lines: &mut LineReader<'_>,
    at: &LedgerPosition,
    end: &LedgerPosition,
) -> Result<Remainder, LedgerError> {
    let mut has_mark = is_mark(lines.raw().trim_ascii_end());
    let mut is_torn = is_cut_or_zeros(lines.raw()) && !lines.raw().ends_with(CR_LF);
    let mut goes_on = !lines.raw().ends_with(b"\n");
    while let Some(line) = lines.next()? {
        let is_readable = line.is_ok_and(|line| decode(line).is_ok());
        has_mark |= line.is_ok_and(is_mark);
        is_torn &= (goes_on || is_readable || is_cut_or_zeros(lines.raw())) && !lines.raw().ends_with(CR_LF);
        goes_on = !lines.raw().ends_with(b"\n");
    }
    for later in files_after(folder, at.file)? {
        let path = file_path(folder, later);
        let Some(mut lines) = LineReader::open(&path, 0)? else { continue };
        while let Some(line) = lines.next()? {
            has_mark |= line.is_ok_and(is_mark);
            is_torn = false;
        }
    }
    if has_mark {
        return Ok(Remainder::Marked);
    }
    let written_from = if at.file == end.file { end.offset } else { 0 };
    let is_torn = is_torn && has_whole_blocks(&file_path(folder, at.file), written_from)?;
    Ok(if is_torn { Remainder::Torn } else { Remainder::Broken })
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

//! The lines of a ledger file, one after the other, from any place on.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::damage::{LedgerError, LineError};
use super::line::decode;
use super::record::Record;
use crate::regular_file;

/// Longer lines than this were never written: they are read no further.
pub(super) const LONGEST_LINE: usize = 1 << 16;

/// The lines of one file.
pub(super) struct LineReader<'a> {
    path: &'a Path,
    file: BufReader<File>,
    line: Vec<u8>,
    /// Bytes of the file up to and with the line read last.
    pub read: u64,
}

/// True if the path exists, even as a dangling link.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

impl<'a> LineReader<'a> {
    /// The lines from this offset on; none if the file does not exist.
    pub fn open(path: &'a Path, offset: u64) -> Result<Option<Self>, LedgerError> {
        if !is_there(path) {
            return Ok(None);
        }
        // A link to a disk that is not mounted does not end the ledger.
        let mut file = regular_file::open(path).map_err(LedgerError::io("open", path))?;
        file.seek(SeekFrom::Start(offset)).map_err(LedgerError::io("read", path))?;
        let file = BufReader::with_capacity(1 << 18, file);
        Ok(Some(Self { path, file, line: Vec::new(), read: offset }))
    }

    /// The next line without its newline, or its damage; none at the end of the file. A commit mark that lacks only its
    /// newline counts as complete: the writer adds the newline.
    pub fn next(&mut self) -> Result<Option<Result<&[u8], LineError>>, LedgerError> {
        self.line.clear();
        let mut file = (&mut self.file).take(LONGEST_LINE as u64 + 1);
        let taken = file.read_until(b'\n', &mut self.line).map_err(LedgerError::io("read", self.path))?;
        self.read += taken as u64;
        if taken > 0 && !self.line.ends_with(b"\n") {
            if taken > LONGEST_LINE {
                return Ok(Some(Err(LineError::TooLong)));
            }
            if !is_mark(&self.line) {
                return Ok(Some(Err(LineError::Unended)));
            }
            self.line.push(b'\n');
            self.read += 1;
        }
        Ok(self.line.split_last().map(|(_, line)| Ok(line)))
    }

    /// The bytes read last, with their newline if there is one.
    pub fn raw(&self) -> &[u8] {
        &self.line
    }
}

/// Whether a line (without its newline) is a commit mark.
pub(super) fn is_mark(line: &[u8]) -> bool {
    matches!(decode(line), Ok((Record::Mark(_), _)))
}

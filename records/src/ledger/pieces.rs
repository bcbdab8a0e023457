//! Reads a ledger as bytes, piece by piece, up to a mark, for followers.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use domain::LedgerPiece;

use super::{LedgerError, LedgerPosition, file_path};
use crate::regular_file;

/// Maximum size of a piece, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// How far a ledger has been read.
#[derive(Debug)]
pub struct Pieces {
    folder: PathBuf,
    file: u32,
    offset: u64,
    open: Option<File>,
    /// Whether the last byte that was read ends a line.
    is_line_end: bool,
}

impl Pieces {
    /// Pieces from this place on, which is behind a mark.
    pub fn new(folder: PathBuf, file: u32, offset: u64) -> Self {
        Self { folder, file, offset, open: None, is_line_end: true }
    }

    /// The next piece up to this mark; none when everything up to the mark has been read.
    ///
    /// # Errors
    /// The ledger cannot be read, or has less than it should.
    pub fn next(&mut self, end: &LedgerPosition) -> Result<Option<LedgerPiece>, LedgerError> {
        loop {
            if (self.file, self.offset) == (end.file, end.offset) {
                self.open = None;
                return Ok(None);
            }
            let left = if self.file == end.file { end.offset - self.offset } else { u64::MAX };
            let mut bytes = self.read(left.min(PIECE_BYTES))?;
            if bytes.is_empty() && !self.is_line_end {
                // The last mark is whole but for its newline; the writer mends it with its next group.
                bytes.push(b'\n');
            }
            if let Some(last) = bytes.last() {
                self.is_line_end = *last == b'\n';
                let (file, offset) = (self.file, self.offset);
                self.offset += bytes.len() as u64;
                let is_end = (self.file, self.offset) == (end.file, end.offset);
                return Ok(Some(LedgerPiece { file, offset, bytes, is_end }));
            }
            if self.file >= end.file {
                return Err(LedgerError::missing(file_path(&self.folder, self.file), None));
            }
            (self.file, self.offset, self.open) = (self.file + 1, 0, None);
        }
    }

    fn read(&mut self, most: u64) -> Result<Vec<u8>, LedgerError> {
        let path = file_path(&self.folder, self.file);
        let file = if let Some(file) = self.open.take() {
            file
        } else {
            let mut file = regular_file::open(&path).map_err(LedgerError::io("open", &path))?;
            file.seek(SeekFrom::Start(self.offset)).map_err(LedgerError::io("read", &path))?;
            file
        };
        let mut bytes = Vec::new();
        self.open.insert(file).take(most).read_to_end(&mut bytes).map_err(LedgerError::io("read", &path))?;
        Ok(bytes)
    }
}

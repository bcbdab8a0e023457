//! Appends to the ledger: groups of records, each synced, then marked, then synced again.
//!
//! After a failed write or sync nobody knows what the disk holds, so the file is reopened, cut at the last mark, and
//! the next group is written from there.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::line::{LineHash, encode};
use super::record::{Mark, Record};
use super::{LedgerError, Position, file_path};

/// A file is followed by a new one when it has grown to this many bytes.
const FILE_SIZE: u64 = 1 << 28;

/// The one writer of a ledger.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    /// Behind the last mark.
    end: Position,
    /// The file of `end`; none after a failure, and before the first group.
    file: Option<File>,
    file_size: u64,
}

impl Writer {
    /// Goes on behind the mark at `end`: whatever follows it is cut off with the next group.
    pub fn new(folder: &Path, end: Position) -> Self {
        Self { folder: folder.to_owned(), end, file: None, file_size: FILE_SIZE }
    }

    /// The same with files of another size in bytes.
    #[cfg(test)]
    pub fn with_file_size(folder: &Path, end: Position, file_size: u64) -> Self {
        Self { file_size, ..Self::new(folder, end) }
    }

    /// Behind the last mark.
    pub fn end(&self) -> &Position {
        &self.end
    }

    /// Appends the records and a mark. When it returns without an error, they are on disk; with one, nothing has
    /// changed and the same records may be committed again.
    pub fn commit(&mut self, records: &[Record], elapsed: Duration, threads: u32) -> Result<(), LedgerError> {
        let mark = Mark {
            records: self.end.mark.records + records.len() as u64,
            elapsed_ms: elapsed.as_millis().try_into().unwrap_or(u64::MAX),
            threads: self.end.mark.threads.max(threads),
        };
        let result = self.write_group(records, mark);
        if result.is_err() {
            self.file = None;
        }
        result
    }

    fn write_group(&mut self, records: &[Record], mark: Mark) -> Result<(), LedgerError> {
        if self.end.offset >= self.file_size {
            self.file = None;
            self.end = Position { file: self.end.file + 1, offset: 0, line: 0, ..self.end.clone() };
        }
        let path = file_path(&self.folder, self.end.file);
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open(&path)?,
        };
        let mut group = String::new();
        let mut hash = self.end.hash;
        for record in records {
            hash = append_line(&mut group, record, hash);
        }
        let mut mark_line = String::new();
        hash = append_line(&mut mark_line, &Record::Mark(mark), hash);
        for part in [&group, &mark_line] {
            file.write_all(part.as_bytes()).map_err(LedgerError::io("write", &path))?;
            file.sync_data().map_err(LedgerError::io("sync", &path))?;
        }
        self.file = Some(file);
        self.end = Position {
            file: self.end.file,
            offset: self.end.offset + (group.len() + mark_line.len()) as u64,
            line: self.end.line + records.len() as u64 + 1,
            hash,
            mark,
        };
        Ok(())
    }

    /// Opens the file of the last mark and cuts off what follows the mark, also in files after it.
    fn open(&self, path: &Path) -> Result<File, LedgerError> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(LedgerError::io("open", path))?;
        for later in self.end.file + 1.. {
            let path = file_path(&self.folder, later);
            if !path.exists() {
                break;
            }
            fs::remove_file(&path).map_err(LedgerError::io("cut", &path))?;
        }
        file.set_len(self.end.offset).map_err(LedgerError::io("cut", path))?;
        file.seek(SeekFrom::End(0)).map_err(LedgerError::io("write", path))?;
        file.sync_all().map_err(LedgerError::io("sync", path))?;
        let folder = File::open(&self.folder).map_err(LedgerError::io("open", &self.folder))?;
        folder.sync_all().map_err(LedgerError::io("sync", &self.folder))?;
        Ok(file)
    }
}

fn append_line(text: &mut String, record: &Record, prev: LineHash) -> LineHash {
    let (line, hash) = encode(record, prev);
    text.push_str(&line);
    text.push('\n');
    hash
}

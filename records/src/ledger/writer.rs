//! Appends to the ledger: groups of records, each synced, then marked, then synced again.
//!
//! Before its first group the writer cuts off the data behind the last mark, and keeps it in a file beside the ledger
//! file.
//!
//! Before each group the file must be the one that was written, with the size that it then had.
//!
//! After a failed write or sync the content of the disk is unknown. The writer reopens the file, truncates it at the
//! last mark, and writes the next group from there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::damage::Change;
use super::disk::{Disk, DiskFile, FileState, SystemDisk};
use super::files::files_after;
use super::intake::Group;
use super::line::push_line;
use super::record::{CommitMark, Record};
use super::{LedgerError, LedgerPosition, LineBefore, file_path, kept_path, line_before};

/// A file is followed by a new one when it has grown to this many bytes.
const FILE_SIZE: u64 = 1 << 28;

/// The one writer of a ledger.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    disk: Box<dyn Disk>,
    /// Behind the last mark.
    end: LedgerPosition,
    /// The file of `end`; none after a failure, and before the first group.
    file: Option<Box<dyn DiskFile>>,
    file_size: u64,
    /// The time since 1970 when the ledger was opened. It is part of the name of cut-off data.
    opened: Duration,
    /// True if this writer wrote the data behind the end.
    is_begun: bool,
    /// The number of the file that was opened last, and how this writer left it, with all that it may have written.
    left: Option<(u32, FileState)>,
}

impl Writer {
    /// A writer that continues behind the mark at `end`. Data behind it is kept elsewhere and cut off with the next
    /// group, or earlier with [`begin`](Self::begin).
    pub fn new(folder: &Path, end: LedgerPosition) -> Self {
        Self::on(Box::new(SystemDisk), folder, end)
    }

    /// A writer that continues behind the mark at `end`, with the caller's disk.
    pub(crate) fn on(disk: Box<dyn Disk>, folder: &Path, end: LedgerPosition) -> Self {
        Self {
            folder: folder.to_owned(),
            disk,
            end,
            file: None,
            file_size: FILE_SIZE,
            opened: Duration::ZERO,
            is_begun: false,
            left: None,
        }
    }

    /// Sets the time, since 1970, in the names of files with cut-off data.
    #[must_use]
    pub fn opened_at(self, opened: Duration) -> Self {
        Self { opened, ..self }
    }

    /// Begins a new file when one has grown to that many bytes.
    #[must_use]
    pub fn with_file_size(self, file_size: u64) -> Self {
        Self { file_size, ..self }
    }

    /// Behind the last mark.
    pub fn end(&self) -> &LedgerPosition {
        &self.end
    }

    /// Keeps the data behind the end in another file, and cuts it off, before the first group. Both changes are on disk
    /// if this returns without an error.
    ///
    /// # Errors
    /// As with [`commit`](Self::commit).
    pub fn begin(&mut self) -> Result<(), LedgerError> {
        self.expect_unchanged()?;
        let at = self.end.clone();
        self.file = Some(self.open(&file_path(&self.folder, at.file), &at)?);
        Ok(())
    }

    /// Renames files that may belong to the ledger to names of cut-off data, the last file first. Later starts then
    /// ignore them.
    ///
    /// # Errors
    /// The disk would not do it.
    pub(crate) fn give_up(&mut self, renamed: &[PathBuf]) -> Result<(), LedgerError> {
        for path in renamed.iter().rev() {
            let kept = kept_path(path, self.opened);
            self.disk.rename(path, &kept).map_err(LedgerError::io("rename", path))?;
        }
        self.disk.sync_folder(&self.folder).map_err(LedgerError::io("sync", &self.folder))
    }

    /// Appends the records and a mark. When it returns without an error, they are on disk.
    ///
    /// # Errors
    /// The disk failed, or another program changed the file. The writer is unchanged, so the same records may be
    /// committed again.
    pub fn commit(&mut self, records: &[Record], elapsed: Duration, threads: u32) -> Result<(), LedgerError> {
        let mark = CommitMark {
            records: self.end.mark.records + records.len() as u64,
            elapsed_ms: elapsed.as_millis().try_into().unwrap_or(u64::MAX),
            threads: self.end.mark.threads.max(threads),
        };
        // The file stays open then: the open file may be its only remainder.
        self.expect_unchanged()?;
        let mut at = self.end.clone();
        if at.offset >= self.file_size {
            at = LedgerPosition { file: at.file + 1, offset: 0, line: 0, ..at };
        }
        let mut group = Vec::new();
        let mut hash = at.hash;
        for record in records {
            hash = push_line(&mut group, record, hash);
        }
        let mut mark_line = Vec::new();
        hash = push_line(&mut mark_line, &Record::Mark(mark), hash);
        let end = LedgerPosition {
            file: at.file,
            offset: at.offset + (group.len() + mark_line.len()) as u64,
            line: at.line + records.len() as u64 + 1,
            hash,
            mark,
        };
        self.write(&at, &group, &mark_line, true)?;
        self.end = end;
        Ok(())
    }

    /// Appends a group of another writer, byte for byte. If `is_last`, its mark is on disk on return. Otherwise the
    /// mark reaches the disk with the next group, never after it.
    ///
    /// # Errors
    /// As with [`commit`](Self::commit).
    pub(crate) fn copy(&mut self, group: &Group, is_last: bool) -> Result<(), LedgerError> {
        self.expect_unchanged()?;
        self.write(&group.at, &group.lines, &group.mark, is_last)?;
        self.end.clone_from(&group.end);
        Ok(())
    }

    /// Writes lines at that place, behind the end, and a mark behind them. It is reopened after a failure.
    fn write(
        &mut self,
        at: &LedgerPosition,
        lines: &[u8],
        mark: &[u8],
        syncs_mark: bool,
    ) -> Result<(), LedgerError> {
        let path = file_path(&self.folder, at.file);
        let mut file = match self.file.take() {
            Some(file) if at.file == self.end.file => file,
            None if at.file == self.end.file => self.open(&path, at)?,
            before => {
                self.finish(before)?;
                self.open(&path, at)?
            }
        };
        if let Some((_, left)) = &mut self.left {
            left.size = at.offset + (lines.len() + mark.len()) as u64;
        }
        file.append(lines).map_err(LedgerError::io("write", &path))?;
        file.sync().map_err(LedgerError::io("sync", &path))?;
        file.append(mark).map_err(LedgerError::io("write", &path))?;
        if syncs_mark {
            file.sync().map_err(LedgerError::io("sync", &path))?;
        }
        self.file = Some(file);
        Ok(())
    }

    /// Syncs the present file before the next file starts, because its last mark may not be synced yet. The file is
    /// reopened if a failure has closed it.
    fn finish(&mut self, file: Option<Box<dyn DiskFile>>) -> Result<(), LedgerError> {
        let path = file_path(&self.folder, self.end.file);
        if let Some(mut file) = file {
            return file.sync().map_err(LedgerError::io("sync", &path));
        }
        // Opening would create another file in its place, full of zeros.
        self.expect_end()?;
        let (end, left) = (self.end.clone(), self.left);
        self.open(&path, &end)?;
        // The bytes written into the next file before the failure still belong to this writer.
        self.left = left;
        Ok(())
    }

    /// Opens the file where writing continues, and cuts off the data behind this place, also in later files. Data that
    /// this writer did not write is kept.
    fn open(&mut self, path: &Path, at: &LedgerPosition) -> Result<Box<dyn DiskFile>, LedgerError> {
        let mut file = self.disk.open(path).map_err(LedgerError::io("open", path))?;
        let size = self.disk.look(path).map_err(LedgerError::io("read", path))?.map_or(0, |found| found.size);
        if !self.is_begun {
            self.keep_tail(path, at, size)?;
        }
        if size + 1 == at.offset {
            // The last mark is whole but for its newline.
            file.cut(size).map_err(LedgerError::io("cut", path))?;
            file.append(b"\n").map_err(LedgerError::io("write", path))?;
        }
        file.cut(at.offset).map_err(LedgerError::io("cut", path))?;
        file.sync().map_err(LedgerError::io("sync", path))?;
        self.disk.sync_folder(&self.folder).map_err(LedgerError::io("sync", &self.folder))?;
        self.is_begun = true;
        let left = self.disk.look(path).map_err(LedgerError::io("read", path))?;
        self.left = left.map(|left| (at.file, left));
        Ok(file)
    }

    /// True if the last committed line is in the file.
    fn has_end(&self) -> Result<bool, LedgerError> {
        Ok(line_before(&self.folder, &self.end)? == LineBefore::Fits)
    }

    /// Refuses to begin where the file that was read is not there any more, up to its last mark.
    fn expect_end(&self) -> Result<(), LedgerError> {
        let (path, expected) = (file_path(&self.folder, self.end.file), self.end.offset);
        let what = match self.disk.look(&path).map_err(LedgerError::io("read", &path))? {
            _ if expected == 0 => return Ok(()),
            None => Change::Removed,
            Some(found) if found.size + 1 < expected => Change::Size { found: found.size, expected },
            Some(_) if !self.has_end()? => Change::Replaced,
            Some(_) => return Ok(()),
        };
        Err(LedgerError::Changed { path, what })
    }

    /// Fails if the last written file is missing or has another size than this writer left, or if the next file already
    /// exists. A copy of the file is accepted, for example after a restore.
    fn expect_unchanged(&mut self) -> Result<(), LedgerError> {
        let Some((file, left)) = self.left else { return self.expect_end() };
        let committed = if file == self.end.file { self.end.offset } else { 0 };
        let path = file_path(&self.folder, file);
        let found = self.disk.look(&path).map_err(LedgerError::io("read", &path))?;
        let is_same = found.is_some_and(|found| (found.device, found.inode) == (left.device, left.inode));
        let change = match found {
            None if committed == 0 => None,
            None => Some(Change::Removed),
            Some(found) if found.size < committed || found.size > left.size => {
                Some(Change::Size { found: found.size, expected: committed })
            }
            Some(found) if !is_same && found.size != committed => Some(Change::Replaced),
            Some(_) if (!is_same || self.file.is_none()) && !self.has_end()? => Some(Change::Replaced),
            Some(_) => None,
        };
        if let Some(what) = change {
            return Err(LedgerError::Changed { path, what });
        }
        if !is_same {
            (self.file, self.left) = (None, None);
        }
        let next = file_path(&self.folder, file + 1);
        match self.disk.look(&next).map_err(LedgerError::io("read", &next))? {
            Some(found) if found.size > 0 => Err(LedgerError::Changed { path: next, what: Change::Added }),
            _ => Ok(()),
        }
    }

    /// Copies the data behind this place in its file, which has `size` bytes, and renames the later files. The copy
    /// comes first: if there is no room for it, nothing changes.
    fn keep_tail(&mut self, path: &Path, at: &LedgerPosition, size: u64) -> Result<(), LedgerError> {
        if size > at.offset {
            let kept = kept_path(path, self.opened);
            self.disk.keep(path, at.offset, &kept).map_err(LedgerError::io("write", &kept))?;
            self.disk.sync_folder(&self.folder).map_err(LedgerError::io("sync", &self.folder))?;
        }
        // The last first: a ledger never has a gap among its files.
        for later in files_after(&self.folder, at.file)?.into_iter().rev() {
            let path = file_path(&self.folder, later);
            let kept = kept_path(&path, self.opened);
            self.disk.rename(&path, &kept).map_err(LedgerError::io("rename", &path))?;
        }
        Ok(())
    }
}

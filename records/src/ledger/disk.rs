//! The writer's interface to the disk. A test can replace it with a disk that fails or stops at any step.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use crate::{regular_file, system};

pub use crate::system::FileState;

/// The folder of a ledger, as its writer uses it.
pub trait Disk: fmt::Debug + Send {
    /// Opens a file for writing; it is created where it is missing.
    ///
    /// # Errors
    /// The system does not open it.
    fn open(&mut self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// The identity and size of the file at this path; none if there is no file.
    ///
    /// # Errors
    /// The system does not tell.
    fn look(&self, path: &Path) -> io::Result<Option<FileState>> {
        match system::file_state(path) {
            Ok(state) => Ok(Some(state)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Copies the rest of a file from this place to another file, and syncs the copy. After an error the copy does not
    /// exist.
    ///
    /// # Errors
    /// The file cannot be read, or the other file cannot be written.
    fn keep(&mut self, path: &Path, from: u64, kept: &Path) -> io::Result<()>;

    /// Gives a file another name.
    ///
    /// # Errors
    /// The system does not rename it.
    fn rename(&mut self, path: &Path, kept: &Path) -> io::Result<()>;

    /// Puts on disk which files the folder has.
    ///
    /// # Errors
    /// The system does not say that it is on disk.
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
}

/// An open file of the ledger.
pub trait DiskFile: fmt::Debug + Send {
    /// Truncates the file to this many bytes, where appending continues.
    ///
    /// # Errors
    /// The system does not cut it.
    fn cut(&mut self, len: u64) -> io::Result<()>;

    /// Appends bytes. After an error a part of them may be written.
    ///
    /// # Errors
    /// The system does not write all of it.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Syncs all written data. After an error the content of the disk is unknown.
    ///
    /// # Errors
    /// The system does not say that it is on disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// The system's own.
#[derive(Debug)]
pub(crate) struct SystemDisk;

impl Disk for SystemDisk {
    fn open(&mut self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(regular_file::open_own(path)?))
    }

    fn keep(&mut self, path: &Path, from: u64, kept: &Path) -> io::Result<()> {
        let mut file = regular_file::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut copy = regular_file::new_file(kept, 0o666)?;
        let copied = io::copy(&mut file, &mut copy).and_then(|_| copy.sync_all());
        copied.inspect_err(|_| fs::remove_file(kept).unwrap_or(()))
    }

    fn rename(&mut self, path: &Path, kept: &Path) -> io::Result<()> {
        fs::rename(path, kept)
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        regular_file::sync_folder(folder)
    }
}

impl DiskFile for File {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.seek(SeekFrom::End(0)).map(|_| ())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

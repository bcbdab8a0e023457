//! The lock of a run directory: one process writes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::run_directory::{RunDirectoryError, io_error};

/// Held by the one process that writes to a run directory; the system lets go of it when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the directory, which is created where it is missing.
    ///
    /// # Errors
    /// Another process has it, or the disk would not do it.
    pub fn take(directory: &Path) -> Result<Self, RunDirectoryError> {
        fs::create_dir_all(directory).map_err(io_error("create", directory))?;
        let path = directory.join("lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io_error("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid).map_err(io_error("read", &path))?;
                let pid = pid.trim().to_owned();
                return Err(RunDirectoryError::InUse { path: directory.to_owned(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(io_error("lock", &path)(error)),
        }
        file.set_len(0).map_err(io_error("write", &path))?;
        writeln!(file, "{}", std::process::id()).map_err(io_error("write", &path))?;
        Ok(Self { _file: file })
    }
}

//! The lock of a run directory: one process writes.
//!
//! The lock covers two things: the file `lock`, which names the process, and the folder `ledger`. A user may delete the
//! file as a leftover, but cannot delete the folder without its records. On Windows nobody can delete the file while the process
//! has it open, and the folder needs no lock.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::run_directory::{RunDirectory, RunDirectoryError, io_error};
use crate::{regular_file, system};

/// The lock of the process that writes to a run directory. The system releases it when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    _ledger: Option<File>,
}

/// The errors of systems that cannot lock folders, as on NFS: `EBADF` and `EOPNOTSUPP`.
const NO_FOLDERS: [i32; 2] = [9, 95];

impl Lock {
    /// Locks the directory. Creates it and its folder for the ledger if they are missing.
    ///
    /// # Errors
    /// Another process has it, there is a run whose ledger is gone, or the disk would not do it.
    pub fn take(directory: &Path) -> Result<Self, RunDirectoryError> {
        let (path, ledger) = (directory.join("lock"), directory.join("ledger"));
        // The ledger is older than run.json. A new ledger would be empty although the run has counted. Opening
        // reports what is wrong.
        if RunDirectory::exists(directory)? && !ledger.is_dir() {
            RunDirectory::open(directory)?;
        }
        fs::create_dir_all(&ledger).map_err(io_error("create", &ledger))?;
        let folder = system::open_folder(&ledger).map_err(io_error("open", &ledger))?;
        match folder.as_ref().map_or(Ok(()), File::try_lock) {
            Ok(()) => {}
            Err(TryLockError::Error(error))
                if error.raw_os_error().is_some_and(|e| NO_FOLDERS.contains(&e)) => {}
            Err(_) => free(|| folder.as_ref().map_or(Ok(()), File::try_lock), "lock", directory, &ledger)?,
        }
        let mut file = free(|| regular_file::open_lock(&path), "open", directory, &path)?;
        free(|| system::lock(&file), "lock", directory, &path)?;
        file.set_len(0).map_err(io_error("write", &path))?;
        writeln!(file, "{}", std::process::id()).map_err(io_error("write", &path))?;
        Ok(Self { _file: file, _ledger: folder })
    }
}

/// True if a process writes to the run directory.
pub fn is_locked(directory: &Path) -> bool {
    let (file, ledger) = (directory.join("lock"), directory.join("ledger"));
    // Opening a named pipe in the place of the folder would wait forever.
    let folder = if ledger.is_dir() { system::open_folder(&ledger).ok().flatten() } else { None };
    let is_held = |folder: File| matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock));
    folder.is_some_and(is_held) || regular_file::is_lock_held(&file)
}

/// The process that writes to the run directory, as its lock names it.
pub fn writer(directory: &Path) -> String {
    let pid = regular_file::read_to_string(&directory.join("lock")).unwrap_or_default().trim().to_owned();
    if pid.is_empty() { "(unknown: its file lock is gone)".to_owned() } else { pid }
}

/// [`is_locked`] holds a lock for a moment: a process that wants to write tries again for this long.
const RETRY_TIME: Duration = Duration::from_millis(100);

/// Fails if another process holds the lock.
fn free<T>(
    lock: impl Fn() -> Result<T, TryLockError>,
    verb: &'static str,
    directory: &Path,
    path: &Path,
) -> Result<T, RunDirectoryError> {
    let begun = Instant::now();
    let mut locked = lock();
    while matches!(locked, Err(TryLockError::WouldBlock)) && begun.elapsed() < RETRY_TIME {
        thread::sleep(RETRY_TIME / 10);
        locked = lock();
    }
    match locked {
        Ok(locked) => Ok(locked),
        Err(TryLockError::WouldBlock) => {
            Err(RunDirectoryError::InUse { path: directory.to_owned(), pid: writer(directory) })
        }
        Err(TryLockError::Error(error)) => Err(io_error(verb, path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn second_writer_is_refused_until_the_first_ends() {
        let folder = TempDir::new().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        let error = Lock::take(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("in use by process {}", std::process::id())), "{error}");
        assert!(is_locked(folder.path()));
        drop(first);
        assert!(!is_locked(folder.path()));
        Lock::take(folder.path()).unwrap();
    }

    #[test]
    #[cfg(windows)]
    fn lock_file_of_a_process_cannot_be_deleted() {
        let folder = TempDir::new().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        let path = folder.path().join("lock");
        fs::remove_file(&path).unwrap_err();
        drop(first);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn second_writer_is_refused_after_lock_file_deletion() {
        let folder = TempDir::new().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        let refused = |words: &str| {
            let error = Lock::take(folder.path()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(&format!("in use by process {}", std::process::id()));
        assert!(is_locked(folder.path()));
        fs::remove_file(folder.path().join("lock")).unwrap();
        assert!(is_locked(folder.path()));
        refused("in use by process (unknown");
        drop(first);
        assert!(!is_locked(folder.path()));
        Lock::take(folder.path()).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn target_of_link_at_lock_path_is_unchanged() {
        let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (other, lock) = (other.path().join("file"), folder.path().join("lock"));
        fs::write(&other, "of somebody").unwrap();
        std::os::unix::fs::symlink(&other, &lock).unwrap();
        let error = Lock::take(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("cannot open ") && error.contains("lock: it is a link"), "{error}");
        assert_eq!(fs::read(&other).unwrap(), b"of somebody");
        fs::remove_file(&lock).unwrap();
        Lock::take(folder.path()).unwrap();
    }
}

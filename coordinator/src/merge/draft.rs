//! A directory that gets its name when all that belongs in it is there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::MergeError;
use crate::run_directory::lock::Lock;
use crate::run_directory::{RunDirectory, RunDirectoryError, io_error};

/// A directory `OUT.merging` that becomes `OUT`.
#[derive(Debug)]
pub(super) struct Draft {
    out: PathBuf,
    path: PathBuf,
    /// Whether this process is writing there.
    is_begun: bool,
}

impl Draft {
    /// For that directory, which is not there yet, or empty.
    ///
    /// # Errors
    /// It holds something.
    pub fn of(out: &Path) -> Result<Self, MergeError> {
        if RunDirectory::exists(out) {
            return Err(MergeError::Occupied(out.to_owned()));
        }
        match fs::read_dir(out).map(|mut entries| entries.next().is_some()) {
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(true) => return Err(MergeError::NotEmpty(out.to_owned())),
            Err(error) => return Err(io_error("read", out)(error).into()),
        }
        // Without "." and a slash at its end, so that the other name is that of a directory beside it.
        let out: PathBuf = out.components().collect();
        let mut name = out.file_name().ok_or_else(|| MergeError::NotEmpty(out.clone()))?.to_owned();
        name.push(".merging");
        Ok(Self { path: out.with_file_name(name), out, is_begun: false })
    }

    /// An empty directory to write into. What an interrupted merge has left there is removed.
    ///
    /// # Errors
    /// Another process is writing there, or the disk would not do it.
    pub fn begin(&mut self) -> Result<&Path, RunDirectoryError> {
        let path = &self.path;
        if path.exists() {
            let lock = Lock::take(path)?;
            fs::remove_dir_all(path).map_err(io_error("remove", path))?;
            drop(lock);
        }
        fs::create_dir_all(path).map_err(io_error("create", path))?;
        self.is_begun = true;
        Ok(path)
    }

    /// All is there: the directory gets its name.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn finish(&mut self) -> Result<(), RunDirectoryError> {
        let Self { out, path, .. } = self;
        fs::rename(path, &*out).map_err(io_error("create", out))?;
        self.is_begun = false;
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error("sync", folder))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.is_begun {
            fs::remove_dir_all(&self.path).ok();
        }
    }
}

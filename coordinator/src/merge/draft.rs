//! A directory that gets its name when all that belongs in it is there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::MergeError;
use crate::run_directory::{RunDirectory, RunDirectoryError, io_error};

/// A file that says that the directory is a draft, locked by the process that writes there.
const MARK: &str = "merging";

/// A directory `OUT.merging-` and 16 digits that becomes `OUT`. Who is merging to the same name at the same time has another one.
#[derive(Debug)]
pub(super) struct Draft {
    out: PathBuf,
    path: PathBuf,
    /// The locked mark, as long as this process is writing there.
    mark: Option<File>,
}

impl Draft {
    /// For that directory, which is not there yet, or empty.
    ///
    /// # Errors
    /// It holds something, or is a part of another run.
    pub fn of(out: &Path) -> Result<Self, MergeError> {
        if RunDirectory::exists(out) {
            return Err(MergeError::Occupied(out.to_owned()));
        }
        if let Some(run) = RunDirectory::of_file(out) {
            return Err(MergeError::Within { out: out.to_owned(), run: run.to_owned() });
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
        name.push(format!(".merging-{:016x}", rand::random::<u64>()));
        Ok(Self { path: out.with_file_name(name), out, mark: None })
    }

    /// An empty directory to write into. What interrupted merges to the same name have left is removed.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn begin(&mut self) -> Result<&Path, RunDirectoryError> {
        let path = &self.path;
        fs::create_dir_all(path).map_err(io_error("create", path))?;
        let folder = self.folder();
        for entry in fs::read_dir(folder).map_err(io_error("read", folder))?.flatten() {
            if self.is_beside(&entry.path()) && is_left(&entry.path()) {
                fs::remove_dir_all(entry.path()).map_err(io_error("remove", &entry.path()))?;
            }
        }
        // There is no mark that is not locked before the process that made it has ended.
        let (mark, unlocked) = (path.join(MARK), path.join("unlocked"));
        let file = File::create_new(&unlocked).map_err(io_error("create", &unlocked))?;
        file.lock().map_err(io_error("lock", &unlocked))?;
        fs::rename(&unlocked, &mark).map_err(io_error("create", &mark))?;
        self.mark = Some(file);
        Ok(path)
    }

    /// All is there: the directory gets its name.
    ///
    /// # Errors
    /// The disk would not do it, or something has that name by now.
    pub fn finish(&mut self) -> Result<(), MergeError> {
        let Self { out, path, .. } = self;
        fs::rename(path, &*out).map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                MergeError::Occupied(out.clone())
            }
            _ => io_error("create", out)(error).into(),
        })?;
        let mark = out.join(MARK);
        fs::remove_file(&mark).map_err(io_error("remove", &mark))?;
        self.mark = None;
        let folder = self.folder();
        Ok(File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error("sync", folder))?)
    }

    fn folder(&self) -> &Path {
        let folder = self.out.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    /// Whether it has the name of another draft of the same.
    fn is_beside(&self, other: &Path) -> bool {
        let digits = |path: &Path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let (draft, digits) = name.rsplit_once('-')?;
            Some((draft.to_owned(), digits.to_owned()))
        };
        let [Some((draft, own)), Some((other, digits))] = [&self.path, other].map(digits) else {
            return false;
        };
        draft == other && own != digits
    }
}

/// Whether a merge has left that directory which is not there any more.
fn is_left(draft: &Path) -> bool {
    File::open(draft.join(MARK)).is_ok_and(|mark| mark.try_lock().is_ok())
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.mark.is_some() {
            fs::remove_dir_all(&self.path).ok();
        }
    }
}

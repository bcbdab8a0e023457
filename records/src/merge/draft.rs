//! A directory that gets its final name when its content is complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::MergeError;
use crate::regular_file::{folder_of, sync_folder};
use crate::run_directory::{RunDirectory, RunDirectoryError, io_error};
use crate::system::{MOVES_OPEN_FOLDERS, is_mount_point, rename_folder};

/// A file that says that the directory is a draft, locked by the process that writes there.
const MARK: &str = "merging";

/// The name of the mark until it is locked, which takes no time.
const UNLOCKED: &str = "unlocked";
const MARK_TIMEOUT: Duration = Duration::from_mins(1);

/// A directory `OUT.merging-` and 16 digits that becomes `OUT`. A simultaneous merge to the same name uses another such
/// directory.
#[derive(Debug)]
pub(super) struct Draft {
    out: PathBuf,
    path: PathBuf,
    /// Whether this process is writing there,
    is_begun: bool,
    /// and its locked mark.
    mark: Option<File>,
}

impl Draft {
    /// A draft for this directory, which does not exist yet or is empty.
    ///
    /// # Errors
    /// It is not empty, is part of another run, or is a link or a mount point, which a directory cannot replace.
    pub fn of(out: &Path) -> Result<Self, MergeError> {
        if RunDirectory::exists(out)? {
            return Err(MergeError::Occupied(out.to_owned()));
        }
        if let Some(run) = RunDirectory::of_file(out) {
            return Err(MergeError::Within { out: out.to_owned(), run: run.to_owned() });
        }
        // Without "." and a slash at its end, so that the other name is that of a directory beside it.
        let out: PathBuf = out.components().collect();
        if let Some(what) = obstacle(&out) {
            return Err(MergeError::Irreplaceable { out, what });
        }
        match fs::read_dir(&out).map(|mut entries| entries.next().is_some()) {
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(true) => return Err(MergeError::NotEmpty(out)),
            Err(error) => return Err(io_error("read", &out)(error).into()),
        }
        let mut name = out.file_name().ok_or_else(|| MergeError::NotEmpty(out.clone()))?.to_owned();
        name.push(format!(".merging-{:016x}", rand::random::<u64>()));
        Ok(Self { path: out.with_file_name(name), out, is_begun: false, mark: None })
    }

    /// An empty directory for the result. Remains of interrupted merges to the same name are removed.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn begin(&mut self) -> Result<&Path, RunDirectoryError> {
        self.is_begun = true;
        let path = &self.path;
        fs::create_dir_all(path).map_err(io_error("create", path))?;
        let folder = self.folder();
        for entry in fs::read_dir(folder).map_err(io_error("read", folder))?.flatten() {
            if self.is_beside(&entry.path()) {
                remove_if_left(&entry.path()).map_err(io_error("remove", &entry.path()))?;
            }
        }
        // A mark is locked until its process has ended.
        let (mark, unlocked) = (path.join(MARK), path.join(UNLOCKED));
        let file = File::create_new(&unlocked).map_err(io_error("create", &unlocked))?;
        file.lock().map_err(io_error("lock", &unlocked))?;
        fs::rename(&unlocked, &mark).map_err(io_error("create", &mark))?;
        self.mark = Some(file);
        Ok(path)
    }

    /// Gives the complete directory its final name.
    ///
    /// # Errors
    /// The disk would not do it, or something has that name by now.
    pub fn finish(&mut self) -> Result<(), MergeError> {
        let Self { out, path, .. } = self;
        // Not every system renames a directory with an open file. Without a mark, other merges leave a draft with content alone.
        let mark = path.join(MARK);
        fs::remove_file(&mark).map_err(io_error("remove", &mark))?;
        self.mark = None;
        rename_folder(path, out).map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                MergeError::Occupied(out.clone())
            }
            _ => io_error("create", out)(error).into(),
        })?;
        self.is_begun = false;
        let folder = self.folder();
        Ok(sync_folder(folder).map_err(io_error("sync", folder))?)
    }

    fn folder(&self) -> &Path {
        folder_of(&self.out)
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

/// The kind of file at `out` that no directory can replace, if there is one.
fn obstacle(out: &Path) -> Option<&'static str> {
    let metadata = fs::symlink_metadata(out).ok()?;
    if metadata.is_symlink() {
        return Some("a link");
    }
    is_mount_point(out, folder_of(out)).then_some("a mount point")
}

/// Removes the draft of a merge that no longer runs.
fn remove_if_left(draft: &Path) -> io::Result<()> {
    if let Ok(mark) = File::open(draft.join(MARK)) {
        if mark.try_lock().is_err() {
            return Ok(());
        }
        // Not every system removes a directory with an open file.
        let _mark = MOVES_OPEN_FOLDERS.then_some(mark);
        return fs::remove_dir_all(draft);
    }
    // The merge was killed before it made a mark, or is about to make one. A directory with other content is no draft.
    let is_old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > MARK_TIMEOUT);
    if fs::metadata(draft).and_then(|draft| draft.modified()).is_ok_and(is_old) {
        fs::remove_file(draft.join(UNLOCKED)).ok();
        fs::remove_dir(draft).ok();
    }
    Ok(())
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.is_begun {
            fs::remove_dir_all(&self.path).ok();
        }
    }
}

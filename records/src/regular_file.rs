//! Regular files, which are read to their end. A named pipe may never return data, and even opening it waits for its
//! other end. So other files are rejected before they are opened.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use tempfile::{NamedTempFile, PersistError};

use crate::system;

pub use crate::system::{is_named_pipe, persist, set_mode, sync_folder, temporary_file};

/// Opens a file for reading.
///
/// # Errors
/// It is no regular file, or cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// The error about a link in the place of a file to be written.
const LINK_ERROR: &str = "it is a link, through which nothing is written; put the file that it leads to in its place, or delete it if it is the file lock";

/// Opens a file of a run for writing, and creates it if it is missing. Links are refused, because an untrusted run
/// directory could redirect the write to a file of its user.
///
/// # Errors
/// It is a link or no regular file, or cannot be opened.
pub(crate) fn open_own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    system::keep_name(options.write(true).create(true).truncate(false));
    open_own_with(&mut options, path)
}

/// Opens the file lock of a run for writing.
///
/// # Errors
/// As with [`open_own`]; it would block if another process has the lock.
pub(crate) fn open_lock(path: &Path) -> Result<File, TryLockError> {
    let mut options = OpenOptions::new();
    system::deny_writers(options.write(true).create(true).truncate(false));
    open_own_with(&mut options, path).map_err(|error| {
        if system::is_denied(&error) { TryLockError::WouldBlock } else { TryLockError::Error(error) }
    })
}

/// True if a process has the file lock of a run.
pub(crate) fn is_lock_held(path: &Path) -> bool {
    let mut options = OpenOptions::new();
    system::deny_writers(options.read(true));
    match open_with(&options, path) {
        Ok(file) => matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(error) => system::is_denied(&error),
    }
}

fn open_own_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    expect_regular(path)?;
    let opened = system::open_without_link(options, path)?;
    opened.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, LINK_ERROR))
}

fn open_with(options: &OpenOptions, path: &Path) -> io::Result<File> {
    expect_regular(path)?;
    options.open(path)
}

fn expect_regular(path: &Path) -> io::Result<()> {
    // If the file cannot be inspected, the error of opening it is the best message.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(refused());
    }
    Ok(())
}

/// Opens a file for reading, which may also be a device or the shell's pipe for the output of a command.
///
/// # Errors
/// It is a named pipe, or cannot be opened.
pub fn open_or_stream(path: &Path) -> io::Result<File> {
    if is_named_pipe(path) {
        return Err(refused());
    }
    File::open(path)
}

/// All bytes of a file, which may also be a device or the shell's pipe for the output of a command.
///
/// # Errors
/// It is a named pipe, is longer than `longest` bytes, or cannot be read.
pub fn read_or_stream(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    read_to_end(open_or_stream(path)?, longest)
}

fn read_to_end(file: File, longest: u64) -> io::Result<Vec<u8>> {
    // The size of a stream is unknown before it is read.
    if file.metadata()?.len() > longest {
        return Err(too_long(longest));
    }
    let mut bytes = Vec::new();
    file.take(longest.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(too_long(longest));
    }
    Ok(bytes)
}

fn too_long(longest: u64) -> io::Error {
    let wrong = format!("it is longer than {longest} bytes, the most for such a file");
    io::Error::new(ErrorKind::FileTooLarge, wrong)
}

fn refused() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is no regular file")
}

/// All bytes of a file.
///
/// # Errors
/// It is no regular file, is longer than `longest` bytes, or cannot be read.
pub fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    read_to_end(open(path)?, longest)
}

/// A text that is read whole is shorter, in bytes.
const LONGEST_TEXT: u64 = 1 << 24;

/// All text of a file.
///
/// # Errors
/// It is no regular file, cannot be read, is no UTF-8 text, or has 16 MiB or more.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    if open(path)?.take(LONGEST_TEXT).read_to_string(&mut text)? as u64 == LONGEST_TEXT {
        return Err(too_long(LONGEST_TEXT - 1));
    }
    Ok(text)
}

/// Replaces the file, if there is one, by one with these bytes and that mode: completely, or not at all.
///
/// # Errors
/// The disk would not do it; nothing has changed.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    persist(draft(path, bytes, mode)?, path)?;
    sync_folder_of(path)
}

/// Creates a file with these bytes and this mode, if it does not exist: completely or not at all, also beside
/// simultaneous calls.
///
/// # Errors
/// The file exists, or the disk failed.
pub fn create(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if let Err(PersistError { error, file }) = draft(path, bytes, mode)?.persist_noclobber(path) {
        if error.kind() == ErrorKind::AlreadyExists || path.exists() {
            return Err(error);
        }
        // A file system that has no links.
        persist(file, path)?;
    }
    sync_folder_of(path)
}

/// Writes a new file beside this path, with a unique name. It is deleted unless it is renamed.
fn draft(path: &Path, bytes: &[u8], mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".diadem-").suffix(".new");
    let mut draft = temporary_file(&mut builder, mode, folder_of(path))?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// Syncs the folder of this file, so that renames survive a power cut.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

/// Syncs what other processes have written to a file.
///
/// # Errors
/// The file cannot be opened, or its disk failed.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    system::open_to_sync(path)?.sync_all()
}

/// The folder in which a file of that name lies.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a new file with this mode, in place of the remains of an interrupted writer or of a link.
pub(crate) fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    set_mode(options.write(true).create_new(true), mode);
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn folder_that_cannot_be_synced_is_no_error() {
        let proc = Path::new("/proc");
        assert_eq!(File::open(proc).unwrap().sync_all().unwrap_err().kind(), ErrorKind::InvalidInput);
        sync_folder(proc).unwrap();
        sync_folder(&tempfile::tempdir().unwrap().path().join("none")).unwrap_err();
    }

    #[test]
    fn failed_replacement_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::create_dir_all(path.join("in the way")).unwrap();
        assert!(replace(&path, b"text", 0o644).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::remove_dir_all(&path).unwrap();
        replace(&path, b"text", 0o644).unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"text");
        assert_eq!(read(&path, 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    #[cfg(unix)]
    fn replacing_a_link_keeps_its_target_and_sets_mode() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["file", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "of somebody").unwrap();
        symlink(&other, &path).unwrap();
        replace(&path, b"secret", 0o600).unwrap();
        assert_eq!(read_to_string(&other).unwrap(), "of somebody");
        assert_eq!(read(&path, 9).unwrap(), b"secret");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&path).unwrap();
        replace(&path, b"text", 0o644).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    }

    #[test]
    #[cfg(unix)]
    fn run_file_is_not_opened_through_link() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link, dangling, none] =
            ["file", "link", "dangling", "none"].map(|name| folder.path().join(name));
        open_own(&path).unwrap().write_all(b"text").unwrap();
        open_own(&path).unwrap();
        assert_eq!(read(&path, 9).unwrap(), b"text");
        for (link, to) in [(&link, &path), (&dangling, &none)] {
            symlink(to, link).unwrap();
            let refused = open_own(link).unwrap_err().to_string();
            assert!(refused.starts_with("it is a link"), "{refused}");
        }
        assert!(!none.exists());
    }

    #[test]
    fn only_one_simultaneous_creation_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        create(&path, b"first", 0o600).unwrap();
        assert_eq!(create(&path, b"second", 0o600).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(read(&path, 9).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn pipes_in_folders_are_refused_and_streams_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, link, file] = ["pipe", "link", "file"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        symlink(&pipe, &link).unwrap();
        fs::write(&file, "text").unwrap();
        for path in [pipe, link] {
            assert_eq!(read_or_stream(&path, 9).unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(read(&path, 9).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(read_or_stream(&file, 4).unwrap(), b"text");
        assert_eq!(read_or_stream(Path::new("/dev/null"), 4).unwrap(), b"");
        for (longer, longest) in [(&*file, 3), (Path::new("/dev/zero"), 1000)] {
            assert_eq!(read_or_stream(longer, longest).unwrap_err().kind(), ErrorKind::FileTooLarge);
        }
        assert_eq!(read_or_stream(&folder.path().join("none"), 4).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!is_named_pipe(Path::new("/dev/stdin")));
    }
}

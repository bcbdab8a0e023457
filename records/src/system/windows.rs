//! Files on Windows. The access control list of a folder decides who reads the files in it: modes mean nothing here.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::{Builder, NamedTempFile, PersistError};
use winapi_util::Handle;
use winapi_util::file::information;

use super::FileState;

/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link, and not what it leads to.
const OPEN_LINK: u32 = 0x0020_0000;

/// `FILE_SHARE_READ`: others may read an open file, but not write, rename or delete it.
const SHARE_READ: u32 = 1;

/// `FILE_SHARE_WRITE`: others may write an open file.
const SHARE_WRITE: u32 = 2;

/// `ERROR_SHARING_VIOLATION`: another process has the file open and shares it not.
const SHARING_VIOLATION: i32 = 32;

/// A file cannot be replaced while it is open. Its readers read it whole, and close it within this time.
const READER_TIME: Duration = Duration::from_secs(2);

/// The pause between two attempts to replace a file.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// True if a folder can be renamed while a file in it is open.
pub const MOVES_OPEN_FOLDERS: bool = false;

/// Opens a file, but follows no link: none if the path is a link.
///
/// # Errors
/// The file cannot be opened.
pub fn open_without_link(options: &mut OpenOptions, path: &Path) -> io::Result<Option<File>> {
    let file = options.custom_flags(OPEN_LINK).open(path)?;
    Ok(if file.metadata()?.is_symlink() { None } else { Some(file) })
}

/// Changes nothing: files have no mode.
pub fn set_mode(_: &mut OpenOptions, _: u32) {}

/// Creates a temporary file.
///
/// # Errors
/// It cannot be created.
pub fn temporary_file(builder: &mut Builder, _: u32, folder: &Path) -> io::Result<NamedTempFile> {
    builder.tempfile_in(folder)
}

/// Gives a temporary file its final name, in place of the file of that name, when nobody reads that file any more. The new
/// name is on disk then: the file is synced after it is renamed.
///
/// # Errors
/// It cannot be renamed.
pub fn persist(mut draft: NamedTempFile, path: &Path) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        match draft.persist(path) {
            Ok(file) => return file.sync_all(),
            Err(PersistError { error, .. })
                if error.kind() != ErrorKind::PermissionDenied || begun.elapsed() > READER_TIME =>
            {
                return Err(error);
            }
            Err(PersistError { file, .. }) => draft = file,
        }
        thread::sleep(RETRY_PAUSE);
    }
}

/// Opens a file so that it can be synced, which needs the right to write it.
///
/// # Errors
/// It cannot be opened.
pub fn open_to_sync(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// Fails if the folder does not exist. A program cannot sync a folder: NTFS keeps a journal of its names.
///
/// # Errors
/// The folder does not exist.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    folder.metadata().map(drop)
}

/// False: no pipe is in a folder.
pub fn is_named_pipe(_: &Path) -> bool {
    false
}

/// The identity and size of the file at this path.
///
/// # Errors
/// The file does not exist, or cannot be inspected.
pub fn file_state(path: &Path) -> io::Result<FileState> {
    let file = information(Handle::from_path_any(path)?)?;
    Ok(FileState { device: file.volume_serial_number(), inode: file.file_index(), size: file.file_size() })
}

/// False: a mounted disk counts as a link.
pub fn is_mount_point(_: &Path, _: &Path) -> bool {
    false
}

/// None: no folder can be locked.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub fn open_folder(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Has other processes not write, rename or delete the file while it is open.
pub fn deny_writers(options: &mut OpenOptions) {
    options.share_mode(SHARE_READ);
}

/// Has other processes not rename or delete the file while it is open.
pub fn keep_name(options: &mut OpenOptions) {
    options.share_mode(SHARE_READ | SHARE_WRITE);
}

/// True if another process has the file open and denies this access.
pub fn is_denied(error: &io::Error) -> bool {
    error.raw_os_error() == Some(SHARING_VIOLATION)
}

/// Does nothing: who has the file open with [`deny_writers`] has the lock. A lock on its bytes would hide them.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub fn lock(_: &File) -> Result<(), TryLockError> {
    Ok(())
}

/// Gives a folder another name, which may be that of an empty folder.
///
/// # Errors
/// There is a folder with files of that name, or the system does not rename it.
pub fn rename_folder(folder: &Path, name: &Path) -> io::Result<()> {
    // A folder replaces no folder.
    fs::remove_dir(name).ok();
    fs::rename(folder, name)
        .map_err(|error| if name.exists() { ErrorKind::AlreadyExists.into() } else { error })
}

/// True: the access rights of the folder apply.
#[cfg(test)]
pub fn is_private(_: &Path) -> bool {
    true
}

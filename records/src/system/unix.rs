//! Files on Unix.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;
use tempfile::{Builder, NamedTempFile};

use super::FileState;

/// Files that the process has open already go by these names.
const OPEN: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc"];

/// True if a folder can be renamed while a file in it is open.
pub const MOVES_OPEN_FOLDERS: bool = true;

/// Opens a file, but follows no link: none if the path is a link.
///
/// # Errors
/// The file cannot be opened.
pub fn open_without_link(options: &mut OpenOptions, path: &Path) -> io::Result<Option<File>> {
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    match options.open(path) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Sets the mode of a file to be created.
pub fn set_mode(options: &mut OpenOptions, mode: u32) {
    options.mode(mode);
}

/// Creates a temporary file with this mode.
///
/// # Errors
/// It cannot be created.
pub fn temporary_file(builder: &mut Builder, mode: u32, folder: &Path) -> io::Result<NamedTempFile> {
    builder.permissions(Permissions::from_mode(mode)).tempfile_in(folder)
}

/// Gives a temporary file its final name, in place of the file of that name.
///
/// # Errors
/// It cannot be renamed.
pub fn persist(draft: NamedTempFile, path: &Path) -> io::Result<()> {
    draft.persist(path)?;
    Ok(())
}

/// Opens a file so that it can be synced.
///
/// # Errors
/// It cannot be opened.
pub fn open_to_sync(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Puts on disk which files the folder has. Some file systems, such as network mounts, sync no folders and refuse it: then it has to
/// do without.
///
/// # Errors
/// The folder cannot be opened, or its disk failed.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder)?.sync_all();
    synced.or_else(|error| match Errno::from_io_error(&error) {
        Some(Errno::INVAL | Errno::BADF | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        _ => Err(error),
    })
}

/// True if the path is a pipe in a folder, which may have no writer. The shell's pipe for the output of a command is in
/// no folder, and a pipe that the process has open already had a writer.
pub fn is_named_pipe(path: &Path) -> bool {
    if OPEN.iter().any(|open| path.starts_with(open)) {
        return false;
    }
    let is_pipe = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    path.canonicalize().is_ok_and(|named| is_pipe(&named))
}

/// The identity and size of the file at this path.
///
/// # Errors
/// The file does not exist, or cannot be inspected.
pub fn file_state(path: &Path) -> io::Result<FileState> {
    let file = fs::metadata(path)?;
    Ok(FileState { device: file.dev(), inode: file.ino(), size: file.len() })
}

/// True if a disk is mounted at this path in the folder.
pub fn is_mount_point(path: &Path, folder: &Path) -> bool {
    let device = |path| fs::metadata(path).map(|found| found.dev());
    device(path).is_ok_and(|own| device(folder).is_ok_and(|other| other != own))
}

/// Opens a folder so that it can be locked.
///
/// # Errors
/// It cannot be opened.
pub fn open_folder(folder: &Path) -> io::Result<Option<File>> {
    File::open(folder).map(Some)
}

/// Changes nothing: a file that one process has open can be opened by others.
pub fn deny_writers(_: &mut OpenOptions) {}

/// Changes nothing: whoever may write a folder may rename and delete the files in it.
pub fn keep_name(_: &mut OpenOptions) {}

/// False: no file is refused because another process has it open.
pub fn is_denied(_: &io::Error) -> bool {
    false
}

/// Locks an open file.
///
/// # Errors
/// Another process has locked it, or the system does not lock it.
pub fn lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Gives a folder another name, which may be that of an empty folder.
///
/// # Errors
/// The system does not rename it.
pub fn rename_folder(folder: &Path, name: &Path) -> io::Result<()> {
    fs::rename(folder, name)
}

/// True if only its owner can read the file.
#[cfg(test)]
pub fn is_private(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o777 == 0o600)
}

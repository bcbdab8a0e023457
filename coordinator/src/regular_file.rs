//! Files that are read to their end. From a named pipe nothing may ever come, and opening one alone waits until somebody
//! has it open at its other end: what is no regular file is refused before it is opened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Files that the process has open already go by these names.
const OPEN: [&str; 3] = ["/dev/stdin", "/dev/fd", "/proc"];

/// Opens a file for reading.
///
/// # Errors
/// It is no regular file, or cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a file as the options say; where there is none, they say what becomes of that.
///
/// # Errors
/// It is no regular file, or cannot be opened.
pub fn open_with(options: &OpenOptions, path: &Path) -> io::Result<File> {
    // What is wrong with a file of which nothing can be known, opening it says best.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(refused());
    }
    options.open(path)
}

/// Opens for reading what may be a device, too, or what a shell gives for the output of a command.
///
/// # Errors
/// It is a named pipe, or cannot be opened.
pub fn open_or_stream(path: &Path) -> io::Result<File> {
    if is_named_pipe(path) {
        return Err(refused());
    }
    File::open(path)
}

/// All bytes of what may be a device, too, or what a shell gives for the output of a command.
///
/// # Errors
/// It is a named pipe, or cannot be read.
pub fn read_or_stream(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_or_stream(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn refused() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is no regular file")
}

/// All bytes of a file.
///
/// # Errors
/// It is no regular file, or cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All text of a file.
///
/// # Errors
/// It is no regular file, cannot be read, or is no UTF-8 text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Puts a file with these bytes and that mode in place of one that may be there: all of it, or nothing, which takes no room on a
/// disk that is full.
///
/// # Errors
/// The disk would not do it.
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let draft = path.with_added_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let mut file = open_with(&options, &draft)?;
    let written =
        file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        fs::remove_file(&draft).ok();
    }
    written?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Whether it is a pipe in a folder, to which nobody may ever write. The pipe that a shell makes for what a command prints
/// is in none, and what the process has open already had somebody at its other end.
pub fn is_named_pipe(path: &Path) -> bool {
    if OPEN.iter().any(|open| path.starts_with(open)) {
        return false;
    }
    let is_pipe = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    path.canonicalize().is_ok_and(|named| is_pipe(&named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_put_in_place_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::create_dir_all(path.join("in the way")).unwrap();
        assert!(replace(&path, b"text", 0o644).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::remove_dir_all(&path).unwrap();
        replace(&path, b"text", 0o644).unwrap();
        assert_eq!(read(&path).unwrap(), b"text");
    }

    #[test]
    fn pipes_in_folders_are_refused_and_streams_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, link, file] = ["pipe", "link", "file"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        fs::write(&file, "text").unwrap();
        for path in [pipe, link] {
            assert_eq!(read_or_stream(&path).unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(read(&path).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert_eq!(read_or_stream(&file).unwrap(), b"text");
        assert_eq!(read_or_stream(Path::new("/dev/null")).unwrap(), b"");
        assert_eq!(read_or_stream(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!is_named_pipe(Path::new("/dev/stdin")));
    }
}

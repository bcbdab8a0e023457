//! Files that are read to their end. From a named pipe nothing may ever come, and opening one alone waits until somebody
//! has it open at its other end: what is no regular file is refused before it is opened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

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
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    options.open(path)
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

/// Whether it is a pipe in a folder, to which nobody may ever write. The pipe that a shell makes for what a command prints
/// is in none.
pub fn is_named_pipe(path: &Path) -> bool {
    let is_pipe = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    path.canonicalize().is_ok_and(|named| is_pipe(&named))
}

//! The operator's wish that a run should pause: a file in its directory, so that a coordinator that is started again heeds
//! it. It is no part of what is counted: a copy of the run does not have it.

use std::fs;
use std::io;
use std::path::Path;

use crate::regular_file;

/// The file that is there while the run pauses, and says why.
const FILE: &str = "paused";

/// Why the run in this directory pauses; nothing if it does not.
pub fn read(directory: &Path) -> io::Result<Option<String>> {
    let path = directory.join(FILE);
    match regular_file::read(&path) {
        Ok(reason) => Ok(Some(String::from_utf8_lossy(&reason).trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display()))),
    }
}

/// Has the run in this directory pause for that reason, or go on.
pub fn write(directory: &Path, reason: Option<&str>) -> io::Result<()> {
    match reason {
        Some(reason) => regular_file::replace(&directory.join(FILE), format!("{reason}\n").as_bytes(), 0o644),
        None => match fs::remove_file(directory.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

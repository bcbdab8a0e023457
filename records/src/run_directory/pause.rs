//! The operator's wish that a run should pause: a file in its directory, so that a coordinator that is started again heeds
//! it. It is no part of what is counted: a copy of the run does not have it, and a folder that becomes one loses it.

use std::io;
use std::path::Path;

use crate::regular_file;

/// The file that is there while the run pauses, and says why.
const FILE: &str = "paused";

/// No operator says more, in bytes.
const LONGEST: u64 = 1 << 16;

/// Why the run in this directory pauses; nothing if it does not.
///
/// # Errors
/// The file cannot be read.
pub fn read(directory: &Path) -> io::Result<Option<String>> {
    let path = directory.join(FILE);
    match regular_file::read(&path, LONGEST) {
        Ok(reason) => Ok(Some(String::from_utf8_lossy(&reason).trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot read {}: {error}", path.display()))),
    }
}

/// Has the run in this directory pause for that reason, or go on.
///
/// # Errors
/// The file cannot be written or removed.
pub fn write(directory: &Path, reason: Option<&str>) -> io::Result<()> {
    match reason {
        Some(reason) => regular_file::replace(&directory.join(FILE), format!("{reason}\n").as_bytes(), 0o644),
        None => regular_file::remove(&directory.join(FILE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_run_pauses_for_a_reason_that_can_be_one() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        write(folder.path(), Some("too hot")).unwrap();
        assert_eq!(read(folder.path()).unwrap().as_deref(), Some("too hot"));
        // It takes no room, and would take all memory.
        fs::File::create(folder.path().join(FILE)).unwrap().set_len(1 << 36).unwrap();
        let refused = read(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("paused: it is longer than 65536 bytes"), "{refused}");
        write(folder.path(), None).unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
    }
}

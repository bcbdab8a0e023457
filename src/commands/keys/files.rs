//! The files of a folder of keys: private, and written whole or not at all.

use std::fs::{File, TryLockError};
use std::path::Path;

use anyhow::{Context, bail};
use records::regular_file;

use crate::{access, host};

/// The text of a file.
pub fn read(file: &Path) -> anyhow::Result<String> {
    regular_file::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// The text of a file; empty if it does not exist.
pub fn read_if_there(file: &Path) -> anyhow::Result<String> {
    Ok(access::read_if_there(file)?.unwrap_or_default())
}

pub fn make_folder(folder: &Path) -> anyhow::Result<()> {
    host::create_private_folder(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Locks the folder of keys until the value is dropped or the process ends. `None` if the folder does not
/// exist; the command then reports the missing file.
pub fn alone_in(keys: &Path) -> anyhow::Result<Option<File>> {
    if !keys.is_dir() {
        return Ok(None);
    }
    let Ok(folder) = File::open(keys) else { return Ok(None) };
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => {
            bail!("another diadem keys is at work in {}; try again when it has ended", keys.display())
        }
        // On systems that lock no folders, such as NFS and Windows, the user must run one command at a time.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(folder)),
    }
}

/// Writes a file that other users cannot read, atomically.
pub fn write_private(file: &Path, text: &str) -> anyhow::Result<()> {
    regular_file::replace(file, text.as_bytes(), 0o600)
        .with_context(|| format!("cannot write {}", file.display()))
}

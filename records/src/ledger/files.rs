//! The files of a ledger on disk: their numbers, and the sync of their content.

use std::fs;
use std::io;
use std::path::Path;

use super::damage::LedgerError;
use super::names::{file_number, file_path, renamed};
use super::position::LedgerPosition;
use crate::regular_file;

/// Syncs data that a killed process may have left in memory. From here on the data counts as acknowledged, and a
/// checkpoint may refer to it.
pub(crate) fn sync_found(folder: &Path, file: u32) -> Result<(), LedgerError> {
    let path = file_path(folder, file);
    let synced = [(&*path, regular_file::sync(&path)), (folder, regular_file::sync_folder(folder))];
    for (place, synced) in synced {
        match synced {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            synced => synced.map_err(LedgerError::io("sync", place))?,
        }
    }
    Ok(())
}

/// Rejects a ledger whose next file is missing or empty while a file with another name may be this file.
///
/// # Errors
/// That is so.
pub(crate) fn refuse_renamed_end(folder: &Path, end: &LedgerPosition) -> Result<(), LedgerError> {
    let path = file_path(folder, end.files() + 1);
    let is_empty = fs::metadata(&path).map_or(true, |file| file.len() == 0);
    match renamed(&path) {
        Some(_) if is_empty => Err(LedgerError::missing(path, None)),
        _ => Ok(()),
    }
}

/// The numbers of the ledger's files after this file, in ascending order; empty without a ledger. An impossible number
/// stands for the last one, because the files before it are missing anyway.
pub(super) fn files_after(folder: &Path, file: u32) -> Result<Vec<u32>, LedgerError> {
    let names = match fs::read_dir(folder) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(LedgerError::io("read", folder)(error)),
    };
    let mut files = Vec::new();
    for name in names {
        let name = name.map_err(LedgerError::io("read", folder))?.file_name();
        let number = name.to_str().and_then(file_number);
        files.extend(number.filter(|number| *number > file));
    }
    files.sort_unstable();
    Ok(files)
}

//! The names of a ledger's files, and of files that may have been some.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the file of that number.
pub(super) fn file_name(file: u32) -> String {
    format!("{file:06}.jsonl")
}

/// The number in the name of a file, or the last one where no file has so high a number.
pub(super) fn file_number(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".jsonl")?;
    let is_written_so = digits.len() == 6 || digits.len() > 6 && !digits.starts_with('0');
    let is_number = is_written_so && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

/// The file of that number, from 1, in the folder of a ledger.
pub fn file_path(folder: &Path, file: u32) -> PathBuf {
    folder.join(file_name(file))
}

/// The path for data cut off a file: `cut-000001.jsonl-<milliseconds since 1970>.tail` beside it.
pub(crate) fn kept_path(path: &Path, opened: Duration) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("cut-{name}-{}.tail", opened.as_millis()))
}

/// A file that may be this one under another name.
pub(crate) fn renamed(path: &Path) -> Option<PathBuf> {
    let number = file_number(path.file_name()?.to_str()?)?;
    renamed_files(path.parent()?, |other| other == number).into_iter().next()
}

/// Files that may belong to the ledger under other names, for example after log rotation. Six digits of each name are a
/// number for which `is_meant` is true. In ascending order of names.
pub(crate) fn renamed_files(folder: &Path, is_meant: impl Fn(u32) -> bool) -> Vec<PathBuf> {
    let bears_number = |name: &str| {
        let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|digits| digits.len() == 6);
        numbers.filter_map(|digits| digits.parse().ok()).any(&is_meant)
    };
    let is_other = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| {
            bears_number(name) && file_number(name).is_none() && !name.starts_with("cut-")
        })
    };
    let paths = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut others = paths.filter(is_other).collect::<Vec<_>>();
    others.sort_unstable();
    others
}

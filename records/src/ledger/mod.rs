//! The ledger: the append-only file of records, and the only truth about a run.
//!
//! One record a line, in files `000001.jsonl`, `000002.jsonl`, ... Each line is a JSON object that ends with the hash
//! of the line before (`prev`) and a CRC-32 of everything in front of it (`crc`). Records become part of the ledger by
//! the *commit mark* behind them: they are synced to disk first, then the mark is written and synced, then they are
//! acknowledged. So a mark that can be read vouches for all before it, and what follows the last mark was never
//! acknowledged: it is *tail*, cut off at the next start. Anything unreadable before the last mark is damage, and so is
//! behind it what no interrupted write leaves.

mod chain;
mod damage;
mod disk;
mod hash;
mod intake;
mod line;
mod lines;
mod pieces;
mod reader;
mod record;
mod term_record;
mod torn;
mod writer;

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use damage::{Change, Damage, LedgerError, LineError};
pub(crate) use disk::SystemDisk;
pub use disk::{Disk, DiskFile, FileState};
pub use hash::{LineHash, LineHashError};
pub(crate) use intake::{Group, Intake};
pub use pieces::Pieces;
pub use reader::{LineBefore, Tail, line_before, read, read_marks};
pub use record::{
    Admission, CommitMark, Expulsion, MergedRun, Policy, Record, Recount, Replicas, Restoration, Retraction,
    UnitRecord,
};
pub use term_record::TermRecord;
pub use writer::Writer;

/// A place in the ledger: behind a commit mark, or at its very beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerPosition {
    /// The number of the file, from 1.
    pub file: u32,
    /// Bytes of that file before the place.
    pub offset: u64,
    /// Lines of that file before the place.
    pub line: u64,
    /// The hash of the line before the place (before the first line: the run's own hash).
    pub hash: LineHash,
    /// What the mark before the place says.
    pub mark: CommitMark,
}

impl LedgerPosition {
    /// The beginning of the ledger of the run with that hash.
    pub fn beginning(run: LineHash) -> Self {
        Self { file: 1, offset: 0, line: 0, hash: run, mark: CommitMark::default() }
    }

    /// How many files hold what is before the place.
    pub fn files(&self) -> u32 {
        if self.offset == 0 { self.file - 1 } else { self.file }
    }

    /// Where the ledger goes on when the position's file has ended.
    fn in_next_file(&self) -> Self {
        Self { file: self.file + 1, offset: 0, line: 0, ..self.clone() }
    }
}

/// A line of the ledger, for messages: `000001.jsonl:17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The number of the file, from 1.
    pub file: u32,
    /// The number of the line, from 1.
    pub line: u64,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", file_name(self.file), self.line)
    }
}

fn file_name(file: u32) -> String {
    format!("{file:06}.jsonl")
}

/// The number in the name of a file, or the last one where no file has so high a number.
fn file_number(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(".jsonl")?;
    let is_written_so = digits.len() == 6 || digits.len() > 6 && !digits.starts_with('0');
    let is_number = is_written_so && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u32::MAX))
}

/// Puts on disk what a process before this one may have left in memory when it was killed: from here on it is acknowledged, and a
/// checkpoint speaks of it.
pub(crate) fn sync_found(folder: &Path, file: u32) -> Result<(), LedgerError> {
    let path = file_path(folder, file);
    for place in [path.as_path(), folder] {
        match File::open(place).and_then(|found| found.sync_all()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            synced => synced.map_err(LedgerError::io("sync", place))?,
        }
    }
    Ok(())
}

/// The file of that number, from 1, in the folder of a ledger.
pub fn file_path(folder: &Path, file: u32) -> PathBuf {
    folder.join(file_name(file))
}

/// Where what is cut off a file is kept: `cut-000001.jsonl-<milliseconds since 1970>.tail` beside it.
pub(crate) fn kept_path(path: &Path, opened: Duration) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("cut-{name}-{}.tail", opened.as_millis()))
}

/// Refuses a ledger of which the file that would go on at its end is missing or empty while one lies there that may be
/// it under another name.
///
/// # Errors
/// That is so.
pub(crate) fn refuse_renamed_end(folder: &Path, end: &LedgerPosition) -> Result<(), LedgerError> {
    let path = file_path(folder, end.files() + 1);
    let is_empty = fs::metadata(&path).map_or(true, |file| file.len() == 0);
    match renamed(&path) {
        Some(_) if is_empty => Err(LedgerError::missing(path, true)),
        _ => Ok(()),
    }
}

/// A file that may be this one under another name.
pub(crate) fn renamed(path: &Path) -> Option<PathBuf> {
    let number = file_number(path.file_name()?.to_str()?)?;
    renamed_files(path.parent()?, |other| other == number).into_iter().next()
}

/// Files that may be some of the ledger's under other names, as who rotates logs leaves them: six digits of each name are a
/// number that `is_meant`. Ascending by name.
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

/// The numbers of the ledger's files after that one, ascending; nothing where there is no ledger. A number that no file can
/// have stands for the last one: the files before it are missing all the same.
fn files_after(folder: &Path, file: u32) -> Result<Vec<u32>, LedgerError> {
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

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

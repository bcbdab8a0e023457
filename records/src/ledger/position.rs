//! Places in a ledger.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::hash::LineHash;
use super::names::file_name;
use super::record::CommitMark;

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
    /// The mark before the position.
    pub mark: CommitMark,
}

impl LedgerPosition {
    /// The beginning of the ledger of the run with that hash.
    pub fn beginning(run: LineHash) -> Self {
        Self { file: 1, offset: 0, line: 0, hash: run, mark: CommitMark::default() }
    }

    /// The number of files with data before the position.
    pub fn files(&self) -> u32 {
        if self.offset == 0 { self.file - 1 } else { self.file }
    }

    /// The beginning of the file after the position's file.
    pub(super) fn in_next_file(&self) -> Self {
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

/// The data behind the last commit mark: nothing, or unacknowledged records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The position behind the last mark, where writing continues.
    pub end: LedgerPosition,
    /// Bytes behind it.
    pub bytes: u64,
}

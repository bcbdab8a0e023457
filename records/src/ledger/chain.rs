//! The chain of ledger lines: each line is readable and has the hash of the line before it, and each mark counts the
//! records before it.

use super::damage::{Damage, LineError};
use super::hash::LineHash;
use super::line::decode;
use super::position::{LedgerPosition, Location};
use super::record::Record;

/// How far the lines have come.
#[derive(Debug)]
pub(super) struct Chain {
    /// Behind the last line; its mark is that of the last mark.
    pub at: LedgerPosition,
    /// The records since the last mark.
    pub group: Vec<(Location, Record)>,
}

impl Chain {
    /// A chain that continues behind a mark.
    pub fn new(at: LedgerPosition) -> Self {
        Self { at, group: Vec::new() }
    }

    /// The place of the next line.
    pub fn location(&self) -> Location {
        Location { file: self.at.file, line: self.at.line + 1 }
    }

    /// Takes in the next line, which has that length with its newline. Says whether it is a mark: then the group is whole.
    ///
    /// # Errors
    /// It cannot follow; nothing has changed.
    pub fn take(&mut self, line: Result<&[u8], LineError>, length: u64) -> Result<bool, Damage> {
        let location = self.location();
        let ((record, prev), hash) = line.and_then(|bytes| Ok((decode(bytes)?, LineHash::of(bytes))))?;
        if prev != self.at.hash {
            let is_first = self.at.file == 1 && self.at.line == 0;
            return Err(if is_first { Damage::OtherRun } else { Damage::Unchained });
        }
        let is_mark = if let Record::Mark(mark) = record {
            if mark.records != self.at.mark.records + self.group.len() as u64 {
                return Err(Damage::Miscounted);
            }
            self.at.mark = mark;
            true
        } else {
            self.group.push((location, record));
            false
        };
        self.at.hash = hash;
        self.at.line += 1;
        self.at.offset += length;
        Ok(is_mark)
    }

    /// Continues at the beginning of the next file.
    pub fn next_file(&mut self) {
        self.at = self.at.in_next_file();
    }
}

//! Takes in a ledger as it comes from elsewhere, in pieces of any length, and makes whole groups of it.

use domain::LedgerPiece;

use super::chain::Chain;
use super::damage::{Damage, LineError};
use super::lines::LONGEST_LINE;
use super::{LedgerPosition, Location, Record};

/// A group with its mark, as bytes and as records.
#[derive(Debug)]
pub(crate) struct Group {
    /// Its beginning: behind the last mark, or at the beginning of a file.
    pub at: LedgerPosition,
    /// Its records.
    pub records: Vec<(Location, Record)>,
    /// Their lines.
    pub lines: Vec<u8>,
    /// The line of its mark.
    pub mark: Vec<u8>,
    /// Behind the mark.
    pub end: LedgerPosition,
}

/// The groups of a ledger, as they arrive.
#[derive(Debug)]
pub(crate) struct Intake {
    chain: Chain,
    /// The beginning of the group.
    begin: LedgerPosition,
    /// Its lines.
    lines: Vec<u8>,
    /// The line that has not come to its end.
    line: Vec<u8>,
}

impl Intake {
    /// An intake that continues behind a mark.
    pub fn new(at: LedgerPosition) -> Self {
        Self { begin: at.clone(), chain: Chain::new(at), lines: Vec::new(), line: Vec::new() }
    }

    /// Whether all that has come belongs to whole groups.
    pub fn is_between_groups(&self) -> bool {
        self.lines.is_empty() && self.line.is_empty()
    }

    /// Takes in a piece, and gives the groups that are whole with it.
    ///
    /// # Errors
    /// The data does not follow, or cannot occur in a ledger.
    pub fn take(&mut self, piece: &LedgerPiece) -> Result<Vec<Group>, (Location, Damage)> {
        if piece.file == self.chain.at.file + 1 && piece.offset == 0 && self.is_between_groups() {
            self.chain.next_file();
            self.begin = self.chain.at.clone();
        }
        let expected = (self.chain.at.file, self.chain.at.offset + self.line.len() as u64);
        if (piece.file, piece.offset) != expected {
            return Err((self.chain.location(), Damage::Unchained));
        }
        let mut groups = Vec::new();
        for part in piece.bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() > LONGEST_LINE + 1 {
                return Err((self.chain.location(), LineError::TooLong.into()));
            }
            if part.ends_with(b"\n") {
                groups.extend(self.take_line()?);
            }
        }
        Ok(groups)
    }

    /// The line has come to its end.
    fn take_line(&mut self) -> Result<Option<Group>, (Location, Damage)> {
        let location = self.chain.location();
        let line = std::mem::take(&mut self.line);
        let is_mark = self.chain.take(Ok(&line[..line.len() - 1]), line.len() as u64);
        if !is_mark.map_err(|what| (location, what))? {
            self.lines.extend(line);
            return Ok(None);
        }
        let end = self.chain.at.clone();
        Ok(Some(Group {
            at: std::mem::replace(&mut self.begin, end.clone()),
            records: std::mem::take(&mut self.chain.group),
            lines: std::mem::take(&mut self.lines),
            mark: line,
            end,
        }))
    }
}

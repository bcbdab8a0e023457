//! Compares the table of the ledger with a file, line by line, so that neither is held in memory.

use std::io::{self, BufRead, Read, Write};

use super::error::ExportError;

/// Maximum length of a line in a table. A longer line in the file differs already.
const LONGEST_LINE: u64 = 1 << 12;

/// A file that is compared.
pub struct Comparison<'a> {
    table: &'a mut dyn BufRead,
    /// The file's next line.
    next: Vec<u8>,
    /// Lines that agreed.
    line: u64,
    /// The ledger's line so far.
    expected: Vec<u8>,
    /// Why the file cannot be read on.
    unreadable: Option<io::Error>,
}

impl<'a> Comparison<'a> {
    /// A comparison with that file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn new(table: &'a mut dyn BufRead) -> Result<Self, ExportError> {
        let mut file = Self { table, next: Vec::new(), line: 0, expected: Vec::new(), unreadable: None };
        file.read_next()?;
        Ok(file)
    }

    /// The file's first line, if nothing has been compared yet.
    pub fn first_line(&self) -> &str {
        std::str::from_utf8(&self.next).unwrap_or_default().trim_end()
    }

    /// All has been compared: nothing must follow in the file.
    ///
    /// # Errors
    /// Something follows.
    pub fn end(self) -> Result<(), ExportError> {
        if self.next.is_empty() { Ok(()) } else { Err(self.failure()) }
    }

    /// Why a write was refused.
    pub fn failure(self) -> ExportError {
        if let Some(error) = self.unreadable {
            return error.into();
        }
        let line = self.line + 1;
        let seen = self.expected.trim_ascii_end();
        if !seen.is_empty() && self.next.trim_ascii_end() == seen {
            return ExportError::LineEnd(line);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().chars().take(200).collect();
        ExportError::Differs { line, found: text(&self.next), expected: text(&self.expected) }
    }

    fn read_next(&mut self) -> io::Result<()> {
        self.next.clear();
        let mut line = Read::take(&mut *self.table, LONGEST_LINE);
        line.read_until(b'\n', &mut self.next).map(|_| ())
    }
}

impl Write for Comparison<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.expected.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                break;
            }
            if self.expected != self.next {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.line += 1;
            self.expected.clear();
            if let Err(error) = self.read_next() {
                self.unreadable = Some(error);
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

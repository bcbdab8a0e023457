//! The lines about one unit, found quickly.
//!
//! Only the beginning of each line is looked at, so a ledger of gigabytes takes seconds. Nothing is verified but the
//! lines that are returned, each by its CRC: other commands read the whole ledger and find damage.

use std::path::Path;

use queens::UnitId;

use super::damage::{LedgerError, LineError};
use super::line::decode;
use super::lines::LineReader;
use super::names::file_path;
use super::record::Record;

/// The kinds of records about a unit.
const KINDS: [&str; 5] = ["count", "check", "conflict", "retract", "restore"];

const MARK: &[u8] = b"{\"kind\":\"mark\"";

/// Maximum number of lines that are returned.
const MOST_LINES: usize = 1000;

/// The committed lines of the ledger in `folder` about this unit, oldest first; at most 1000. A line that cannot be read
/// is left out.
///
/// # Errors
/// The ledger cannot be read.
pub fn lines_of_unit(folder: &Path, unit: UnitId) -> Result<Vec<String>, LedgerError> {
    let beginnings = KINDS.map(|kind| format!("{{\"kind\":\"{kind}\",\"unit\":{unit},"));
    let (mut found, mut uncommitted) = (Vec::new(), Vec::new());
    for file in 1.. {
        let path = file_path(folder, file);
        let Some(mut lines) = LineReader::open(&path, 0)? else { break };
        while let Some(line) = lines.next()? {
            let Ok(line) = line else { continue };
            if line.starts_with(MARK) {
                found.append(&mut uncommitted);
            } else if beginnings.iter().any(|beginning| line.starts_with(beginning.as_bytes()))
                && let Ok(line) = std::str::from_utf8(line)
            {
                uncommitted.push(line.to_owned());
            }
        }
        found.truncate(MOST_LINES);
    }
    Ok(found)
}

impl Record {
    /// The record in a line of the ledger.
    ///
    /// # Errors
    /// It is no such line, or was changed.
    pub fn of_line(line: &str) -> Result<Self, LineError> {
        decode(line.as_bytes()).map(|(record, _)| record)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::store::Store;
    use crate::testing::known_run;

    #[test]
    fn lines_of_one_unit_are_found_up_to_last_mark() {
        let folder = TempDir::new().unwrap();
        let (mut store, ..) = Store::open(known_run::options(folder.path())).unwrap();
        let check = |unit| Record::Check(known_run::unit_record(unit, 0, "other"));
        let records = [known_run::record(7), known_run::record(17), known_run::record(70), check(7)];
        store.commit(&records, Duration::ZERO, 1).unwrap();
        drop(store);
        let ledger = folder.path().join("ledger");
        let found = |unit| -> Vec<Record> {
            let lines = lines_of_unit(&ledger, UnitId(unit)).unwrap();
            lines.iter().map(|line| Record::of_line(line).unwrap()).collect()
        };
        assert_eq!(found(7), [records[0].clone(), records[3].clone()]);
        assert_eq!(found(17), [records[1].clone()]);
        assert_eq!(found(1), []);
        // What no mark follows was never acknowledged.
        let file = file_path(&ledger, 1);
        let text = fs::read_to_string(&file).unwrap();
        let (before, _) = text.trim_end().rsplit_once('\n').unwrap();
        fs::write(&file, format!("{before}\n")).unwrap();
        assert_eq!(found(7), []);
    }
}

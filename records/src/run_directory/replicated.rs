//! How many followers are known to have the whole ledger: a file in the run directory.
//!
//! The answer waits until as many followers as are needed have all records, and they leave when they have heard of it. A
//! coordinator that is killed between its answer and its end, and started again, would wait for them for ever, though all
//! that it has is where it must be. So that is noted before the answer is given, of the ledger as it ends then: where a
//! record has come since, or is gone, the note says nothing.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ledger::LineHash;
use crate::regular_file;

const NAME: &str = "replicated.json";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The hash of the last line that they have.
    end: LineHash,
    /// How many followers have it.
    followers: u32,
}

/// How many followers are known to have the ledger that ends with that line. What a crash has left there, or a hand, says
/// that none is.
pub fn followers(directory: &Path, end: LineHash) -> u32 {
    let text = regular_file::read_to_string(&directory.join(NAME)).ok();
    let note = text.and_then(|text| serde_json::from_str::<Note>(&text).ok());
    note.filter(|note| note.end == end).map_or(0, |note| note.followers)
}

/// Notes that so many followers have the ledger that ends with that line.
///
/// # Errors
/// The disk would not do it.
pub fn note(directory: &Path, end: LineHash, followers: u32) -> io::Result<()> {
    let text = serde_json::to_string(&Note { end, followers }).expect("it is plain data") + "\n";
    regular_file::replace(&directory.join(NAME), text.as_bytes(), 0o644)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_note_holds_for_the_ledger_that_it_was_made_of_and_what_cannot_be_read_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let [end, another] = [b"end", b"one"].map(|line| LineHash::of(line));
        assert_eq!(followers(folder.path(), end), 0);
        note(folder.path(), end, 2).unwrap();
        assert_eq!((followers(folder.path(), end), followers(folder.path(), another)), (2, 0));
        for damaged in ["", "{}", "2", "\u{0}\u{0}"] {
            fs::write(folder.path().join(NAME), damaged).unwrap();
            assert_eq!(followers(folder.path(), end), 0, "{damaged:?}");
        }
    }
}

//! What a follower knows besides its copy: the file `follower.json` in the run directory.
//!
//! It stays when the copy is started as the coordinator. Then the run's next term leaves room behind the last one that
//! the follower has heard of: however often the former coordinator is started again from its own folder, its terms are
//! lower.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::run_directory::noted_term::{ANNOUNCED, SUPERSEDING};
use crate::run_directory::replace_file;

const NAME: &str = "follower.json";

/// A takeover raises the term by so much; a start of the same coordinator raises it by 1, every few seconds where a service
/// manager starts it again and again.
const TAKEOVER: u64 = 1_000_000;

/// Who follows, and the highest term that it has met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FollowerFile {
    /// Tells this copy from others, wherever it calls from.
    pub follower: u64,
    /// The highest term that it has met.
    pub term: u64,
    /// Who opened that.
    pub coordinator: String,
}

impl FollowerFile {
    /// The one in that run directory, if it is a follower's, or was.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(directory: &Path) -> io::Result<Option<Self>> {
        match fs::read_to_string(directory.join(NAME)) {
            Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Puts it on disk, in place of the one before.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self).expect("it is plain data") + "\n";
        replace_file(directory, NAME, text.as_bytes(), 0o644)
    }
}

/// The term that whoever opens the run for writing begins, where that is the last one on record. It leaves behind whom a copy
/// has followed; and to `take_over` is to leave behind all of whom that directory knows, those that superseded it as well.
///
/// # Errors
/// What a follower has left there, or who has served the run, cannot be read.
pub fn next_term(directory: &Path, last: u64, take_over: bool) -> io::Result<u64> {
    let followed = FollowerFile::read(directory)?.map(|file| file.term);
    let last = last.max(ANNOUNCED.read(directory)?);
    let behind = if take_over {
        Some(last.max(SUPERSEDING.read(directory)?).max(followed.unwrap_or(0)))
    } else {
        followed
    };
    let taken_over = behind.map_or(0, |term| term.saturating_add(TAKEOVER));
    Ok(taken_over.max(last.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_takeover_leaves_room_for_the_terms_of_whoever_was_there_before() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(next_term(folder.path(), 0, false).unwrap(), 1);
        assert_eq!(next_term(folder.path(), 3, false).unwrap(), 4);
        let file = FollowerFile { follower: 7, term: 4, coordinator: "0".repeat(32) };
        file.write(folder.path()).unwrap();
        assert_eq!(FollowerFile::read(folder.path()).unwrap(), Some(file));
        assert_eq!(next_term(folder.path(), 3, false).unwrap(), 1_000_004);
        assert_eq!(
            next_term(folder.path(), 1_000_004, false).unwrap(),
            1_000_005,
            "the copy is the coordinator's by then"
        );
        ANNOUNCED.note(folder.path(), 1_000_007).unwrap();
        assert_eq!(
            next_term(folder.path(), 3, false).unwrap(),
            1_000_008,
            "others have met it, though it has no record"
        );
        fs::write(folder.path().join(NAME), "{}").unwrap();
        assert!(next_term(folder.path(), 3, false).is_err());
    }

    #[test]
    fn a_term_that_has_superseded_is_left_behind_only_by_who_says_so() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            next_term(folder.path(), 3, true).unwrap(),
            1_000_003,
            "others may have met more than is noted"
        );
        for number in [5_000_000, 4_000_000] {
            SUPERSEDING.note(folder.path(), number).unwrap();
            assert_eq!(next_term(folder.path(), 3, false).unwrap(), 4);
            assert_eq!(next_term(folder.path(), 3, true).unwrap(), 6_000_000);
        }
        assert_eq!(next_term(folder.path(), 6_000_000, false).unwrap(), 6_000_001);
    }
}

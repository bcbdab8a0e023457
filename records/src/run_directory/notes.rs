//! `notes.json`: facts about a run directory that the ledger cannot contain.
//!
//! The process that holds the run's lock reads the file once, keeps the notes in memory, and is the only one to replace the
//! file. A copy of the run has notes of its own: it starts without.

use std::io;
use std::path::{Path, PathBuf};

use domain::Term;
use serde::{Deserialize, Serialize};

use crate::regular_file;

/// The file in the run directory.
pub(crate) const NAME: &str = "notes.json";

/// The content of the file. Missing fields have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notes {
    /// The last term that a coordinator of this directory announced to workers and followers. A coordinator that is killed
    /// before its first record has announced a term that no ledger has. The next coordinator must take a higher term, because
    /// two coordinators of one term stop each other.
    pub announced: u64,
    /// The coordinator that serves the run instead of this directory: the one that is copied here, or one that stopped the
    /// coordinator of this directory. While it is noted, only `--take-over` opens the run for writing.
    pub other: Option<HigherTerm>,
    /// Why the operator paused the run, while it is paused.
    pub paused: Option<String>,
    /// The number of the follower that copies the run to this directory: it tells copies apart, wherever they call from.
    pub follower: Option<u64>,
}

/// Another coordinator of the run, with the highest term that was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HigherTerm {
    /// Its term.
    pub term: u64,
    /// Its name: 32 hexadecimal digits.
    pub coordinator: String,
}

impl From<&Term> for HigherTerm {
    fn from(term: &Term) -> Self {
        Self { term: term.number, coordinator: term.coordinator.to_string() }
    }
}

impl Notes {
    /// The highest term in the notes; 0 is none.
    pub fn highest_term(&self) -> u64 {
        self.announced.max(self.other.as_ref().map_or(0, |other| other.term))
    }
}

/// The notes of a run directory whose lock this process holds.
#[derive(Debug)]
pub(crate) struct NotesFile {
    path: PathBuf,
    notes: Notes,
}

impl NotesFile {
    /// Reads the notes of this run directory. If the file is missing, all notes have their defaults.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has a term that no coordinator begins.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let path = directory.join(NAME);
        let notes: Notes = match regular_file::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Notes::default(),
            Err(error) => return Err(error),
        };
        let term = notes.highest_term();
        if term >= Term::END {
            return Err(io::Error::other(format!("no coordinator begins the term {term}")));
        }
        Ok(Self { path, notes })
    }

    /// The notes.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// Changes the notes, and replaces the file if they differ then.
    ///
    /// # Errors
    /// The file cannot be written; the notes stay as they were.
    pub fn change(&mut self, change: impl FnOnce(&mut Notes)) -> io::Result<()> {
        let mut notes = self.notes.clone();
        change(&mut notes);
        if notes != self.notes {
            let text = serde_json::to_string_pretty(&notes).expect("notes are plain data") + "\n";
            regular_file::replace(&self.path, text.as_bytes(), 0o644)?;
            self.notes = notes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(directory: &Path) -> Result<Notes, String> {
        NotesFile::read(directory).map(|file| file.notes).map_err(|error| error.to_string())
    }

    #[test]
    fn changed_notes_are_reread_and_missing_are_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let mut file = NotesFile::read(folder.path()).unwrap();
        assert_eq!(file.notes, Notes::default());
        file.change(|notes| notes.paused = None).unwrap();
        assert!(!path.exists(), "nothing has changed");
        let noted = Notes {
            announced: 1,
            other: Some(HigherTerm { term: 3, coordinator: "0".repeat(32) }),
            paused: Some("too \"hot\"\n".to_owned()),
            follower: Some(u64::MAX),
        };
        file.change(|notes| *notes = noted.clone()).unwrap();
        assert_eq!(read(folder.path()), Ok(noted.clone()));
        fs::write(&path, r#"{"announced":7}"#).unwrap();
        assert_eq!(read(folder.path()), Ok(Notes { announced: 7, ..Notes::default() }));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        file.change(|notes| notes.paused = None).unwrap_err();
        assert_eq!(file.notes, noted, "the disk would not take the change");
    }

    #[test]
    fn damaged_notes_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        for damaged in ["", "7", "\u{0}\u{0}", r#"{"announced":-1}"#, r#"{"later":1}"#, r#"{"announced":1"#] {
            fs::write(&path, damaged).unwrap();
            read(folder.path()).expect_err(damaged);
        }
        let term = r#"{"other":{"term":9223372036854775808,"coordinator":"0"}}"#;
        fs::write(&path, term).unwrap();
        assert!(read(folder.path()).unwrap_err().contains("the term 9223372036854775808"));
        // The file is sparse: its content would take all memory.
        fs::File::create(&path).unwrap().set_len(1 << 36).unwrap();
        assert!(read(folder.path()).unwrap_err().contains("longer than"));
    }
}

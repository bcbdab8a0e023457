//! `notes.json`: what a run directory remembers that no ledger can tell.
//!
//! The process that holds the run's lock reads the file once, keeps the notes in memory, and is the only one to replace the
//! file. A copy of the run has notes of its own: it starts without.

use std::io;
use std::path::{Path, PathBuf};

use domain::Term;
use serde::{Deserialize, Serialize};

use crate::ledger::LineHash;
use crate::regular_file;

/// The file in the run directory.
pub(crate) const NAME: &str = "notes.json";

/// The content of the file. What is missing has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notes {
    /// The last term that a coordinator of this directory announced to workers and followers. A coordinator that is killed
    /// before its first record has announced a term that no ledger has; the next one must take a higher term, or workers
    /// that have met the first one reject it.
    pub announced: u64,
    /// The highest term of another coordinator that has superseded a coordinator of this directory.
    pub superseded_by: u64,
    /// Why the operator paused the run, while it is paused.
    pub paused: Option<String>,
    /// Whether workers may be waiting for the answer: from the first worker that registers until a coordinator that has told
    /// all of them ends.
    pub awaited: bool,
    /// Which followers have the whole ledger. Without this a coordinator that was killed after its answer would wait again
    /// for followers that have left with a complete copy.
    pub replicated: Option<Replicated>,
    /// What a follower knows besides its copy. It stays when the copy becomes the coordinator: the run's next term is far
    /// above the last one that the follower has met.
    pub following: Option<Following>,
}

/// A ledger that followers have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replicated {
    /// The hash of its last line.
    pub end: LineHash,
    /// How many followers have it.
    pub followers: u32,
}

/// A follower, and the highest term that it has met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Following {
    /// Tells this copy from others, wherever it calls from.
    pub follower: u64,
    /// The highest term that it has met.
    pub term: u64,
    /// The coordinator that began this term.
    pub coordinator: String,
}

impl Notes {
    /// The terms that are noted; 0 is none.
    fn terms(&self) -> [u64; 3] {
        [self.announced, self.superseded_by, self.following.as_ref().map_or(0, |following| following.term)]
    }

    /// How many followers are known to have the ledger that ends with that line: of another ledger the note says nothing.
    pub(crate) fn followers_with(&self, end: LineHash) -> u32 {
        self.replicated.as_ref().filter(|replicated| replicated.end == end).map_or(0, |noted| noted.followers)
    }
}

/// The notes of a run directory whose lock this process holds.
#[derive(Debug)]
pub(crate) struct NotesFile {
    path: PathBuf,
    notes: Notes,
}

impl NotesFile {
    /// Reads the notes in that run directory. Where there is no such file, all notes have their defaults.
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
        match notes.terms().into_iter().find(|term| *term >= Term::END) {
            Some(term) => Err(io::Error::other(format!("no coordinator begins the term {term}"))),
            None => Ok(Self { path, notes }),
        }
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
    fn changed_notes_are_read_again_and_missing_ones_are_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let mut file = NotesFile::read(folder.path()).unwrap();
        assert_eq!(file.notes, Notes::default());
        file.change(|notes| notes.paused = None).unwrap();
        assert!(!path.exists(), "nothing has changed");
        let replicated = Some(Replicated { end: LineHash::of(b"end"), followers: 2 });
        let following = Some(Following { follower: u64::MAX, term: 3, coordinator: "0".repeat(32) });
        let noted = Notes {
            announced: 1,
            superseded_by: 2,
            paused: Some("too \"hot\"\n".to_owned()),
            awaited: true,
            replicated,
            following,
        };
        file.change(|notes| *notes = noted.clone()).unwrap();
        assert_eq!(read(folder.path()), Ok(noted.clone()));
        fs::write(&path, r#"{"announced":7}"#).unwrap();
        assert_eq!(read(folder.path()), Ok(Notes { announced: 7, ..Notes::default() }));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        file.change(|notes| notes.awaited = false).unwrap_err();
        assert_eq!(file.notes, noted, "the disk would not take the change");
    }

    #[test]
    fn followers_count_only_for_the_ledger_that_was_noted() {
        let [end, other] = [b"end", b"one"].map(|line| LineHash::of(line));
        let notes = Notes { replicated: Some(Replicated { end, followers: 2 }), ..Notes::default() };
        assert_eq!((notes.followers_with(end), notes.followers_with(other)), (2, 0));
        assert_eq!(Notes::default().followers_with(end), 0);
    }

    #[test]
    fn damaged_notes_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        for damaged in ["", "7", "\u{0}\u{0}", r#"{"announced":-1}"#, r#"{"later":1}"#, r#"{"announced":1"#] {
            fs::write(&path, damaged).unwrap();
            read(folder.path()).expect_err(damaged);
        }
        let term = r#"{"superseded_by":9223372036854775808}"#;
        fs::write(&path, term).unwrap();
        assert!(read(folder.path()).unwrap_err().contains("the term 9223372036854775808"));
        // The file is sparse: its content would take all memory.
        fs::File::create(&path).unwrap().set_len(1 << 36).unwrap();
        assert!(read(folder.path()).unwrap_err().contains("longer than"));
    }
}

//! Whether workers may be waiting for the run's answer: a file in its directory, from the first one that a coordinator takes in until
//! a coordinator ends that has told all of them. One that has the answer as soon as it is started, since the one before was killed or
//! had none, gives them the time to call. It is a hint, and no part of what is counted: a copy of the run does not have it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::regular_file;

const FILE: &str = "awaited";

/// What is noted of that in a run directory.
#[derive(Debug)]
pub(crate) struct Awaited {
    path: PathBuf,
    was_noted: bool,
    is_noted: bool,
    has_come: bool,
}

impl Awaited {
    /// What is noted in the directory of a run in which all was counted, or not: as long as there is something to count workers
    /// have the time to come.
    pub fn of(directory: &Path, is_counted: bool) -> Self {
        let path = directory.join(FILE);
        let is_noted = path.exists();
        Self { path, was_noted: is_noted && is_counted, is_noted, has_come: false }
    }

    /// Whether it was noted by a process before this one, and this one found nothing left to count.
    pub fn was_noted(&self) -> bool {
        self.was_noted
    }

    /// Notes that there is such a worker, who has come. Where that fails he may not be waited for: a disk that takes nothing is told elsewhere.
    pub fn note(&mut self) {
        self.has_come = true;
        if !std::mem::replace(&mut self.is_noted, true) {
            regular_file::replace(&self.path, b"\n", 0o644).ok();
        }
    }

    /// Notes that all who have come to this process are told, if somebody has. Where that fails the next one waits for them in vain.
    pub fn forget(&mut self) {
        if self.has_come && std::mem::take(&mut self.is_noted) {
            fs::remove_file(&self.path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_known_to_the_next_process_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Awaited::of(folder.path(), false);
        first.note();
        assert!(!first.was_noted());
        // Nobody came.
        Awaited::of(folder.path(), true).forget();
        assert!(!Awaited::of(folder.path(), false).was_noted(), "there is something left to count");
        let mut second = Awaited::of(folder.path(), true);
        assert!(second.was_noted());
        second.note();
        second.forget();
        assert!(!Awaited::of(folder.path(), true).was_noted());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

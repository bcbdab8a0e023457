//! Workers that wait for the answer of a coordinator that is gone, since that was killed or had none: the next one, which may have it as
//! soon as it is started, gives them the time to call before it ends.

use std::path::PathBuf;
use std::time::Duration;

use records::run_directory::awaited::{forget, is_noted, note};
use records::store::Store;

use super::Keeper;
use super::ending::{Ending, Stage};

/// Whoever waits for a coordinator has registered within this time. Between two calls he pauses for up to 3.75 seconds, and one that
/// nobody answers takes up to seven, or ten over TLS; he may be in the midst of one, at another address, as the coordinator begins.
const CALLS_WITHIN: Duration = Duration::from_secs(20);

/// Who may be waiting for the answer of a run that is served, as far as is noted in its directory.
#[derive(Debug)]
pub(super) struct Awaited {
    directory: PathBuf,
    noted: Noted,
    /// Those of a process before this one have come by then.
    until: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noted {
    /// There is no note.
    Nobody,
    /// The note is of a process before this one, and nobody has come to this one.
    Former,
    /// Somebody has come to this process.
    Own,
}

impl Awaited {
    /// What is noted of a run in which all was counted, or not: as long as there is something to count workers have the time to come.
    pub fn of(store: &Store, is_counted: bool) -> Self {
        let directory = store.directory().path().to_owned();
        let noted = if is_noted(&directory) { Noted::Former } else { Noted::Nobody };
        let until = if noted == Noted::Former && is_counted { CALLS_WITHIN } else { Duration::ZERO };
        Self { directory, noted, until }
    }

    /// A worker has come.
    fn come(&mut self) {
        if std::mem::replace(&mut self.noted, Noted::Own) == Noted::Nobody {
            note(&self.directory);
        }
    }

    /// Whether workers of a process before this one may not have called yet.
    fn are_away(&self, now: Duration) -> bool {
        now < self.until
    }

    /// This process ends, and has told all who came, or not. Nobody waits any more if it has and somebody came. Where nobody did those
    /// who wait may be slow, or cut off, and the next start waits for them, too.
    fn end(&self, now: Duration, are_told: bool) {
        if are_told && self.noted == Noted::Own && !self.are_away(now) {
            forget(&self.directory);
        }
    }
}

impl Keeper {
    /// Whether workers of a process before this one may not have called yet.
    pub(super) fn are_workers_away(&self) -> bool {
        self.awaited.as_ref().is_some_and(|awaited| awaited.are_away(self.clock.now()))
    }

    /// Notes that there is a worker who waits for the answer.
    pub(super) fn note_awaited(&mut self) {
        if let Some(awaited) = &mut self.awaited {
            awaited.come();
        }
    }

    /// Notes at the close that nobody waits for the answer any more, if that is so.
    pub(super) fn forget_awaited(&self) {
        let is_answered = matches!(self.stage, Stage::Ended(Ending::Answered(_)));
        let are_told = is_answered && self.core.is_deserted();
        if let Some(awaited) = &self.awaited {
            awaited.end(self.clock.now(), are_told);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use records::testing::known_run;

    use super::*;

    #[test]
    fn what_is_noted_is_known_to_the_next_process_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("awaited");
        let begun = |is_counted| {
            let (store, ..) = Store::open(known_run::options(folder.path())).unwrap();
            Awaited::of(&store, is_counted)
        };
        let (begin, later) = (Duration::ZERO, CALLS_WITHIN);
        let mut first = begun(false);
        first.end(later, true);
        first.come();
        assert!(note.exists() && !first.are_away(begin));
        first.end(later, false);
        assert!(note.exists(), "somebody was not told");
        assert!(!begun(false).are_away(begin), "there is something left to count");
        let mut second = begun(true);
        assert!(second.are_away(begin) && !second.are_away(later));
        second.end(later, true);
        assert!(note.exists(), "nobody has come");
        second.come();
        assert!(second.are_away(begin), "others may be about to");
        second.end(begin, true);
        assert!(note.exists());
        second.end(later, true);
        assert!(!note.exists());
        assert!(!begun(true).are_away(begin));
        // Where it has come to be known it is not written again.
        fs::write(&note, "").unwrap();
        begun(true).come();
        assert_eq!(fs::read(&note).unwrap(), b"");
    }
}

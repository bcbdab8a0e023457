//! Workers that wait for the answer of a coordinator that is gone, since that was killed or had none: the next one, which may have it as
//! soon as it is started, gives them the time to call before it ends.

use std::time::Duration;

use records::store::Store;

use super::Keeper;
use super::ending::{Ending, Stage};

/// Whoever waits for a coordinator has registered within this time. Between two calls he pauses for up to 3.75 seconds, and one that
/// nobody answers takes up to seven, or ten over TLS; he may be in the midst of one, at another address, as the coordinator begins.
const CALLS_WITHIN: Duration = Duration::from_secs(20);

/// Who may be waiting for the answer of a run that is served, as far as is noted in its directory.
#[derive(Debug)]
pub(super) struct Awaited {
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
        let noted = if store.notes().awaited { Noted::Former } else { Noted::Nobody };
        let until = if noted == Noted::Former && is_counted { CALLS_WITHIN } else { Duration::ZERO };
        Self { noted, until }
    }

    /// A worker has registered. If this cannot be noted, the next process may not wait for the worker: that the disk is full is an
    /// error elsewhere.
    fn come(&mut self, store: &mut Store) {
        self.noted = Noted::Own;
        store.change_notes(|notes| notes.awaited = true).ok();
    }

    /// Whether workers of a process before this one may not have called yet.
    fn are_away(&self, now: Duration) -> bool {
        now < self.until
    }

    /// This process ends, and has told all who came, or not. Nobody waits any more if it has and somebody came. Where nobody did those
    /// who wait may be slow, or cut off, and the next start waits for them, too.
    fn end(&self, store: &mut Store, now: Duration, are_told: bool) {
        if are_told && self.noted == Noted::Own && !self.are_away(now) {
            // If this fails the next process waits for them in vain.
            store.change_notes(|notes| notes.awaited = false).ok();
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
        if let (Some(awaited), Some(store)) = (&mut self.awaited, &mut self.store) {
            awaited.come(store);
        }
    }

    /// Notes at the close that nobody waits for the answer any more, if that is so.
    pub(super) fn forget_awaited(&mut self) {
        let is_answered = matches!(self.stage, Stage::Ended(Ending::Answered(_)));
        let are_told = is_answered && self.core.is_deserted();
        if let (Some(awaited), Some(store)) = (&self.awaited, &mut self.store) {
            awaited.end(store, self.clock.now(), are_told);
        }
    }
}

#[cfg(test)]
mod tests {
    use records::testing::known_run;

    use super::*;

    #[test]
    fn note_holds_until_a_process_has_told_all() {
        let folder = tempfile::tempdir().unwrap();
        let begun = |is_counted| {
            let (store, ..) = Store::open(known_run::options(folder.path())).unwrap();
            let awaited = Awaited::of(&store, is_counted);
            (store, awaited)
        };
        let (begin, later) = (Duration::ZERO, CALLS_WITHIN);
        let (mut store, mut first) = begun(false);
        first.end(&mut store, later, true);
        first.come(&mut store);
        assert!(store.notes().awaited && !first.are_away(begin));
        first.end(&mut store, later, false);
        assert!(store.notes().awaited, "somebody was not told");
        drop(store);
        let (store, open) = begun(false);
        assert!(!open.are_away(begin), "there is something left to count");
        drop(store);
        let (mut store, mut second) = begun(true);
        assert!(second.are_away(begin) && !second.are_away(later));
        second.end(&mut store, later, true);
        assert!(store.notes().awaited, "nobody has come");
        second.come(&mut store);
        assert!(second.are_away(begin), "others may be about to");
        second.end(&mut store, begin, true);
        assert!(store.notes().awaited);
        second.end(&mut store, later, true);
        assert!(!store.notes().awaited);
        drop(store);
        assert!(!begun(true).1.are_away(begin));
    }
}

//! Workers that wait for the answer of a coordinator that is gone: the next one gives them the time to call before it ends.

use std::time::Duration;

use super::Keeper;
use super::ending::{Ending, Stage};

/// Whoever waits for a coordinator has registered within this time. Between two calls he pauses for up to 3.75 seconds, and one that
/// nobody answers takes up to seven, or ten over TLS; he may be in the midst of one, at another address, as the coordinator begins.
const CALLS_WITHIN: Duration = Duration::from_secs(20);

impl Keeper {
    /// Whether workers of a process before this one may not have called yet.
    pub(super) fn are_workers_away(&self) -> bool {
        let were_there = self.store.as_ref().is_some_and(|store| store.awaited.was_noted());
        were_there && self.clock.now() < CALLS_WITHIN
    }

    /// Notes that there is a worker who waits for the answer, where he comes from elsewhere.
    pub(super) fn note_awaited(&mut self) {
        if let Some(store) = self.store.as_mut().filter(|_| self.replicas.needed().is_some()) {
            store.awaited.note();
        }
    }

    /// Notes that nobody waits for the answer any more, if that is so at the close: some have come, and all of them were told. Where
    /// nobody has come they may be slow, or cut off, and the next start waits for them, too.
    pub(super) fn forget_awaited(&mut self) {
        let is_answered = matches!(self.stage, Stage::Ended(Ending::Answered(_)));
        let is_told = is_answered && self.core.is_deserted() && !self.are_workers_away();
        if let Some(store) = self.store.as_mut().filter(|_| is_told && self.replicas.needed().is_some()) {
            store.awaited.forget();
        }
    }
}

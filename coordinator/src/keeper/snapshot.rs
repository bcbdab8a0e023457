//! Snapshots of the run, which the keeper publishes regularly and after changes.

use std::time::Duration;

use domain::{Phase, RunStatus, Term};

use super::Keeper;
use super::ending::{Ending, Stage};
use super::journal::Journal;
use crate::core::Core;

/// The state of a run at one moment, for viewers.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The status of the run.
    pub status: RunStatus,
    /// How it ended, if it has.
    pub ending: Option<Ending>,
    /// The reason why the run cannot end without another worker, if there is one.
    pub stuck: Option<String>,
    /// True if the trouble is the disk of the run: it takes no records, or hangs.
    pub is_disk_trouble: bool,
    /// True if the keeper hangs and answers no requests.
    pub(crate) is_stalled: bool,
}

impl Snapshot {
    /// The first snapshot of a run.
    pub(super) fn first(core: &Core, journal: &Journal) -> Self {
        Self {
            status: named(core.status(Duration::ZERO), journal),
            ending: None,
            stuck: None,
            is_disk_trouble: false,
            is_stalled: false,
        }
    }

    /// Turns this into the last snapshot of a run that hangs for this reason.
    pub(super) fn stall(&mut self, why: &str) {
        (self.is_stalled, self.is_disk_trouble) = (true, true);
        why.clone_into(&mut self.status.trouble);
        self.status.reset_speeds();
    }
}

/// The status, with the run and the term of its coordinator.
fn named(status: RunStatus, journal: &Journal) -> RunStatus {
    let term = journal.term().map(|own| Term { proof: 0, ..own });
    RunStatus { run: journal.run(), term, ..status }
}

impl Keeper {
    /// Publishes a snapshot, if it is due or at the close.
    pub(super) fn publish(&mut self, closing: bool) {
        let now = self.clock.elapsed();
        if !closing && !self.publisher.is_due(now) {
            return;
        }
        let ending = match &self.stage {
            Stage::Ended(ending) => Some(ending.clone()),
            Stage::Counting | Stage::Auditing => None,
        };
        let status = self.core.status(self.clock.now());
        let stuck = Some(&status.trouble).filter(|trouble| !trouble.is_empty()).cloned();
        let is_disk_trouble = self.journal.trouble().is_some();
        let status = self.complete(status);
        let snapshot = Snapshot { status, ending, stuck, is_disk_trouble, is_stalled: false };
        self.publisher.publish(snapshot, now);
    }

    /// The status of the run.
    pub(super) fn status(&self) -> RunStatus {
        self.complete(self.core.status(self.clock.now()))
    }

    /// Completes the status of the core with the keeper's data.
    fn complete(&self, status: RunStatus) -> RunStatus {
        let mut status = named(status, &self.journal);
        status.elapsed = self.elapsed();
        let unix_time = self.clock.unix_time();
        status.history = self.core.history(unix_time);
        status.credits = self.core.credits(unix_time);
        status.events = self.news.events();
        (status.incidents, status.incidents_total) = self.core.incidents();
        status.head = self.journal.head(unix_time);
        (status.replicas, status.followers) = (self.followers.needed(), self.followers.connected());
        let of_disk = self.journal.trouble().map(str::to_owned);
        let has_ended = matches!(self.stage, Stage::Ended(_));
        if let Some(trouble) = of_disk.or_else(|| self.followers.trouble().filter(|_| !has_ended)) {
            status.trouble = trouble;
        } else if status.trouble.is_empty() {
            // This only keeps the run from its end.
            self.audits.trouble().unwrap_or_default().clone_into(&mut status.trouble);
        }
        status.phase = match &self.stage {
            Stage::Counting => Phase::Counting,
            Stage::Auditing => Phase::Auditing,
            Stage::Ended(Ending::Answered(_)) => Phase::Complete,
            Stage::Ended(Ending::Withheld(why)) => {
                status.trouble = why.to_string();
                Phase::Withheld
            }
        };
        if status.is_at_rest() {
            status.reset_speeds();
        }
        status
    }

    /// The time that all processes have worked on the run, until its answer.
    pub(super) fn elapsed(&self) -> Duration {
        match &self.stage {
            Stage::Ended(Ending::Answered(answer)) => answer.elapsed,
            _ => self.journal.earlier() + self.clock.elapsed(),
        }
    }
}

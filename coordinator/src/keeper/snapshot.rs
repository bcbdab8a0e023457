//! What the keeper publishes of its run, from time to time and when something changes.

use std::time::Duration;

use domain::{Phase, RunStatus, Term};

use super::Keeper;
use super::ending::{Ending, Stage};
use super::terms::Terms;
use crate::core::Core;

/// Between two snapshots.
const PUBLISH_EVERY: Duration = Duration::from_millis(500);

/// A run at one moment, for those who watch.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Where the run stands.
    pub status: RunStatus,
    /// How it ended, if it has.
    pub ending: Option<Ending>,
    /// What keeps the run from its end as long as no other worker comes.
    pub stuck: Option<String>,
    /// Followers that were there and have not everything.
    pub followers_away: usize,
    /// Whether workers may not have called yet that wait for the answer since a process before this one.
    pub are_workers_away: bool,
    /// What to tell those who follow a coordinator that must not serve the run any more.
    pub superseded: Option<String>,
    /// Whether the keeper stands still, and answers nobody.
    pub(crate) is_stalled: bool,
}

impl Snapshot {
    /// The first of a run.
    pub(super) fn first(core: &Core, terms: Option<&Terms>) -> Self {
        Self {
            status: named(core.status(Duration::ZERO), terms),
            ending: None,
            stuck: None,
            followers_away: 0,
            are_workers_away: false,
            superseded: None,
            is_stalled: false,
        }
    }

    /// Makes this the last that is known of a run that stands still, for that reason.
    pub(super) fn stall(&mut self, why: &str) {
        self.is_stalled = true;
        let RunStatus { trouble, left, rate, workers, machines, .. } = &mut self.status;
        (*trouble, *left, *rate) = (why.to_owned(), None, 0.0);
        workers.iter_mut().for_each(|worker| worker.rate = 0.0);
        machines.iter_mut().for_each(|machine| machine.speed = 0.0);
    }
}

/// What the core has said, with which run that is and in which term it is served.
fn named(status: RunStatus, terms: Option<&Terms>) -> RunStatus {
    let (run, term) = terms.map(|terms| (terms.run(), Term { proof: 0, ..terms.own })).unzip();
    RunStatus { run, term, ..status }
}

impl Keeper {
    /// Publishes a snapshot, where it is time to, the last one says that the keeper stands still, or at the close.
    pub(super) fn publish(&mut self, closing: bool) {
        let now = self.clock.now();
        if closing || now >= self.publish_next || self.snapshots.borrow().is_stalled {
            self.publish_next = now + PUBLISH_EVERY;
            let ending = match &self.stage {
                Stage::Ended(ending) => Some(ending.clone()),
                Stage::Counting | Stage::Auditing => None,
            };
            let records = self.records();
            let status = self.core.status(self.now());
            let stuck = Some(&status.trouble).filter(|trouble| !trouble.is_empty()).cloned();
            self.snapshots.send_replace(Snapshot {
                status: self.complete(status),
                ending,
                stuck,
                followers_away: self.replicas.away(records),
                are_workers_away: self.are_workers_away(),
                superseded: self.superseded(),
                is_stalled: false,
            });
        }
    }

    /// Where the run stands.
    pub(super) fn status(&self) -> RunStatus {
        self.complete(self.core.status(self.now()))
    }

    /// What the core has said, with what only the keeper knows.
    fn complete(&self, status: RunStatus) -> RunStatus {
        let mut status = named(status, self.terms.as_ref());
        status.elapsed = self.elapsed();
        status.history = self.core.history(self.unix_time());
        status.events = self.events.list();
        (status.replicas, status.followers) = (self.replicas.count(), self.replicas.there());
        let of_term = self.terms.as_ref().and_then(Terms::trouble);
        let own = Some(&self.trouble).filter(|trouble| !trouble.is_empty()).cloned();
        if let Some(trouble) = of_term.or(own).or_else(|| self.replicas.trouble(self.records())) {
            status.trouble = trouble;
        } else if status.trouble.is_empty() {
            // Which keeps it from its end only.
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
        status
    }

    /// How long the run has been worked on, over all its sessions: until there was its answer.
    pub(super) fn elapsed(&self) -> Duration {
        match &self.stage {
            Stage::Ended(Ending::Answered(answer)) => answer.elapsed,
            _ => self.earlier.elapsed() + self.clock.now(),
        }
    }
}

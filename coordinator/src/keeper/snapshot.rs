//! What the keeper publishes of its run, from time to time and when something changes.

use std::time::Duration;

use proto::{Phase, RunStatus};

use super::Keeper;
use super::ending::{Ending, Stage};
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
}

impl Snapshot {
    /// The first of a run.
    pub(crate) fn first(core: &Core) -> Self {
        Self { status: core.status(Duration::ZERO), ending: None }
    }
}

impl Keeper {
    /// Publishes a snapshot, where it is time to or at the close.
    pub(super) fn publish(&mut self, closing: bool) {
        let now = self.clock.now();
        if closing || now >= self.publish_next {
            self.publish_next = now + PUBLISH_EVERY;
            let ending = match &self.stage {
                Stage::Ended(ending) => Some(ending.clone()),
                Stage::Counting | Stage::Auditing => None,
            };
            self.snapshots.send_replace(Snapshot { status: self.status(), ending });
        }
    }

    /// Where the run stands.
    pub(super) fn status(&self) -> RunStatus {
        let mut status = self.core.status(self.now());
        status.elapsed = self.elapsed();
        if !self.trouble.is_empty() {
            status.trouble.clone_from(&self.trouble);
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

    /// How long the run has been worked on, over all its sessions.
    pub(super) fn elapsed(&self) -> Duration {
        self.earlier.elapsed() + self.clock.now()
    }
}

//! Where the run stands, for those who ask.

use std::time::Duration;

use proto::{Phase, RunStatus};

use super::Core;
use crate::assurance::assess;

/// At most so many units are named as set aside.
const NAMED: usize = 100;

impl Core {
    /// Where the run stands; phase, other trouble and elapsed time are the caller's to add.
    pub fn status(&self, now: Duration) -> RunStatus {
        let sums = self.standing.sums();
        let work_left = self.work_left() as f64;
        let per_second = self.work_rate.per_second(now);
        RunStatus {
            board: self.plan.board(),
            fingerprint: self.plan.fingerprint().clone(),
            units: self.shard.size(self.plan.units()),
            done: self.standing.done(),
            leased: self.leases.to_count() as u64,
            disputed: sums.disputed.len() as u64,
            progress: if self.total_work == 0 { 1.0 } else { sums.work as f64 / self.total_work as f64 },
            totals: sums.tally.totals().unwrap_or_default(),
            term: None,
            replicas: 0,
            followers: 0,
            elapsed: Duration::ZERO,
            left: per_second.and_then(|rate| Duration::try_from_secs_f64(work_left / rate).ok()),
            rate: self.units_rate.per_second(now).unwrap_or(0.0),
            phase: Phase::Counting,
            trouble: self.trouble(),
            workers: self.workers.status(now, |worker| self.leases.units_of(worker)),
            workers_total: self.workers.len() as u64,
            assurance: assess(&self.standing, self.policy),
            set_aside: self.losses.set_aside().iter().take(NAMED).copied().collect(),
        }
    }

    /// The expected work of the units that are not on record, in search nodes.
    pub(super) fn work_left(&self) -> u128 {
        self.total_work.saturating_sub(self.standing.sums().work)
    }

    /// What keeps the run from its end, if anything.
    fn trouble(&self) -> String {
        let aside = self.losses.set_aside();
        let left = self.shard.size(self.plan.units()) - self.standing.done();
        let is_stuck = self.open_counts() == 0 && self.leases.to_count() == 0 && left > 0;
        if aside.is_empty() || !is_stuck {
            return String::new();
        }
        format!(
            "only units are left that were lost with five workers each ({}): see what becomes of them, and restart the coordinator to try them again",
            aside.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ")
        )
    }
}

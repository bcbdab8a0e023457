//! How much a worker may hold, and for how long, by how fast it is: as its counts have shown, or before they have by its threads.

use std::time::Duration;

use super::Core;
use super::task::Borrower;
use crate::standing::{SLOWER, believed};

/// With work for less than this a worker would wait for the next answer.
const AT_LEAST: Duration = Duration::from_millis(10);

/// A unit is overdue when it is lent for so many times as long as all that its worker holds should take, and not before.
pub(super) const PATIENCE: u32 = 4;
const SHORTEST_DUE: Duration = Duration::from_secs(2);

/// A graphics card goes on with one unit while the next one is prepared.
const UNITS_OF_CARD: u64 = 2;

/// Nothing is waited for any longer.
const LONGEST: Duration = Duration::from_hours(24 * 365 * 100);

/// What a worker may hold; work is in nanoseconds of one core.
#[derive(Debug)]
pub(super) struct Share {
    /// It is lent more while it holds no more work than this.
    fair: u128,
    /// It would wait with no more work than this,
    soon: u128,
    /// and with fewer units than this.
    units: u64,
    /// A worker that would wait is lent more while all of its owner hold no more work than this.
    part: u128,
}

impl Core {
    /// Whether the worker holds so little that it is lent one more unit.
    pub(super) fn has_share_left(&self, borrower: &Borrower, share: &Share) -> bool {
        let (work, units) = (self.leases.work_of(borrower.worker), self.leases.units_of(borrower.worker));
        let would_wait = work <= share.soon || units < share.units;
        work <= share.fair
            || (would_wait && self.leases.work_of_owner(&borrower.identity.owner) <= share.part)
    }

    /// What the worker may hold: a quarter of its share, by speed, of what is left to be counted and checked, so that the last units
    /// are not all with one worker, and one that comes later finds some; but never so little that it, or one of its threads, would
    /// have to wait.
    ///
    /// Threads and speed are what workers say of themselves. So that nobody who says more than there is takes all, what a worker
    /// holds beyond that quarter is bounded by the part of its owner, where all owners have equal parts.
    pub(super) fn share(&self, borrower: &Borrower) -> Share {
        let checks = self.standing.pending(self.policy) + self.unconfirmed();
        let to_do = self.work_left() as f64 + self.mean_work * checks as f64;
        let quarter = to_do * borrower.worth / (4.0 * self.workers.worth().max(borrower.worth));
        let is_known = self.standing.sums().cpu_us > 0;
        let soon =
            if is_known { borrower.worth * self.mean_speed() * AT_LEAST.as_nanos() as f64 } else { 0.0 };
        let at_a_time = if borrower.hardware.is_card() { UNITS_OF_CARD } else { 1 };
        Share {
            fair: quarter as u128,
            soon: soon as u128,
            units: at_a_time.max(borrower.threads as u64),
            part: (to_do / self.workers.owners().max(1) as f64) as u128,
        }
    }

    /// How long the worker may take for so much work more, also if it is slow: one that is slower than others is not waited for
    /// any longer.
    pub(super) fn time_for(&self, borrower: &Borrower, work: u64) -> Duration {
        let held = self.leases.work_of(borrower.worker) + u128::from(work);
        SHORTEST_DUE.max(self.expected(held, borrower.worth.max(borrower.threads)).saturating_mul(PATIENCE))
    }

    /// How long so many threads of the mean speed should take for so much work, in nanoseconds of one core.
    pub(super) fn expected(&self, work: u128, threads: f64) -> Duration {
        let seconds = work as f64 / 1e9 / (threads.max(1.0) * self.mean_speed());
        Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)
    }

    /// The mean speed of a thread: seconds of expected work in a second of the processor, as all counts took it.
    pub(super) fn mean_speed(&self) -> f64 {
        let sums = self.standing.sums();
        // Of what was taken back only the work is gone.
        match believed(sums.cpu_us, sums.work, self.standing.done() + sums.checks) {
            0 => 1.0 / SLOWER as f64,
            cpu_us => sums.work.max(1) as f64 / (cpu_us as f64 * 1e3),
        }
    }
}

//! What is lent to whom, and how it is to be counted.
//!
//! ```text
//! as long as the worker wants more, and holds less than its fair share:
//!     a unit in dispute that its machine can help to decide
//!     a count of another machine that is to be checked: mirrored, one of eight with another kernel
//!     now and then a canary: nothing tells it from a unit that nobody has counted
//!     a unit without a count
//! nothing so far: one suspect; or, if its machine is alone: counts of its own, mirrored and with another kernel
//! nothing at all: units whose leases have expired
//! ```

use std::time::Duration;

use proto::{Lease, Variant, WorkerId};
use queens::UnitId;
use rand::RngExt;

use super::leases::LeasePurpose;
use super::task::Borrower;
use super::{Core, LEASE_TIME, Refusal};
use crate::double_check::DoubleCheck;
use crate::standing::UnitMark;

/// Of so many checks one is made with another kernel.
const OTHER_KERNEL: u32 = 8;

/// Another kernel may take so many times as long for a unit: between two (n = 18) and eight times (n = 16) were seen.
const OTHER_WORK: u64 = 4;

/// There are so many checks for each canary.
const CHECKS_PER_CANARY: f64 = 10.0;

/// A worker may always hold work for this long: with less it would wait for the next answer.
const AT_LEAST: Duration = Duration::from_millis(10);

/// A worker that was not heard of for this long has missed several renewals. One that was killed has not been when the
/// last of its leases expires.
const MISSED: Duration = Duration::from_secs(10);

impl Core {
    /// Lends up to `want` units; none if none are open.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn lease(&mut self, now: Duration, worker: WorkerId, want: u32) -> Result<Vec<Lease>, Refusal> {
        let borrower = self.borrower(now, worker)?;
        let mut leases = self.grant(now, &borrower, want);
        if leases.is_empty() {
            let expired = self.leases.expire(now);
            if !expired.is_empty() {
                for (of, units) in expired {
                    // A worker that is alive renews what it has: the answer that lent it these units was lost, and they
                    // have killed nobody.
                    if self.workers.is_alive(of, now.saturating_sub(MISSED)) {
                        units.into_iter().for_each(|unit| self.reopen(unit));
                    } else {
                        self.lose(&units);
                    }
                }
                leases = self.grant(now, &borrower, want);
            }
        }
        Ok(leases)
    }

    fn grant(&mut self, now: Duration, borrower: &Borrower, want: u32) -> Vec<Lease> {
        let share = self.share(borrower);
        let want = want as usize;
        let mut leases = self.lend_disputes(now, borrower, want);
        while leases.len() < want && self.leases.held_by(borrower.worker).work <= share {
            let Some(lease) = self.lend_next(now, borrower) else { break };
            leases.push(lease);
        }
        if leases.is_empty() {
            leases.extend(self.lend_suspect(now, borrower));
        }
        if leases.is_empty() && borrower.is_alone {
            while leases.len() < want && self.leases.held_by(borrower.worker).work <= share {
                let Some(unit) = self.open.next_own_check(borrower.number) else { break };
                leases.extend(self.lend(now, borrower, unit));
            }
        }
        leases
    }

    /// The work that the worker may hold, in search nodes: a quarter of its share, by threads, of what is left to be
    /// counted and checked, so that the last units are not all with one worker, and one that comes later finds some;
    /// but never so little that it would have to wait.
    fn share(&self, borrower: &Borrower) -> u128 {
        let sums = self.standing.sums();
        let threads = u128::from(borrower.threads);
        let mean = self.total_work / u128::from(self.shard.size(self.plan.units()).max(1));
        let to_do = self.work_left() + mean * u128::from(self.standing.pending(self.policy));
        let quarter = to_do * threads / u128::from(4 * self.workers.threads());
        let soon = sums.work * threads * AT_LEAST.as_micros() / u128::from(sums.cpu_us.max(1));
        quarter.max(soon)
    }

    fn lend_disputes(&mut self, now: Duration, borrower: &Borrower, most: usize) -> Vec<Lease> {
        let disputes = self.open.disputes.iter().filter(|unit| self.task(borrower, **unit).is_some());
        let disputes: Vec<_> = disputes.take(most).copied().collect();
        disputes.iter().for_each(|unit| _ = self.open.disputes.remove(unit));
        disputes.into_iter().filter_map(|unit| self.lend(now, borrower, unit)).collect()
    }

    fn lend_next(&mut self, now: Duration, borrower: &Borrower) -> Option<Lease> {
        while let Some(unit) = self.open.next_check(borrower.number) {
            if let Some(lease) = self.lend(now, borrower, unit) {
                return Some(lease);
            }
        }
        if let Some(unit) = self.canary(borrower) {
            return Some(self.lend_as(now, borrower, unit, (LeasePurpose::Canary, Variant::default())));
        }
        while let Some(unit) = self.open.returned.pop_first() {
            if let Some(lease) = self.lend(now, borrower, unit) {
                return Some(lease);
            }
        }
        while self.open.cursor < self.plan.units() {
            let unit = UnitId(self.open.cursor);
            self.open.cursor += 1;
            if let Some(lease) = self.lend(now, borrower, unit) {
                return Some(lease);
            }
        }
        None
    }

    /// Lends a suspect that the worker can count, unless it has one.
    fn lend_suspect(&mut self, now: Duration, borrower: &Borrower) -> Option<Lease> {
        if self.open.suspects.is_empty() || self.leases.held_by(borrower.worker).units > 0 {
            return None;
        }
        let unit = *self.open.suspects.iter().find(|unit| self.task(borrower, **unit).is_some())?;
        self.open.suspects.remove(&unit);
        self.lend(now, borrower, unit)
    }

    /// A canary for the worker, if it is time for one.
    fn canary(&mut self, borrower: &Borrower) -> Option<UnitId> {
        let share = match self.policy {
            DoubleCheck::None => return None,
            DoubleCheck::Share(share) => share / CHECKS_PER_CANARY,
            DoubleCheck::All => 1.0 / (CHECKS_PER_CANARY * CHECKS_PER_CANARY),
        };
        if !self.random.random_bool(share) || self.open_counts() == 0 {
            return None;
        }
        let unit = self.canaries.take_for(borrower.number)?;
        (self.standing.is(UnitMark::Independent, unit) && !self.is_taken(unit)).then_some(unit)
    }

    /// Lends the unit, if there is something to do about it that the worker can do.
    pub(super) fn lend(&mut self, now: Duration, borrower: &Borrower, unit: UnitId) -> Option<Lease> {
        let (purpose, mut variant) = self.task(borrower, unit)?;
        if purpose == LeasePurpose::Check && !variant.other_kernel {
            variant.other_kernel = self.random.random_ratio(1, OTHER_KERNEL);
        }
        Some(self.lend_as(now, borrower, unit, (purpose, variant)))
    }

    fn lend_as(
        &mut self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
        task: (LeasePurpose, Variant),
    ) -> Lease {
        let expires = now.saturating_add(LEASE_TIME);
        let work = self.plan.weight(unit).saturating_mul(if task.1.other_kernel { OTHER_WORK } else { 1 });
        self.leases.lend(unit, work, borrower.worker, task, expires)
    }

    /// Units that are neither on record, nor on their way there, nor lent, nor set aside.
    pub(super) fn open_counts(&self) -> u64 {
        let recording = self.recording.keys();
        let unlent = recording.filter(|unit| !self.leases.contains(**unit) && !self.standing.is_done(**unit));
        let aside = self.losses.set_aside().iter().filter(|unit| !self.standing.is_done(**unit));
        let gone = self.standing.done()
            + self.leases.to_count() as u64
            + unlent.count() as u64
            + aside.filter(|unit| !self.is_taken(**unit)).count() as u64;
        self.shard.size(self.plan.units()).saturating_sub(gone)
    }
}

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

use std::collections::HashSet;
use std::time::Duration;

use proto::{Lease, Variant, WorkerId};
use queens::UnitId;
use queens::kernel::KernelName;
use rand::RngExt;

use super::leases::LeasePurpose;
use super::{Core, LEASE_TIME, Refusal};
use crate::double_check::DoubleCheck;
use crate::standing::{MachineId, UnitMark};

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

/// A worker that asks for units.
#[derive(Debug)]
pub(super) struct Borrower {
    worker: WorkerId,
    threads: u64,
    kernel: KernelName,
    machine: String,
    /// The machine's number, if it has counted.
    number: Option<MachineId>,
    /// Whether no other machine is there, or was lately.
    is_alone: bool,
}

impl Core {
    pub(super) fn borrower(&mut self, now: Duration, worker: WorkerId) -> Result<Borrower, Refusal> {
        let found = self.workers.heard_of(now, worker)?;
        let (threads, kernel, machine) = (u64::from(found.threads), found.kernel, found.machine.clone());
        let number = self.standing.sums().machines.number(&machine);
        let is_alone = self.is_left_alone(now, &machine);
        Ok(Borrower { worker, threads, kernel, machine, number, is_alone })
    }

    /// Lends up to `want` units; none if none are open.
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

    /// What is to be done about a unit that the worker can do, and how.
    fn task(&self, borrower: &Borrower, unit: UnitId) -> Option<(LeasePurpose, Variant)> {
        let is_in_run = unit.0 < self.plan.units() && self.shard.contains(unit);
        if !is_in_run || self.is_taken(unit) || self.losses.set_aside().contains(&unit) {
            return None;
        }
        if !self.standing.is_done(unit) {
            let variant = if self.is_disputed(unit) {
                self.variant_to_decide(borrower, unit)?
            } else {
                Variant::default()
            };
            return Some((LeasePurpose::Count, variant));
        }
        if !self.standing.is_pending(unit, self.policy) {
            return None;
        }
        let counted = self.standing.vote(unit)?.origin.machine;
        let is_own = Some(counted) == borrower.number;
        let variant = Variant { mirrored: true, other_kernel: is_own };
        (!is_own || borrower.is_alone).then_some((LeasePurpose::Check, variant))
    }

    /// How the worker's machine can help to decide a dispute: it has not counted the unit yet; or no machine is there
    /// that has not, and there is a variant that it has not counted.
    fn variant_to_decide(&self, borrower: &Borrower, unit: UnitId) -> Option<Variant> {
        let machines = &self.standing.sums().machines;
        let votes: Vec<_> = self.standing.votes(unit).map(|vote| vote.origin).collect();
        let voters: HashSet<&str> =
            votes.iter().map(|origin| machines.get(origin.machine).name.as_str()).collect();
        if !voters.contains(borrower.machine.as_str()) {
            return Some(Variant::ALL[1]);
        }
        if self.workers.machines().any(|machine| !voters.contains(machine)) {
            return None;
        }
        Variant::ALL.into_iter().find(|variant| {
            let kernel = variant.kernel(borrower.kernel).to_string();
            let origin = machines.find_origin(&borrower.machine, &kernel, variant.mirrored);
            origin.is_none_or(|origin| !votes.contains(&origin))
        })
    }

    /// Whether the unit is lent, or its count is on its way to the disk.
    pub(super) fn is_taken(&self, unit: UnitId) -> bool {
        self.leases.contains(unit) || self.recording.contains_key(&unit)
    }

    pub(super) fn is_disputed(&self, unit: UnitId) -> bool {
        self.standing.sums().disputed.contains_key(&unit)
    }

    /// Whether the unit's count is to be checked, and it is known who made it, who could be believed.
    pub(super) fn is_open_check(&self, unit: UnitId) -> bool {
        let machines = &self.standing.sums().machines;
        self.standing.is_pending(unit, self.policy)
            && !self.is_taken(unit)
            && self
                .standing
                .vote(unit)
                .is_some_and(|vote| !machines.get(vote.origin.machine).is_quarantined())
    }

    /// Puts a unit that nobody has where it is found.
    pub(super) fn reopen(&mut self, unit: UnitId) {
        if self.losses.is_suspect(unit) {
            self.open.suspects.insert(unit);
        } else if self.is_disputed(unit) && !self.standing.is_done(unit) {
            self.open.disputes.insert(unit);
        } else if !self.standing.is_done(unit) {
            self.open.returned.insert(unit);
        } else if self.is_open_check(unit)
            && let Some(vote) = self.standing.vote(unit)
        {
            self.open.checks.entry(vote.origin.machine).or_default().push_back(unit);
        }
    }

    /// These units were lost with a worker and are open again, unless they are set aside from now on.
    pub(super) fn lose(&mut self, units: &[UnitId]) {
        self.given_up.append(&mut self.losses.add(units));
        units.iter().for_each(|unit| self.reopen(*unit));
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

//! What is lent to whom, and how it is to be counted.
//!
//! ```text
//! as long as the worker wants more, and holds less than its fair share:
//!     a unit in dispute that it can help to decide
//!     a count that it may check: mirrored, one of eight with another kernel (of 64, where that takes long), its own always so
//!     now and then a canary: nothing tells it from a unit that nobody has counted
//!     a unit without a count
//!     when all is counted and checked: a count that only another owner has made and checked
//! nothing so far: one suspect, or one that was set aside (`suspects`)
//! nothing at all, and no unit without a count is open: units whose leases have expired, then those that should have been
//!     counted long ago
//! ```
//!
//! The last units are for other owners first than the one who had them (`came_back`).

use std::ops::Bound::{Excluded, Unbounded};
use std::time::Duration;

use domain::{Lease, Variant, WorkerId};
use queens::UnitId;
use queens::kernel::Method;
use rand::RngExt;
use records::DoubleCheck;
use records::standing::UnitMark;

use super::fair_share::time_for;
use super::leases::{LeasePurpose, Loan};
use super::machines::PRESENT;
use super::open::CheckKind;
use super::task::Borrower;
use super::workers::Methods;
use super::{Core, Refusal};

/// Checks with another kernel: one in so many, and how many times as long one takes. Between two (n = 18) and eight times
/// (n = 16) were seen where units take less than a second. Larger ones that were made for halves that meet take eight to twelve times
/// as long row by row (n = 22 to 27): one in eight of these would be more work than all other checks.
const OTHER_KERNEL: Otherwise = Otherwise { one_in: 8, work: 4 };
const SEARCH_OF_LARGE: Otherwise = Otherwise { one_in: 64, work: 10 };

/// Units of so much work are large, in nanoseconds of one core.
const LARGE: u64 = 1_000_000_000;

/// How often a check is made with another kernel, and what it takes.
struct Otherwise {
    one_in: u32,
    work: u64,
}

/// There are so many checks for each canary.
const CHECKS_PER_CANARY: f64 = 10.0;

/// A worker that was not heard of for this long has missed several renewals. One that was killed has not been when the
/// last of its leases expires.
const MISSED: Duration = Duration::from_secs(10);

/// At most so many units are lent in one call, whatever is asked for: the keeper, which lends, hears nobody meanwhile.
pub(super) const MOST_LENT: u32 = 4096;

/// At most so many disputes, so many overdue units, and so many that are left to others, are looked at for some that the worker
/// can count; the others come in its next calls.
const LOOKED_AT: usize = 1000;

/// One in so many of the units that nobody has counted is kept back for later, so that a low number does not tell a
/// canary.
const KEPT_BACK: u32 = 64;

impl Core {
    /// Lends up to `want` units, and no more than may be lent in one call; none if none are open.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn lease(&mut self, now: Duration, worker: WorkerId, want: u32) -> Result<Vec<Lease>, Refusal> {
        let borrower = self.borrower(now, worker)?;
        if self.paused.is_some() || self.drains(worker) {
            return Ok(Vec::new());
        }
        let want = want.min(MOST_LENT) as usize;
        let mut leases = self.grant(now, &borrower, want);
        // Who holds his share takes nothing from others while there are units that nobody holds.
        if !leases.is_empty() || self.open.has_uncounted(self.plan.units()) {
            return Ok(leases);
        }
        if self.end_expired(now) {
            leases = self.grant(now, &borrower, want);
        }
        if leases.is_empty() {
            leases = self.lend_overdue(now, &borrower, want);
        }
        Ok(leases)
    }

    /// Whether there may be something to lend: if not, nobody who waits need be asked again.
    pub fn may_lend(&self, now: Duration) -> bool {
        let is_open = || self.open.has_any(self.plan.units()) || self.awaits_confirmations(now);
        self.paused.is_none() && (self.leases.has_late(now) || is_open())
    }

    /// Ends the leases that have expired; false if there is none.
    fn end_expired(&mut self, now: Duration) -> bool {
        let expired = self.leases.expire(now);
        let any = !expired.is_empty();
        expired.iter().for_each(|(of, units)| self.leave_to_others(now, *of, units));
        for (of, units) in expired {
            // A worker that is alive renews what it has: the answer that lent it these units was lost, and they have
            // killed nobody.
            if self.workers.is_alive(of, now.saturating_sub(MISSED)) {
                units.into_iter().for_each(|unit| self.reopen(unit));
            } else {
                self.lose(now, of, &units);
            }
        }
        any
    }

    /// Lends units that other workers should have counted long ago, those of other owners first. These workers may still
    /// report them; who cannot be heard at the moment loses nothing before its leases expire.
    fn lend_overdue(&mut self, now: Duration, borrower: &Borrower, want: usize) -> Vec<Lease> {
        let since = now.saturating_sub(PRESENT);
        let Some(looked) = self.workers.looked(borrower.worker) else { return Vec::new() };
        let mut late: Vec<_> = self.leases.overdue(now, looked.overdue).take(LOOKED_AT).collect();
        looked.overdue = late.last().map_or(looked.overdue, |late| (late.due, late.unit));
        late.retain(|late| {
            late.holder != borrower.worker
                && self.workers.is_alive(late.holder, since)
                && self.may_take_over(now, borrower, late)
                && self.task_of_taken(now, borrower, late.unit).is_some()
        });
        late.sort_unstable_by_key(|late| {
            let holder = self.workers.get(late.holder);
            (
                holder.is_some_and(|holder| holder.identity.owner == borrower.identity.owner),
                late.due,
                late.unit,
            )
        });
        late.truncate(want);
        late.iter().for_each(|late| self.leases.end_unit(late.unit));
        late.into_iter().filter_map(|late| self.lend(now, borrower, late.unit)).collect()
    }

    fn grant(&mut self, now: Duration, borrower: &Borrower, want: usize) -> Vec<Lease> {
        let share = self.share(borrower);
        let mut leases = self.lend_disputes(now, borrower, want);
        let mut left = Vec::new();
        while leases.len() < want && left.len() < LOOKED_AT && self.has_share_left(borrower, &share) {
            let Some(lease) = self.lend_next(now, borrower, &mut left) else { break };
            leases.push(lease);
        }
        left.into_iter().for_each(|unit| self.reopen(unit));
        if leases.is_empty() {
            leases.extend(self.lend_suspect(now, borrower));
        }
        leases
    }

    fn lend_disputes(&mut self, now: Duration, borrower: &Borrower, most: usize) -> Vec<Lease> {
        let Some(looked) = self.workers.looked(borrower.worker) else { return Vec::new() };
        let after = self.open.disputes.range((Excluded(looked.disputes), Unbounded));
        let before = self.open.disputes.range(..=looked.disputes);
        let looked_at: Vec<UnitId> = after.chain(before).take(LOOKED_AT).copied().collect();
        looked.disputes = looked_at.last().copied().unwrap_or(looked.disputes);
        let suitable = looked_at.into_iter().filter(|unit| self.task(now, borrower, *unit).is_some());
        let suitable: Vec<_> = suitable.take(most).collect();
        suitable.iter().for_each(|unit| _ = self.open.disputes.remove(unit));
        suitable.into_iter().filter_map(|unit| self.lend(now, borrower, unit)).collect()
    }

    /// Lends the next unit; those on the way that are left to other owners are to be found again.
    fn lend_next(&mut self, now: Duration, borrower: &Borrower, left: &mut Vec<UnitId>) -> Option<Lease> {
        while left.len() < LOOKED_AT
            && let Some(unit) = self.next_check(borrower)
        {
            let lease = self.lend_unless_left(now, borrower, unit, left);
            if lease.is_some() {
                return lease;
            }
        }
        if let Some(unit) = self.canary(borrower) {
            return Some(self.lend_as(now, borrower, unit, (LeasePurpose::Canary, Variant::default())));
        }
        while left.len() < LOOKED_AT
            && let Some(unit) = self.next_count().or_else(|| self.next_confirmation(now, borrower))
        {
            let lease = self.lend_unless_left(now, borrower, unit, left);
            if lease.is_some() {
                return lease;
            }
        }
        None
    }

    /// Takes the next unit whose count the worker may check, one that another kind of hardware has counted first.
    fn next_check(&mut self, borrower: &Borrower) -> Option<UnitId> {
        let machines = &self.standing.sums().machines;
        let may = |kind: &CheckKind| {
            self.may_check(borrower, kind.counted) && !borrower.is_beyond(*kind, machines.get(kind.counted))
        };
        let differs =
            |kind: &CheckKind| machines.get(kind.counted).hardware().differs_from(borrower.hardware);
        let counted = self.open.checks.keys().copied();
        let by_another_kind =
            machines.has_cards().then(|| counted.clone().find(|kind| differs(kind) && may(kind)));
        let is_of_another =
            |kind: &CheckKind| machines.get(kind.counted).owner != borrower.identity.owner.name();
        let of_another = || counted.clone().find(|kind| is_of_another(kind) && may(kind));
        let of_others = || if borrower.is_impatient { of_another() } else { None };
        let kind = by_another_kind.flatten().or_else(of_others).or_else(|| counted.clone().find(may))?;
        self.open.take_check(kind)
    }

    /// Takes the next unit without a count: those that came back, then new ones, then those that were lost with their
    /// workers, which may have been the reason. Some new ones are kept back, and come later in any order.
    fn next_count(&mut self) -> Option<UnitId> {
        if let Some(unit) = self.open.returned.pop_first() {
            return Some(unit);
        }
        let may_keep_back = self.policy != DoubleCheck::None;
        while self.open.cursor < self.plan.units() {
            if may_keep_back && self.open.kept_back.len() > 1 && self.random.random_ratio(1, KEPT_BACK) {
                return self.take_kept_back();
            }
            let unit = UnitId(self.open.cursor);
            self.open.cursor += 1;
            if may_keep_back && self.random.random_ratio(1, KEPT_BACK) {
                self.open.kept_back.push(unit);
            } else {
                return Some(unit);
            }
        }
        self.take_kept_back().or_else(|| self.open.lost.pop_first())
    }

    fn take_kept_back(&mut self) -> Option<UnitId> {
        let units = &mut self.open.kept_back;
        if units.is_empty() {
            return None;
        }
        let at = self.random.random_range(0..units.len());
        Some(units.swap_remove(at))
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
        (self.standing.is(UnitMark::TwoMachines, unit) && !self.is_taken(unit)).then_some(unit)
    }

    /// Lends the unit, if there is something to do about it that the worker can do.
    pub(super) fn lend(&mut self, now: Duration, borrower: &Borrower, unit: UnitId) -> Option<Lease> {
        let task = self.task(now, borrower, unit)?;
        Some(self.lend_to_do(now, borrower, unit, task))
    }

    /// Lends the unit for that to be done; one check in some is made with another kernel.
    pub(super) fn lend_to_do(
        &mut self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
        (purpose, mut variant): (LeasePurpose, Variant),
    ) -> Lease {
        let is_own = || self.standing.vote(unit).map(|vote| vote.origin.machine) == borrower.number;
        if purpose == LeasePurpose::Check
            && !variant.other_kernel
            && borrower.methods == Methods::Both
            && !self.is_symmetric_count(unit)
            && !is_own()
        {
            variant.other_kernel = self.random.random_ratio(1, self.otherwise(unit, borrower).one_in);
        }
        self.lend_as(now, borrower, unit, (purpose, variant))
    }

    /// Lends the unit for that purpose.
    pub(super) fn lend_as(
        &mut self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
        (purpose, variant): (LeasePurpose, Variant),
    ) -> Lease {
        let times = if variant.other_kernel { self.otherwise(unit, borrower).work } else { 1 };
        let work = self.plan.weight(unit).saturating_mul(times);
        let token = self.key.token(unit, variant, borrower.worker, &borrower.identity);
        let lease = Lease { unit, token, variant };
        let of_thread = self.work_of_thread(borrower, work);
        let due = now.saturating_add(time_for(of_thread, borrower.speed()));
        let (worker, owner) = (borrower.worker, &borrower.identity.owner);
        self.leases.lend(now, Loan { worker, owner, lease, work, of_thread, purpose, due })
    }

    /// How it is with another kernel than the borrower's, which is that of the row-by-row search or the other one.
    fn otherwise(&self, unit: UnitId, borrower: &Borrower) -> Otherwise {
        let is_made_for_meet = self.plan.spec().method() == Method::Meet;
        let other_is_search = borrower.kernel.method == Method::Meet;
        if is_made_for_meet && other_is_search && self.plan.weight(unit) >= LARGE {
            SEARCH_OF_LARGE
        } else {
            OTHER_KERNEL
        }
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

//! Which unit is lent to which worker, and how the worker must count it.
//!
//! ```text
//! while the worker wants more units and its share has room, lend
//!     a disputed unit that it can help to decide (`votes::ballot`), else
//!     a check that it may make (`independence`), the highest degree first, else
//!     a unit without a count
//! if it got nothing, lend one suspect or one set-aside unit (`schedule::losses`)
//! if it still got nothing, lend backups of the oldest leases: first of other owners, then of other machines, then of
//! other workers
//! ```

use std::cmp::Reverse;
use std::time::Duration;

use domain::{Lease, Variant, WorkerId};
use queens::UnitId;
use queens::kernel::{KernelName, Method};
use rand::RngExt;
use records::DoubleCheck;
use records::standing::{Degree, Identity, MachineId, Origin};

use super::allowance::{Allowance, Borrower, is_speed_known, speed_of_others, usual_speed};
use super::leases::{Loan, Purpose, UnbackedLease};
use super::members::Methods;
use super::votes::{CheckKind, Need};
use super::workload::ORBITS;
use super::{Core, Refusal};

/// Maximum number of units lent in one call. The keeper answers no other call meanwhile.
pub(super) const MAX_LEASES_PER_CALL: u32 = 4096;

/// Number of the oldest leases that are considered for a backup.
const MAX_BACKUP_CANDIDATES: usize = 1000;

/// How often a check uses another kernel, and how many times as long such a check takes. Measured factors: 2 (n = 18)
/// to 8 (n = 16) for units of less than a second.
const OTHER_KERNEL_RATE: OtherKernelRate = OtherKernelRate { one_in: 8, work: 4 };
/// The same for a large unit that was cut for halves that meet. The row-by-row search takes 8 to 12 times as long for it
/// (n = 22 to 27), so one check in eight would be more work than all other checks.
const LARGE_SEARCH_RATE: OtherKernelRate = OtherKernelRate { one_in: 64, work: 10 };

/// Work of a large unit, in nanoseconds of one core.
const LARGE_UNIT_WORK: u64 = 1_000_000_000;

/// The share of checks that use the other method, where `own` counts units of so many seconds of one core; and how many
/// times as long such a check takes.
pub fn checks_by_other_method(own: Method, unit_seconds: f64) -> (f64, f64) {
    let is_large = own == Method::Meet && unit_seconds * 1e9 >= LARGE_UNIT_WORK as f64;
    let OtherKernelRate { one_in, work } = if is_large { LARGE_SEARCH_RATE } else { OTHER_KERNEL_RATE };
    (1.0 / f64::from(one_in), work as f64)
}

/// How often a check uses another kernel, and the factor by which it takes longer.
struct OtherKernelRate {
    one_in: u32,
    work: u64,
}

/// What a lease of a unit is for, and how the unit is counted.
type Task = (Purpose, Variant);

impl Core {
    /// Lends up to `want` units, within the limit of one call. Returns no lease if no unit is open for this worker.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn lease(&mut self, now: Duration, worker: WorkerId, want: u32) -> Result<Vec<Lease>, Refusal> {
        let borrower = self.borrower(now, worker)?;
        if self.paused.is_some() || self.drains(worker) {
            return Ok(Vec::new());
        }
        let (want, allowance) = (want.min(MAX_LEASES_PER_CALL) as usize, self.allowance(&borrower));
        let mut leases = self.lend_disputes(now, &borrower, want);
        while leases.len() < want && allowance.has_room(&self.leases, &borrower) {
            let Some(lease) = self.lend_next(now, &borrower) else { break };
            leases.push(lease);
        }
        if leases.is_empty() {
            leases.extend(self.lend_suspect(now, &borrower));
        }
        if leases.is_empty() && !self.schedule.has_uncounted(&self.work) {
            leases = self.lend_backups(now, &borrower, want);
        }
        Ok(leases)
    }

    /// True if a unit may be open. If false, no waiting request can be answered with a lease.
    pub fn may_lend(&self) -> bool {
        self.paused.is_none() && (self.schedule.has_any(&self.work) || self.leases.has_unbacked())
    }

    /// The properties of a worker that determine its leases.
    ///
    /// # Errors
    /// The worker is not registered.
    pub(super) fn borrower(&mut self, now: Duration, worker: WorkerId) -> Result<Borrower, Refusal> {
        let standing = self.votes.standing();
        let is_only_owner = self.members.owners() < 2;
        let usual_speed = usual_speed(standing);
        let found = self.members.note_call(now, worker)?;
        Ok(Borrower {
            worker,
            threads: f64::from(found.threads),
            worth: found.worth(usual_speed),
            usual_speed,
            speed_of_others: speed_of_others(standing, &found.identity.owner, is_only_owner),
            kernel: found.kernel,
            methods: found.methods,
            identity: found.identity.clone(),
            hardware: domain::Hardware::of(&found.identity.machine),
        })
    }

    /// The limits on what the worker may hold.
    pub(super) fn allowance(&self, borrower: &Borrower) -> Allowance {
        let standing = self.votes.standing();
        let checks = self.work.mean_unit() * standing.pending(self.votes.policy()) as f64;
        let to_do = self.work.left(standing) + checks;
        Allowance::of(borrower, &self.members, to_do, is_speed_known(standing))
    }

    fn lend_disputes(&mut self, now: Duration, borrower: &Borrower, most: usize) -> Vec<Lease> {
        let last = self.members.get(borrower.worker).map_or(UnitId(0), |worker| worker.last_dispute);
        let looked_at = self.schedule.disputes_after(last);
        if let Some(last) = looked_at.last() {
            self.members.note_dispute(borrower.worker, *last);
        }
        let can_help = |unit: &UnitId| self.open_task(now, borrower, *unit).is_some();
        let suitable: Vec<_> = looked_at.into_iter().filter(can_help).take(most).collect();
        suitable.iter().for_each(|unit| self.schedule.take_dispute(*unit));
        suitable.into_iter().filter_map(|unit| self.lend(now, borrower, unit)).collect()
    }

    /// Lends the next check or unit without a count.
    fn lend_next(&mut self, now: Duration, borrower: &Borrower) -> Option<Lease> {
        while let Some(unit) = self.next_check(now, borrower).or_else(|| self.take_uncounted(borrower)) {
            let lease = self.lend(now, borrower, unit);
            if lease.is_some() {
                return lease;
            }
        }
        None
    }

    /// Takes the next unit without a count. An external program only checks.
    fn take_uncounted(&mut self, borrower: &Borrower) -> Option<UnitId> {
        if borrower.kernel.is_external() { None } else { self.schedule.take_uncounted(&self.work) }
    }

    /// Takes the next unit that the worker may check. Counts of the highest degree come first; within a degree, counts
    /// made on another kind of device.
    fn next_check(&mut self, now: Duration, borrower: &Borrower) -> Option<UnitId> {
        let must_own_wait = self.must_own_recounts_wait();
        let may = |kind: &CheckKind| {
            !(must_own_wait && self.is_own(&borrower.identity, kind.counted))
                && self.may_check(now, &borrower.identity, borrower.methods, *kind)
                && (kind.is_own || !self.is_left_to_other_hardware(now, borrower, kind.counted))
        };
        let rank = |kind: &CheckKind| {
            let is_other_hardware = self.votes.hardware(kind.counted).differs_from(borrower.hardware);
            Reverse((self.degree_of_check(&borrower.identity, kind.counted), is_other_hardware))
        };
        let kind = self.schedule.kinds_of_checks().filter(may).min_by_key(rank)?;
        self.schedule.take_check(kind)
    }

    /// True if machines do not recount their own units yet. If every unit is counted twice, they do so last: another
    /// machine may connect until then.
    fn must_own_recounts_wait(&self) -> bool {
        self.votes.policy() == DoubleCheck::All && self.schedule.has_uncounted(&self.work)
    }

    /// True if the worker may check these counts. It must be independent enough and able to count with a method that
    /// adds evidence.
    pub(super) fn may_check(
        &self,
        now: Duration,
        machine: &Identity,
        methods: Methods,
        kind: CheckKind,
    ) -> bool {
        let degree = self.degree_of_check(machine, kind.counted);
        let is_beyond_it = methods == Methods::Own && kind.by_kernel && degree == Degree::SameMachine;
        let is_independent = if kind.is_own {
            self.votes.standing().is_operator(machine.owner.name())
        } else {
            degree >= self.required_degree(now, kind.counted)
        };
        is_independent && !is_beyond_it
    }

    /// The lowest degree at which a count of this machine may be checked now.
    pub(super) fn required_degree(&self, now: Duration, counted: MachineId) -> Degree {
        let machines = &self.votes.standing().sums().machines;
        let participants = self.members.participants(machines);
        self.independence.degree(now, participants.highest_degree(machines.get(counted).maker()))
    }

    /// The degree at which `machine` would check a count made by `counted`.
    fn degree_of_check(&self, machine: &Identity, counted: MachineId) -> Degree {
        let counted = self.votes.standing().sums().machines.get(counted);
        Degree::between(counted.maker(), (machine.owner.name(), &machine.machine))
    }

    /// True if a check by `machine` of a count by `counted` would be a check of its own count.
    fn is_own(&self, machine: &Identity, counted: MachineId) -> bool {
        self.degree_of_check(machine, counted) == Degree::SameMachine
    }

    /// True if this check waits for another kind of device: a connected worker of that kind may make the check, and
    /// this worker has other units to count.
    fn is_left_to_other_hardware(&self, now: Duration, borrower: &Borrower, counted: MachineId) -> bool {
        let hardware = self.votes.hardware(counted);
        if !hardware.is_card()
            || borrower.hardware.differs_from(hardware)
            || !self.schedule.has_uncounted(&self.work)
        {
            return false;
        }
        let degree = self.required_degree(now, counted);
        self.members.connected(now).any(|other| {
            domain::Hardware::of(&other.machine).differs_from(hardware)
                && self.degree_of_check(other, counted) >= degree
        })
    }

    /// The worker's task for a unit that is not lent.
    pub(super) fn open_task(&self, now: Duration, borrower: &Borrower, unit: UnitId) -> Option<Task> {
        if self.leases.contains(unit) { None } else { self.task(now, borrower, unit) }
    }

    /// The worker's task for a unit, which may be lent to another worker.
    fn task(&self, now: Duration, borrower: &Borrower, unit: UnitId) -> Option<Task> {
        let is_withheld = self.schedule.is_withheld_from(unit, &borrower.identity.owner);
        if is_withheld { None } else { self.task_despite_losses(now, borrower, unit) }
    }

    /// The worker's task for a unit, even if the unit may have killed workers of its owner.
    fn task_despite_losses(&self, now: Duration, borrower: &Borrower, unit: UnitId) -> Option<Task> {
        match self.votes.need(&self.work, unit) {
            Need::Count if borrower.kernel.is_external() => None,
            Need::Count => Some((Purpose::Count, Variant::default())),
            Need::Decision => {
                let Borrower { identity, kernel, methods, .. } = borrower;
                Some((Purpose::Count, self.variant_to_decide(now, identity, *kernel, *methods, unit)?))
            }
            Need::Check(kind) if self.may_check(now, &borrower.identity, borrower.methods, kind) => {
                let origin = self.votes.standing().vote(unit)?.origin;
                Some((Purpose::Check, self.variant_to_check(borrower, unit, origin)))
            }
            Need::Nothing | Need::Check(_) => None,
        }
    }

    /// How a worker on this machine helps to decide a dispute. A machine that has counted the unit recounts it only if
    /// every other connected machine has counted it or holds it, and [last](Self::must_own_recounts_wait).
    pub(super) fn variant_to_decide(
        &self,
        now: Duration,
        machine: &Identity,
        kernel: KernelName,
        methods: Methods,
        unit: UnitId,
    ) -> Option<Variant> {
        let ballot = self.votes.ballot(&self.work, unit);
        if ballot.is_empty() {
            return (!kernel.is_external()).then(Variant::default);
        }
        let holders: Vec<_> =
            self.leases.holders(unit).filter_map(|holder| self.members.get(holder)).collect();
        let can_help = |other: &Identity| {
            other != machine
                && holders.iter().all(|holder| holder.identity != *other)
                && !ballot.is_full_for(other.owner.name())
                && !ballot.has_count_of(other)
                && !self.schedule.is_withheld_from(unit, &other.owner)
        };
        let is_left_to_others = || self.must_own_recounts_wait() || self.members.connected(now).any(can_help);
        let label = |variant| self.work.kernel_label(unit, variant, kernel);
        let asked = ballot.ask(machine, label, is_left_to_others)?;
        let can = methods == Methods::Both || !self.work.wants_other_kernel(unit, asked);
        can.then_some(asked)
    }

    /// How the worker checks this count: with the other image, and with the other method if its machine made the count.
    /// The first count may have any variant: it may have been lent as a check of a count that was lost.
    fn variant_to_check(&self, borrower: &Borrower, unit: UnitId, origin: Origin) -> Variant {
        let label = self.votes.standing().sums().machines.kernel(origin.kernel);
        let other_kernel = if self.work.is_symmetric_count(unit) {
            label != ORBITS
        } else {
            let is_same_method = |kernel: KernelName| kernel.method == borrower.kernel.method;
            self.is_own(&borrower.identity, origin.machine) && label.parse().is_ok_and(is_same_method)
        };
        Variant { mirrored: !origin.mirrored, other_kernel }
    }

    /// Lends the unit if the worker has a task for it.
    pub(super) fn lend(&mut self, now: Duration, borrower: &Borrower, unit: UnitId) -> Option<Lease> {
        let task = self.open_task(now, borrower, unit)?;
        Some(self.lend_task(now, borrower, unit, task))
    }

    /// Lends the unit for this task. A random share of checks uses another kernel.
    fn lend_task(
        &mut self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
        (purpose, mut variant): Task,
    ) -> Lease {
        let is_own = || {
            let vote = self.votes.standing().vote(unit);
            vote.is_some_and(|vote| self.is_own(&borrower.identity, vote.origin.machine))
        };
        if purpose == Purpose::Check
            && !variant.other_kernel
            && borrower.methods == Methods::Both
            && !self.work.is_symmetric_count(unit)
            && !is_own()
        {
            variant.other_kernel = self.random.random_ratio(1, self.other_kernel_rate(unit, borrower).one_in);
        }
        self.lend_as(now, borrower, unit, (purpose, variant))
    }

    /// Lends the unit with exactly this purpose and variant.
    pub(super) fn lend_as(
        &mut self,
        now: Duration,
        borrower: &Borrower,
        unit: UnitId,
        (purpose, variant): Task,
    ) -> Lease {
        let times = if variant.other_kernel { self.other_kernel_rate(unit, borrower).work } else { 1 };
        let work = self.work.weight(unit).saturating_mul(times);
        let token = self.key.token(unit, variant, borrower.worker, &borrower.identity);
        let lease = Lease { unit, token, variant };
        let renewable_until = now.saturating_add(borrower.renewable_for(&self.leases, work));
        let (worker, owner) = (borrower.worker, &borrower.identity.owner);
        self.leases.lend(now, Loan { worker, owner, lease, work, purpose, renewable_until })
    }

    /// The rate and cost of checks with the kernel that the borrower does not use.
    fn other_kernel_rate(&self, unit: UnitId, borrower: &Borrower) -> OtherKernelRate {
        let other_is_search = borrower.kernel.method == Method::Meet;
        if self.work.is_for_meet() && other_is_search && self.work.weight(unit) >= LARGE_UNIT_WORK {
            LARGE_SEARCH_RATE
        } else {
            OTHER_KERNEL_RATE
        }
    }

    /// Lends a suspect, or a set-aside unit that is due for a retry. The worker must hold nothing else. A set-aside
    /// unit is lent only if nothing else is lent or open.
    fn lend_suspect(&mut self, now: Duration, borrower: &Borrower) -> Option<Lease> {
        if self.leases.units_of(borrower.worker) > 0 || self.schedule.suspects().next().is_none() {
            return None;
        }
        let is_newcomer = !self.has_record(&borrower.identity);
        let counters = if is_newcomer { self.counters(now) } else { Vec::new() };
        let is_left_to_others = |unit: UnitId| match self.votes.need(&self.work, unit) {
            Need::Count => !counters.is_empty(),
            Need::Check(kind) => {
                counters.iter().any(|(other, methods)| self.may_check(now, other, *methods, kind))
            }
            Need::Decision | Need::Nothing => false,
        };
        let suspect = self
            .schedule
            .suspects()
            .find(|unit| !is_left_to_others(*unit) && self.open_task(now, borrower, *unit).is_some());
        if let Some(unit) = suspect {
            self.schedule.take_suspect(unit);
            return self.lend(now, borrower, unit);
        }
        if !self.leases.is_empty() || self.schedule.has_uncounted(&self.work) {
            return None;
        }
        let task_of = |unit| {
            let task = self.task_despite_losses(now, borrower, unit).filter(|_| !is_left_to_others(unit))?;
            Some((unit, task))
        };
        let (unit, task) = self.schedule.due_for_retry(now).find_map(task_of)?;
        self.schedule.take_suspect(unit);
        Some(self.lend_task(now, borrower, unit, task))
    }

    /// The connected machines that have counted in this run, and the methods that they support. An external program
    /// makes no first count.
    fn counters(&self, now: Duration) -> Vec<(&Identity, Methods)> {
        let with_both = self.members.with_both_methods();
        let methods = |machine| if with_both.contains(machine) { Methods::Both } else { Methods::Own };
        let with_kernel = self.members.with_kernel();
        let counters = self
            .members
            .connected(now)
            .filter(|machine| with_kernel.contains(machine) && self.has_record(machine));
        counters.map(|machine| (machine, methods(machine))).collect()
    }

    /// True if the machine has counted in this run.
    fn has_record(&self, machine: &Identity) -> bool {
        machine.number(&self.votes.standing().sums().machines).is_some()
    }

    /// Lends backups of the oldest leases to idle threads. Leases of other owners come first, then leases of other
    /// machines, then leases of other workers.
    fn lend_backups(&mut self, now: Duration, borrower: &Borrower, want: usize) -> Vec<Lease> {
        let idle = borrower.units_at_a_time().saturating_sub(self.leases.units_of(borrower.worker)) as usize;
        if idle == 0 {
            return Vec::new();
        }
        let closeness = |unbacked: &UnbackedLease| {
            let holder = self.members.get(unbacked.holder).map(|holder| &holder.identity);
            let is_same_owner = holder.is_some_and(|holder| holder.owner == borrower.identity.owner);
            (is_same_owner, holder == Some(&borrower.identity))
        };
        let candidates = self
            .leases
            .unbacked()
            .take(MAX_BACKUP_CANDIDATES)
            .filter(|unbacked| unbacked.holder != borrower.worker);
        let tasks =
            candidates.filter_map(|unbacked| Some((self.backup_task(now, borrower, &unbacked)?, unbacked)));
        let mut tasks: Vec<_> = tasks.collect();
        tasks.sort_by_key(|(_, unbacked)| closeness(unbacked));
        tasks.truncate(idle.min(want));
        tasks.into_iter().map(|(task, unbacked)| self.lend_as(now, borrower, unbacked.unit, task)).collect()
    }

    /// How a backup counts a lent unit: with the other image, so that the later count checks the earlier count. A
    /// symmetric count uses the other algorithm.
    fn backup_task(&self, now: Duration, borrower: &Borrower, unbacked: &UnbackedLease) -> Option<Task> {
        let UnbackedLease { unit, variant: Variant { mirrored, other_kernel }, .. } = *unbacked;
        let task = self.task(now, borrower, unit)?;
        if self.votes.need(&self.work, unit) != Need::Count {
            return Some(task);
        }
        let other_kernel = self.work.is_symmetric_count(unit) && !other_kernel;
        Some((Purpose::Count, Variant { mirrored: !mirrored, other_kernel }))
    }
}

//! Leases: which worker holds which unit, and until when.
//!
//! A unit has one lease or two. The second lease is a backup: it goes to a worker that has nothing else to count. A
//! lease ends in one of four cases:
//!
//! - The unit has a count.
//! - The worker gives the unit back.
//! - One lease time has passed since the worker last renewed the lease.
//! - The worker has had ten times as long as other workers need for the unit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use domain::{Lease, Owner, Token, Variant, WorkerId};
use queens::UnitId;

/// How long a lease lasts after it is given or renewed. Workers renew their leases six times in this period.
pub const LEASE_TIME: Duration = Duration::from_secs(15);

/// Interval between two searches for expired leases.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(1);

/// What a unit is lent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It has no standing count.
    Count,
    /// It has a standing count, which this count checks.
    Check,
}

/// A unit to be lent, with its borrower and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Loan<'a> {
    /// The worker.
    pub worker: WorkerId,
    /// The owner of the worker.
    pub owner: &'a Owner,
    /// The unit with its token.
    pub lease: Lease,
    /// Its expected work, in nanoseconds of one core.
    pub work: u64,
    /// What it is lent for.
    pub purpose: Purpose,
    /// The time after which the lease cannot be renewed.
    pub renewable_until: Duration,
}

/// All leases.
#[derive(Debug, Default)]
pub struct Leases {
    by_unit: HashMap<UnitId, Lent>,
    by_worker: HashMap<WorkerId, Held>,
    /// The expected work of what the workers of each owner hold, in nanoseconds of one core.
    work_by_owner: BTreeMap<Owner, u128>,
    /// The number of units that are lent for a first count.
    to_count: usize,
    /// The units with one lease, by its start: candidates for a backup.
    unbacked: BTreeSet<(Duration, UnitId)>,
    /// Time of the next search for expired leases.
    next_expiry: Duration,
}

#[derive(Debug)]
struct Lent {
    purpose: Purpose,
    first: Holding,
    backup: Option<Holding>,
}

/// A lease of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Holding {
    /// The worker.
    pub worker: WorkerId,
    token: Token,
    variant: Variant,
    work: u64,
    /// When it was given.
    pub since: Duration,
    /// When it ends if it is not renewed.
    pub expires: Duration,
    renewable_until: Duration,
}

impl Lent {
    fn holdings(&self) -> impl Iterator<Item = &Holding> {
        [&self.first].into_iter().chain(&self.backup)
    }

    fn of(&mut self, worker: WorkerId) -> Option<&mut Holding> {
        [&mut self.first].into_iter().chain(&mut self.backup).find(|holding| holding.worker == worker)
    }
}

#[derive(Debug)]
struct Held {
    owner: Owner,
    units: BTreeSet<UnitId>,
    work: u128,
}

/// A unit with one lease.
#[derive(Clone, Copy, Debug)]
pub struct UnbackedLease {
    /// The unit.
    pub unit: UnitId,
    /// The worker that holds the unit.
    pub holder: WorkerId,
    /// How this worker counts the unit.
    pub variant: Variant,
}

impl Leases {
    /// The number of units that are lent for a first count.
    pub fn to_count(&self) -> usize {
        self.to_count
    }

    /// Whether nothing is lent.
    pub fn is_empty(&self) -> bool {
        self.by_unit.is_empty()
    }

    /// Whether the unit is lent.
    pub fn contains(&self, unit: UnitId) -> bool {
        self.by_unit.contains_key(&unit)
    }

    /// The workers that hold the unit.
    pub fn holders(&self, unit: UnitId) -> impl Iterator<Item = WorkerId> + '_ {
        self.by_unit.get(&unit).into_iter().flat_map(Lent::holdings).map(|holding| holding.worker)
    }

    /// The leases of the unit, each with what the unit is lent for.
    pub fn of_unit(&self, unit: UnitId) -> impl Iterator<Item = (Purpose, Holding)> + '_ {
        let lent = self.by_unit.get(&unit).into_iter();
        lent.flat_map(|lent| lent.holdings().map(|holding| (lent.purpose, *holding)))
    }

    /// The leases of the worker, by unit.
    pub fn of_worker(&self, worker: WorkerId) -> impl Iterator<Item = (UnitId, (Purpose, Holding))> + '_ {
        let units = self.by_worker.get(&worker).into_iter().flat_map(|held| &held.units);
        units.filter_map(move |unit| {
            self.of_unit(*unit).find(|(_, holding)| holding.worker == worker).map(|lease| (*unit, lease))
        })
    }

    /// The time until which the worker may renew its lease of the unit; none if it does not hold the unit.
    pub fn renewable_until(&self, unit: UnitId, worker: WorkerId) -> Option<Duration> {
        let mut holdings = self.by_unit.get(&unit)?.holdings();
        holdings.find(|holding| holding.worker == worker).map(|holding| holding.renewable_until)
    }

    /// Those of the units that the worker does not hold.
    pub fn not_held<'a>(&self, worker: WorkerId, units: &'a BTreeSet<UnitId>) -> Vec<&'a UnitId> {
        let held = self.by_worker.get(&worker);
        units.iter().filter(|unit| held.is_none_or(|held| !held.units.contains(unit))).collect()
    }

    /// How many units the worker holds.
    pub fn units_of(&self, worker: WorkerId) -> u64 {
        self.by_worker.get(&worker).map_or(0, |held| held.units.len() as u64)
    }

    /// The expected work of what the worker holds, in nanoseconds of one core.
    pub fn work_of(&self, worker: WorkerId) -> u128 {
        self.by_worker.get(&worker).map_or(0, |held| held.work)
    }

    /// The expected work of what all workers of the owner hold, in nanoseconds of one core.
    pub fn work_of_owner(&self, owner: &Owner) -> u128 {
        self.work_by_owner.get(owner).copied().unwrap_or(0)
    }

    /// Lends a unit. If the unit is already lent, the new lease is its backup.
    pub fn lend(&mut self, now: Duration, loan: Loan<'_>) -> Lease {
        let Loan { worker, owner, lease, work, purpose, renewable_until } = loan;
        let Lease { unit, token, variant } = lease;
        self.end_of(unit, worker);
        let expires = now.saturating_add(LEASE_TIME).min(renewable_until);
        let holding = Holding { worker, token, variant, work, since: now, expires, renewable_until };
        if let Some(lent) = self.by_unit.get_mut(&unit) {
            self.unbacked.remove(&(lent.first.since, unit));
            if let Some(former) = lent.backup.replace(holding) {
                self.forget(unit, &former);
            }
        } else {
            self.to_count += usize::from(purpose == Purpose::Count);
            self.unbacked.insert((now, unit));
            self.by_unit.insert(unit, Lent { purpose, first: holding, backup: None });
        }
        let new = || Held { owner: owner.clone(), units: BTreeSet::new(), work: 0 };
        let held = self.by_worker.entry(worker).or_insert_with(new);
        held.units.insert(unit);
        held.work += u128::from(work);
        *self.work_by_owner.entry(owner.clone()).or_default() += u128::from(work);
        lease
    }

    /// The unit has lost its standing count, so its leases are now for a first count.
    pub fn promote_to_count(&mut self, unit: UnitId) {
        if let Some(lent) = self.by_unit.get_mut(&unit) {
            self.to_count += usize::from(lent.purpose != Purpose::Count);
            lent.purpose = Purpose::Count;
        }
    }

    /// Extends the worker's leases of these units to one lease time from now, or to the end of their renewal. Only the
    /// unit matters: its token may be older, because a renewal and a new lease can cross on the way.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, named: &BTreeSet<UnitId>) {
        for unit in named {
            if let Some(holding) = self.by_unit.get_mut(unit).and_then(|lent| lent.of(worker)) {
                let until = now.saturating_add(LEASE_TIME).min(holding.renewable_until);
                holding.expires = holding.expires.max(until);
            }
        }
    }

    /// Limits the renewal of the worker's lease to this time.
    pub fn limit_renewal(&mut self, unit: UnitId, worker: WorkerId, until: Duration) {
        if let Some(holding) = self.by_unit.get_mut(&unit).and_then(|lent| lent.of(worker)) {
            holding.renewable_until = holding.renewable_until.min(until);
            holding.expires = holding.expires.min(holding.renewable_until);
        }
    }

    /// Ends the lease. Returns false if the unit is no longer lent with this token.
    pub fn end(&mut self, lease: Lease) -> bool {
        let holdings = self.by_unit.get(&lease.unit).into_iter().flat_map(Lent::holdings);
        let holder =
            holdings.filter(|holding| holding.token == lease.token).map(|holding| holding.worker).next();
        holder.is_some_and(|holder| self.end_of(lease.unit, holder))
    }

    /// Ends the worker's lease of the unit. Returns false if the worker does not hold the unit.
    pub fn end_of(&mut self, unit: UnitId, worker: WorkerId) -> bool {
        let Some(lent) = self.by_unit.get_mut(&unit) else { return false };
        let ended = if lent.first.worker == worker {
            let ended = lent.first;
            if let Some(backup) = lent.backup.take() {
                lent.first = backup;
                self.unbacked.insert((backup.since, unit));
            } else {
                self.unbacked.remove(&(ended.since, unit));
                self.to_count -= usize::from(lent.purpose == Purpose::Count);
                self.by_unit.remove(&unit);
            }
            ended
        } else if let Some(ended) = lent.backup.take_if(|backup| backup.worker == worker) {
            self.unbacked.insert((lent.first.since, unit));
            ended
        } else {
            return false;
        };
        self.forget(unit, &ended);
        true
    }

    /// Subtracts an ended lease from the worker's and the owner's sums.
    fn forget(&mut self, unit: UnitId, ended: &Holding) {
        let Some(held) = self.by_worker.get_mut(&ended.worker) else { return };
        held.units.remove(&unit);
        held.work -= u128::from(ended.work);
        if let Some(of_owner) = self.work_by_owner.get_mut(&held.owner) {
            *of_owner -= u128::from(ended.work);
            if *of_owner == 0 {
                self.work_by_owner.remove(&held.owner);
            }
        }
        if held.units.is_empty() {
            self.by_worker.remove(&ended.worker);
        }
    }

    /// Ends all leases of the unit.
    pub fn end_unit(&mut self, unit: UnitId) {
        let holders: Vec<_> = self.holders(unit).collect();
        holders.into_iter().for_each(|holder| _ = self.end_of(unit, holder));
    }

    /// Ends all leases of the worker. Returns their units in ascending order.
    pub fn end_all_of(&mut self, worker: WorkerId) -> Vec<UnitId> {
        let units: Vec<_> =
            self.by_worker.get(&worker).into_iter().flat_map(|held| &held.units).copied().collect();
        units.iter().for_each(|unit| _ = self.end_of(*unit, worker));
        units
    }

    /// Ends expired leases. Returns their units by worker.
    pub fn expire(&mut self, now: Duration) -> BTreeMap<WorkerId, Vec<UnitId>> {
        let mut expired: BTreeMap<WorkerId, Vec<UnitId>> = BTreeMap::new();
        if now < self.next_expiry {
            return expired;
        }
        self.next_expiry = now.saturating_add(EXPIRY_INTERVAL);
        for (unit, lent) in &self.by_unit {
            for holding in lent.holdings().filter(|holding| holding.expires <= now) {
                expired.entry(holding.worker).or_default().push(*unit);
            }
        }
        for (worker, units) in &mut expired {
            units.sort_unstable();
            units.iter().for_each(|unit| _ = self.end_of(*unit, *worker));
        }
        expired
    }

    /// True if a unit has only one lease and can have a backup.
    pub fn has_unbacked(&self) -> bool {
        !self.unbacked.is_empty()
    }

    /// The units with one lease, the oldest one first.
    pub fn unbacked(&self) -> impl Iterator<Item = UnbackedLease> + '_ {
        self.unbacked.iter().filter_map(|(_, unit)| {
            let Holding { worker, variant, .. } = self.by_unit.get(unit)?.first;
            Some(UnbackedLease { unit: *unit, holder: worker, variant })
        })
    }

    /// All units that are lent.
    #[cfg(test)]
    pub fn units(&self) -> BTreeSet<UnitId> {
        self.by_unit.keys().copied().collect()
    }
}

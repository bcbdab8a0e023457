//! Who holds which unit until when.
//!
//! A unit has one lease, or two: the second one is a backup for somebody who had nothing else to count. A lease ends when the unit
//! has a count, when its worker gives it back, or by time: one lease time after the worker last named it in a renewal, and in any
//! case when the worker has had ten times as long as others take.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use domain::{Lease, Owner, Token, Variant, WorkerId};
use queens::UnitId;

/// How long a lease holds after it was given or renewed. Workers renew six times in that time.
pub const LEASE_TIME: Duration = Duration::from_secs(15);

/// All leases are looked through that often.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a unit is lent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It has no standing count.
    Count,
    /// Its standing count is checked.
    Check,
}

/// What is lent, to whom and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Loan<'a> {
    /// The worker.
    pub worker: WorkerId,
    /// Whose it is.
    pub owner: &'a Owner,
    /// The unit with its token.
    pub lease: Lease,
    /// Its expected work, in nanoseconds of one core.
    pub work: u64,
    /// What it is lent for.
    pub purpose: Purpose,
    /// No renewal lets the lease last longer.
    pub renewable_until: Duration,
}

/// All leases.
#[derive(Debug, Default)]
pub struct Leases {
    by_unit: HashMap<UnitId, Lent>,
    by_worker: HashMap<WorkerId, Held>,
    /// The expected work of what the workers of each owner hold, in nanoseconds of one core.
    work_by_owner: BTreeMap<Owner, u128>,
    /// How many units are lent to be counted.
    to_count: usize,
    /// The units with one lease, by when it was given: those that may have a backup.
    single: BTreeSet<(Duration, UnitId)>,
    /// When leases that have ended by time are looked for next.
    look_next: Duration,
}

#[derive(Debug)]
struct Lent {
    purpose: Purpose,
    first: Holding,
    backup: Option<Holding>,
}

#[derive(Clone, Copy, Debug)]
struct Holding {
    worker: WorkerId,
    token: Token,
    variant: Variant,
    work: u64,
    since: Duration,
    expires: Duration,
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
pub struct SingleLease {
    /// The unit.
    pub unit: UnitId,
    /// Who has it.
    pub holder: WorkerId,
    /// How it is counted there.
    pub variant: Variant,
}

impl Leases {
    /// How many units are lent to be counted: none of them has a standing count.
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

    /// Who holds the unit.
    pub fn holders(&self, unit: UnitId) -> impl Iterator<Item = WorkerId> + '_ {
        self.by_unit.get(&unit).into_iter().flat_map(Lent::holdings).map(|holding| holding.worker)
    }

    /// Until when the worker may renew its lease of the unit, if it has one.
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

    /// Lends a unit; where it is lent already, as a backup.
    pub fn lend(&mut self, now: Duration, loan: Loan<'_>) -> Lease {
        let Loan { worker, owner, lease, work, purpose, renewable_until } = loan;
        let Lease { unit, token, variant } = lease;
        self.end_of(unit, worker);
        let expires = now.saturating_add(LEASE_TIME).min(renewable_until);
        let holding = Holding { worker, token, variant, work, since: now, expires, renewable_until };
        if let Some(lent) = self.by_unit.get_mut(&unit) {
            self.single.remove(&(lent.first.since, unit));
            if let Some(former) = lent.backup.replace(holding) {
                self.forget(unit, &former);
            }
        } else {
            self.to_count += usize::from(purpose == Purpose::Count);
            self.single.insert((now, unit));
            self.by_unit.insert(unit, Lent { purpose, first: holding, backup: None });
        }
        let new = || Held { owner: owner.clone(), units: BTreeSet::new(), work: 0 };
        let held = self.by_worker.entry(worker).or_insert_with(new);
        held.units.insert(unit);
        held.work += u128::from(work);
        *self.work_by_owner.entry(owner.clone()).or_default() += u128::from(work);
        lease
    }

    /// The unit has lost its standing count: whoever has it counts it now.
    pub fn counts_now(&mut self, unit: UnitId) {
        if let Some(lent) = self.by_unit.get_mut(&unit) {
            self.to_count += usize::from(lent.purpose != Purpose::Count);
            lent.purpose = Purpose::Count;
        }
    }

    /// The worker has these units: its leases of them last one lease time from now, if they may be renewed for so long. A token may
    /// be an older one: a renewal and a new lease can cross on the way.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, named: &BTreeSet<UnitId>) {
        for unit in named {
            if let Some(holding) = self.by_unit.get_mut(unit).and_then(|lent| lent.of(worker)) {
                let until = now.saturating_add(LEASE_TIME).min(holding.renewable_until);
                holding.expires = holding.expires.max(until);
            }
        }
    }

    /// The worker's lease of the unit may be renewed until then and no longer.
    pub fn shorten(&mut self, unit: UnitId, worker: WorkerId, until: Duration) {
        if let Some(holding) = self.by_unit.get_mut(&unit).and_then(|lent| lent.of(worker)) {
            holding.renewable_until = holding.renewable_until.min(until);
            holding.expires = holding.expires.min(holding.renewable_until);
        }
    }

    /// Ends the lease; false if the unit is no longer lent under that token.
    pub fn end(&mut self, lease: Lease) -> bool {
        let holdings = self.by_unit.get(&lease.unit).into_iter().flat_map(Lent::holdings);
        let holder =
            holdings.filter(|holding| holding.token == lease.token).map(|holding| holding.worker).next();
        holder.is_some_and(|holder| self.end_of(lease.unit, holder))
    }

    /// Ends the worker's lease of the unit; false if it has none.
    pub fn end_of(&mut self, unit: UnitId, worker: WorkerId) -> bool {
        let Some(lent) = self.by_unit.get_mut(&unit) else { return false };
        let ended = if lent.first.worker == worker {
            let ended = lent.first;
            if let Some(backup) = lent.backup.take() {
                lent.first = backup;
                self.single.insert((backup.since, unit));
            } else {
                self.single.remove(&(ended.since, unit));
                self.to_count -= usize::from(lent.purpose == Purpose::Count);
                self.by_unit.remove(&unit);
            }
            ended
        } else if let Some(ended) = lent.backup.take_if(|backup| backup.worker == worker) {
            self.single.insert((lent.first.since, unit));
            ended
        } else {
            return false;
        };
        self.forget(unit, &ended);
        true
    }

    /// What the worker holds is less by that.
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

    /// Ends all leases of the worker and names their units, ascending.
    pub fn end_all_of(&mut self, worker: WorkerId) -> Vec<UnitId> {
        let units: Vec<_> =
            self.by_worker.get(&worker).into_iter().flat_map(|held| &held.units).copied().collect();
        units.iter().for_each(|unit| _ = self.end_of(*unit, worker));
        units
    }

    /// Ends the leases whose time is over, and names their workers and units.
    pub fn expire(&mut self, now: Duration) -> BTreeMap<WorkerId, Vec<UnitId>> {
        let mut expired: BTreeMap<WorkerId, Vec<UnitId>> = BTreeMap::new();
        if now < self.look_next {
            return expired;
        }
        self.look_next = now.saturating_add(LOOK_EVERY);
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

    /// Whether some units have one lease, so that they may have a backup.
    pub fn has_single(&self) -> bool {
        !self.single.is_empty()
    }

    /// The units with one lease, the oldest one first.
    pub fn single(&self) -> impl Iterator<Item = SingleLease> + '_ {
        self.single.iter().filter_map(|(_, unit)| {
            let Holding { worker, variant, .. } = self.by_unit.get(unit)?.first;
            Some(SingleLease { unit: *unit, holder: worker, variant })
        })
    }

    /// All units that are lent.
    #[cfg(test)]
    pub fn units(&self) -> BTreeSet<UnitId> {
        self.by_unit.keys().copied().collect()
    }
}

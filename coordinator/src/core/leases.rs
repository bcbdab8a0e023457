//! The units that are lent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound::{Excluded, Unbounded};
use std::time::Duration;

use domain::{Lease, Owner, WorkerId};
use queens::UnitId;

/// How long a lease is safe without renewal; workers renew six times in that time. An expired lease goes on all the
/// same until somebody else could count its unit and has nothing else to do.
pub const LEASE_TIME: Duration = Duration::from_secs(15);

/// A worker that leaves a unit out of so many renewals in a row does not have it: the answer that lent it was lost.
const MOST_OMISSIONS: u8 = 2;

/// What a unit is lent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeasePurpose {
    /// It has no standing count.
    Count,
    /// Its standing count is checked.
    Check,
    /// Its count is beyond doubt: the worker is checked.
    Canary,
}

/// All leases, by unit: a unit is lent to one worker at a time.
#[derive(Debug, Default)]
pub struct Leases {
    by_unit: HashMap<UnitId, Lent>,
    /// How many are lent to be counted.
    to_count: usize,
    held: HashMap<WorkerId, Held>,
    /// The expected work of what the workers of each owner hold, in nanoseconds of one core.
    work_by_owner: BTreeMap<Owner, u128>,
    /// Until when the leases of each worker are safe.
    expiries: BTreeSet<(Duration, WorkerId)>,
    /// When each unit should have been counted.
    due: BTreeSet<(Duration, UnitId)>,
}

#[derive(Clone, Copy, Debug)]
struct Lent {
    worker: WorkerId,
    token: domain::Token,
    work: u64,
    purpose: LeasePurpose,
    since: Duration,
    of_thread: f64,
    due: Duration,
}

/// What one worker holds.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Units, with the renewals in a row from which each was left out.
    pub units: BTreeMap<UnitId, u8>,
    /// Their expected work, in nanoseconds of one core.
    pub work: u128,
    owner: Owner,
    expires: Duration,
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
    /// That of what a thread of the worker has to count until this one is counted.
    pub of_thread: f64,
    /// What it is lent for.
    pub purpose: LeasePurpose,
    /// When it should have been counted, also by a slow worker.
    pub due: Duration,
}

/// A unit that should have been counted by now.
#[derive(Clone, Copy, Debug)]
pub struct Overdue {
    /// When it should have been.
    pub due: Duration,
    /// The unit.
    pub unit: UnitId,
    /// Who has it.
    pub holder: WorkerId,
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

    /// Who has the unit, if it is lent.
    pub fn holder(&self, unit: UnitId) -> Option<WorkerId> {
        self.by_unit.get(&unit).map(|lent| lent.worker)
    }

    /// When the unit should be counted, if it is lent.
    pub fn due(&self, unit: UnitId) -> Option<Duration> {
        self.by_unit.get(&unit).map(|lent| lent.due)
    }

    /// The unit, if it is lent, should be counted by then and no later.
    pub fn hurry(&mut self, unit: UnitId, due: Duration) {
        if let Some(lent) = self.by_unit.get_mut(&unit)
            && due < lent.due
        {
            self.due.remove(&(lent.due, unit));
            self.due.insert((due, unit));
            lent.due = due;
        }
    }

    /// Each unit should be counted within that time after it was lent and no later, by the owner of the worker that has it and by what
    /// a thread of it had to count.
    pub fn hurry_all(&mut self, within: impl Fn(&Owner, f64) -> Duration) {
        let sooner = |(unit, lent): (&UnitId, &Lent)| {
            let held = self.held.get(&lent.worker)?;
            let due = lent.since.saturating_add(within(&held.owner, lent.of_thread));
            (due < lent.due).then_some((*unit, due))
        };
        let hurried: Vec<_> = self.by_unit.iter().filter_map(sooner).collect();
        hurried.into_iter().for_each(|(unit, due)| self.hurry(unit, due));
    }

    /// The owners whose workers have been lent something.
    pub fn owners(&self) -> impl Iterator<Item = &Owner> {
        self.work_by_owner.keys()
    }

    /// Those of the units that the worker does not hold.
    pub fn not_held<'a>(&self, worker: WorkerId, units: &'a BTreeSet<UnitId>) -> Vec<&'a UnitId> {
        let held = self.held.get(&worker);
        units.iter().filter(|unit| held.is_none_or(|held| !held.units.contains_key(unit))).collect()
    }

    /// How many units the worker holds.
    pub fn units_of(&self, worker: WorkerId) -> u64 {
        self.held.get(&worker).map_or(0, |held| held.units.len() as u64)
    }

    /// The expected work of what the worker holds, in nanoseconds of one core.
    pub fn work_of(&self, worker: WorkerId) -> u128 {
        self.held.get(&worker).map_or(0, |held| held.work)
    }

    /// The expected work of what all workers of the owner hold, in nanoseconds of one core.
    pub fn work_of_owner(&self, owner: &Owner) -> u128 {
        self.work_by_owner.get(owner).copied().unwrap_or(0)
    }

    /// Lends a unit; a lease that there may be of it ends.
    pub fn lend(&mut self, now: Duration, loan: Loan<'_>) -> Lease {
        let Loan { worker, owner, lease, work, of_thread, purpose, due } = loan;
        self.end_unit(lease.unit);
        let (token, since) = (lease.token, now);
        self.by_unit.insert(lease.unit, Lent { worker, token, work, purpose, since, of_thread, due });
        self.due.insert((due, lease.unit));
        self.to_count += usize::from(purpose == LeasePurpose::Count);
        let held =
            self.held.entry(worker).or_insert_with(|| Held { owner: owner.clone(), ..Held::default() });
        held.units.insert(lease.unit, 0);
        held.work += u128::from(work);
        *self.work_by_owner.entry(owner.clone()).or_default() += u128::from(work);
        self.keep_alive(worker, now.saturating_add(LEASE_TIME));
        lease
    }

    /// The unit has lost its standing count: whoever has it counts it now.
    pub fn counts_now(&mut self, unit: UnitId) {
        if let Some(lent) = self.by_unit.get_mut(&unit) {
            self.to_count += usize::from(lent.purpose != LeasePurpose::Count);
            lent.purpose = LeasePurpose::Count;
        }
    }

    /// The worker has what it names: its leases are safe again. Ends those that it has not named for long, and gives
    /// their units. A token may be an older one: a renewal and a new lease can cross on the way.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, named: &BTreeSet<UnitId>) -> Vec<UnitId> {
        let Some(held) = self.held.get_mut(&worker) else { return Vec::new() };
        let mut omitted = Vec::new();
        for (unit, omissions) in &mut held.units {
            *omissions = if named.contains(unit) { 0 } else { *omissions + 1 };
            if *omissions >= MOST_OMISSIONS {
                omitted.push(*unit);
            }
        }
        self.keep_alive(worker, now.saturating_add(LEASE_TIME));
        omitted.iter().for_each(|unit| self.end_unit(*unit));
        omitted
    }

    fn keep_alive(&mut self, worker: WorkerId, until: Duration) {
        let Some(held) = self.held.get_mut(&worker) else { return };
        if until <= held.expires {
            return;
        }
        self.expiries.remove(&(held.expires, worker));
        held.expires = until;
        self.expiries.insert((held.expires, worker));
    }

    /// Ends the lease; false if the unit is no longer lent under that token.
    pub fn end(&mut self, lease: Lease) -> bool {
        let current = self.by_unit.get(&lease.unit).is_some_and(|lent| lent.token == lease.token);
        if current {
            self.end_unit(lease.unit);
        }
        current
    }

    /// Ends whatever lease there is of the unit.
    pub fn end_unit(&mut self, unit: UnitId) {
        let Some(Lent { worker, work, purpose, due, .. }) = self.by_unit.remove(&unit) else { return };
        self.due.remove(&(due, unit));
        self.to_count -= usize::from(purpose == LeasePurpose::Count);
        if let Some(held) = self.held.get_mut(&worker) {
            held.units.remove(&unit);
            held.work -= u128::from(work);
            if let Some(of_owner) = self.work_by_owner.get_mut(&held.owner) {
                *of_owner -= u128::from(work);
            }
            if held.units.is_empty() {
                self.expiries.remove(&(held.expires, worker));
                self.held.remove(&worker);
            }
        }
    }

    /// Ends all leases of the worker and names their units, ascending.
    pub fn end_all_of(&mut self, worker: WorkerId) -> Vec<UnitId> {
        let units: Vec<_> =
            self.held.get(&worker).into_iter().flat_map(|held| held.units.keys()).copied().collect();
        units.iter().for_each(|unit| self.end_unit(*unit));
        units
    }

    /// Whether some leases have expired, or units should have been counted by now.
    pub fn has_late(&self, now: Duration) -> bool {
        self.expiries.first().is_some_and(|(expires, _)| *expires <= now)
            || self.due.first().is_some_and(|(due, _)| *due <= now)
    }

    /// Ends the leases that have expired, and names their workers and units.
    pub fn expire(&mut self, now: Duration) -> Vec<(WorkerId, Vec<UnitId>)> {
        let late: Vec<_> = self
            .expiries
            .iter()
            .take_while(|(expires, _)| *expires <= now)
            .map(|(_, worker)| *worker)
            .collect();
        late.into_iter().map(|worker| (worker, self.end_all_of(worker))).collect()
    }

    /// The units that should have been counted by now, the longest overdue first: those after that one, then the others.
    pub fn overdue(&self, now: Duration, after: (Duration, UnitId)) -> impl Iterator<Item = Overdue> + '_ {
        let is_late = move |(due, _): &&(Duration, UnitId)| *due <= now;
        let rest = self.due.range((Excluded(after), Unbounded)).take_while(is_late);
        let late = rest.chain(self.due.range(..=after).take_while(is_late));
        late.filter_map(|&(due, unit)| Some(Overdue { due, unit, holder: self.holder(unit)? }))
    }

    /// The units lent by leases that have neither expired nor are overdue.
    #[cfg(test)]
    pub fn safe_after(&self, now: Duration) -> BTreeSet<UnitId> {
        let is_safe = |lent: &Lent| lent.due > now && self.held[&lent.worker].expires > now;
        self.by_unit.iter().filter(|(_, lent)| is_safe(lent)).map(|(unit, _)| *unit).collect()
    }
}

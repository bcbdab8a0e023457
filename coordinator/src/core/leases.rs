//! The units that are lent.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use proto::{Lease, Token, Variant, WorkerId};
use queens::UnitId;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// How long a lease is safe without renewal; workers renew six times in that time. An expired lease goes on all the
/// same until somebody else could count its unit and has nothing else to do.
pub const LEASE_TIME: Duration = Duration::from_secs(15);

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
#[derive(Debug)]
pub struct Leases {
    by_unit: HashMap<UnitId, Lent>,
    /// How many are lent to be counted.
    to_count: usize,
    held: HashMap<WorkerId, Held>,
    tokens: StdRng,
}

#[derive(Clone, Copy, Debug)]
struct Lent {
    worker: WorkerId,
    token: Token,
    work: u64,
    purpose: LeasePurpose,
    expires: Duration,
}

/// What one worker holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// Units.
    pub units: u64,
    /// Their expected work, in search nodes.
    pub work: u128,
}

impl Leases {
    /// No leases; tokens follow from the seed.
    pub fn new(seed: u64) -> Self {
        let tokens = StdRng::seed_from_u64(seed);
        Self { by_unit: HashMap::new(), to_count: 0, held: HashMap::new(), tokens }
    }

    /// How many units are lent to be counted: none of them has a standing count.
    pub fn to_count(&self) -> usize {
        self.to_count
    }

    /// Whether the unit is lent.
    pub fn contains(&self, unit: UnitId) -> bool {
        self.by_unit.contains_key(&unit)
    }

    /// Who has the unit, if it is lent.
    pub fn holder(&self, unit: UnitId) -> Option<WorkerId> {
        self.by_unit.get(&unit).map(|lent| lent.worker)
    }

    /// What the worker holds.
    pub fn held_by(&self, worker: WorkerId) -> Held {
        self.held.get(&worker).copied().unwrap_or_default()
    }

    /// Lends a unit of that expected work; a lease that there may be of it ends.
    pub fn lend(
        &mut self,
        unit: UnitId,
        work: u64,
        worker: WorkerId,
        (purpose, variant): (LeasePurpose, Variant),
        expires: Duration,
    ) -> Lease {
        let token = Token(self.tokens.next_u64());
        self.end_unit(unit);
        self.by_unit.insert(unit, Lent { worker, token, work, purpose, expires });
        self.to_count += usize::from(purpose == LeasePurpose::Count);
        let held = self.held.entry(worker).or_default();
        held.units += 1;
        held.work += u128::from(work);
        Lease { unit, token, variant }
    }

    /// The unit has lost its standing count: whoever has it counts it now.
    pub fn counts_now(&mut self, unit: UnitId) {
        if let Some(lent) = self.by_unit.get_mut(&unit) {
            self.to_count += usize::from(lent.purpose != LeasePurpose::Count);
            lent.purpose = LeasePurpose::Count;
        }
    }

    /// Moves the lease's end; false if the unit is no longer lent to the worker. The token may be an older one: a
    /// renewal and a new lease can cross on the way.
    pub fn renew(&mut self, unit: UnitId, worker: WorkerId, expires: Duration) -> bool {
        match self.by_unit.get_mut(&unit) {
            Some(lent) if lent.worker == worker => {
                lent.expires = expires;
                true
            }
            _ => false,
        }
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
        let Some(Lent { worker, work, purpose, .. }) = self.by_unit.remove(&unit) else { return };
        self.to_count -= usize::from(purpose == LeasePurpose::Count);
        if let Some(held) = self.held.get_mut(&worker) {
            held.units -= 1;
            held.work -= u128::from(work);
            if held.units == 0 {
                self.held.remove(&worker);
            }
        }
    }

    /// Ends all leases of the worker and names their units.
    pub fn end_all_of(&mut self, worker: WorkerId) -> Vec<UnitId> {
        self.end_where(|lent| lent.worker == worker)
    }

    /// Ends the leases that have expired, and names their workers and units.
    pub fn expire(&mut self, now: Duration) -> Vec<(WorkerId, Vec<UnitId>)> {
        let late = self.by_unit.values().filter(|lent| lent.expires <= now).map(|lent| lent.worker);
        let late: BTreeSet<_> = late.collect();
        let expired = |worker| (worker, self.end_where(|lent| lent.worker == worker && lent.expires <= now));
        late.into_iter().map(expired).collect()
    }

    /// The units lent by leases that have not expired.
    #[cfg(test)]
    pub fn lent_until_after(&self, now: Duration) -> BTreeSet<UnitId> {
        let good = self.by_unit.iter().filter(|(_, lent)| lent.expires > now);
        good.map(|(unit, _)| *unit).collect()
    }

    fn end_where(&mut self, ends: impl Fn(&Lent) -> bool) -> Vec<UnitId> {
        let mut units: Vec<_> =
            self.by_unit.iter().filter(|(_, lent)| ends(lent)).map(|(unit, _)| *unit).collect();
        units.sort_unstable();
        units.iter().for_each(|unit| self.end_unit(*unit));
        units
    }
}

//! The leases of units that the worker has not counted yet.

use std::collections::{HashMap, HashSet};

use domain::{Lease, UnitCount};
use queens::UnitId;
use tracing::info;

use crate::pool::{UnitVariant, unit_variant};

/// Leases that are renewed until their units are counted or given back.
#[derive(Default)]
pub struct HeldLeases {
    uncounted: HashMap<UnitVariant, Lease>,
    /// Leases for a method without a kernel here. They go back with the next renewal: a coordinator that lends them again at
    /// once would else do so without a pause.
    uncountable: Vec<Lease>,
    /// Lost leases that were logged.
    lost: HashSet<UnitId>,
    /// How many units were in hand after the last grant.
    full: usize,
}

impl HeldLeases {
    /// Returns false if the unit is held already.
    pub fn add(&mut self, lease: Lease) -> bool {
        self.uncounted.insert(unit_variant(&lease), lease).is_none()
    }

    /// Sets the tokens of held units that are lent again, and returns the other leases. A unit is lent again if its lease
    /// expired while the network was cut.
    pub fn update_tokens(&mut self, mut leases: Vec<Lease>) -> Vec<Lease> {
        leases.retain(|lease| {
            let held = self.uncounted.get_mut(&unit_variant(lease));
            held.map(|held| held.token = lease.token).is_none()
        });
        leases
    }

    /// Returns the count with its latest token: the lease may have been renewed while the unit was in the pool.
    pub fn take_counted(&mut self, mut count: UnitCount) -> UnitCount {
        if let Some(lease) = self.uncounted.remove(&unit_variant(&count.lease)) {
            count.lease.token = lease.token;
        }
        count
    }

    pub fn set_uncountable(&mut self, lease: &Lease) {
        self.uncountable.extend(self.uncounted.remove(&unit_variant(lease)));
    }

    pub fn take_uncountable(&mut self) -> Vec<Lease> {
        std::mem::take(&mut self.uncountable)
    }

    /// Stops renewing the leases of these units.
    pub fn give_up(&mut self, units: &[UnitVariant]) {
        for unit in units {
            self.uncounted.remove(unit);
        }
    }

    /// Takes out all leases but those of the units that a thread has begun.
    pub fn take_not_begun(&mut self, begun: &[UnitVariant]) -> Vec<Lease> {
        self.uncounted.extract_if(|unit, _| !begun.contains(unit)).map(|(_, lease)| lease).collect()
    }

    /// How many of these units are held.
    pub fn count(&self, units: &[UnitVariant]) -> usize {
        units.iter().filter(|unit| self.uncounted.contains_key(unit)).count()
    }

    pub fn leases(&self) -> impl Iterator<Item = Lease> {
        self.uncounted.values().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.uncounted.is_empty()
    }

    /// Remembers how many units are in hand after a grant: these, and as many counts as are `counted`.
    pub fn set_full(&mut self, counted: usize) {
        self.full = self.uncounted.len() + counted;
    }

    /// How many units to lease for `target` units in hand. None until a quarter of the last grant is gone, or fewer than
    /// `least` units are left.
    pub fn wanted(&self, counted: usize, target: usize, least: usize) -> Option<u32> {
        let in_hand = self.uncounted.len() + counted;
        let is_due = in_hand < least || in_hand * 4 <= self.full.min(target) * 3;
        is_due.then(|| target.saturating_sub(in_hand) as u32)
    }

    /// Logs lost leases, each once, although every renewal names them until their units are counted. A unit that was given
    /// back while the renewal was under way is not lost. `counted` are the leases of counts that are not acknowledged.
    pub fn log_lost(&mut self, lost: &[UnitId], counted: impl Iterator<Item = Lease>) {
        let held: HashSet<UnitId> = counted.chain(self.leases()).map(|lease| lease.unit).collect();
        let lost = lost.iter().copied().filter(|unit| held.contains(unit)).collect();
        let logged = std::mem::replace(&mut self.lost, lost);
        let units = self.lost.difference(&logged).count();
        if units > 0 {
            info!(units, "leases lost; their counts are still welcome");
        }
    }
}

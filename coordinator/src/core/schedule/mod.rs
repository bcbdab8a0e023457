//! What is lent next: where units are found by what they need. An entry is a hint; whether and how its unit is lent, its counts decide.

mod losses;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::time::Duration;

use domain::Owner;
use queens::UnitId;

use super::votes::{CheckKind, Need};
use super::workload::Workload;
use losses::Losses;
#[cfg(test)]
pub use losses::REST;

/// At most so many disputes are looked at for one request: the others come with the next ones.
const DISPUTES_LOOKED_AT: usize = 1000;

/// The units that nobody has.
#[derive(Debug, Default)]
pub struct Schedule {
    /// No unit from here on has been lent yet, unless a worker brought it along.
    cursor: u64,
    /// Units below `cursor` that were given back without a count.
    returned: BTreeSet<UnitId>,
    /// Units below `cursor` that were lost with their workers: they come last.
    lost: BTreeSet<UnitId>,
    /// Units that may have killed workers: lent one at a time where nothing else is open.
    suspects: BTreeSet<UnitId>,
    /// Counts that are to be checked.
    checks: BTreeMap<CheckKind, VecDeque<UnitId>>,
    /// Units whose counts differ.
    disputes: BTreeSet<UnitId>,
    losses: Losses,
    /// Units that are set aside, of which the operator was not told yet.
    given_up: Vec<UnitId>,
}

impl Schedule {
    /// Puts a unit that nobody has where it is found.
    pub fn put(&mut self, unit: UnitId, need: Need) {
        match need {
            Need::Nothing => {}
            _ if self.losses.is_suspect(unit) => _ = self.suspects.insert(unit),
            Need::Count => _ = self.returned.insert(unit),
            Need::Decision => _ = self.disputes.insert(unit),
            Need::Check(kind) => self.checks.entry(kind).or_default().push_back(unit),
        }
    }

    /// The unit has a standing count, and needs no first one.
    pub fn counted(&mut self, unit: UnitId) {
        self.returned.remove(&unit);
        self.lost.remove(&unit);
        self.disputes.remove(&unit);
    }

    /// The unit was counted, so that it kills nobody.
    pub fn survived(&mut self, unit: UnitId) {
        self.losses.forgive(unit);
        self.suspects.remove(&unit);
    }

    /// No check is open any more.
    pub fn forget_checks(&mut self) {
        self.checks.clear();
    }

    /// These units were lost together with a worker of that owner.
    pub fn lost(&mut self, now: Duration, units: &[UnitId], owner: &Owner, has_other_owners: bool) {
        self.given_up.append(&mut self.losses.add(now, units, owner, has_other_owners));
    }

    /// Has a unit that was lost, and was put where it is found, come last.
    pub fn put_last(&mut self, unit: UnitId) {
        if self.returned.remove(&unit) {
            self.lost.insert(unit);
        }
    }

    /// Takes the units that are set aside since this was last asked.
    pub fn take_given_up(&mut self) -> Vec<UnitId> {
        std::mem::take(&mut self.given_up)
    }

    /// Takes the next unit without a count: those that came back, then new ones, then those that were lost with their workers,
    /// which may have been the reason.
    pub fn take_fresh(&mut self, work: &Workload) -> Option<UnitId> {
        if let Some(unit) = self.returned.pop_first() {
            return Some(unit);
        }
        if self.cursor < work.plan().units() {
            self.cursor += 1;
            return Some(UnitId(self.cursor - 1));
        }
        self.lost.pop_first()
    }

    /// The kinds of open checks.
    pub fn kinds_of_checks(&self) -> impl Iterator<Item = CheckKind> + Clone {
        self.checks.keys().copied()
    }

    /// Takes the next unit whose count is to be checked, of that kind.
    pub fn take_check(&mut self, kind: CheckKind) -> Option<UnitId> {
        let units = self.checks.get_mut(&kind)?;
        let unit = units.pop_front();
        if units.is_empty() {
            self.checks.remove(&kind);
        }
        unit
    }

    /// Open disputes, those after that unit first.
    pub fn disputes_after(&self, unit: UnitId) -> Vec<UnitId> {
        let after = self.disputes.range((Excluded(unit), Unbounded));
        after.chain(self.disputes.range(..=unit)).take(DISPUTES_LOOKED_AT).copied().collect()
    }

    /// Takes a dispute.
    pub fn take_dispute(&mut self, unit: UnitId) {
        self.disputes.remove(&unit);
    }

    /// The units that may have killed workers.
    pub fn suspects(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.suspects.iter().copied()
    }

    /// The units that are set aside and may be tried again now.
    pub fn may_be_tried(&self, now: Duration) -> impl Iterator<Item = UnitId> {
        self.losses.may_be_tried(now)
    }

    /// Takes a suspect. Where it is set aside, another one has its turn next.
    pub fn take_suspect(&mut self, unit: UnitId) {
        if self.losses.set_aside().contains(&unit) {
            self.losses.try_again(unit);
        }
        self.suspects.remove(&unit);
    }

    /// Whether the unit is not lent to that owner any more.
    pub fn is_kept_from(&self, unit: UnitId, owner: &Owner) -> bool {
        self.losses.is_kept_from(unit, owner)
    }

    /// The units that are set aside.
    pub fn set_aside(&self) -> &BTreeSet<UnitId> {
        self.losses.set_aside()
    }

    /// How often the unit was lost with a worker.
    pub fn times_lost(&self, unit: UnitId) -> u8 {
        self.losses.of(unit)
    }

    /// Whether there are units without a count that nobody holds.
    pub fn has_fresh(&self, work: &Workload) -> bool {
        self.cursor < work.plan().units() || !self.returned.is_empty() || !self.lost.is_empty()
    }

    /// Whether anything is to be found here.
    pub fn has_any(&self, work: &Workload) -> bool {
        self.has_fresh(work)
            || !self.checks.is_empty()
            || !self.disputes.is_empty()
            || !self.suspects.is_empty()
    }

    /// Whether the unit may have killed workers.
    #[cfg(test)]
    pub fn is_suspect(&self, unit: UnitId) -> bool {
        self.losses.is_suspect(unit)
    }

    /// Whether the unit would be found.
    #[cfg(test)]
    pub fn finds(&self, unit: UnitId) -> bool {
        unit.0 >= self.cursor
            || [&self.returned, &self.lost, &self.suspects, &self.disputes]
                .iter()
                .any(|units| units.contains(&unit))
            || self.checks.values().any(|units| units.contains(&unit))
    }
}

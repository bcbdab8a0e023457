//! Finds the next unit to lend, by what the unit needs. An entry is only a hint: the counts of the unit decide whether
//! and how it is lent.

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
pub use losses::MAX_RETRY_WAIT;

/// Maximum number of disputes tried for one request. The next request continues after them.
const MAX_DISPUTES_TRIED: usize = 1000;

/// The units that are not lent.
#[derive(Debug, Default)]
pub struct Schedule {
    /// Units from here on have not been lent yet, except units that a worker brought along.
    cursor: u64,
    /// Units below `cursor` that were returned without a count.
    returned: BTreeSet<UnitId>,
    /// Units below `cursor` that were lost with their workers. They are lent last.
    lost: BTreeSet<UnitId>,
    /// Units that may have killed workers. They are lent one at a time, when nothing else is open.
    suspects: BTreeSet<UnitId>,
    /// Counts that are to be checked.
    checks: BTreeMap<CheckKind, VecDeque<UnitId>>,
    /// Units whose counts differ.
    disputes: BTreeSet<UnitId>,
    losses: Losses,
    /// Units set aside since the last [`Schedule::take_newly_set_aside`].
    newly_set_aside: Vec<UnitId>,
}

impl Schedule {
    /// Adds a unit that is not lent.
    pub fn put(&mut self, unit: UnitId, need: Need) {
        match need {
            Need::Nothing => {}
            _ if self.losses.is_suspect(unit) => _ = self.suspects.insert(unit),
            Need::Count => _ = self.returned.insert(unit),
            Need::Decision => _ = self.disputes.insert(unit),
            Need::Check(kind) => self.checks.entry(kind).or_default().push_back(unit),
        }
    }

    /// Removes a unit that has a standing count from the units to be counted.
    pub fn remove_counted(&mut self, unit: UnitId) {
        self.returned.remove(&unit);
        self.lost.remove(&unit);
        self.disputes.remove(&unit);
    }

    /// Clears the losses of a unit that was counted.
    pub fn clear_losses(&mut self, unit: UnitId) {
        self.losses.clear(unit);
        self.suspects.remove(&unit);
    }

    /// Removes all checks.
    pub fn forget_checks(&mut self) {
        self.checks.clear();
    }

    /// Notes that these units were lost with a worker of this owner.
    pub fn note_lost(&mut self, now: Duration, units: &[UnitId], owner: &Owner, has_other_owners: bool) {
        self.newly_set_aside.append(&mut self.losses.add(now, units, owner, has_other_owners));
    }

    /// Moves a lost unit behind all other units without a count.
    pub fn move_to_end(&mut self, unit: UnitId) {
        if self.returned.remove(&unit) {
            self.lost.insert(unit);
        }
    }

    /// Takes the units that were set aside since the last call.
    pub fn take_newly_set_aside(&mut self) -> Vec<UnitId> {
        std::mem::take(&mut self.newly_set_aside)
    }

    /// Takes the next unit without a count. Returned units come first, then new units, then lost units, which may have
    /// killed their workers.
    pub fn take_uncounted(&mut self, work: &Workload) -> Option<UnitId> {
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

    /// Takes the next unit with a check of this kind.
    pub fn take_check(&mut self, kind: CheckKind) -> Option<UnitId> {
        let units = self.checks.get_mut(&kind)?;
        let unit = units.pop_front();
        if units.is_empty() {
            self.checks.remove(&kind);
        }
        unit
    }

    /// Open disputes, starting after this unit and wrapping around.
    pub fn disputes_after(&self, unit: UnitId) -> Vec<UnitId> {
        let after = self.disputes.range((Excluded(unit), Unbounded));
        after.chain(self.disputes.range(..=unit)).take(MAX_DISPUTES_TRIED).copied().collect()
    }

    /// Removes a dispute that is being lent.
    pub fn take_dispute(&mut self, unit: UnitId) {
        self.disputes.remove(&unit);
    }

    /// The units that may have killed workers.
    pub fn suspects(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.suspects.iter().copied()
    }

    /// The set-aside units that are due for a retry.
    pub fn due_for_retry(&self, now: Duration) -> impl Iterator<Item = UnitId> {
        self.losses.due_for_retry(now)
    }

    /// Removes a suspect that is being lent.
    pub fn take_suspect(&mut self, unit: UnitId) {
        self.suspects.remove(&unit);
    }

    /// True if the unit is no longer lent to this owner.
    pub fn is_withheld_from(&self, unit: UnitId, owner: &Owner) -> bool {
        self.losses.is_withheld_from(unit, owner)
    }

    /// The units that are set aside.
    pub fn set_aside(&self) -> impl ExactSizeIterator<Item = UnitId> + '_ {
        self.losses.set_aside()
    }

    /// How many times the unit was lost with a worker.
    pub fn times_lost(&self, unit: UnitId) -> u8 {
        self.losses.of(unit)
    }

    /// True if a unit without a count is not lent.
    pub fn has_uncounted(&self, work: &Workload) -> bool {
        self.cursor < work.plan().units() || !self.returned.is_empty() || !self.lost.is_empty()
    }

    /// True if any unit is scheduled.
    pub fn has_any(&self, work: &Workload) -> bool {
        self.has_uncounted(work)
            || !self.checks.is_empty()
            || !self.disputes.is_empty()
            || !self.suspects.is_empty()
    }

    /// True if the unit is a suspect.
    #[cfg(test)]
    pub fn is_suspect(&self, unit: UnitId) -> bool {
        self.losses.is_suspect(unit)
    }

    /// True if the unit is scheduled.
    #[cfg(test)]
    pub fn finds(&self, unit: UnitId) -> bool {
        unit.0 >= self.cursor
            || [&self.returned, &self.lost, &self.suspects, &self.disputes]
                .iter()
                .any(|units| units.contains(&unit))
            || self.checks.values().any(|units| units.contains(&unit))
    }
}

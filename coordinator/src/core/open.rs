//! Where units that may be lent are found. An entry is a hint: whether and how its unit is lent, its state decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use queens::UnitId;

use super::Core;
use crate::standing::MachineId;

/// The units to look at, by what is to be done with them.
#[derive(Debug, Default)]
pub struct Open {
    /// Counts that are to be checked, by the machine that made them.
    pub checks: BTreeMap<MachineId, VecDeque<UnitId>>,
    /// Units about which counts disagree.
    pub disputes: BTreeSet<UnitId>,
    /// Units below `cursor` without a count.
    pub returned: BTreeSet<UnitId>,
    /// No unit from here on has been lent yet, unless it came back with a worker.
    pub cursor: u64,
    /// Units that may have killed workers: lent one at a time when nothing else is open.
    pub suspects: BTreeSet<UnitId>,
}

impl Open {
    /// Takes the next unit counted by another machine than this one.
    pub fn next_check(&mut self, machine: Option<MachineId>) -> Option<UnitId> {
        self.checks.iter_mut().find_map(
            |(of, units)| {
                if Some(*of) == machine { None } else { units.pop_front() }
            },
        )
    }

    /// Takes the next unit counted by this machine.
    pub fn next_own_check(&mut self, machine: Option<MachineId>) -> Option<UnitId> {
        self.checks.get_mut(&machine?)?.pop_front()
    }
}

impl Core {
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
}

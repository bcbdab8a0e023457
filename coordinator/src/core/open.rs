//! Where units that may be lent are found. An entry is a hint: whether and how its unit is lent, its state decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use queens::UnitId;

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

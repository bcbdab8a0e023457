//! The identity of a worker's machine: its owner and its name.

use std::fmt;

use domain::Owner;

use super::{Machine, MachineId, Machines};
use crate::ledger::UnitRecord;

/// A machine of an owner. Two owners may each have a machine of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The authenticated owner; the unnamed owner without authentication.
    pub owner: Owner,
    /// The name of the machine.
    pub machine: String,
}

impl Identity {
    /// The one that a record names.
    pub fn of_record(r: &UnitRecord) -> Self {
        Self { owner: Owner::new(&r.owner), machine: r.machine.clone() }
    }

    /// Its number, if it is on record.
    pub fn number(&self, machines: &Machines) -> Option<MachineId> {
        machines.number(self.owner.name(), &self.machine)
    }

    /// Whether it is the machine that the records tell of.
    pub fn is(&self, machine: &Machine) -> bool {
        machine.owner == self.owner.name() && machine.name == self.machine
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.owner.title(&self.machine))
    }
}

//! What a coordinator knows of one unit, machine or worker.

use std::time::Duration;

use queens::UnitId;

use crate::owner::Owner;

/// What is to be explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A unit.
    Unit(UnitId),
    /// A machine.
    Machine {
        /// Its owner; unnamed without authentication.
        owner: Owner,
        /// Its name.
        machine: String,
        /// One worker on it, or all of them.
        worker: Option<String>,
    },
}

/// The explanation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// The units in the hands of workers, and the holders of a unit; at most 1000.
    pub held: Vec<HeldUnit>,
    /// How many there are.
    pub held_total: u64,
    /// The undecided units that a machine has counted; at most 1000.
    pub disputed: Vec<UnitId>,
    /// Why a machine is not believed; none if it is.
    pub distrust: Option<String>,
    /// Why a unit is still open; none if it is counted and its checks are made.
    pub open_because: Option<String>,
}

/// A unit in the hands of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldUnit {
    /// The unit.
    pub unit: UnitId,
    /// The owner of the worker.
    pub owner: Owner,
    /// Its machine.
    pub machine: String,
    /// Its name.
    pub worker: String,
    /// How long ago the unit was lent to it.
    pub held: Duration,
    /// When the lease ends if it is not renewed.
    pub left: Duration,
    /// Whether the unit has a standing count, which this one checks.
    pub is_check: bool,
}

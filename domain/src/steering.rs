//! Commands of an operator to a served run.

use crate::owner::Owner;

/// A command of the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steering {
    /// No more units are lent; those that workers hold are counted. Holds until the run is resumed, also for a coordinator that
    /// is started again.
    Pause {
        /// The reason, which the status shows.
        reason: String,
    },
    /// Units are lent again.
    Resume,
    /// The connected workers of a machine finish their running units, return the rest, and leave.
    Drain {
        /// Its owner; empty without authentication.
        owner: Owner,
        /// Its name.
        machine: String,
    },
}

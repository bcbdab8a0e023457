//! What an operator wishes of a run that is being served.

use crate::owner::Owner;

/// What is wished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steering {
    /// No more units are lent; those that workers hold are counted. Holds until the run is resumed, also for a coordinator that
    /// is started again.
    Pause {
        /// Why, for those who ask where the run stands.
        reason: String,
    },
    /// Units are lent again.
    Resume,
    /// The workers that are there of a machine finish what they count, give back the rest, and leave.
    Drain {
        /// Who it belongs to; empty where nobody was authenticated.
        owner: Owner,
        /// What its owner calls it.
        machine: String,
    },
}

//! What an operator changes of how a run is served, while it is served.

/// A change of how a run's counts are checked and how many followers must have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyChange {
    /// Which counts are made a second time: none, a share as in 1%, or all; as before where nothing is said.
    pub double_check: Option<String>,
    /// How many followers must have a record before it is acknowledged; as before where nothing is said.
    pub replicas: Option<u32>,
    /// By how many owners each checked unit must have been counted, 1 or 2; as before where nothing is said.
    pub require_owners: Option<u32>,
    /// Why, for those who read the ledger.
    pub reason: String,
}

/// What holds from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyInForce {
    /// Which counts are made a second time.
    pub double_check: String,
    /// How many followers must have a record before it is acknowledged.
    pub replicas: u32,
    /// By how many owners each checked unit must have been counted: 1 or 2.
    pub require_owners: u32,
    /// Where the change is on disk.
    pub copies: Copies,
}

/// On how many disks besides the coordinator's that is which it was asked to put on record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// So many followers have it.
    pub followers: u32,
    /// So many must have a record before it is acknowledged.
    pub replicas: u32,
}

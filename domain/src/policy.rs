//! An operator's change of a served run's policy.

/// A change of how a run's counts are checked and how many followers must have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyChange {
    /// Which counts are checked: none, a share as in 1%, or all; unchanged if missing.
    pub double_check: Option<String>,
    /// The number of followers that must have a record before it is acknowledged; unchanged if missing.
    pub replicas: Option<u32>,
    /// The number of owners that must count each checked unit, 1 or 2; unchanged if missing.
    pub require_owners: Option<u32>,
    /// The share of units that the operator's own machines count once more, as in 1%, or none; unchanged if missing.
    pub own_checks: Option<String>,
    /// The owner of these machines; unchanged if missing.
    pub own: Option<String>,
    /// The reason, which is kept in the ledger.
    pub reason: String,
    /// Only check that the change is possible. The answer is the policy in effect.
    pub dry_run: bool,
}

/// The policy in effect after the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyInForce {
    /// Which counts are made a second time.
    pub double_check: String,
    /// How many followers must have a record before it is acknowledged.
    pub replicas: u32,
    /// The number of owners that must count each checked unit: 1 or 2.
    pub require_owners: u32,
    /// The share of units that the operator's own machines count once more, or none.
    pub own_checks: String,
    /// The owner of these machines; empty without own checks.
    pub own: String,
    /// The copies of the change on disk.
    pub copies: Copies,
}

/// The number of followers that have a requested change on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// The number of followers that have the change.
    pub followers: u32,
    /// The number of followers that must have a record before it is acknowledged.
    pub replicas: u32,
}

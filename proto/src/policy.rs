//! What an operator changes of how a run is served, while it is served.

use crate::retraction::is_reason;
use crate::v1;
use crate::wire::WireError;

/// A change of how a run's counts are checked and how many followers must have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyChange {
    /// Which counts are made a second time: none, a share as in 1%, or all; as before where nothing is said.
    pub double_check: Option<String>,
    /// How many followers must have a record before it is acknowledged; as before where nothing is said.
    pub replicas: Option<u32>,
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
    /// Where the change is on disk.
    pub copies: Copies,
}

/// On how many disks besides the coordinator's that is which it was asked to put on record. Coordinators of before said nothing of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// So many followers have it.
    pub followers: u32,
    /// So many must have a record before it is acknowledged.
    pub replicas: u32,
}

impl From<Copies> for v1::Copies {
    fn from(Copies { followers, replicas }: Copies) -> Self {
        Self { followers, replicas }
    }
}

impl From<v1::Copies> for Copies {
    fn from(v1::Copies { followers, replicas }: v1::Copies) -> Self {
        Self { followers, replicas }
    }
}

impl From<PolicyChange> for v1::ChangePolicyRequest {
    fn from(change: PolicyChange) -> Self {
        let PolicyChange { double_check, replicas, reason } = change;
        Self { double_check, replicas, reason }
    }
}

impl TryFrom<v1::ChangePolicyRequest> for PolicyChange {
    type Error = WireError;
    fn try_from(request: v1::ChangePolicyRequest) -> Result<Self, WireError> {
        let v1::ChangePolicyRequest { double_check, replicas, reason } = request;
        if !is_reason(&reason) {
            return Err(WireError::new("the reason", reason, "1 to 1000 bytes of plain text"));
        }
        if double_check.is_none() && replicas.is_none() {
            return Err(WireError::new("what is changed", "nothing", "the double-check or the replicas"));
        }
        Ok(Self { double_check, replicas, reason })
    }
}

impl From<PolicyInForce> for v1::ChangePolicyReply {
    fn from(PolicyInForce { double_check, replicas, copies }: PolicyInForce) -> Self {
        Self { double_check, replicas, copies: Some(copies.into()) }
    }
}

impl From<v1::ChangePolicyReply> for PolicyInForce {
    fn from(reply: v1::ChangePolicyReply) -> Self {
        let v1::ChangePolicyReply { double_check, replicas, copies } = reply;
        Self { double_check, replicas, copies: copies.map_or_else(Copies::default, Into::into) }
    }
}

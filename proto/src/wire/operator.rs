//! Conversion between protobuf and domain types: an operator's requests.

use domain::{
    Copies, Owner, PolicyChange, PolicyInForce, Steering, Takeback, TakenBack, Target, is_name, is_reason,
};
use queens::UnitId;

use super::WireError;
use crate::v1;

impl From<Steering> for v1::SteerRequest {
    fn from(steering: Steering) -> Self {
        match steering {
            Steering::Pause { reason } => Self { pause: Some(reason), ..Self::default() },
            Steering::Resume => Self { resume: true, ..Self::default() },
            Steering::Drain { owner, machine } => {
                Self { drain: Some(machine), owner: owner.name().to_owned(), ..Self::default() }
            }
        }
    }
}

impl TryFrom<v1::SteerRequest> for Steering {
    type Error = WireError;
    fn try_from(request: v1::SteerRequest) -> Result<Self, WireError> {
        match request {
            v1::SteerRequest { pause: Some(reason), resume: false, drain: None, .. }
                if is_reason(&reason) =>
            {
                Ok(Self::Pause { reason })
            }
            v1::SteerRequest { pause: Some(reason), resume: false, drain: None, .. } => {
                Err(WireError::new("the reason", reason, "1 to 1000 bytes of plain text"))
            }
            v1::SteerRequest { pause: None, resume: true, drain: None, .. } => Ok(Self::Resume),
            v1::SteerRequest { pause: None, resume: false, drain: Some(machine), owner } => {
                Ok(Self::Drain { owner: Owner::new(&owner), machine })
            }
            _ => {
                Err(WireError::new("the request", "several things or none", "a pause, a resume, or a drain"))
            }
        }
    }
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
        let PolicyChange { double_check, replicas, require_owners, own_checks, own, reason, dry_run } =
            change;
        Self { double_check, replicas, require_owners, own_checks, own, reason, dry_run }
    }
}

impl TryFrom<v1::ChangePolicyRequest> for PolicyChange {
    type Error = WireError;
    fn try_from(request: v1::ChangePolicyRequest) -> Result<Self, WireError> {
        let v1::ChangePolicyRequest {
            double_check,
            replicas,
            require_owners,
            own_checks,
            own,
            reason,
            dry_run,
        } = request;
        if !is_reason(&reason) {
            return Err(WireError::new("the reason", reason, "1 to 1000 bytes of plain text"));
        }
        let is_checking = double_check.is_some() || own_checks.is_some() || own.is_some();
        if !is_checking && replicas.is_none() && require_owners.is_none() {
            let what = "the double-check, the replicas, the owners or the own checks";
            return Err(WireError::new("what is changed", "nothing", what));
        }
        if let Some(owners) = require_owners.filter(|owners| !(1..=2).contains(owners)) {
            return Err(WireError::new("the required owners", owners, "1 or 2"));
        }
        if let Some(own) = own.as_ref().filter(|own| !is_name(own)) {
            return Err(WireError::new("the owner of own checks", own, "1 to 200 bytes of plain text"));
        }
        Ok(Self { double_check, replicas, require_owners, own_checks, own, reason, dry_run })
    }
}

impl From<PolicyInForce> for v1::ChangePolicyReply {
    fn from(policy: PolicyInForce) -> Self {
        let PolicyInForce { double_check, replicas, require_owners, own_checks, own, copies } = policy;
        Self { double_check, replicas, require_owners, own_checks, own, copies: Some(copies.into()) }
    }
}

impl From<v1::ChangePolicyReply> for PolicyInForce {
    fn from(reply: v1::ChangePolicyReply) -> Self {
        let v1::ChangePolicyReply { double_check, replicas, require_owners, own_checks, own, copies } = reply;
        Self {
            double_check,
            replicas,
            require_owners,
            own_checks,
            own,
            copies: copies.map_or_else(Copies::default, Into::into),
        }
    }
}

impl From<TakenBack> for v1::RetractReply {
    fn from(TakenBack { units, share, copies }: TakenBack) -> Self {
        Self { units, copies: Some(copies.into()), share }
    }
}

impl From<v1::RetractReply> for TakenBack {
    fn from(v1::RetractReply { units, copies, share }: v1::RetractReply) -> Self {
        Self { units, share, copies: copies.map_or_else(Copies::default, Into::into) }
    }
}

impl From<Takeback> for v1::RetractRequest {
    fn from(Takeback { target, reason, dry_run }: Takeback) -> Self {
        let of = |owner, machine, readmit| Self {
            units: Vec::new(),
            owner,
            machine,
            readmit,
            reason: String::new(),
            dry_run: false,
        };
        let request = match target {
            Target::Units(units) => {
                let units = units.into_iter().map(|unit| unit.0).collect();
                Self { units, ..of(None, None, false) }
            }
            Target::Machine { owner, machine } => of(Some(owner), Some(machine), false),
            Target::Owner(owner) => of(Some(owner), None, false),
            Target::Admission { owner, machine } => of(Some(owner), machine, true),
        };
        Self { reason, dry_run, ..request }
    }
}

impl TryFrom<v1::RetractRequest> for Takeback {
    type Error = WireError;
    fn try_from(request: v1::RetractRequest) -> Result<Self, WireError> {
        let v1::RetractRequest { units, owner, machine, readmit, reason, dry_run } = request;
        if !is_reason(&reason) {
            return Err(WireError::new("the reason", reason, "1 to 1000 bytes of plain text"));
        }
        let target = match (owner, machine) {
            (None, None) if !units.is_empty() && !readmit => {
                Target::Units(units.into_iter().map(UnitId).collect())
            }
            (Some(owner), machine) if units.is_empty() && readmit => Target::Admission { owner, machine },
            (Some(owner), Some(machine)) if units.is_empty() => Target::Machine { owner, machine },
            (Some(owner), None) if units.is_empty() => Target::Owner(owner),
            _ => {
                let wanted = "either units, or a machine of an owner, or an owner";
                return Err(WireError::new("the target", "something else", wanted));
            }
        };
        Ok(Self { target, reason, dry_run })
    }
}

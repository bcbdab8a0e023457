//! Conversion between protobuf and domain types: what a coordinator knows of a unit, a machine or a worker.

use domain::{Explained, HeldUnit, Owner, Subject};
use queens::UnitId;

use super::{WireError, seconds};
use crate::v1;

impl From<Subject> for v1::ExplainRequest {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Unit(unit) => Self { unit: Some(unit.0), ..Self::default() },
            Subject::Machine { owner, machine, worker } => {
                Self { unit: None, owner: owner.name().to_owned(), machine: Some(machine), worker }
            }
        }
    }
}

impl TryFrom<v1::ExplainRequest> for Subject {
    type Error = WireError;
    fn try_from(request: v1::ExplainRequest) -> Result<Self, WireError> {
        match request {
            v1::ExplainRequest { unit: Some(unit), machine: None, worker: None, .. } => {
                Ok(Self::Unit(UnitId(unit)))
            }
            v1::ExplainRequest { unit: None, owner, machine: Some(machine), worker } => {
                Ok(Self::Machine { owner: Owner::new(&owner), machine, worker })
            }
            _ => Err(WireError::new("the request", "something else", "either a unit or a machine")),
        }
    }
}

impl From<Explained> for v1::ExplainReply {
    fn from(Explained { held, held_total, disputed, distrust, open_because }: Explained) -> Self {
        let held = held.into_iter().map(Into::into).collect();
        let disputed = disputed.into_iter().map(|unit| unit.0).collect();
        Self { held, held_total, disputed, open_because, lines: Vec::new(), plan: None, distrust }
    }
}

impl TryFrom<v1::ExplainReply> for Explained {
    type Error = WireError;
    fn try_from(reply: v1::ExplainReply) -> Result<Self, WireError> {
        let v1::ExplainReply { held, held_total, disputed, distrust, open_because, .. } = reply;
        let held = held.into_iter().map(HeldUnit::try_from).collect::<Result<_, _>>()?;
        let disputed = disputed.into_iter().map(UnitId).collect();
        Ok(Self { held, held_total, disputed, distrust, open_because })
    }
}

impl From<HeldUnit> for v1::HeldUnit {
    fn from(HeldUnit { unit, owner, machine, worker, held, left, is_check }: HeldUnit) -> Self {
        Self {
            unit: unit.0,
            owner: owner.name().to_owned(),
            machine,
            worker,
            held: held.as_secs_f64(),
            left: left.as_secs_f64(),
            is_check,
        }
    }
}

impl TryFrom<v1::HeldUnit> for HeldUnit {
    type Error = WireError;
    fn try_from(held: v1::HeldUnit) -> Result<Self, WireError> {
        let v1::HeldUnit { unit, owner, machine, worker, held, left, is_check } = held;
        let (held, left) = (seconds(held)?, seconds(left)?);
        Ok(Self { unit: UnitId(unit), owner: Owner::new(&owner), machine, worker, held, left, is_check })
    }
}

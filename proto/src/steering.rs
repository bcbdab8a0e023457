//! What an operator wishes of a run that is being served.

use crate::domain::Owner;
use crate::retraction::is_reason;
use crate::v1;
use crate::wire::WireError;

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
            _ => Err(WireError::new(
                "what is wished",
                "several things or none",
                "a pause, its end, or a drain",
            )),
        }
    }
}

//! What an operator takes back, and why.

use queens::UnitId;

use crate::v1;
use crate::wire::WireError;

/// What is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The counts of these units, whoever made and confirmed them.
    Units(Vec<UnitId>),
    /// What this machine has counted and no other machine has confirmed; nothing is lent to it any more.
    Machine {
        /// Who it belongs to; empty where nobody was authenticated.
        owner: String,
        /// What its owner calls it.
        machine: String,
    },
    /// What this owner's machines have counted and no other owner has confirmed; nothing is lent to them any more.
    Owner(String),
    /// Nothing: this owner is believed again, or one machine of this owner.
    Admission {
        /// Empty where nobody was authenticated.
        owner: String,
        /// What its owner calls it, if it is one machine.
        machine: Option<String>,
    },
}

/// Something that is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takeback {
    /// What.
    pub target: Target,
    /// Why, for those who read the ledger.
    pub reason: String,
}

/// The longest reason, in bytes: it must fit a line of the ledger.
const LONGEST_REASON: usize = 1000;

/// Whether the text can be the reason for what an operator does: one line of 1 to 1000 bytes.
pub fn is_reason(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LONGEST_REASON && !text.chars().any(char::is_control)
}

impl From<Takeback> for v1::RetractRequest {
    fn from(Takeback { target, reason }: Takeback) -> Self {
        let of = |owner, machine, readmit| Self {
            units: Vec::new(),
            owner,
            machine,
            readmit,
            reason: String::new(),
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
        Self { reason, ..request }
    }
}

impl TryFrom<v1::RetractRequest> for Takeback {
    type Error = WireError;
    fn try_from(request: v1::RetractRequest) -> Result<Self, WireError> {
        let v1::RetractRequest { units, owner, machine, readmit, reason } = request;
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
                return Err(WireError::new("what is taken back", "something else", wanted));
            }
        };
        Ok(Self { target, reason })
    }
}

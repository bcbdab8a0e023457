//! What an operator takes back, and why.

use std::fmt;

use queens::UnitId;

use crate::domain::Owner;
use crate::policy::Copies;
use crate::text::is_unseen;
use crate::v1;
use crate::wire::WireError;

/// Units are named one by one where there are no more.
const MOST_NAMED: usize = 8;

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

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |owner: &str| if owner.is_empty() { String::new() } else { format!(" of {owner}") };
        match self {
            Target::Units(units) if units.len() > MOST_NAMED => write!(f, "{} units", units.len()),
            Target::Units(units) => {
                let units: Vec<_> = units.iter().map(ToString::to_string).collect();
                write!(f, "{} {}", if units.len() == 1 { "unit" } else { "units" }, units.join(", "))
            }
            Target::Machine { owner, machine } | Target::Admission { owner, machine: Some(machine) } => {
                write!(f, "machine {machine}{}", of(owner))
            }
            Target::Owner(owner) | Target::Admission { owner, machine: None } => {
                write!(f, "owner {}", Owner::new(owner).typed())
            }
        }
    }
}

/// What was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// So many counts.
    pub units: u64,
    /// Where that is on disk.
    pub copies: Copies,
}

impl From<TakenBack> for v1::RetractReply {
    fn from(TakenBack { units, copies }: TakenBack) -> Self {
        Self { units, copies: Some(copies.into()) }
    }
}

impl From<v1::RetractReply> for TakenBack {
    fn from(v1::RetractReply { units, copies }: v1::RetractReply) -> Self {
        Self { units, copies: copies.map_or_else(Copies::default, Into::into) }
    }
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
    !text.trim().is_empty() && text.len() <= LONGEST_REASON && !text.contains(is_unseen)
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

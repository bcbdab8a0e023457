//! What an operator takes back, and why.

use std::fmt;

use queens::UnitId;

use crate::owner::Owner;
use crate::policy::Copies;
use crate::text::is_unseen;

/// Units are named one by one where there are no more.
const MOST_NAMED: usize = 8;

/// The target of a retraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The counts of these units, by any machine and with any confirmation.
    Units(Vec<UnitId>),
    /// What this machine has counted and no other machine has confirmed; nothing is lent to it any more.
    Machine {
        /// Its owner; empty without authentication.
        owner: String,
        /// What its owner calls it.
        machine: String,
    },
    /// What this owner's machines have counted and no other owner has confirmed; nothing is lent to them any more.
    Owner(String),
    /// Nothing: this owner is believed again, or one machine of this owner.
    Admission {
        /// The owner; empty without authentication.
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

/// The result of a retraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The number of retracted counts.
    pub units: u64,
    /// Where that is on disk.
    pub copies: Copies,
}

/// Something that is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takeback {
    /// What.
    pub target: Target,
    /// The reason, which is kept in the ledger.
    pub reason: String,
}

/// The longest reason, in bytes: it must fit a line of the ledger.
const LONGEST_REASON: usize = 1000;

/// Whether the text can be the reason for what an operator does: one line of 1 to 1000 bytes.
pub fn is_reason(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LONGEST_REASON && !text.contains(is_unseen)
}

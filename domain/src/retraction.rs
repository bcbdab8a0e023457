//! An operator's retraction and its reason.

use std::fmt;

use queens::UnitId;

use crate::owner::Owner;
use crate::policy::Copies;
use crate::text::is_unseen;

/// Maximum number of units that are listed individually.
const MOST_NAMED: usize = 8;

/// The target of a retraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The counts of these units, by any machine and with any confirmation.
    Units(Vec<UnitId>),
    /// The unconfirmed counts of this machine, which gets no more leases.
    Machine {
        /// Its owner; empty without authentication.
        owner: String,
        /// Its name.
        machine: String,
    },
    /// The counts of this owner's machines that no other owner has confirmed. These machines get no more leases.
    Owner(String),
    /// No counts: this owner, or one of its machines, is believed again.
    Admission {
        /// The owner; empty without authentication.
        owner: String,
        /// The name of the machine, if it is one machine.
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakenBack {
    /// The number of retracted counts.
    pub units: u64,
    /// The share of the run's expected work in their units, from 0 to 1.
    pub share: f64,
    /// The copies of the retraction on disk.
    pub copies: Copies,
}

/// A requested retraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Takeback {
    /// The target.
    pub target: Target,
    /// The reason, which is kept in the ledger.
    pub reason: String,
    /// True if nothing is taken back and only the extent is wanted.
    pub dry_run: bool,
}

/// The longest reason, in bytes: it must fit a line of the ledger.
const LONGEST_REASON: usize = 1000;

/// True if the text is a valid reason: one line of 1 to 1000 bytes.
pub fn is_reason(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LONGEST_REASON && !text.contains(is_unseen)
}

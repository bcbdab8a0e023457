//! A machine that has counted, and whether it is believed.

use domain::{Hardware, Owner};
use serde::{Deserialize, Serialize};

/// The records about one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its owner; empty without authentication.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Units whose standing count it made.
    pub counts: u64,
    /// The number of its counts that no other machine has confirmed.
    pub unverified: u64,
    /// The number of its counts that only other machines of its owner have confirmed.
    pub internal: u64,
    /// Its counts that another machine has confirmed, or that confirmed another's.
    pub verified: u64,
    /// The number of its first counts, which are all checked.
    pub trials: u64,
    /// Its counts that two other counts have proved wrong.
    pub wrong: u64,
    /// The number of units in which it has contradicted itself and no other machine has decided.
    pub self_contradictions: u64,
    /// Its trust.
    pub trust: Trust,
}

/// Number of self-contradictions after which a machine is quarantined.
const SELF_CONTRADICTIONS_TO_QUARANTINE: u64 = 10;

/// Whether a machine is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trust {
    /// It is believed.
    #[default]
    Believed,
    /// It gets no more leases, and only its confirmed counts stand.
    Quarantined,
    /// An own check contradicts its owner: it gets no more leases, and its counts stand until the operator decides.
    Suspended,
    /// Its owner is expelled: only its counts that another owner has confirmed stand.
    Expelled,
    /// The operator decided against its owner, whom an own check contradicts: none of its counts stands.
    Refuted,
}

impl Machine {
    /// Whether nothing is lent to it any more.
    pub fn is_quarantined(&self) -> bool {
        self.trust != Trust::Believed
    }

    /// True if it has contradicted itself too often to be believed.
    pub fn contradicts_itself(&self) -> bool {
        self.self_contradictions >= SELF_CONTRADICTIONS_TO_QUARANTINE
    }

    /// The number of its standing counts that must be retracted.
    pub fn unbelieved(&self) -> u64 {
        match self.trust {
            Trust::Believed | Trust::Suspended => 0,
            Trust::Quarantined => self.unverified,
            Trust::Expelled => self.unverified + self.internal,
            Trust::Refuted => self.counts,
        }
    }

    /// The kind of its device.
    pub fn hardware(&self) -> Hardware {
        Hardware::of(&self.name)
    }

    /// Its owner and its name.
    pub fn maker(&self) -> (&str, &str) {
        (&self.owner, &self.name)
    }

    /// The display name: `owner/name`, or the name alone without an owner.
    pub fn title(&self) -> String {
        Owner::new(&self.owner).title(&self.name)
    }
}

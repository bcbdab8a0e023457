//! A machine that has counted, and whether it is believed.

use domain::{Hardware, Owner};
use serde::{Deserialize, Serialize};

/// What the records say of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Who it belongs to; empty where nobody was authenticated.
    pub owner: String,
    /// What its owner calls it.
    pub name: String,
    /// Units whose standing count it made.
    pub counts: u64,
    /// Those of them that no other machine has confirmed.
    pub unverified: u64,
    /// Those of them that other machines of its owner have confirmed, and nobody else.
    pub internal: u64,
    /// Its counts that another machine has confirmed, or that confirmed another's.
    pub verified: u64,
    /// Its first counts, each of which is checked.
    pub trials: u64,
    /// Its counts that two other counts have proved wrong.
    pub wrong: u64,
    /// Units of which it has contradicted itself, and nobody else has decided what is right.
    pub self_contradictions: u64,
    /// What became of it.
    pub trust: Trust,
}

/// A machine that has contradicted itself so often decides nothing more alone: it errs, and might do so twice alike.
const MOST_SELF_CONTRADICTIONS: u64 = 10;

/// Whether a machine is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trust {
    /// It is.
    #[default]
    Believed,
    /// Nothing is lent to it any more, and only those of its counts stand that another machine has confirmed.
    Quarantined,
    /// It is its owner who is not believed: only those of its counts stand that another owner has confirmed.
    Expelled,
}

impl Machine {
    /// Whether nothing is lent to it any more.
    pub fn is_quarantined(&self) -> bool {
        self.trust != Trust::Believed
    }

    /// Whether two equal counts of it decide a dispute where nobody else is there.
    pub fn may_decide_alone(&self) -> bool {
        self.self_contradictions < MOST_SELF_CONTRADICTIONS
    }

    /// How many of its standing counts are to be taken back.
    pub fn unbelieved(&self) -> u64 {
        match self.trust {
            Trust::Believed => 0,
            Trust::Quarantined => self.unverified,
            Trust::Expelled => self.unverified + self.internal,
        }
    }

    /// What kind of hardware it is.
    pub fn hardware(&self) -> Hardware {
        Hardware::of(&self.name)
    }

    /// Who counts by it: its owner, and its name.
    pub fn maker(&self) -> (&str, &str) {
        (&self.owner, &self.name)
    }

    /// What people are told that it is called: `owner/name`, or the name where there are no owners.
    pub fn title(&self) -> String {
        Owner::new(&self.owner).title(&self.name)
    }
}

//! By which rules the records of a ledger are to be read.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What the owner without a name is to those with one: a run may be begun without keys and go on with them. A ledger says
/// by which rules it goes on, for what stands in one must not change its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
pub enum Rules {
    /// Another owner, like all others.
    #[default]
    First = 1,
    /// Perhaps the same people as any other; and what is one machine to both has one name.
    Second = 2,
}

/// Rules that a newer release may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("rules {0} are not known here, only 1 and 2 are")]
pub struct UnknownRules(u32);

impl Rules {
    /// Those by which this release writes.
    pub const NEWEST: Self = Self::Second;

    /// Whether they are those of a ledger that names none.
    pub fn is_first(&self) -> bool {
        *self == Self::First
    }
}

impl From<Rules> for u32 {
    fn from(rules: Rules) -> Self {
        rules as Self
    }
}

impl TryFrom<u32> for Rules {
    type Error = UnknownRules;

    fn try_from(number: u32) -> Result<Self, UnknownRules> {
        [Self::First, Self::Second]
            .into_iter()
            .find(|rules| u32::from(*rules) == number)
            .ok_or(UnknownRules(number))
    }
}

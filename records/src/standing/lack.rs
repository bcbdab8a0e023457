//! What a unit still lacks.

use std::fmt;

use queens::UnitId;

use super::Standing;
use crate::double_check::DoubleCheck;

/// What a unit still lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A first count.
    Count,
    /// A count that decides a dispute.
    Decision,
    /// A check of its count.
    Check,
    /// A count by the operator's own machines.
    OwnCheck,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "it has no standing count",
            Self::Decision => "its counts differ",
            Self::Check => "its count is to be checked",
            Self::OwnCheck => "its count is to be checked by the operator's own machines",
        })
    }
}

impl Standing {
    /// What the unit still lacks; none if it is counted and its checks are made.
    pub fn lack(&self, unit: UnitId, policy: DoubleCheck) -> Option<Lack> {
        if self.sums.disputed.contains_key(&unit) {
            Some(Lack::Decision)
        } else if !self.is_done(unit) {
            Some(Lack::Count)
        } else if self.is_pending(unit, policy) {
            Some(Lack::Check)
        } else {
            self.is_own_check_due(unit).then_some(Lack::OwnCheck)
        }
    }
}

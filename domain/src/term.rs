//! Terms: which process serves a run. Each process that serves it begins a higher one. Two processes of one term are a mistake of
//! their operator: both stop.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Names a process that serves a run: drawn at random when it opens the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoordinatorId(pub u128);

impl fmt::Display for CoordinatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The identity of a run: the hash with which its ledger starts. Two runs of one plan have different identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunId(pub u128);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run {:08x}", self.0 >> 96)
    }
}

/// A text that names no coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not 32 hexadecimal digits in lower case")]
pub struct CoordinatorIdError(String);

impl FromStr for CoordinatorId {
    type Err = CoordinatorIdError;
    fn from_str(text: &str) -> Result<Self, CoordinatorIdError> {
        let id = u128::from_str_radix(text, 16).ok().map(Self).filter(|id| id.to_string() == text);
        id.ok_or_else(|| CoordinatorIdError(text.to_owned()))
    }
}

/// A term of a run, with the proof that a coordinator of this run opened it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Term {
    /// One more than the last one on record.
    pub number: u64,
    /// The coordinator of the term.
    pub coordinator: CoordinatorId,
    /// A keyed hash, which only a holder of the run's lease key can make.
    pub proof: u128,
}

impl Term {
    /// No coordinator begins this term or a higher one: there are enough lower ones for all starts and takeovers of a run.
    pub const END: u64 = 1 << 63;

    /// True if a participant that has met the other term may accept this term: it is the same term or a higher term.
    pub fn follows(&self, met: &Term) -> bool {
        self.number > met.number || (self.number == met.number && self.coordinator == met.coordinator)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let coordinator = self.coordinator.to_string();
        write!(f, "term {} of coordinator {}", self.number, &coordinator[..8])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinator_id_round_trips_and_other_text_fails() {
        for id in [0, 1, u128::MAX, 0xabcd << 64].map(CoordinatorId) {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in ["", "0", &"A".repeat(32), &format!("+{}", "0".repeat(31)), &"0".repeat(33)] {
            assert!(text.parse::<CoordinatorId>().is_err(), "{text}");
        }
    }

    #[test]
    fn term_follows_itself_and_lower_terms_only() {
        let term = |number, coordinator| Term { number, coordinator: CoordinatorId(coordinator), proof: 0 };
        assert!(term(3, 1).follows(&term(3, 1)) && term(4, 2).follows(&term(3, 1)));
        assert!(!term(3, 2).follows(&term(3, 1)) && !term(2, 1).follows(&term(3, 1)));
    }
}

//! Terms: which process serves a run, and the how-manieth it is. A higher term is younger; two processes of one term, or
//! one of a lower term than another that was met, are a fork.

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

/// Names a run: the hash that its ledger begins with. Two runs of one plan have two of them.
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

/// A term of a run, with what proves that a coordinator of that run has opened it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Term {
    /// One more than the last one on record.
    pub number: u64,
    /// Who opened it.
    pub coordinator: CoordinatorId,
    /// A keyed hash: only who has the key of the run's leases can make it.
    pub proof: u128,
}

impl Term {
    /// Nobody opens this term or a higher one: there are lower ones for all starts and takeovers of a run.
    pub const END: u64 = 1 << 63;

    /// No run comes so far from one term that somebody knows to another: it takes a million takeovers, of a million each.
    pub const TOO_FAR: u64 = 1_000_000_000_000;

    /// By which of several coordinators of a run everybody turns to the same one, the highest: the youngest, and where two have opened one
    /// term, the one with the higher name. Should both have nothing on record, one of them goes on.
    pub fn precedence(&self) -> (u64, CoordinatorId) {
        (self.number, self.coordinator)
    }

    /// Whether a term of that number is too far past one that is known (0: none) to be true. Who believed it would never deal with
    /// the run's own coordinator any more, and who went on from it would leave no room for takeovers.
    pub fn is_too_far(number: u64, known: u64) -> bool {
        number.saturating_sub(known) >= Self::TOO_FAR
    }

    /// Whether who has met the other term may deal with this one: it is that one, or younger.
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
    fn names_of_coordinators_come_back_as_they_were_and_nothing_else_is_one() {
        for id in [0, 1, u128::MAX, 0xabcd << 64].map(CoordinatorId) {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in ["", "0", &"A".repeat(32), &format!("+{}", "0".repeat(31)), &"0".repeat(33)] {
            assert!(text.parse::<CoordinatorId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_term_is_too_far_past_a_lower_one_only() {
        for (number, known) in [(1, 0), (Term::TOO_FAR, 1), (Term::END, Term::END - 1), (3, Term::END)] {
            assert!(!Term::is_too_far(number, known), "{number} after {known}");
        }
        for (number, known) in [(Term::TOO_FAR, 0), (Term::TOO_FAR + 1, 1), (Term::END - 1, 3)] {
            assert!(Term::is_too_far(number, known), "{number} after {known}");
        }
    }

    #[test]
    fn a_term_follows_itself_and_lower_ones_and_no_other_of_its_number() {
        let term = |number, coordinator| Term { number, coordinator: CoordinatorId(coordinator), proof: 0 };
        assert!(term(3, 1).follows(&term(3, 1)) && term(4, 2).follows(&term(3, 1)));
        assert!(!term(3, 2).follows(&term(3, 1)) && !term(2, 1).follows(&term(3, 1)));
    }
}

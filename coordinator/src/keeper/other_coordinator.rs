//! Another coordinator of the same run. A coordinator that learns of another coordinator with its own term or a higher
//! term stops: it lends, records and acknowledges nothing more. An operator then decides which coordinator continues
//! (`--take-over`).

use domain::Term;
use queens::{Class, Classified};
use thiserror::Error;

/// Why a coordinator stopped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OtherCoordinator {
    /// It was taken over.
    #[error(
        "another coordinator serves this run with {other}, this one has {own}: let that one continue, \
         and follow it with diadem follow. Only if it is gone permanently, start this one again with \
         --take-over; records that it alone has are then lost"
    )]
    Higher {
        /// The term of this process.
        own: Term,
        /// The term of the other coordinator.
        other: Term,
    },
    /// One run directory was copied, and both were started.
    #[error(
        "two coordinators serve this run in one term, {own} and {other}, and both stop. Compare their \
         run directories with diadem verify, and start the one to keep with --take-over; what the other \
         one alone has on record is counted again"
    )]
    SameTerm {
        /// The term of this process.
        own: Term,
        /// The term of the other coordinator.
        other: Term,
    },
}

impl OtherCoordinator {
    /// The reason to stop for a coordinator of the term `own` that hears of the term `other`, if there is one.
    pub(super) fn between(own: Term, other: Term) -> Option<Self> {
        if own.follows(&other) {
            None
        } else if own.number == other.number {
            Some(Self::SameTerm { own, other })
        } else {
            Some(Self::Higher { own, other })
        }
    }

    /// The term of the other coordinator.
    pub(super) fn term(&self) -> &Term {
        let (Self::Higher { other, .. } | Self::SameTerm { other, .. }) = self;
        other
    }
}

impl Classified for OtherCoordinator {
    fn class(&self) -> Class {
        Class::Failed
    }
}

#[cfg(test)]
mod tests {
    use domain::CoordinatorId;

    use super::*;

    #[test]
    fn higher_or_equal_other_term_stops_coordinator() {
        let term = |number, id| Term { number, coordinator: CoordinatorId(id), proof: 0 };
        let own = term(4, 1);
        for other in [term(3, 2), own] {
            assert_eq!(OtherCoordinator::between(own, other), None);
        }
        let other = term(1004, 2);
        assert_eq!(OtherCoordinator::between(own, other), Some(OtherCoordinator::Higher { own, other }));
        let other = term(4, 2);
        let stopped = OtherCoordinator::between(own, other).unwrap();
        assert_eq!(stopped, OtherCoordinator::SameTerm { own, other });
        let text = stopped.to_string();
        for named in [own.to_string(), other.to_string(), "--take-over".to_owned()] {
            assert!(text.contains(&named), "no {named} in {text}");
        }
    }
}

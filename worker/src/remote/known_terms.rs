//! The highest terms of a run that coordinators announced to this process.
//!
//! A worker cannot check the proof of a term: it has no key. It tells each coordinator of another one whose term is as high or
//! higher. The coordinator checks the proof, and stops if it is true.

use domain::Term;

/// The highest term that was announced, and the one of another coordinator with the same number.
#[derive(Clone, Debug, Default)]
pub struct KnownTerms {
    highest: Option<Term>,
    rival: Option<Term>,
}

impl KnownTerms {
    /// A coordinator announces that term. Returns true if it is higher than another one that was announced before.
    pub fn meet(&mut self, term: Term) -> bool {
        match self.highest {
            Some(highest) if highest.follows(&term) => false,
            Some(highest) if term.number == highest.number => {
                self.rival = Some(term);
                false
            }
            before => {
                (self.highest, self.rival) = (Some(term), None);
                before.is_some()
            }
        }
    }

    pub fn highest(&self) -> Option<Term> {
        self.highest
    }

    /// The term to tell a coordinator of the term `own`.
    pub fn against(&self, own: &Term) -> Option<Term> {
        [self.highest, self.rival].into_iter().flatten().find(|met| !own.follows(met))
    }
}

#[cfg(test)]
mod tests {
    use domain::CoordinatorId;

    use super::*;

    fn term(number: u64, coordinator: u128) -> Term {
        Term { number, coordinator: CoordinatorId(coordinator), proof: 1 }
    }

    #[test]
    fn coordinator_with_lower_term_learns_the_highest() {
        let mut met = KnownTerms::default();
        assert!(!met.meet(term(3, 1)) && met.meet(term(1003, 2)) && !met.meet(term(3, 1)));
        assert_eq!(met.highest(), Some(term(1003, 2)));
        assert_eq!(met.against(&term(3, 1)), Some(term(1003, 2)));
        assert_eq!(met.against(&term(1003, 2)), None);
        assert_eq!(met.against(&term(1004, 2)), None, "it was started again");
    }

    #[test]
    fn coordinators_with_equal_terms_learn_of_each_other() {
        let mut met = KnownTerms::default();
        let [one, other] = [1, 2].map(|coordinator| term(3, coordinator));
        [one, other, one].into_iter().for_each(|term| assert!(!met.meet(term)));
        assert_eq!((met.against(&one), met.against(&other)), (Some(other), Some(one)));
        assert!(met.meet(term(4, 1)));
        assert_eq!(met.against(&term(4, 1)), None);
    }
}

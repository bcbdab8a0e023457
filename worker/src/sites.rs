//! Which of several addresses of a coordinator is called: one as long as it answers, else the next; and which of them is
//! not to be dealt with, because one with a higher term has been met.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use proto::Term;
use tracing::{info, warn};

use crate::coordinator::CoordinatorError;

/// The addresses, and what is known of them.
#[derive(Debug)]
pub struct Sites {
    addresses: Arc<[String]>,
    choice: Mutex<Choice>,
    met: Arc<Mutex<Met>>,
}

/// Which of them a worker calls.
#[derive(Debug)]
struct Choice {
    current: usize,
    /// Why each of them refuses, where its last answer was that.
    refusals: Vec<Option<String>>,
}

/// What all workers of a process know that have these addresses.
#[derive(Debug, Default)]
struct Met {
    /// The highest term that was met.
    term: Option<Term>,
    /// The last one that was not to be dealt with: it is told once.
    left_alone: Option<Term>,
}

impl Sites {
    /// Begins with the first of them.
    pub fn new(addresses: Vec<String>) -> Self {
        Self::called_first(addresses.into(), 0, Arc::default())
    }

    /// For another worker: it begins with the one that is called now, goes on to others for itself, and knows what this one
    /// has met and will meet.
    pub fn beside(&self) -> Self {
        Self::called_first(Arc::clone(&self.addresses), self.current(), Arc::clone(&self.met))
    }

    fn called_first(addresses: Arc<[String]>, current: usize, met: Arc<Mutex<Met>>) -> Self {
        let refusals = vec![None; addresses.len()];
        Self { addresses, choice: Mutex::new(Choice { current, refusals }), met }
    }

    fn choice(&self) -> MutexGuard<'_, Choice> {
        self.choice.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Met> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one that is called now.
    pub fn current(&self) -> usize {
        self.choice().current
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// One of them.
    pub fn address(&self, site: usize) -> &str {
        &self.addresses[site]
    }

    /// The highest term that was met.
    pub fn met(&self) -> Option<Term> {
        self.known().term
    }

    /// A call to that site has been answered.
    pub fn answered(&self, site: usize) {
        self.choice().refusals[site] = None;
    }

    /// One of them has taken the worker in: what others said before that is no news any more, should it be gone one day.
    pub fn taken_in(&self) {
        self.choice().refusals.fill(None);
    }

    /// A call to that site has failed: from now on the next one is called, if that site is the one that is called. A refusal
    /// is for good only when all refuse.
    pub fn failed(&self, site: usize, error: CoordinatorError) -> CoordinatorError {
        let mut choice = self.choice();
        let error = match error {
            CoordinatorError::Unregistered => return error,
            CoordinatorError::Unavailable(_) => error,
            CoordinatorError::Refused(why) => {
                let address = &self.addresses[site];
                let refusal = Some(why.clone());
                if self.len() > 1 && choice.refusals[site] != refusal {
                    warn!(address, "refused: {why}");
                }
                choice.refusals[site] = refusal;
                if choice.refusals.iter().all(Option::is_some) {
                    return CoordinatorError::Refused(why);
                }
                CoordinatorError::Unavailable(why)
            }
        };
        self.leave(&mut choice, site);
        error
    }

    fn leave(&self, choice: &mut Choice, site: usize) {
        if choice.current == site && self.len() > 1 {
            choice.current = (site + 1) % self.len();
        }
    }

    /// The coordinator at that site has the highest term of all that answer: it is called from now on, and none of a lower
    /// one is dealt with.
    pub fn begin_with(&self, site: usize, term: Term) {
        if *self.known().term.get_or_insert(term) == term {
            self.choice().current = site;
        }
    }

    /// The coordinator at that site announces that term. One that was left alone has heard why when the worker registered there;
    /// another registration would only have it lend again, under a new number, what the worker holds.
    ///
    /// # Errors
    /// It was left alone before.
    pub fn meet_again(&self, site: usize, term: Term) -> Result<(), CoordinatorError> {
        if self.known().left_alone == Some(term) { self.meet(site, term) } else { Ok(()) }
    }

    /// The coordinator at that site has that term.
    ///
    /// # Errors
    /// It is not to be dealt with: another one goes on with the run.
    pub fn meet(&self, site: usize, term: Term) -> Result<(), CoordinatorError> {
        let mut known = self.known();
        match known.term {
            Some(met) if !term.follows(&met) => {
                let why = format!(
                    "{} has {term}, but {met} of this run was met before: it has forked, or an old folder came back; \
                     this coordinator is left alone; stop it if that one goes on, and only if that one is gone for good \
                     start it again and say --take-over",
                    self.addresses[site]
                );
                if known.left_alone.replace(term) != Some(term) {
                    warn!("{why}");
                }
                self.leave(&mut self.choice(), site);
                return Err(CoordinatorError::Unavailable(why));
            }
            Some(met) if met != term => {
                info!(address = self.addresses[site], %term, "the run has a younger coordinator")
            }
            _ => {}
        }
        known.term = Some(term);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::CoordinatorId;

    fn sites(count: usize) -> Sites {
        Sites::new((0..count).map(|site| format!("http://site-{site}:1")).collect())
    }

    fn unavailable() -> CoordinatorError {
        CoordinatorError::Unavailable("cut".into())
    }

    fn refused() -> CoordinatorError {
        CoordinatorError::Refused("no".into())
    }

    fn term(number: u64, coordinator: u128) -> Term {
        Term { number, coordinator: CoordinatorId(coordinator), proof: 1 }
    }

    #[test]
    fn the_next_one_is_called_when_the_one_that_is_called_fails_and_not_for_calls_of_before() {
        let sites = sites(3);
        assert_eq!(sites.current(), 0);
        sites.failed(0, unavailable());
        assert_eq!(sites.current(), 1);
        sites.failed(0, unavailable());
        assert_eq!(sites.current(), 1);
        sites.failed(1, CoordinatorError::Unregistered);
        assert_eq!(sites.current(), 1);
        sites.failed(1, unavailable());
        sites.failed(2, unavailable());
        assert_eq!(sites.current(), 0);
    }

    #[test]
    fn a_refusal_is_for_good_when_all_refuse() {
        let two = sites(2);
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Unavailable(_)));
        two.answered(0);
        assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)));
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)));
        assert!(matches!(sites(1).failed(0, refused()), CoordinatorError::Refused(_)));
    }

    #[test]
    fn refusals_are_forgotten_when_one_of_them_has_taken_the_worker_in() {
        let two = sites(2);
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Unavailable(_)));
        two.taken_in();
        assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)));
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)));
    }

    #[test]
    fn who_is_told_the_highest_term_before_it_has_met_one_begins_there_and_deals_with_no_lower_one() {
        let sites = sites(3);
        sites.begin_with(2, term(1003, 2));
        assert_eq!((sites.current(), sites.met()), (2, Some(term(1003, 2))));
        assert!(sites.meet(0, term(3, 1)).is_err());
        assert!(sites.meet(2, term(1003, 2)).is_ok());
        // Later it knows for itself.
        sites.begin_with(0, term(3, 1));
        assert_eq!((sites.current(), sites.met()), (2, Some(term(1003, 2))));
    }

    #[test]
    fn workers_of_a_process_go_from_address_to_address_each_for_itself_and_know_the_same_terms() {
        let one = sites(3);
        one.begin_with(1, term(3, 1));
        let other = one.beside();
        assert_eq!((other.current(), other.met()), (1, Some(term(3, 1))));
        assert!(matches!(one.failed(1, refused()), CoordinatorError::Unavailable(_)));
        assert_eq!((one.current(), other.current()), (2, 1), "the refusal of one is not the other's");
        assert!(one.meet(2, term(1003, 2)).is_ok());
        assert!(other.meet(1, term(3, 1)).is_err(), "it knows what the other has met");
        assert!(one.meet_again(1, term(3, 1)).is_err(), "that one has heard why");
    }

    #[test]
    fn of_two_terms_the_younger_one_counts_and_no_other_of_its_number() {
        let sites = sites(2);
        assert!(sites.meet(0, term(3, 1)).is_ok());
        assert!(sites.meet(1, term(1003, 2)).is_ok());
        assert_eq!(sites.current(), 0);
        for other in [term(3, 1), term(4, 1), term(1003, 3)] {
            assert!(matches!(sites.meet(0, other), Err(CoordinatorError::Unavailable(_))));
            assert_eq!(sites.met(), Some(term(1003, 2)));
        }
        assert_eq!(sites.current(), 1);
        assert!(sites.meet(1, term(1003, 2)).is_ok());
    }

    #[test]
    fn who_was_left_alone_once_is_not_registered_with_again() {
        let sites = sites(2);
        assert!(sites.meet(1, term(1003, 2)).is_ok());
        for other in [term(3, 1), term(1003, 3)] {
            assert!(sites.meet_again(0, other).is_ok(), "it must hear what the worker has met");
            assert!(sites.meet(0, other).is_err());
            assert!(sites.meet_again(0, other).is_err());
        }
        assert!(sites.meet_again(1, term(1003, 2)).is_ok());
    }
}

//! Which of several addresses of a coordinator is called: one as long as it answers, else the next; and which of them is left
//! alone because it serves another run.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{RunId, Term};
use parking_lot::Mutex;
use tracing::{info, warn};

use super::known_terms::KnownTerms;
use crate::coordinator::CoordinatorError;

/// The addresses, and what is known of them.
#[derive(Debug)]
pub struct AddressList {
    addresses: Arc<[String]>,
    choice: Mutex<Choice>,
    met: Arc<Mutex<Met>>,
}

/// Which of them a worker calls.
#[derive(Debug)]
struct Choice {
    current: usize,
    /// Why each of them refuses, if it does.
    refusals: Vec<Option<Refusal>>,
    /// What was told last of each of them: one that announces its plan, and then refuses as before, has said nothing new.
    told: Vec<Option<Refusal>>,
    /// The run of which the worker holds units.
    run: Option<RunId>,
}

/// Why one of them refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    why: String,
    /// Whether it is called no more, whatever it answers; else its next answer may be another.
    is_lasting: bool,
}

impl Choice {
    fn is_lasting(&self, index: usize) -> bool {
        self.refusals[index].as_ref().is_some_and(|refusal| refusal.is_lasting)
    }

    /// Notes why that address refuses, and says whether that is news; one that is called no more has said all.
    fn note(&mut self, index: usize, refusal: Refusal) -> bool {
        if self.is_lasting(index) {
            return false;
        }
        let is_news = self.told[index].as_ref() != Some(&refusal);
        self.told[index] = Some(refusal.clone());
        self.refusals[index] = Some(refusal);
        is_news
    }
}

/// What all workers of a process know that have these addresses.
#[derive(Debug, Default)]
struct Met {
    /// The run that is counted for.
    run: Option<RunId>,
    /// The addresses where it has taken one of them in.
    homes: BTreeSet<usize>,
    /// The last other run that was left alone, and where: it is told once.
    other_run: Option<(usize, RunId)>,
    /// The highest terms of the run that were announced.
    terms: KnownTerms,
    /// Whether the run has taken one of them in.
    takes_part: bool,
}

impl AddressList {
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
        let (refusals, told) = (vec![None; addresses.len()], vec![None; addresses.len()]);
        let choice = Choice { current, refusals, told, run: None };
        Self { addresses, choice: Mutex::new(choice), met }
    }

    /// The one that is called now.
    pub fn current(&self) -> usize {
        self.choice.lock().current
    }

    /// That one is called from now on.
    pub fn call(&self, index: usize) {
        self.choice.lock().current = index;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// One of them.
    pub fn address(&self, index: usize) -> &str {
        &self.addresses[index]
    }

    /// The highest term of the run that was announced.
    pub fn highest_term(&self) -> Option<Term> {
        self.met.lock().terms.highest()
    }

    /// The term of another coordinator that a coordinator of the term `own` must be told of.
    pub fn term_against(&self, own: &Term) -> Option<Term> {
        self.met.lock().terms.against(own)
    }

    /// A call to that address has been answered.
    pub fn answered(&self, index: usize) {
        self.choice.lock().refusals[index].take_if(|refusal| !refusal.is_lasting);
    }

    /// One of them has taken the worker or the follower in, or shown its run to who watches: what others said before that is
    /// no news any more, should it be gone one day.
    pub fn taken_in(&self) {
        self.met.lock().takes_part = true;
        let mut choice = self.choice.lock();
        choice.refusals.iter_mut().for_each(|refusal| drop(refusal.take_if(|refusal| !refusal.is_lasting)));
        choice.told.fill(None);
    }

    /// The run at that address has taken the worker in.
    pub fn joined(&self, index: usize, run: RunId) {
        let mut known = self.met.lock();
        known.run = Some(run);
        known.homes.insert(index);
        self.choice.lock().run = Some(run);
    }

    /// The run that is counted for, if that one is another.
    pub fn other_than(&self, run: RunId) -> Option<RunId> {
        self.met.lock().run.filter(|own| *own != run)
    }

    /// Whether the run that is counted for was served at that address.
    pub fn is_home(&self, index: usize) -> bool {
        self.met.lock().homes.contains(&index)
    }

    /// Another run is served at that address, and the one that is counted for may go on elsewhere.
    pub fn leave_run_alone(&self, index: usize, run: RunId) -> CoordinatorError {
        let mut known = self.met.lock();
        let (address, own) = (&self.addresses[index], known.run.unwrap_or(run));
        let why = format!(
            "{address} serves {run} of this plan, and {own} is counted for: that coordinator is left alone; give this worker the \
             addresses of one run, and start it again"
        );
        if known.other_run.replace((index, run)) != Some((index, run)) {
            warn!("{why}");
        }
        self.leave(&mut self.choice.lock(), index);
        CoordinatorError::Unavailable(why)
    }

    /// The run that was counted for is served nowhere any more, and that one is at its address: it is counted for from now on,
    /// and the terms of the other one are nothing to it.
    pub fn go_over(&self, index: usize, run: RunId) {
        let mut known = self.met.lock();
        if let Some(own) = known.run.filter(|own| *own != run) {
            let address = &self.addresses[index];
            warn!(
                "{address} serves {run} of this plan now, and served {own} before: it is counted for from now on, and given nothing \
                 of what is held of the other one; where the other one goes on, start this worker again with its address"
            );
        }
        let takes_part = known.takes_part;
        *known = Met { run: Some(run), homes: BTreeSet::from([index]), takes_part, ..Met::default() };
    }

    /// Whether the worker holds units of another run than that one, which it gives up now.
    pub fn gives_up_units(&self, run: RunId) -> bool {
        self.choice.lock().run.take_if(|own| *own != run).is_some()
    }

    /// A call to that address has failed: from now on the next one is called, if that address is the one that is called. A refusal
    /// is for good only when all refuse.
    pub fn failed(&self, index: usize, error: CoordinatorError) -> CoordinatorError {
        match error {
            CoordinatorError::Unregistered | CoordinatorError::OtherRun => error,
            CoordinatorError::Unavailable(_) => {
                self.leave(&mut self.choice.lock(), index);
                error
            }
            CoordinatorError::Refused(why) => self.refused(index, Refusal { why, is_lasting: false }),
        }
    }

    /// That address refuses in a way that may pass by itself. Whoever has not taken part yet goes by it; whoever has, waits as for a
    /// coordinator that is away, and is told once what to do if it is meant for good.
    pub fn refused_for_now(&self, index: usize, why: String) -> CoordinatorError {
        if !self.met.lock().takes_part {
            return CoordinatorError::Refused(why);
        }
        self.answered(index);
        let refusal = Refusal { why: why.clone(), is_lasting: false };
        if self.choice.lock().told[index].replace(refusal.clone()) != Some(refusal) {
            warn!(
                address = self.addresses[index],
                "refused, and taken in before: {why}; this may pass by itself, so it is tried again, with what the folder of \
                 --keys holds then; if it is meant for good, put that right; where this process was handed its keys at its \
                 start (by a variable, by systemd), start it again"
            );
        }
        CoordinatorError::Unavailable(why)
    }

    /// The coordinator at that address has taken the worker in and lent to it, and then said what is not understood: it would do
    /// so again. It is called no more, as long as there is another one that may be.
    pub fn give_up_on(&self, index: usize, why: String) -> CoordinatorError {
        self.refused(index, Refusal { why, is_lasting: true })
    }

    /// Notes why that address refuses, and tells it once.
    fn refused(&self, index: usize, refusal: Refusal) -> CoordinatorError {
        let mut choice = self.choice.lock();
        let (address, why, is_lasting) = (&self.addresses[index], refusal.why.clone(), refusal.is_lasting);
        if choice.note(index, refusal) {
            match (self.len(), is_lasting) {
                (1, _) => {}
                (_, true) => warn!(address, "not called any more: {why}"),
                (_, false) => warn!(address, "refused: {why}"),
            }
        }
        if choice.refusals.iter().all(Option::is_some) {
            return CoordinatorError::Refused(why);
        }
        self.leave(&mut choice, index);
        CoordinatorError::Unavailable(why)
    }

    fn leave(&self, choice: &mut Choice, index: usize) {
        if choice.current == index {
            let mut others = (1..self.len()).map(|step| (index + step) % self.len());
            choice.current = others.find(|other| !choice.is_lasting(*other)).unwrap_or(index);
        }
    }

    /// The coordinator at that address has the highest term of all that answer: it is called from now on.
    pub fn begin_with(&self, index: usize, run: RunId, term: Term) {
        let mut known = self.met.lock();
        if *known.run.get_or_insert(run) == run {
            known.terms.meet(term);
            self.choice.lock().current = index;
        }
    }

    /// The coordinator at that address announces that term.
    pub fn meet(&self, index: usize, term: Term) {
        if self.met.lock().terms.meet(term) {
            info!(address = self.addresses[index], %term, "the run has a coordinator of a higher term");
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::CoordinatorId;

    use super::*;

    const RUN: RunId = RunId(7);

    fn list(count: usize) -> AddressList {
        AddressList::new((0..count).map(|index| format!("http://site-{index}:1")).collect())
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
        let list = list(3);
        assert_eq!(list.current(), 0);
        list.failed(0, unavailable());
        assert_eq!(list.current(), 1);
        list.failed(0, unavailable());
        assert_eq!(list.current(), 1);
        list.failed(1, CoordinatorError::Unregistered);
        assert_eq!(list.current(), 1);
        list.failed(1, unavailable());
        list.failed(2, unavailable());
        assert_eq!(list.current(), 0);
    }

    #[test]
    fn a_refusal_is_for_good_when_all_refuse() {
        let two = list(2);
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Unavailable(_)));
        two.answered(0);
        assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)));
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)));
        assert!(matches!(list(1).failed(0, refused()), CoordinatorError::Refused(_)));
    }

    #[test]
    fn refusals_are_forgotten_when_one_of_them_has_taken_the_worker_in() {
        let two = list(2);
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Unavailable(_)));
        two.taken_in();
        assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)));
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)));
    }

    #[test]
    fn a_refusal_that_may_pass_is_one_until_one_of_them_has_taken_the_worker_in() {
        let one = list(1);
        let beside = one.beside();
        let for_now = |list: &AddressList| list.refused_for_now(0, "the clock".into());
        assert!(matches!(for_now(&one), CoordinatorError::Refused(_)));
        one.taken_in();
        assert!(
            [&one, &beside].into_iter().all(|list| matches!(for_now(list), CoordinatorError::Unavailable(_)))
        );
        assert!(matches!(one.failed(0, refused()), CoordinatorError::Refused(_)), "that is meant for good");
        let two = list(2);
        two.taken_in();
        two.failed(0, refused());
        for_now(&two);
        assert!(
            matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)),
            "the other one may pass"
        );
    }

    #[test]
    fn a_refusal_is_news_once_though_the_site_answers_in_between_until_one_has_taken_the_worker_in() {
        let two = list(2);
        let is_news = |why: &str| two.choice.lock().note(1, Refusal { why: why.into(), is_lasting: false });
        assert!(is_news("another run"));
        two.answered(1);
        assert!(!is_news("another run"));
        two.answered(1);
        assert!(is_news("too many workers"));
        two.taken_in();
        assert!(is_news("too many workers"));
    }

    #[test]
    fn who_says_what_is_not_understood_is_not_called_again_and_ends_the_worker_only_where_no_other_is_left() {
        let three = list(3);
        assert_eq!(three.give_up_on(0, "99".into()), CoordinatorError::Unavailable("99".into()));
        assert_eq!(three.current(), 1);
        three.failed(1, unavailable());
        three.failed(2, unavailable());
        assert_eq!(three.current(), 1, "it passes over that one");
        three.answered(0);
        three.taken_in();
        assert!(matches!(three.give_up_on(1, "99".into()), CoordinatorError::Unavailable(_)));
        three.failed(2, unavailable());
        assert_eq!(three.current(), 2, "it is the only one that is left");
        assert!(matches!(three.failed(2, refused()), CoordinatorError::Refused(_)));
        assert!(matches!(list(1).give_up_on(0, "99".into()), CoordinatorError::Refused(_)));
    }

    #[test]
    fn worker_begins_with_the_highest_term_and_tells_it_to_others() {
        let list = list(3);
        list.begin_with(2, RUN, term(1003, 2));
        assert_eq!((list.current(), list.highest_term()), (2, Some(term(1003, 2))));
        list.meet(0, term(3, 1));
        assert_eq!(list.term_against(&term(3, 1)), Some(term(1003, 2)));
        assert_eq!(list.term_against(&term(1003, 2)), None);
    }

    #[test]
    fn workers_of_one_process_change_address_alone_and_share_terms() {
        let one = list(3);
        one.begin_with(1, RUN, term(3, 1));
        let other = one.beside();
        assert_eq!((other.current(), other.highest_term()), (1, Some(term(3, 1))));
        assert!(matches!(one.failed(1, refused()), CoordinatorError::Unavailable(_)));
        assert_eq!((one.current(), other.current()), (2, 1), "the refusal of one is not the other's");
        one.meet(2, term(1003, 2));
        assert_eq!(other.term_against(&term(3, 1)), Some(term(1003, 2)), "it knows what the other has met");
    }

    #[test]
    fn a_run_that_takes_the_place_of_another_brings_its_own_terms_and_what_is_held_of_that_one_is_given_up() {
        let (one, [before, after]) = (list(2), [RunId(1), RunId(2)]);
        let other = one.beside();
        for list in [&one, &other] {
            list.meet(0, term(3, 1));
            list.joined(0, before);
            assert!(list.other_than(before).is_none() && !list.gives_up_units(before));
        }
        assert_eq!(one.other_than(after), Some(before));
        assert!(one.is_home(0) && !one.is_home(1));
        one.go_over(0, RunId(2));
        assert_eq!(other.highest_term(), None);
        for list in [&one, &other] {
            assert_eq!(list.other_than(after), None);
            assert!(list.gives_up_units(after) && !list.gives_up_units(after), "once");
            list.meet(0, term(1, 2));
        }
        assert_eq!(one.other_than(before), Some(after), "it does not go back");
        assert!(matches!(one.leave_run_alone(0, RunId(1)), CoordinatorError::Unavailable(_)));
        assert_eq!(one.current(), 1);
    }
}

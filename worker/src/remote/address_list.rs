//! Selects the address to call: the present address while it answers, else the next. Addresses of other runs are
//! skipped. An address keeps its index: one that is listed no more is not selected any more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::{RunId, Term};
use parking_lot::{Mutex, RwLock};
use tracing::{info, warn};

use super::known_terms::KnownTerms;
use crate::coordinator::CoordinatorError;

/// The addresses by index, and their states.
#[derive(Debug)]
pub struct AddressList {
    known: Arc<RwLock<KnownAddresses>>,
    choice: Mutex<AddressChoice>,
    shared: Arc<Mutex<SharedRun>>,
}

/// All addresses that were ever listed.
#[derive(Debug)]
struct KnownAddresses {
    urls: Vec<String>,
    /// The addresses that are listed now, in their order.
    listed: Vec<usize>,
}

/// Which address a worker calls.
#[derive(Debug)]
struct AddressChoice {
    current: usize,
    /// The last refusal of each address since the last registration.
    refusals: BTreeMap<usize, AddressRefusal>,
    /// The run of which the worker holds units.
    run: Option<RunId>,
}

#[derive(Debug)]
struct AddressRefusal {
    why: String,
    /// Whether the address has not answered since. If it has, the same refusal is still no news.
    is_current: bool,
    /// Whether the address is called no more, whatever it answers.
    is_lasting: bool,
    /// Whether the log has it. If all addresses refuse a new worker, its error says so, and the log need not.
    is_logged: bool,
}

impl AddressChoice {
    fn is_lasting(&self, index: usize) -> bool {
        self.refusals.get(&index).is_some_and(|refusal| refusal.is_lasting)
    }

    /// Notes why an address refuses. Returns whether that is still to be logged: after a lasting refusal nothing is.
    fn note(&mut self, index: usize, why: &str, is_lasting: bool) -> bool {
        if self.is_lasting(index) {
            return false;
        }
        let before = self.refusals.get(&index);
        let is_logged = !is_lasting && before.is_some_and(|before| before.is_logged && before.why == why);
        let refusal = AddressRefusal { why: why.to_owned(), is_current: true, is_lasting, is_logged };
        self.refusals.insert(index, refusal);
        !is_logged
    }

    /// True if the addresses refuse for different reasons.
    fn reasons_differ(&self) -> bool {
        let mut reasons = self.refusals.values().map(|refusal| &refusal.why);
        reasons.next().is_some_and(|first| reasons.any(|why| why != first))
    }

    /// Notes an answer: the address's former refusal may have passed.
    fn answered(&mut self, index: usize) {
        if let Some(refusal) = self.refusals.get_mut(&index) {
            refusal.is_current = refusal.is_lasting;
        }
    }

    /// Selects the next listed address if this address is selected.
    fn leave(&mut self, index: usize, listed: &[usize]) {
        if self.current != index {
            return;
        }
        let place = listed.iter().position(|other| *other == index);
        // Behind this address, or all if it is listed no more.
        let (before, behind) =
            place.map_or((listed, &[][..]), |place| (&listed[..place], &listed[place + 1..]));
        let mut others = behind.iter().chain(before);
        let next = others.find(|other| !self.is_lasting(**other));
        let stays = || place.is_none().then(|| listed.first()).flatten();
        self.current = next.or_else(stays).copied().unwrap_or(index);
    }
}

/// The knowledge shared by all workers of a process with these addresses.
#[derive(Debug, Default)]
struct SharedRun {
    /// The run that is counted.
    run: Option<RunId>,
    /// The addresses at which the run has registered a worker.
    homes: BTreeSet<usize>,
    /// The last other run that was left alone, and where: it is logged once.
    other_run: Option<(usize, RunId)>,
    /// The highest announced terms of the run.
    terms: KnownTerms,
    /// Whether the run has taken a worker in.
    takes_part: bool,
}

impl AddressList {
    /// The first address is called first.
    pub fn new(urls: Vec<String>) -> Self {
        let listed = (0..urls.len()).collect();
        Self::called_first(Arc::new(RwLock::new(KnownAddresses { urls, listed })), 0, Arc::default())
    }

    /// The address list of another worker of this process. It starts at the current address and changes addresses
    /// independently. Both workers share their knowledge of the run.
    pub fn beside(&self) -> Self {
        Self::called_first(Arc::clone(&self.known), self.current(), Arc::clone(&self.shared))
    }

    fn called_first(
        known: Arc<RwLock<KnownAddresses>>,
        current: usize,
        shared: Arc<Mutex<SharedRun>>,
    ) -> Self {
        let choice = AddressChoice { current, refusals: BTreeMap::new(), run: None };
        Self { known, choice: Mutex::new(choice), shared }
    }

    /// Lists these addresses from now on. Returns the index of each: a new address has the next one.
    pub fn list(&self, urls: &[String]) -> Vec<usize> {
        let mut known = self.known.write();
        let mut indices = Vec::new();
        for url in urls {
            let index = known.urls.iter().position(|other| other == url).unwrap_or(known.urls.len());
            if index == known.urls.len() {
                known.urls.push(url.clone());
            }
            indices.push(index);
        }
        known.listed.clear();
        for index in &indices {
            if !known.listed.contains(index) {
                known.listed.push(*index);
            }
        }
        indices
    }

    pub fn current(&self) -> usize {
        self.choice.lock().current
    }

    pub fn call(&self, index: usize) {
        self.choice.lock().current = index;
    }

    /// The listed addresses, in their order.
    pub fn listed(&self) -> Vec<usize> {
        self.known.read().listed.clone()
    }

    pub fn address(&self, index: usize) -> String {
        self.known.read().urls[index].clone()
    }

    pub fn highest_term(&self) -> Option<Term> {
        self.shared.lock().terms.highest()
    }

    /// The term to tell a coordinator of the term `own`.
    pub fn term_against(&self, own: &Term) -> Option<Term> {
        self.shared.lock().terms.against(own)
    }

    pub fn answered(&self, index: usize) {
        let mut choice = self.choice.lock();
        choice.answered(index);
        self.log_refusals(&mut choice);
    }

    /// A coordinator took the worker or the follower in, or showed its run. Earlier refusals do not matter any more: should that
    /// coordinator go, the same refusals are news again.
    pub fn taken_in(&self) {
        self.shared.lock().takes_part = true;
        self.choice.lock().refusals.retain(|_, refusal| refusal.is_lasting);
    }

    /// The run at that address took the worker in.
    pub fn joined(&self, index: usize, run: RunId) {
        let mut shared = self.shared.lock();
        shared.run = Some(run);
        shared.homes.insert(index);
        self.choice.lock().run = Some(run);
    }

    /// The run that is counted, if that is another one.
    pub fn other_than(&self, run: RunId) -> Option<RunId> {
        self.shared.lock().run.filter(|own| *own != run)
    }

    /// Whether that address has served the run that is counted.
    pub fn is_home(&self, index: usize) -> bool {
        self.shared.lock().homes.contains(&index)
    }

    /// That address serves another run, and the one that is counted may continue elsewhere.
    pub fn skip_run(&self, index: usize, run: RunId) -> CoordinatorError {
        let mut shared = self.shared.lock();
        let (address, own) = (self.address(index), shared.run.unwrap_or(run));
        let why = format!(
            "{address} serves {run} of this plan, and this worker counts for {own}: the other \
             coordinator is left alone; restart the worker with the addresses of one run"
        );
        if shared.other_run.replace((index, run)) != Some((index, run)) {
            warn!("{why}");
        }
        self.choice.lock().leave(index, &self.listed());
        CoordinatorError::Unavailable(why)
    }

    /// Changes to the run at this address, because the former run is not served any more. The terms of the former run
    /// do not apply.
    pub fn change_run(&self, index: usize, run: RunId) {
        let mut shared = self.shared.lock();
        if let Some(own) = shared.run.filter(|own| *own != run) {
            let address = self.address(index);
            warn!(
                "{address} now serves {run} of this plan instead of {own}: this worker counts for it, \
                 and keeps its old units from it. To count for the other, restart the worker with its \
                 address"
            );
        }
        let takes_part = shared.takes_part;
        *shared =
            SharedRun { run: Some(run), homes: BTreeSet::from([index]), takes_part, ..SharedRun::default() };
    }

    /// True if the worker holds units of another run, which it now gives up.
    pub fn gives_up_units(&self, run: RunId) -> bool {
        self.choice.lock().run.take_if(|own| *own != run).is_some()
    }

    /// Notes a failed call to this address, and selects the next address if this one is selected. A refusal is final
    /// only if all addresses refuse.
    pub fn failed(&self, index: usize, error: CoordinatorError) -> CoordinatorError {
        match error {
            CoordinatorError::Unregistered | CoordinatorError::OtherRun => {}
            CoordinatorError::Unavailable(_) => {
                let mut choice = self.choice.lock();
                choice.leave(index, &self.listed());
                self.log_refusals(&mut choice);
            }
            CoordinatorError::Refused(why) => return self.refused(index, why, false),
        }
        error
    }

    /// Handles a temporary refusal of this address. It is final for a worker that has not registered yet. A registered
    /// worker waits as for an absent coordinator, and logs once what to do if the refusal is permanent.
    pub fn refused_for_now(&self, index: usize, why: String) -> CoordinatorError {
        if !self.shared.lock().takes_part {
            return CoordinatorError::Refused(why);
        }
        let is_news = {
            let mut choice = self.choice.lock();
            let is_news = choice.note(index, &why, false);
            choice.refusals.get_mut(&index).into_iter().for_each(|refusal| refusal.is_logged = true);
            choice.answered(index);
            is_news
        };
        if is_news {
            warn!(
                address = self.address(index),
                "refused after it was accepted before: {why}. Trying again, with the keys that the \
                 folder has by then; if the keys come from a variable or systemd, restart the worker"
            );
        }
        CoordinatorError::Unavailable(why)
    }

    /// The coordinator at this address has registered the worker, and then sent an incomprehensible reply, which it
    /// would repeat. It is not called again unless no other address is left.
    pub fn give_up_on(&self, index: usize, why: String) -> CoordinatorError {
        self.refused(index, why, true)
    }

    /// Notes why that address refuses. A worker that takes part logs it at once.
    fn refused(&self, index: usize, why: String, is_lasting: bool) -> CoordinatorError {
        let takes_part = self.shared.lock().takes_part;
        let mut choice = self.choice.lock();
        choice.note(index, &why, is_lasting);
        let listed = self.listed();
        let is_refused_by_all =
            listed.iter().all(|index| choice.refusals.get(index).is_some_and(|refusal| refusal.is_current));
        if takes_part || is_refused_by_all && choice.reasons_differ() {
            self.log_refusals(&mut choice);
        }
        if is_refused_by_all {
            return CoordinatorError::Refused(why);
        }
        choice.leave(index, &listed);
        CoordinatorError::Unavailable(why)
    }

    /// Logs the refusals that the log lacks, if there are several addresses. The refusal of the only one is an error.
    fn log_refusals(&self, choice: &mut AddressChoice) {
        if self.listed().len() == 1 {
            return;
        }
        for (index, refusal) in choice.refusals.iter_mut().filter(|(_, refusal)| !refusal.is_logged) {
            let address = self.address(*index);
            let what = if refusal.is_lasting { "not called any more" } else { "refused" };
            warn!(address, "{what}: {}", refusal.why);
            refusal.is_logged = true;
        }
    }

    /// The coordinator at that address has the highest term of all that answer: it is called from now on.
    pub fn begin_with(&self, index: usize, run: RunId, term: Term) {
        let mut shared = self.shared.lock();
        if *shared.run.get_or_insert(run) == run {
            shared.terms.meet(term);
            self.choice.lock().current = index;
        }
    }

    /// The coordinator at that address announces that term.
    pub fn meet(&self, index: usize, term: Term) {
        if self.shared.lock().terms.meet(term) {
            info!(address = self.address(index), %term, "the coordinator was started again, or another one took over");
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
    fn failed_current_address_selects_the_next() {
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
    fn changed_list_is_called_after_the_next_failure() {
        let two = list(2);
        let url = |index: usize| two.address(index);
        assert_eq!(two.list(&["http://new:1".into(), url(1), "http://new:1".into()]), [2, 1, 2]);
        assert_eq!((two.current(), two.listed()), (0, vec![2, 1]), "the present address is kept");
        two.failed(0, unavailable());
        assert_eq!(two.current(), 2, "not the address that is listed no more");
        two.failed(2, unavailable());
        two.failed(1, unavailable());
        assert_eq!(two.current(), 2);
        assert_eq!(two.list(&[url(0)]), [0]);
        assert!(matches!(two.failed(2, refused()), CoordinatorError::Unavailable(_)));
        assert_eq!(two.current(), 0, "its index is kept");
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)), "no other is listed");
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
    fn registration_clears_refusals() {
        let two = list(2);
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Unavailable(_)));
        two.taken_in();
        assert!(matches!(two.failed(1, refused()), CoordinatorError::Unavailable(_)));
        assert!(matches!(two.failed(0, refused()), CoordinatorError::Refused(_)));
    }

    #[test]
    fn temporary_refusal_ends_only_unregistered_worker() {
        let one = list(1);
        let beside = one.beside();
        let for_now = |list: &AddressList| list.refused_for_now(0, "the clock".into());
        assert!(matches!(for_now(&one), CoordinatorError::Refused(_)));
        one.taken_in();
        assert!(
            [&one, &beside].into_iter().all(|list| matches!(for_now(list), CoordinatorError::Unavailable(_)))
        );
        assert!(matches!(one.failed(0, refused()), CoordinatorError::Refused(_)), "that is permanent");
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
    fn repeated_refusal_is_news_once_until_registration() {
        let two = list(2);
        let is_news = |why: &str| {
            let mut choice = two.choice.lock();
            let is_news = choice.note(1, why, false);
            two.log_refusals(&mut choice);
            is_news
        };
        assert!(is_news("another run"));
        two.answered(1);
        assert!(!is_news("another run"));
        two.answered(1);
        assert!(is_news("too many workers"));
        two.taken_in();
        assert!(is_news("too many workers"));
    }

    #[test]
    fn address_with_unknown_reply_is_skipped() {
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
    fn worker_starts_at_highest_term_and_forwards_it() {
        let list = list(3);
        list.begin_with(2, RUN, term(1003, 2));
        assert_eq!((list.current(), list.highest_term()), (2, Some(term(1003, 2))));
        list.meet(0, term(3, 1));
        assert_eq!(list.term_against(&term(3, 1)), Some(term(1003, 2)));
        assert_eq!(list.term_against(&term(1003, 2)), None);
    }

    #[test]
    fn workers_of_one_process_share_terms_not_addresses() {
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
    fn next_run_resets_terms_and_drops_former_units() {
        let (one, [before, after]) = (list(2), [RunId(1), RunId(2)]);
        let other = one.beside();
        for list in [&one, &other] {
            list.meet(0, term(3, 1));
            list.joined(0, before);
            assert!(list.other_than(before).is_none() && !list.gives_up_units(before));
        }
        assert_eq!(one.other_than(after), Some(before));
        assert!(one.is_home(0) && !one.is_home(1));
        one.change_run(0, RunId(2));
        assert_eq!(other.highest_term(), None);
        for list in [&one, &other] {
            assert_eq!(list.other_than(after), None);
            assert!(list.gives_up_units(after) && !list.gives_up_units(after), "once");
            list.meet(0, term(1, 2));
        }
        assert_eq!(one.other_than(before), Some(after), "it does not go back");
        assert!(matches!(one.skip_run(0, RunId(1)), CoordinatorError::Unavailable(_)));
        assert_eq!(one.current(), 1);
    }
}

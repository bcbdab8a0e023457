//! Which of several addresses of a coordinator is called: one as long as it answers, else the next; and which of them is left
//! alone because it serves another run.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::{RunId, Term};
use parking_lot::Mutex;
use tracing::{info, warn};

use crate::coordinator::CoordinatorError;
use crate::met_terms::MetTerms;

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
    fn is_lasting(&self, site: usize) -> bool {
        self.refusals[site].as_ref().is_some_and(|refusal| refusal.is_lasting)
    }

    /// Notes why that site refuses, and says whether that is news; one that is called no more has said all.
    fn note(&mut self, site: usize, refusal: Refusal) -> bool {
        if self.is_lasting(site) {
            return false;
        }
        let is_news = self.told[site].as_ref() != Some(&refusal);
        self.told[site] = Some(refusal.clone());
        self.refusals[site] = Some(refusal);
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
    terms: MetTerms,
    /// Whether the run has taken one of them in.
    takes_part: bool,
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
        let (refusals, told) = (vec![None; addresses.len()], vec![None; addresses.len()]);
        let choice = Choice { current, refusals, told, run: None };
        Self { addresses, choice: Mutex::new(choice), met }
    }

    /// The one that is called now.
    pub fn current(&self) -> usize {
        self.choice.lock().current
    }

    /// That one is called from now on.
    pub fn call(&self, site: usize) {
        self.choice.lock().current = site;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// One of them.
    pub fn address(&self, site: usize) -> &str {
        &self.addresses[site]
    }

    /// The highest term of the run that was announced.
    pub fn highest_term(&self) -> Option<Term> {
        self.met.lock().terms.highest()
    }

    /// The term of another coordinator that a coordinator of the term `own` must be told of.
    pub fn term_against(&self, own: &Term) -> Option<Term> {
        self.met.lock().terms.against(own)
    }

    /// A call to that site has been answered.
    pub fn answered(&self, site: usize) {
        self.choice.lock().refusals[site].take_if(|refusal| !refusal.is_lasting);
    }

    /// One of them has taken the worker or the follower in, or shown its run to who watches: what others said before that is
    /// no news any more, should it be gone one day.
    pub fn taken_in(&self) {
        self.met.lock().takes_part = true;
        let mut choice = self.choice.lock();
        choice.refusals.iter_mut().for_each(|refusal| drop(refusal.take_if(|refusal| !refusal.is_lasting)));
        choice.told.fill(None);
    }

    /// The run at that site has taken the worker in.
    pub fn joined(&self, site: usize, run: RunId) {
        let mut known = self.met.lock();
        known.run = Some(run);
        known.homes.insert(site);
        self.choice.lock().run = Some(run);
    }

    /// The run that is counted for, if that one is another.
    pub fn other_than(&self, run: RunId) -> Option<RunId> {
        self.met.lock().run.filter(|own| *own != run)
    }

    /// Whether the run that is counted for was served at that site.
    pub fn is_home(&self, site: usize) -> bool {
        self.met.lock().homes.contains(&site)
    }

    /// Another run is served at that site, and the one that is counted for may go on elsewhere.
    pub fn leave_run_alone(&self, site: usize, run: RunId) -> CoordinatorError {
        let mut known = self.met.lock();
        let (address, own) = (&self.addresses[site], known.run.unwrap_or(run));
        let why = format!(
            "{address} serves {run} of this plan, and {own} is counted for: that coordinator is left alone; give this worker the \
             addresses of one run, and start it again"
        );
        if known.other_run.replace((site, run)) != Some((site, run)) {
            warn!("{why}");
        }
        self.leave(&mut self.choice.lock(), site);
        CoordinatorError::Unavailable(why)
    }

    /// The run that was counted for is served nowhere any more, and that one is at its address: it is counted for from now on,
    /// and the terms of the other one are nothing to it.
    pub fn go_over(&self, site: usize, run: RunId) {
        let mut known = self.met.lock();
        if let Some(own) = known.run.filter(|own| *own != run) {
            let address = &self.addresses[site];
            warn!(
                "{address} serves {run} of this plan now, and served {own} before: it is counted for from now on, and given nothing \
                 of what is held of the other one; where the other one goes on, start this worker again with its address"
            );
        }
        let takes_part = known.takes_part;
        *known = Met { run: Some(run), homes: BTreeSet::from([site]), takes_part, ..Met::default() };
    }

    /// Whether the worker holds units of another run than that one, which it gives up now.
    pub fn gives_up_units(&self, run: RunId) -> bool {
        self.choice.lock().run.take_if(|own| *own != run).is_some()
    }

    /// A call to that site has failed: from now on the next one is called, if that site is the one that is called. A refusal
    /// is for good only when all refuse.
    pub fn failed(&self, site: usize, error: CoordinatorError) -> CoordinatorError {
        match error {
            CoordinatorError::Unregistered | CoordinatorError::OtherRun => error,
            CoordinatorError::Unavailable(_) => {
                self.leave(&mut self.choice.lock(), site);
                error
            }
            CoordinatorError::Refused(why) => self.refused(site, Refusal { why, is_lasting: false }),
        }
    }

    /// That site refuses in a way that may pass by itself. Whoever has not taken part yet goes by it; whoever has, waits as for a
    /// coordinator that is away, and is told once what to do if it is meant for good.
    pub fn refused_for_now(&self, site: usize, why: String) -> CoordinatorError {
        if !self.met.lock().takes_part {
            return CoordinatorError::Refused(why);
        }
        self.answered(site);
        let refusal = Refusal { why: why.clone(), is_lasting: false };
        if self.choice.lock().told[site].replace(refusal.clone()) != Some(refusal) {
            warn!(
                address = self.addresses[site],
                "refused, and taken in before: {why}; this may pass by itself, so it is tried again, with what the folder of \
                 --keys holds then; if it is meant for good, put that right; where this process was handed its keys at its \
                 start (by a variable, by systemd), start it again"
            );
        }
        CoordinatorError::Unavailable(why)
    }

    /// The coordinator at that site has taken the worker in and lent to it, and then said what is not understood: it would do
    /// so again. It is called no more, as long as there is another one that may be.
    pub fn give_up_on(&self, site: usize, why: String) -> CoordinatorError {
        self.refused(site, Refusal { why, is_lasting: true })
    }

    /// Notes why that site refuses, and tells it once.
    fn refused(&self, site: usize, refusal: Refusal) -> CoordinatorError {
        let mut choice = self.choice.lock();
        let (address, why, is_lasting) = (&self.addresses[site], refusal.why.clone(), refusal.is_lasting);
        if choice.note(site, refusal) {
            match (self.len(), is_lasting) {
                (1, _) => {}
                (_, true) => warn!(address, "not called any more: {why}"),
                (_, false) => warn!(address, "refused: {why}"),
            }
        }
        if choice.refusals.iter().all(Option::is_some) {
            return CoordinatorError::Refused(why);
        }
        self.leave(&mut choice, site);
        CoordinatorError::Unavailable(why)
    }

    fn leave(&self, choice: &mut Choice, site: usize) {
        if choice.current == site {
            let mut others = (1..self.len()).map(|step| (site + step) % self.len());
            choice.current = others.find(|other| !choice.is_lasting(*other)).unwrap_or(site);
        }
    }

    /// The coordinator at that site has the highest term of all that answer: it is called from now on.
    pub fn begin_with(&self, site: usize, run: RunId, term: Term) {
        let mut known = self.met.lock();
        if *known.run.get_or_insert(run) == run {
            known.terms.meet(term);
            self.choice.lock().current = site;
        }
    }

    /// The coordinator at that site announces that term.
    pub fn meet(&self, site: usize, term: Term) {
        if self.met.lock().terms.meet(term) {
            info!(address = self.addresses[site], %term, "the run has a coordinator of a higher term");
        }
    }
}

#[cfg(test)]
mod tests;

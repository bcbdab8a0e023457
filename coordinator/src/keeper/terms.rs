//! The term in which this process serves the run, and others that it hears of.
//!
//! ```text
//! a term that no coordinator of the run has proven,
//! or that is too far to be true:                        nothing
//! a lower one:                                          it is over
//! a higher one:                                         this process is superseded
//! the same one, opened by another process:
//!     nothing of this process is on record yet          superseded too
//!     else                                              a fork: told, and this process goes on
//! ```
//!
//! A follower that has more on record than this process does, and proves that it is one of this run, has a better copy: this
//! process must not go on either. Not so where that is the folder of a former coordinator, whose last term is lower than the last
//! one on record here: this process, or one before it, went on from a copy that had less, and was meant to.
//!
//! Who is superseded lends, records and acknowledges nothing any more. The term that did it is noted in the run directory, so
//! that the operator can leave it behind, should that coordinator be gone for good; nobody else does.

use domain::{RunId, Term};
use records::counted;
use records::ledger::LineHash;
use records::run_directory::LeaseKey;
use records::store::Store;
use tracing::{Level, error, warn};

use super::Keeper;
use super::inbox::{CallError, FollowCall, Misfit, Request};
use crate::event::Event;

/// The terms of a run, as one of its coordinators knows them.
#[derive(Debug)]
pub(super) struct Terms {
    pub own: Term,
    run: LineHash,
    key: LeaseKey,
    superseded_by: Option<Term>,
    rival: Option<Term>,
    /// The records of a follower that has more than there were here.
    surpassed: Option<(u64, u64)>,
}

impl Terms {
    /// Those of the run in that store, of which this process has opened one.
    pub fn of(store: &Store) -> Self {
        let (run, key) = (store.directory().run().hash(), store.lease_key().clone());
        Self::new(store.term(), run, key)
    }

    fn new(own: Term, run: LineHash, key: LeaseKey) -> Self {
        Self { own, run, key, superseded_by: None, rival: None, surpassed: None }
    }

    /// Which run they are of.
    pub fn run(&self) -> RunId {
        RunId(u128::from_be_bytes(self.run.bytes()))
    }

    /// Somebody has met that term. `is_on_record` says whether the own one is in the ledger.
    pub fn hear_of(&mut self, met: &Term, is_on_record: bool) {
        let is_too_far = Term::is_too_far(met.number, self.own.number);
        if self.own.follows(met) || is_too_far || !self.key.has_proven(self.run, met) {
            return;
        }
        let place = if met.number == self.own.number && is_on_record {
            &mut self.rival
        } else {
            &mut self.superseded_by
        };
        if place.is_none_or(|known| !known.follows(met)) {
            *place = Some(*met);
            error!("{}", self.trouble().unwrap_or_default());
        }
    }

    /// A follower that has met that term has more records than there are here.
    pub fn hear_of_more(&mut self, met: &Term, records: u64, own: u64) {
        if self.key.has_proven(self.run, met) && self.surpassed.is_none() {
            self.surpassed = Some((records, own));
            error!("{}", self.trouble().unwrap_or_default());
        }
    }

    /// What is wrong, where this process must not serve the run any more.
    pub fn superseded(&self) -> Option<String> {
        if let Some((records, own)) = self.surpassed {
            return Some(format!(
                "a follower has {records} records of this run and this coordinator has {own}: it has lost some, or goes on from \
                 an old folder; nothing is lent, recorded or acknowledged here; what was acknowledged may be in that copy \
                 alone: stop this one and start diadem coordinator --run on the follower's copy; only if that copy is the \
                 one that is wrong, move it away and start this one again"
            ));
        }
        let by = self.superseded_by?;
        Some(format!(
            "another coordinator goes on with this run ({by}; this one has term {}): nothing is lent, recorded or \
             acknowledged here; stop this one, move its run directory away, and delete it once the other one's run is \
             complete (diadem follow makes a new copy); only if the other one is gone for good, and what it alone has on \
             record may be lost, start this one again and say --take-over",
            self.own.number
        ))
    }

    /// What is wrong, if anything.
    pub fn trouble(&self) -> Option<String> {
        self.superseded().or_else(|| {
            let rival = self.rival?;
            Some(format!(
                "the run has forked: {rival} and this one ({}) both serve it; stop one of them, and what it has on record \
                 alone is counted again (diadem verify tells how much each has)",
                self.own
            ))
        })
    }
}

impl Keeper {
    /// Answers a request that a coordinator which another one has superseded does not serve. Whoever calls may have met a
    /// still younger one.
    pub(super) fn refuse_if_superseded(&mut self, request: Request) -> Option<Request> {
        let met = match &request {
            Request::Register(registration, _) => registration.met,
            Request::Follow(call) => call.met,
            _ => None,
        };
        if let Some(met) = met.filter(|_| self.superseded().is_some()) {
            self.hear_of(&met);
        }
        match self.superseded() {
            Some(superseded) => request.refuse(CallError::Superseded(superseded)),
            None => Some(request),
        }
    }

    pub(super) fn superseded(&self) -> Option<String> {
        self.terms.as_ref().and_then(Terms::superseded)
    }

    /// Somebody has met that term.
    pub(super) fn hear_of(&mut self, met: &Term) {
        let is_on_record = self.is_term_on_record();
        if let Some(terms) = &mut self.terms {
            terms.hear_of(met, is_on_record);
            if let (Some(store), Some(term)) = (&mut self.store, &terms.superseded_by) {
                store.note_superseding(term);
            }
        }
        self.turn_away_if_superseded();
    }

    /// Whoever waits for a coordinator which another one has superseded waits in vain.
    fn turn_away_if_superseded(&mut self) {
        if let Some(superseded) = self.superseded() {
            let error = CallError::Superseded(superseded);
            self.replicas.refuse(&error);
            self.waiting.refuse(&error);
        }
    }

    /// A follower has called. The term that it has met is heard in any case; one whose copy does not fit is not there.
    pub(super) fn follow(&mut self, call: FollowCall) {
        let FollowCall { owner, follower, call, records, met, wrong, reply } = call;
        if let Some(met) = met {
            self.hear_of(&met);
            let own = self.records();
            let is_left_behind = wrong.as_ref().is_some_and(|wrong| wrong.is_left_behind);
            if let Some(terms) = self.terms.as_mut().filter(|_| records > own && !is_left_behind) {
                terms.hear_of_more(&met, records, own);
                self.turn_away_if_superseded();
            }
        }
        let answer = if let Some(superseded) = self.superseded() {
            Err(CallError::Superseded(superseded))
        } else {
            match wrong {
                None => {
                    self.replicas.join(follower, call, records);
                    let text = format!("a follower came that has {}", counted(records, "record"));
                    self.happened_by(&owner, Event::counted(Level::INFO, "followers came", text));
                }
                Some(Misfit { why, .. }) if self.may_log(&owner) => warn!("a follower is refused: {why}"),
                Some(_) => {}
            }
            Ok(())
        };
        if reply.send(answer).is_err() {
            // It has hung up meanwhile, and nobody else will say so.
            self.replicas.leave(follower, call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::CoordinatorId;

    fn terms() -> (Terms, impl Fn(u64, u128) -> Term) {
        let (key, run) = (LeaseKey::new([7; 32]), LineHash::of(b"run"));
        let prove = {
            let key = key.clone();
            move |number, id| key.prove(run, number, CoordinatorId(id))
        };
        (Terms::new(prove(4, 1), run, key), prove)
    }

    #[test]
    fn a_higher_term_supersedes_and_a_lower_one_or_the_own_says_nothing() {
        let (mut terms, prove) = terms();
        for met in [prove(3, 2), prove(4, 1)] {
            terms.hear_of(&met, false);
            assert_eq!(terms.trouble(), None);
        }
        terms.hear_of(&prove(1004, 2), true);
        let trouble = terms.superseded().unwrap();
        assert!(trouble.contains("term 1004") && trouble.contains("term 4"), "{trouble}");
    }

    #[test]
    fn a_follower_with_more_records_ends_what_a_coordinator_does_if_it_is_one_of_the_run() {
        let (mut terms, prove) = terms();
        terms.hear_of_more(&Term { proof: 1, ..prove(0, 0) }, 9, 7);
        assert_eq!(terms.trouble(), None);
        terms.hear_of_more(&prove(0, 0), 9, 7);
        let trouble = terms.superseded().unwrap();
        assert!(trouble.contains("9 records") && trouble.contains("has 7"), "{trouble}");
    }

    #[test]
    fn a_term_that_is_too_far_to_be_true_says_nothing_though_it_is_proven() {
        let (mut terms, prove) = terms();
        for number in [Term::TOO_FAR + 4, Term::END - 1, Term::END, u64::MAX] {
            terms.hear_of(&prove(number, 2), false);
            assert_eq!(terms.trouble(), None, "{number}");
        }
        terms.hear_of(&prove(Term::TOO_FAR + 3, 2), false);
        assert!(terms.superseded().is_some());
    }

    #[test]
    fn a_term_that_nobody_with_the_key_has_opened_says_nothing() {
        let (mut terms, prove) = terms();
        let true_term = prove(9, 2);
        let of_another_run = LeaseKey::new([7; 32]).prove(LineHash::of(b"another run"), 9, CoordinatorId(2));
        for forged in [
            Term { number: 10, ..true_term },
            Term { coordinator: CoordinatorId(3), ..true_term },
            Term { proof: true_term.proof ^ 1, ..true_term },
            LeaseKey::new([8; 32]).prove(LineHash::of(b"run"), 9, CoordinatorId(2)),
            of_another_run,
        ] {
            terms.hear_of(&forged, false);
            assert_eq!(terms.trouble(), None, "{forged:?}");
        }
    }

    #[test]
    fn of_two_of_one_term_the_one_that_has_nothing_on_record_gives_way_and_the_other_says_so() {
        let (mut idle, prove) = terms();
        idle.hear_of(&prove(4, 2), false);
        assert!(idle.superseded().is_some());
        let (mut busy, prove) = terms();
        busy.hear_of(&prove(4, 2), true);
        assert!(busy.superseded().is_none());
        assert!(busy.trouble().unwrap().contains("forked"));
    }
}

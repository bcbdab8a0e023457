//! Registration, renewal and release by workers, calls of followers, and terms of other coordinators.

use std::collections::BTreeSet;

use domain::{Lease, Owner, Registration, Renewal, Term, Welcome, WorkerId, counted};
use tracing::{Level, info, warn};

use super::Keeper;
use super::ending::{Ending, Stage};
use super::inbox::{CallError, FollowCall, ReplyTo};
use crate::event::Event;

/// The kernels that worked on the run, and the highest number of threads at a time: the answer of a run in memory names them.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    names: BTreeSet<String>,
    threads: u32,
}

impl Kernels {
    pub fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    pub fn threads(&self) -> u32 {
        self.threads
    }

    fn add(&mut self, kernel: String, threads: u32) {
        self.names.insert(kernel);
        self.threads = self.threads.max(threads);
    }
}

impl Keeper {
    /// Registers a worker with its units, or refuses it with a reason.
    pub(super) fn register(&mut self, registration: Registration, reply: ReplyTo<Welcome>) {
        let heard = registration.met.map_or(Ok(()), |met| self.handle_term(&met));
        if let Err(error) = heard.and_then(|()| self.is_answered()) {
            reply.send(Err(error)).ok();
            return;
        }
        let kernel = registration.kernel.to_string();
        let (name, held) = (registration.name.clone(), registration.held.len());
        let owner = registration.owner.clone();
        let welcome = self.core.register(self.clock.now(), registration);
        if let Ok(welcome) = &welcome {
            let title = self.core.title(welcome.worker);
            let text = format!("worker {title} joined");
            self.news.list(Event::counted_by_name(Level::INFO, "workers joined", &title, text));
        }
        let welcome = welcome.map(|welcome| Welcome { term: self.journal.term(), ..welcome });
        match &welcome {
            _ if !self.news.may_log(&owner) => {}
            Ok(w) => info!(worker = %w.worker, name, held, again = w.leases.len(), "worker registered"),
            Err(refusal) => warn!(name, %refusal, "worker refused"),
        }
        self.kernels.add(kernel, self.core.threads());
        reply.send(welcome.map_err(CallError::from)).ok();
    }

    pub(super) fn renew(
        &mut self,
        owner: &Owner,
        worker: WorkerId,
        held: &[Lease],
    ) -> Result<Renewal, CallError> {
        self.core.check_owner(worker, owner)?;
        let lost = self.core.renew(self.clock.now(), worker, held)?;
        Ok(Renewal { lost, finished: self.is_answered()?, drain: self.core.drains(worker) })
    }

    pub(super) fn release(
        &mut self,
        owner: &Owner,
        worker: WorkerId,
        held: &[Lease],
        leaving: bool,
    ) -> Result<(), CallError> {
        self.core.check_owner(worker, owner)?;
        let title = self.core.title(worker);
        self.core.release(self.clock.now(), worker, held, leaving)?;
        if leaving {
            let text = format!("worker {title} left");
            self.news.list(Event::counted_by_name(Level::INFO, "workers left", &title, text));
            if self.news.may_log(owner) {
                info!(%worker, units = held.len(), "worker left");
            }
        }
        Ok(())
    }

    pub(super) fn strike_off(&mut self, owner: &Owner) {
        let workers = self.core.strike_off(owner);
        if workers > 0 {
            let workers = counted(workers as u64, "worker");
            let text = format!("{owner} was revoked, and {workers} removed");
            self.news.add(Event::new(Level::WARN, "revoked", text));
        }
    }

    /// Handles the term of a coordinator that a caller has met. If it is another coordinator with this term or a higher
    /// term, this coordinator stops and sends no more answers.
    ///
    /// # Errors
    /// This coordinator has stopped.
    pub(super) fn handle_term(&mut self, met: &Term) -> Result<(), CallError> {
        if !matches!(self.stage, Stage::Ended(_))
            && let Some(other) = self.journal.other_coordinator(met)
        {
            self.journal.note_other(other.term());
            let error = CallError::OtherCoordinator(other.clone());
            self.followers.refuse(&error);
            self.refuse_reports(&error);
            self.withhold(other);
        }
        match &self.stage {
            Stage::Ended(Ending::Withheld(why)) if let Some(other) = why.other_coordinator() => {
                Err(CallError::OtherCoordinator(other.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Handles a call of a follower with a matching copy.
    pub(super) fn follow(&mut self, call: FollowCall) {
        let FollowCall { owner, follower, call, records, reply } = call;
        self.followers.join(follower, call, records);
        let text = format!("a follower joined that has {}", counted(records, "record"));
        self.news.add_by(&owner, Event::counted(Level::INFO, "followers joined", text));
        if reply.send(Ok(())).is_err() {
            // The follower has hung up meanwhile, which no other code reports.
            self.followers.leave(follower, call);
        }
    }

    /// Handles the end of a follower's call.
    pub(super) fn unfollow(&mut self, owner: &Owner, follower: u64, call: u64) {
        if self.followers.leave(follower, call) {
            self.news.add_by(owner, Event::counted(Level::INFO, "followers left", "a follower left"));
        }
    }
}

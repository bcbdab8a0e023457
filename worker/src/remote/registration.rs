//! Registration of a worker with its coordinator. The worker asks for the plan, learns the coordinator's protocol
//! versions, and registers with a common version. A new worker with several addresses first asks all of them, and joins
//! the coordinator with the highest term.

use std::time::Duration;

use domain::{Registration, RunId, Term, Welcome};
use proto::{Protocol, WireError, plan_from_reply, run_from_reply, v1};
use queens::PlanSpec;
use queens::plan::Fingerprint;
use tokio::time::Instant;

use super::{Remote, not_understood};
use crate::coordinator::{CallResult, CoordinatorError};
use crate::outage::{GaveUp, Hopeful, Outage};
use crate::refusal::NOTHING_BEHIND;

/// The plan that a coordinator announces, if it does.
pub type Announced = CallResult<(PlanSpec, Fingerprint)>;

/// The coordinator's announcement before a registration.
struct Announcement {
    plan: v1::PlanReply,
    run: RunId,
    term: Term,
    /// The version of the contract that is spoken with it.
    version: u32,
}

/// Which run the coordinator at an address serves in which term.
struct AddressRun {
    index: usize,
    run: RunId,
    term: Term,
}

impl Remote {
    /// The plan that is counted.
    ///
    /// # Errors
    /// The coordinator cannot be reached, refuses, speaks no version of the contract that this release speaks, or announces a
    /// plan that this release does not know.
    pub async fn plan(&self) -> Announced {
        self.find_highest_term().await;
        let mut announced = self.plan_at(self.addresses.current()).await;
        // The others are asked at once.
        for _ in 1..self.addresses() {
            if matches!(announced, Err(CoordinatorError::Unavailable(_))) {
                announced = self.plan_at(self.addresses.current()).await;
            }
        }
        announced
    }

    async fn plan_at(&self, index: usize) -> Announced {
        let Announcement { plan, .. } = self.announcement(index).await?;
        plan_from_reply(plan).map_err(self.not_understood_at(index))
    }

    async fn announcement(&self, index: usize) -> CallResult<Announcement> {
        let mut client = self.clients.client(index);
        let plan = self.answer(index, Duration::ZERO, client.plan(v1::PlanRequest {})).await;
        let plan = plan.map_err(|error| self.correct_unknown_worker(index, error))?;
        let version = Protocol::agree(&plan)
            .map_err(|why| self.addresses.failed(index, CoordinatorError::Refused(why.to_string())))?;
        let (run, term) = run_from_reply(&plan).map_err(self.not_understood_at(index))?;
        self.accept_run(index, run).await?;
        self.addresses.meet(index, term);
        Ok(Announcement { plan, run, term, version })
    }

    /// Handles the run of the coordinator at this address. If the worker has counted for another run, it changes only
    /// if that run was served at this address before and is not served any more.
    async fn accept_run(&self, index: usize, run: RunId) -> CallResult<()> {
        let Some(own) = self.addresses.other_than(run) else { return Ok(()) };
        if !self.addresses.is_home(index) || self.is_served_elsewhere(index, own).await {
            return Err(self.addresses.skip_run(index, run));
        }
        self.addresses.change_run(index, run);
        Ok(())
    }

    /// Whether another address answers with that run, in a term that is not behind the highest one.
    async fn is_served_elsewhere(&self, index: usize, run: RunId) -> bool {
        let met = self.addresses.highest_term();
        let is_served = |other: &AddressRun| {
            other.index != index && other.run == run && met.is_none_or(|met| other.term.follows(&met))
        };
        self.addresses() > 1 && self.served_runs().await.iter().any(is_served)
    }

    /// Registers with the coordinator that is called, and tells it of another one with as high a term or a higher one.
    pub(super) async fn join(&self, registration: Registration) -> CallResult<Welcome> {
        self.find_highest_term().await;
        let index = self.addresses.current();
        // Asked each time: another release may have been started there meanwhile.
        let Announcement { run, term, version, .. } = self.announcement(index).await?;
        if self.addresses.gives_up_units(run) {
            return Err(CoordinatorError::OtherRun);
        }
        let is_met = self.addresses.highest_term() == Some(term);
        let registration = Registration { met: self.addresses.term_against(&term), ..registration };
        let request = Protocol::speak(version, registration.into());
        let mut client = self.clients.client(index);
        let reply = self.reply(index, Duration::ZERO, client.register(request)).await;
        let reply = reply.map_err(|error| match error {
            // The coordinator of the run refuses, so no other coordinator may admit the worker.
            CoordinatorError::Refused(_) if is_met => error,
            CoordinatorError::Unregistered => self.correct_unknown_worker(index, error),
            error => self.addresses.failed(index, error),
        })?;
        let welcome = Welcome::try_from(reply).map_err(self.not_understood_at(index))?;
        self.addresses.taken_in();
        self.addresses.joined(index, run);
        Ok(welcome)
    }

    /// Corrects the error "unknown worker" for a worker that has never registered. No coordinator sends it then, but a
    /// proxy in front of an absent coordinator may.
    fn correct_unknown_worker(&self, index: usize, error: CoordinatorError) -> CoordinatorError {
        match error {
            CoordinatorError::Unregistered => {
                self.addresses.failed(index, CoordinatorError::Unavailable(NOTHING_BEHIND.into()))
            }
            error => error,
        }
    }

    /// The answer is not understood: another address may have a coordinator that is.
    fn not_understood_at(&self, index: usize) -> impl Fn(WireError) -> CoordinatorError + '_ {
        move |error| self.addresses.failed(index, not_understood(error))
    }

    /// Asks all addresses for run and term, and calls the coordinator with the highest term of the first run that answers. Not if a
    /// coordinator was met before.
    async fn find_highest_term(&self) {
        if self.addresses() == 1 || self.addresses.highest_term().is_some() {
            return;
        }
        let (of_run, others): (Vec<_>, Vec<_>) = {
            let served = self.served_runs().await;
            let first = served.first().map(|served| served.run);
            served.into_iter().partition(|served| Some(served.run) == first)
        };
        let Some(highest) = of_run.iter().rev().max_by_key(|served| served.term.number) else { return };
        self.addresses.begin_with(highest.index, highest.run, highest.term);
        of_run.iter().for_each(|served| self.addresses.meet(served.index, served.term));
        for other in others {
            self.addresses.skip_run(other.index, other.run);
        }
    }

    /// The runs of all coordinators that answer in time, in the order of the addresses.
    async fn served_runs(&self) -> Vec<AddressRun> {
        self.ask_all(|index, mut client| async move {
            let reply = client.plan(v1::PlanRequest {}).await.ok()?.into_inner();
            let (run, term) = run_from_reply(&reply).ok()?;
            Some(AddressRun { index, run, term })
        })
        .await
    }
}

/// Asks the coordinator for its plan, until it answers or the time is up.
///
/// # Errors
/// If the time is up; within it, if the coordinator refuses.
pub async fn fetch_plan(remote: &Remote, give_up_after: Option<Duration>) -> Result<Announced, GaveUp> {
    let mut outage = Outage::new(give_up_after, Hopeful::default());
    loop {
        let made = Instant::now();
        match remote.plan().await {
            Err(CoordinatorError::Unavailable(why)) => outage.failed(made, &why)?,
            result => {
                outage.over();
                return Ok(result);
            }
        }
        if let Some(until) = outage.until() {
            tokio::time::sleep_until(until).await;
        }
    }
}

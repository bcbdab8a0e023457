//! How a worker comes to its coordinator: it asks for the plan, learns which version of the wire's contract is spoken
//! there, and registers in one that both speak. One that was started anew and has several addresses asks all of them
//! first, and joins the coordinator with the highest term.

use std::time::Duration;

use domain::{Registration, RunId, Term, Welcome};
use proto::{Protocol, WireError, plan_from_reply, run_from_reply, v1};
use queens::PlanSpec;
use queens::plan::Fingerprint;
use tokio::time::Instant;

use super::{Remote, not_understood};
use crate::coordinator::CoordinatorError;
use crate::outage::{GaveUp, Hopeful, Outage};
use crate::refusal::NOTHING_BEHIND;

/// The plan that a coordinator announces, if it does.
pub type Announced = Result<(PlanSpec, Fingerprint), CoordinatorError>;

/// What a coordinator says before anybody registers, which may be dealt with.
struct Announcement {
    plan: v1::PlanReply,
    run: RunId,
    term: Term,
    /// The version of the contract that is spoken with it.
    version: u32,
}

impl Remote {
    /// What is being counted.
    ///
    /// # Errors
    /// If the coordinator cannot be reached, refuses, speaks no version of the contract that this release speaks, or
    /// announces a plan that this release does not know.
    pub async fn plan(&self) -> Announced {
        self.find_highest_term().await;
        let index = self.addresses.current();
        let Announcement { plan, .. } = self.announcement(index).await?;
        plan_from_reply(plan).map_err(self.strange(index))
    }

    /// What the coordinator at that address says before anybody registers.
    async fn announcement(&self, index: usize) -> Result<Announcement, CoordinatorError> {
        let mut client = self.clients.client(index);
        let plan = self.answer(index, Duration::ZERO, client.plan(v1::PlanRequest {})).await;
        let plan = plan.map_err(|error| self.never_met(index, error))?;
        let version = Protocol::agree(&plan)
            .map_err(|why| self.addresses.failed(index, CoordinatorError::Refused(why.to_string())))?;
        let (run, term) = run_from_reply(&plan).map_err(self.strange(index))?;
        self.settle_run(index, run).await?;
        self.addresses.meet(index, term);
        Ok(Announcement { plan, run, term, version })
    }

    /// The coordinator at that address serves that run. Another one than is counted for takes its place only where that was
    /// served before, and is served nowhere any more.
    async fn settle_run(&self, index: usize, run: RunId) -> Result<(), CoordinatorError> {
        let Some(own) = self.addresses.other_than(run) else { return Ok(()) };
        if !self.addresses.is_home(index) || self.is_served_elsewhere(index, own).await {
            return Err(self.addresses.leave_run_alone(index, run));
        }
        self.addresses.go_over(index, run);
        Ok(())
    }

    /// Whether a coordinator of that run that may be dealt with answers at another address.
    async fn is_served_elsewhere(&self, index: usize, run: RunId) -> bool {
        let met = self.addresses.highest_term();
        let may_serve = |told: &ServedRun| told.run == run && met.is_none_or(|met| told.term.follows(&met));
        self.addresses() > 1
            && self.served_runs().await.iter().any(|told| told.index != index && may_serve(told))
    }

    /// Registers with the coordinator that is called, and tells it of another one with as high a term or a higher one.
    pub(crate) async fn join(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
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
            // The run is this one's, and nobody else's to admit a worker to.
            CoordinatorError::Refused(_) if is_met => error,
            CoordinatorError::Unregistered => self.never_met(index, error),
            error => self.addresses.failed(index, error),
        })?;
        let welcome = Welcome::try_from(reply).map_err(self.strange(index))?;
        self.addresses.taken_in();
        self.addresses.joined(index, run);
        Ok(welcome)
    }

    /// Who has not registered cannot be unknown: what says so to the first calls is no coordinator, but perhaps something in
    /// front of one that is away.
    pub(crate) fn never_met(&self, index: usize, error: CoordinatorError) -> CoordinatorError {
        match error {
            CoordinatorError::Unregistered => {
                self.addresses.failed(index, CoordinatorError::Unavailable(NOTHING_BEHIND.into()))
            }
            error => error,
        }
    }

    /// The coordinator at that address says what is not understood: another one may be there to be called.
    fn strange(&self, index: usize) -> impl Fn(WireError) -> CoordinatorError + '_ {
        move |error| self.addresses.failed(index, not_understood(error))
    }

    /// Asks all addresses for their coordinator's run and term, and calls the one with the highest term from now on, of the run of
    /// the first address that answers. Not if a coordinator was met before.
    async fn find_highest_term(&self) {
        if self.addresses() == 1 || self.addresses.highest_term().is_some() {
            return;
        }
        let told = self.served_runs().await;
        let Some(run) = told.first().map(|told| told.run) else { return };
        let of_run = || told.iter().filter(|told| told.run == run);
        let Some(highest) = of_run().rev().max_by_key(|told| told.term.number) else { return };
        self.addresses.begin_with(highest.index, run, highest.term);
        of_run().for_each(|told| self.addresses.meet(told.index, told.term));
        for other in told.iter().filter(|told| told.run != run) {
            self.addresses.leave_run_alone(other.index, other.run);
        }
    }

    /// What the coordinators at all addresses that answer in time say, in the order of the addresses.
    async fn served_runs(&self) -> Vec<ServedRun> {
        self.ask_all(|index, mut client| async move {
            let reply = client.plan(v1::PlanRequest {}).await.ok()?.into_inner();
            let (run, term) = run_from_reply(&reply).ok()?;
            Some(ServedRun { index, run, term })
        })
        .await
    }
}

/// Which run the coordinator at an address serves in which term.
struct ServedRun {
    index: usize,
    run: RunId,
    term: Term,
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

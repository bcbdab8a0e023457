//! How a worker comes to its coordinator: it asks for the plan, learns which version of the wire's contract is spoken
//! there, and registers in one that both speak. One that was started anew and has several addresses asks all of them
//! first, and joins the youngest coordinator: it has met none that could tell it that another one is left behind.

use std::time::Duration;

use domain::{Registration, RunId, Term, Welcome};
use proto::{Protocol, WireError, plan_from_reply, run_from_reply, v1};
use queens::PlanSpec;
use queens::plan::Fingerprint;
use tokio::time::{Instant, timeout};

use crate::asking::SILENCE;
use crate::coordinator::CoordinatorError;
use crate::outage::{GaveUp, Hopeful, Outage};
use crate::refusal::NOTHING_BEHIND;
use crate::remote::{Remote, not_understood};
use crate::sites::Rival;

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
    /// announces a plan that this release does not know, or a term that cannot be true.
    pub async fn plan(&self) -> Announced {
        self.find_youngest().await;
        let site = self.sites().current();
        let Announcement { plan, .. } = self.announcement(site).await?;
        plan_from_reply(plan).map_err(self.strange(site))
    }

    /// What the coordinator at that address says before anybody registers.
    async fn announcement(&self, site: usize) -> Result<Announcement, CoordinatorError> {
        let mut client = self.client(site);
        let plan = self.answer(site, Duration::ZERO, client.plan(v1::PlanRequest {})).await;
        let plan = plan.map_err(|error| self.never_met(site, error))?;
        let version = Protocol::agree(&plan)
            .map_err(|why| self.sites().failed(site, CoordinatorError::Refused(why.to_string())))?;
        let (run, term) = run_from_reply(&plan).map_err(self.strange(site))?;
        self.settle_run(site, run).await?;
        self.sites().meet_again(site, term)?;
        Ok(Announcement { plan, run, term, version })
    }

    /// The coordinator at that address serves that run. Another one than is counted for takes its place only where that was
    /// served before, and is served nowhere any more.
    async fn settle_run(&self, site: usize, run: RunId) -> Result<(), CoordinatorError> {
        let Some(own) = self.sites().other_than(run) else { return Ok(()) };
        if !self.sites().is_home(site) || self.is_served_elsewhere(site, own).await {
            return Err(self.sites().leave_run_alone(site, run));
        }
        self.sites().go_over(site, run);
        Ok(())
    }

    /// Whether a coordinator of that run that may be dealt with answers at another address.
    async fn is_served_elsewhere(&self, site: usize, run: RunId) -> bool {
        let met = self.sites().met();
        let may_serve = |told: &Told| told.run == run && met.is_none_or(|met| told.term.follows(&met));
        self.addresses() > 1 && self.ask_all().await.iter().any(|told| told.site != site && may_serve(told))
    }

    /// Registers with the coordinator that is called, unless a younger one was met.
    pub(crate) async fn join(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        self.find_youngest().await;
        let site = self.sites().current();
        // Asked each time: another release may have been started there meanwhile.
        let Announcement { run, term, version, .. } = self.announcement(site).await?;
        if self.sites().gives_up_units(run) {
            return Err(CoordinatorError::OtherRun);
        }
        let is_met = self.sites().met() == Some(term);
        let rival = self.sites().take_rival();
        let met = rival.map(|rival| rival.term).or(self.sites().met());
        let registration = Registration { met, ..registration };
        let held_nothing = Registration { held: Vec::new(), leases: Vec::new(), ..registration.clone() };
        let request = Protocol::speak(version, registration.into());
        let mut client = self.client(site);
        let reply = self.reply(site, Duration::ZERO, client.register(request)).await;
        let reply = reply.map_err(|error| match error {
            CoordinatorError::Unavailable(_) if let Some(rival) = rival => {
                self.sites().turn_to(rival);
                error
            }
            // The run is this one's, and nobody else's to admit a worker to.
            CoordinatorError::Refused(_) if is_met => error,
            CoordinatorError::Unregistered => self.never_met(site, error),
            error => self.sites().failed(site, error),
        })?;
        let welcome = Welcome::try_from(reply).map_err(self.strange(site))?;
        if let Some(term) = welcome.term {
            self.sites().meet(site, term)?;
        }
        self.sites().taken_in();
        self.sites().joined(site, run);
        if let Some(rival) = rival {
            self.tell(rival, Registration { met: welcome.term, former: None, ..held_nothing }).await;
        }
        Ok(welcome)
    }

    /// Tells a coordinator that another one serves the run in the same term, and has something on record: nobody else may be there
    /// who knows.
    async fn tell(&self, Rival { site, version, .. }: Rival, registration: Registration) {
        let request = Protocol::speak(version, registration.into());
        let mut client = self.client(site);
        let told = async {
            let worker = client.register(request).await.ok()?.into_inner().worker;
            client.release(v1::ReleaseRequest { worker, leases: Vec::new(), leaving: true }).await.ok()
        };
        timeout(SILENCE, told).await.ok();
    }

    /// Who has not registered cannot be unknown: what says so to the first calls is no coordinator, but perhaps something in
    /// front of one that is away.
    pub(crate) fn never_met(&self, site: usize, error: CoordinatorError) -> CoordinatorError {
        match error {
            CoordinatorError::Unregistered => {
                self.sites().failed(site, CoordinatorError::Unavailable(NOTHING_BEHIND.into()))
            }
            error => error,
        }
    }

    /// The coordinator at that address says what is not understood: another one may be there to be called.
    fn strange(&self, site: usize) -> impl Fn(WireError) -> CoordinatorError + '_ {
        move |error| self.sites().failed(site, not_understood(error))
    }

    /// Asks all addresses for their coordinator's run and term, and calls the youngest of one run from now on: that of the first
    /// address that answers. Who has met one already knows which are left behind.
    async fn find_youngest(&self) {
        if self.addresses() == 1 || self.sites().met().is_some() {
            return;
        }
        let told = self.ask_all().await;
        let Some(run) = told.first().map(|told| told.run) else { return };
        let of_run = || told.iter().filter(|told| told.run == run);
        let Some(&Told { site, term, .. }) = of_run().max_by_key(|told| told.term.precedence()) else {
            return;
        };
        self.sites().begin_with(site, run, term);
        let is_rival = |other: &Term| other.number == term.number && other.coordinator != term.coordinator;
        let rival = of_run().find(|told| is_rival(&told.term));
        if let Some(&Told { site: its, term: other, version: Some(version), .. }) = rival {
            self.sites().is_forked(site, term, Rival { site: its, term: other, version });
        }
        for other in told.iter().filter(|told| told.run != run) {
            self.sites().leave_run_alone(other.site, other.run);
        }
    }

    /// What the coordinators at all addresses that answer in time say, in the order of the addresses; one whose term cannot be
    /// true says nothing.
    async fn ask_all(&self) -> Vec<Told> {
        self.ask_each(|site, mut client| async move {
            let reply = client.plan(v1::PlanRequest {}).await.ok()?.into_inner();
            let (run, term) = run_from_reply(&reply).ok()?;
            let version = Protocol::agree(&reply).ok();
            (!Term::is_too_far(term.number, 0)).then_some(Told { site, run, term, version })
        })
        .await
    }
}

/// Which run the coordinator at an address serves in which term.
struct Told {
    site: usize,
    run: RunId,
    term: Term,
    /// The version of the contract that is spoken with it, if one is.
    version: Option<u32>,
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

//! The worker's side of its coordinator: whether it is registered, which calls are under way, and when the next is due.
//!
//! Calls run as tasks of their own and come back as answers, so that none waits for another.

use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, LeaseReply, Registration, Renewal, Report, UnitCount, Verdict, Welcome, WorkerId};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::error::WorkerError;
use crate::coordinator::{CallResult, CoordinatorError, Lender};
use crate::outage::Outage;

/// How long a request for units waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(20);

/// How long a worker that leaves waits for the coordinator to know.
const LEAVE_TIMEOUT: Duration = Duration::from_millis(300);

/// A coordinator, and the worker's pending calls to it.
pub struct Connection {
    coordinator: Arc<dyn Lender>,
    calls: JoinSet<CallAnswer>,
    member: Option<Membership>,
    /// The worker's number under which its present leases were given.
    former: Option<WorkerId>,
    outage: Outage,
    is_registering: bool,
    is_leasing: bool,
    is_renewing: bool,
}

/// A worker that the coordinator knows.
struct Membership {
    worker: WorkerId,
    renew_every: Duration,
    renew_next: Instant,
}

/// The answer to a call that should have been answered at `due`.
pub struct CallAnswer {
    pub due: Instant,
    pub reply: CallReply,
}

pub enum CallReply {
    Registered(CallResult<Welcome>),
    Leased(CallResult<LeaseReply>),
    Reported(CallResult<Vec<Verdict>>),
    Renewed(CallResult<Renewal>),
}

impl Connection {
    pub fn new(coordinator: Arc<dyn Lender>, outage: Outage) -> Self {
        Self {
            coordinator,
            calls: JoinSet::new(),
            member: None,
            former: None,
            outage,
            is_registering: false,
            is_leasing: false,
            is_renewing: false,
        }
    }

    /// Waits for the next answer, and notes that its call is over; none if no call is under way. Cancelled, it has taken none.
    pub async fn answer(&mut self) -> Option<CallAnswer> {
        let answer = self.calls.join_next().await?.ok()?;
        match &answer.reply {
            CallReply::Registered(result) => {
                self.is_registering = false;
                self.member = result.as_ref().ok().map(|welcome| {
                    let renew_every = welcome.lease_time / 6;
                    let renew_next = Instant::now() + renew_every;
                    Membership { worker: welcome.worker, renew_every, renew_next }
                });
                self.former = self.member.as_ref().map(|member| member.worker).or(self.former);
            }
            CallReply::Leased(_) => self.is_leasing = false,
            CallReply::Reported(_) => {}
            CallReply::Renewed(_) => self.is_renewing = false,
        }
        Some(answer)
    }

    /// A call that should have been answered at `due` ended like this.
    /// Fails if the worker has to leave, or if the coordinator has been away for as long as the worker waits.
    pub fn call_ended(&mut self, due: Instant, result: CallResult<()>) -> Result<(), WorkerError> {
        match result {
            Ok(()) => self.outage.over(),
            Err(CoordinatorError::Unavailable(why)) => self.outage.failed(due, &why)?,
            Err(CoordinatorError::Unregistered) => self.member = None,
            Err(CoordinatorError::OtherRun) => return Err(WorkerError::OtherRun),
            Err(CoordinatorError::Refused(why)) => return Err(WorkerError::Refused(why)),
        }
        Ok(())
    }

    /// Whether it is too early to call again a coordinator that is away.
    pub fn is_away(&self) -> bool {
        self.outage.until().is_some()
    }

    /// The worker's number, if it is registered and may call.
    pub fn worker(&self) -> Option<WorkerId> {
        self.member.as_ref().filter(|_| !self.is_away()).map(|member| member.worker)
    }

    pub fn may_register(&self) -> bool {
        self.member.is_none() && !self.is_registering && !self.is_away()
    }

    pub fn register(&mut self, registration: Registration) {
        self.is_registering = true;
        let registration = Registration { former: self.former, ..registration };
        let c = Arc::clone(&self.coordinator);
        self.call(Duration::ZERO, async move { CallReply::Registered(c.register(registration).await) });
    }

    pub fn may_lease(&self) -> bool {
        !self.is_leasing
    }

    pub fn lease(&mut self, worker: WorkerId, want: u32) {
        self.is_leasing = true;
        let c = Arc::clone(&self.coordinator);
        self.call(LEASE_WAIT, async move { CallReply::Leased(c.lease(worker, want, LEASE_WAIT).await) });
    }

    pub fn report(&mut self, worker: WorkerId, counts: Vec<UnitCount>) {
        let (c, report) = (Arc::clone(&self.coordinator), Report { worker, counts });
        self.call(Duration::ZERO, async move { CallReply::Reported(c.report(report).await) });
    }

    /// The time between two renewals, if one is due.
    pub fn due_renewal(&self) -> Option<Duration> {
        let member = self.member.as_ref().filter(|_| !self.is_renewing)?;
        (Instant::now() >= member.renew_next).then_some(member.renew_every)
    }

    pub fn renew(&mut self, worker: WorkerId, held: Vec<Lease>) {
        self.is_renewing = true;
        if let Some(member) = &mut self.member {
            member.renew_next = Instant::now() + member.renew_every;
        }
        let c = Arc::clone(&self.coordinator);
        self.call(Duration::ZERO, async move { CallReply::Renewed(c.renew(worker, held).await) });
    }

    /// Makes a renewal due. Its answer tells whether the coordinator is away.
    pub fn renew_now(&mut self) {
        if let Some(member) = &mut self.member {
            member.renew_next = Instant::now();
        }
    }

    /// Gives back leases of uncounted units. If that fails, they go back when the worker leaves, or when they end.
    pub fn release(&self, leases: Vec<Lease>) {
        if let Some(Membership { worker, .. }) = self.member
            && !leases.is_empty()
        {
            let coordinator = Arc::clone(&self.coordinator);
            tokio::spawn(async move { coordinator.release(worker, leases, false).await });
        }
    }

    /// Tells the coordinator that the worker leaves, and returns all held units.
    pub async fn leave(&self, held: Vec<Lease>) {
        // A coordinator that was started again knows the worker by another number.
        if let Some(Membership { worker, .. }) = self.member {
            timeout(LEAVE_TIMEOUT, self.coordinator.release(worker, held, true)).await.ok();
        }
    }

    /// The time of the next call, if a call can be made. Calls that wait for an answer do not count.
    pub fn next_call(&self) -> Option<Instant> {
        let renewal = self.member.as_ref().filter(|_| !self.is_renewing).map(|member| member.renew_next);
        self.outage.until().or(renewal)
    }

    /// Makes a call in its own task. The coordinator may delay its reply by `wait`.
    fn call(&mut self, wait: Duration, call: impl Future<Output = CallReply> + Send + 'static) {
        let due = Instant::now() + wait;
        self.calls.spawn(async move { CallAnswer { due, reply: call.await } });
    }
}

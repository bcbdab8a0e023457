//! The worker's side of its coordinator: whether it is registered, which calls are under way, and when the next is due.
//!
//! Calls run as tasks of their own and come back as answers, so that none waits for another.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, LeaseReply, Registration, Renewal, Report, UnitCount, Verdict, Welcome, WorkerId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};

use super::error::WorkerError;
use crate::coordinator::{CoordinatorError, Lender};
use crate::outage::Outage;

/// How long a request for units waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(20);

/// How long a worker that leaves waits for the coordinator to know.
const FAREWELL: Duration = Duration::from_millis(300);

/// A coordinator, and what the worker has asked of it.
pub struct Connection {
    coordinator: Arc<dyn Lender>,
    answers_in: UnboundedSender<Answer>,
    answers: UnboundedReceiver<Answer>,
    membership: Membership,
    /// The number under which the coordinator lent what the worker holds.
    former: Option<WorkerId>,
    outage: Outage,
    is_leasing: bool,
    is_renewing: bool,
}

/// Whether the coordinator knows the worker.
enum Membership {
    Unregistered,
    Registering,
    Member { worker: WorkerId, renew_every: Duration, renew_next: Instant },
}

/// The answer to a call that should have been answered at `due`.
pub struct Answer {
    pub due: Instant,
    pub reply: Reply,
}

pub enum Reply {
    Registered(Result<Welcome, CoordinatorError>),
    Leased(Result<LeaseReply, CoordinatorError>),
    Reported(Result<Vec<Verdict>, CoordinatorError>),
    Renewed(Result<Renewal, CoordinatorError>),
}

impl Connection {
    pub fn new(coordinator: Arc<dyn Lender>, outage: Outage) -> Self {
        let (answers_in, answers) = unbounded_channel();
        Self {
            coordinator,
            answers_in,
            answers,
            membership: Membership::Unregistered,
            former: None,
            outage,
            is_leasing: false,
            is_renewing: false,
        }
    }

    /// Waits for the next answer, and notes that its call is over. Cancelled, it has taken none.
    pub async fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.recv().await?;
        match &answer.reply {
            Reply::Registered(Ok(Welcome { worker, lease_time, .. })) => {
                let (worker, renew_every) = (*worker, *lease_time / 6);
                self.former = Some(worker);
                let renew_next = Instant::now() + renew_every;
                self.membership = Membership::Member { worker, renew_every, renew_next };
            }
            Reply::Registered(Err(_)) => self.membership = Membership::Unregistered,
            Reply::Leased(_) => self.is_leasing = false,
            Reply::Reported(_) => {}
            Reply::Renewed(_) => self.is_renewing = false,
        }
        Some(answer)
    }

    /// A call that should have been answered at `due` ended like this.
    ///
    /// # Errors
    /// The worker has to leave, or the coordinator has been away for as long as the worker waits.
    pub fn call_ended(
        &mut self,
        due: Instant,
        result: Result<(), CoordinatorError>,
    ) -> Result<(), WorkerError> {
        match result {
            Ok(()) => self.outage.over(),
            Err(CoordinatorError::Unavailable(why)) => self.outage.failed(due, &why)?,
            Err(CoordinatorError::Unregistered) if self.is_member() => {
                self.membership = Membership::Unregistered;
            }
            Err(CoordinatorError::Unregistered) => {}
            Err(CoordinatorError::OtherRun) => return Err(WorkerError::OtherRun),
            Err(CoordinatorError::Refused(why)) => return Err(WorkerError::Refused(why)),
        }
        Ok(())
    }

    fn is_member(&self) -> bool {
        matches!(self.membership, Membership::Member { .. })
    }

    /// Whether it is too early to call again a coordinator that is away.
    pub fn is_away(&self) -> bool {
        self.outage.until().is_some()
    }

    /// The worker's number, if it is registered and may call.
    pub fn worker(&self) -> Option<WorkerId> {
        match self.membership {
            Membership::Member { worker, .. } if !self.is_away() => Some(worker),
            _ => None,
        }
    }

    pub fn may_register(&self) -> bool {
        matches!(self.membership, Membership::Unregistered) && !self.is_away()
    }

    pub fn register(&mut self, registration: Registration) {
        self.membership = Membership::Registering;
        let registration = Registration { former: self.former, ..registration };
        let register = move |c: Arc<dyn Lender>| async move { c.register(registration).await };
        self.call(Duration::ZERO, register, Reply::Registered);
    }

    pub fn may_lease(&self) -> bool {
        !self.is_leasing
    }

    pub fn lease(&mut self, worker: WorkerId, want: u32) {
        self.is_leasing = true;
        let lease = move |c: Arc<dyn Lender>| async move { c.lease(worker, want, LEASE_WAIT).await };
        self.call(LEASE_WAIT, lease, Reply::Leased);
    }

    pub fn report(&self, worker: WorkerId, counts: Vec<UnitCount>) {
        let report = Report { worker, counts };
        let report = move |c: Arc<dyn Lender>| async move { c.report(report).await };
        self.call(Duration::ZERO, report, Reply::Reported);
    }

    /// The time between two renewals, if one is due.
    pub fn due_renewal(&self) -> Option<Duration> {
        match self.membership {
            Membership::Member { renew_every, renew_next, .. } if !self.is_renewing => {
                (Instant::now() >= renew_next).then_some(renew_every)
            }
            _ => None,
        }
    }

    pub fn renew(&mut self, worker: WorkerId, held: Vec<Lease>) {
        self.is_renewing = true;
        if let Membership::Member { renew_every, renew_next, .. } = &mut self.membership {
            *renew_next = Instant::now() + *renew_every;
        }
        let renew = move |c: Arc<dyn Lender>| async move { c.renew(worker, held).await };
        self.call(Duration::ZERO, renew, Reply::Renewed);
    }

    /// Makes a renewal due. Its answer tells whether the coordinator is away.
    pub fn renew_now(&mut self) {
        if let Membership::Member { renew_next, .. } = &mut self.membership {
            *renew_next = Instant::now();
        }
    }

    /// Gives back leases of uncounted units. If that fails, they go back when the worker leaves, or when they end.
    pub fn release(&self, leases: Vec<Lease>) {
        if let Membership::Member { worker, .. } = self.membership
            && !leases.is_empty()
        {
            let coordinator = Arc::clone(&self.coordinator);
            tokio::spawn(async move { coordinator.release(worker, leases, false).await });
        }
    }

    /// Tells the coordinator that the worker leaves, and gives back what it holds.
    pub async fn leave(&self, held: Vec<Lease>) {
        // A coordinator that was started again knows the worker by another number.
        if let Membership::Member { worker, .. } = self.membership {
            timeout(FAREWELL, self.coordinator.release(worker, held, true)).await.ok();
        }
    }

    /// When the next call is due, if one can be made: what waits for an answer is not.
    pub fn next_call(&self) -> Option<Instant> {
        self.outage.until().or(match self.membership {
            Membership::Member { renew_next, .. } if !self.is_renewing => Some(renew_next),
            _ => None,
        })
    }

    /// Makes a call in a task of its own. It may wait for so long at the coordinator.
    fn call<T: Send + 'static, R: Future<Output = Result<T, CoordinatorError>> + Send>(
        &self,
        wait: Duration,
        call: impl FnOnce(Arc<dyn Lender>) -> R + Send + 'static,
        reply: fn(Result<T, CoordinatorError>) -> Reply,
    ) {
        let (coordinator, answers) = (Arc::clone(&self.coordinator), self.answers_in.clone());
        let due = Instant::now() + wait;
        tokio::spawn(async move {
            let reply = reply(call(coordinator).await);
            // The worker may have left meanwhile.
            answers.send(Answer { due, reply }).ok();
        });
    }
}

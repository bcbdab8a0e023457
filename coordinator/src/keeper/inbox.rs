//! The keeper's inbox: the requests to the keeper, and their bounded queue.
//!
//! If the queue is full, a sender waits without blocking a thread. The queue ends with the last [`Outlet`]. Audits of
//! the keeper send their results to the queue but do not keep it alive.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use domain::{
    Explained, Lease, LeaseReply, Owner, PolicyChange, PolicyInForce, Registration, Renewal, Report,
    RunStatus, Steering, Subject, Takeback, TakenBack, Term, Verdict, Welcome, WorkerId,
};
use records::policy::PolicyError;
use records::{Audit, AuditError, NothingToRetract};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::news::TurnedAway;
use super::other_coordinator::OtherCoordinator;
use crate::core::{NoWorker, Refusal};

/// Maximum number of requests in the queue, and of requests that the keeper takes at once.
const CAPACITY: usize = 4096;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The core refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The records could not be written, here or at followers. The report may be repeated.
    #[error("{0}")]
    NotRecorded(String),
    /// Another coordinator serves the run.
    #[error(transparent)]
    OtherCoordinator(#[from] OtherCoordinator),
    /// There is nothing to retract.
    #[error(transparent)]
    Nothing(#[from] NothingToRetract),
    /// The policy cannot be changed in this way.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// No worker matches the request.
    #[error(transparent)]
    NoWorker(#[from] NoWorker),
    /// The answer is withheld. A restarted coordinator continues, on a repaired ledger if the ledger is damaged.
    #[error("the answer is withheld, and nothing is lent until the coordinator is started again: {0}")]
    Withheld(String),
    /// The run has ended, so it can be neither paused nor resumed.
    #[error("the run has ended and cannot be paused or resumed")]
    Ended,
    /// The keeper has ended.
    #[error("the coordinator is closing")]
    Closed,
}

/// The recipient of the reply to a request.
pub(crate) type ReplyTo<T> = oneshot::Sender<Result<T, CallError>>;

/// A request to the keeper. A caller may only name its owner's workers.
#[derive(Debug)]
pub(crate) enum Request {
    Register(Registration, ReplyTo<Welcome>),
    Lease(LeaseCall),
    Renew {
        owner: Owner,
        worker: WorkerId,
        held: Vec<Lease>,
        reply: ReplyTo<Renewal>,
    },
    Report {
        owner: Owner,
        report: Report,
        reply: ReplyTo<Vec<Verdict>>,
    },
    Release {
        owner: Owner,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
        reply: ReplyTo<()>,
    },
    /// The service has refused a worker or a follower.
    TurnedAway(TurnedAway),
    /// Removes the workers of an owner.
    StrikeOff(Owner),
    /// A caller has met a coordinator with this term.
    Met(Term, ReplyTo<()>),
    Follow(FollowCall),
    /// The number of records on a follower's disk.
    Followed {
        follower: u64,
        call: u64,
        records: u64,
    },
    Unfollowed {
        owner: Owner,
        follower: u64,
        call: u64,
    },
    Retract(Takeback, ReplyTo<TakenBack>),
    ChangePolicy(PolicyChange, ReplyTo<PolicyInForce>),
    Steer(Steering, ReplyTo<u64>),
    Status(oneshot::Sender<RunStatus>),
    Explain(Subject, ReplyTo<Explained>),
    Audited(AuditReason, Box<Result<Audit, AuditError>>),
    Close(oneshot::Sender<()>),
}

/// A request for up to `want` units, which waits at most `wait` until a unit is open.
#[derive(Debug)]
pub(crate) struct LeaseCall {
    pub owner: Owner,
    pub worker: WorkerId,
    pub want: u32,
    pub wait: Duration,
    pub reply: ReplyTo<LeaseReply>,
}

/// A call of a follower, and the number of records on its disk. Calls are numbered, so that the end of an earlier call
/// does not end this call.
#[derive(Debug)]
pub(crate) struct FollowCall {
    pub owner: Owner,
    pub follower: u64,
    pub call: u64,
    pub records: u64,
    pub reply: ReplyTo<()>,
}

impl Request {
    /// The number of counts in the request.
    pub fn counts(&self) -> usize {
        if let Request::Report { report, .. } = self { report.counts.len() } else { 0 }
    }
}

/// The reason for an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AuditReason {
    /// The start of a process that continues counting.
    Resumption,
    /// The answer, after all units are counted.
    Answer,
}

/// A request in the queue, with its permit.
#[derive(Debug)]
struct Queued {
    request: Request,
    _room: Option<OwnedSemaphorePermit>,
}

/// The keeper's end of the queue.
#[derive(Debug)]
pub(crate) struct Inbox {
    queue: Receiver<Queued>,
    outlet: Weak<Sender<Queued>>,
}

/// The callers' end of the queue.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    queue: Arc<Sender<Queued>>,
    room: Arc<Semaphore>,
}

/// The sender for results of audits. It works only while the keeper runs.
#[derive(Clone, Debug)]
pub(crate) struct AuditOutlet(Weak<Sender<Queued>>);

/// An empty inbox and its outlet.
pub(crate) fn inbox() -> (Outlet, Inbox) {
    let (sender, queue) = channel();
    let sender = Arc::new(sender);
    let outlet = Arc::downgrade(&sender);
    (Outlet { queue: sender, room: Arc::new(Semaphore::new(CAPACITY)) }, Inbox { queue, outlet })
}

impl Inbox {
    /// All waiting requests, after a wait of at most `patience` for the first request; none if no outlet is left.
    pub fn take(&self, patience: Duration) -> Option<Vec<Request>> {
        let first = match self.queue.recv_timeout(patience) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let more = self.queue.try_iter().take(CAPACITY);
        Some(first.into_iter().chain(more).map(|queued| queued.request).collect())
    }

    /// The sender for the result of an audit.
    pub fn for_audits(&self) -> AuditOutlet {
        AuditOutlet(Weak::clone(&self.outlet))
    }
}

impl Outlet {
    /// Queues a request as soon as there is room. If the keeper has ended, the request and its reply channel are
    /// dropped.
    pub async fn send(&self, request: Request) {
        if let Ok(room) = Arc::clone(&self.room).acquire_owned().await {
            self.queue.send(Queued { request, _room: Some(room) }).ok();
        }
    }

    /// Queues a request without waiting for room: for the few messages of followers.
    pub fn post(&self, request: Request) {
        self.queue.send(Queued { request, _room: None }).ok();
    }
}

impl AuditOutlet {
    /// Sends the result of an audit, without waiting for room: audits are few.
    pub fn send(&self, reason: AuditReason, found: Result<Audit, AuditError>) {
        if let Some(queue) = self.0.upgrade() {
            let request = Request::Audited(reason, Box::new(found));
            queue.send(Queued { request, _room: None }).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn ask() -> Request {
        Request::Status(oneshot::channel().0)
    }

    #[test]
    fn sender_waits_while_inbox_is_full() {
        let (outlet, inbox) = inbox();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..CAPACITY {
            assert!(pin!(outlet.send(ask())).poll(&mut context).is_ready());
        }
        let mut one_more = pin!(outlet.send(ask()));
        assert_eq!(one_more.as_mut().poll(&mut context), Poll::Pending);
        assert_eq!(inbox.take(Duration::ZERO).unwrap().len(), CAPACITY);
        assert_eq!(one_more.as_mut().poll(&mut context), Poll::Ready(()));
        assert_eq!(inbox.take(Duration::ZERO).unwrap().len(), 1);
    }

    #[test]
    fn sender_waiting_for_room_ends_with_keeper() {
        let (outlet, inbox) = inbox();
        let mut context = Context::from_waker(Waker::noop());
        while pin!(outlet.send(ask())).poll(&mut context).is_ready() {}
        let mut one_more = pin!(outlet.send(ask()));
        assert_eq!(one_more.as_mut().poll(&mut context), Poll::Pending);
        drop(inbox);
        assert_eq!(one_more.as_mut().poll(&mut context), Poll::Ready(()));
    }

    #[test]
    fn inbox_ends_with_last_outlet_despite_audit_sender() {
        let (outlet, inbox) = inbox();
        let (another, audit) = (outlet.clone(), inbox.for_audits());
        drop(outlet);
        assert!(inbox.take(Duration::ZERO).unwrap().is_empty());
        audit.send(AuditReason::Resumption, Err(AuditError::Short));
        assert_eq!(inbox.take(Duration::ZERO).unwrap().len(), 1);
        drop(another);
        assert!(inbox.take(Duration::ZERO).is_none());
        audit.send(AuditReason::Resumption, Err(AuditError::Short));
        assert!(inbox.take(Duration::ZERO).is_none());
    }
}

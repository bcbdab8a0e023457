//! The keeper's inbox: what can be asked of the keeper, and the bounded queue in which requests wait for it.
//!
//! Where the queue is full, whoever sends waits for room, and blocks no thread. The queue ends with the last
//! [`Outlet`]: the audits that the keeper starts send it what they found without keeping it alive.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use domain::{
    Lease, LeaseReply, Owner, PolicyChange, PolicyInForce, Registration, Renewal, Report, RunStatus,
    Steering, Takeback, TakenBack, Term, Verdict, Welcome, WorkerId,
};
use records::policy::PolicyError;
use records::{Audit, AuditError, NothingToRetract};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::news::TurnedAway;
use super::other_coordinator::OtherCoordinator;
use crate::core::{NoWorker, Refusal};

/// At most so many requests wait for the keeper, and it takes no more at a time.
const CAPACITY: usize = 4096;

/// Why a call did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The core refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The records could not be put on disk, here or at followers; the same report may be made again.
    #[error("{0}")]
    NotRecorded(String),
    /// Another coordinator serves the run.
    #[error(transparent)]
    OtherCoordinator(#[from] OtherCoordinator),
    /// There is nothing to take back.
    #[error(transparent)]
    Nothing(#[from] NothingToRetract),
    /// The policy is not to be changed so.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// Nobody is there to be asked.
    #[error(transparent)]
    NoWorker(#[from] NoWorker),
    /// The answer is withheld: a coordinator that is started again, on a mended ledger where that is damaged, goes on.
    #[error("the answer is withheld, and nothing is lent until the coordinator is started again: {0}")]
    Withheld(String),
    /// The run has ended: there is nothing to be paused, or that could go on.
    #[error("the run has ended, nothing of it is counted that could pause or go on")]
    Ended,
    /// The keeper has ended.
    #[error("the coordinator is closing")]
    Closed,
}

/// Where the answer to a request goes.
pub(crate) type ReplyTo<T> = oneshot::Sender<Result<T, CallError>>;

/// What is asked of the keeper. Who names a worker must be its owner.
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
    /// The service has turned a worker or a follower away.
    TurnedAway(TurnedAway),
    /// Strikes off the workers of an owner.
    StrikeOff(Owner),
    /// Somebody has met a coordinator of that term.
    Met(Term, ReplyTo<()>),
    Follow(FollowCall),
    /// A follower has so many records on disk.
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
    Audited(AuditReason, Box<Result<Audit, AuditError>>),
    Close(oneshot::Sender<()>),
}

/// A call for up to `want` units, which may wait so long until some open.
#[derive(Debug)]
pub(crate) struct LeaseCall {
    pub owner: Owner,
    pub worker: WorkerId,
    pub want: u32,
    pub wait: Duration,
    pub reply: ReplyTo<LeaseReply>,
}

/// A follower has called, with so many records on disk. Its calls have numbers, so that the end of an earlier one does not end this
/// one.
#[derive(Debug)]
pub(crate) struct FollowCall {
    pub owner: Owner,
    pub follower: u64,
    pub call: u64,
    pub records: u64,
    pub reply: ReplyTo<()>,
}

impl Request {
    /// How many counts it hands in.
    pub fn counts(&self) -> usize {
        if let Request::Report { report, .. } = self { report.counts.len() } else { 0 }
    }
}

/// What an audit is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AuditReason {
    /// A start, after which units are counted on.
    Resumption,
    /// All is counted: the answer depends on it.
    Answer,
}

/// A request in the queue, and the room that it takes there.
#[derive(Debug)]
struct Queued {
    request: Request,
    _room: Option<OwnedSemaphorePermit>,
}

/// The queue, as the keeper sees it.
#[derive(Debug)]
pub(crate) struct Inbox {
    queue: Receiver<Queued>,
    outlet: Weak<Sender<Queued>>,
}

/// The queue, as those see it who ask.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    queue: Arc<Sender<Queued>>,
    room: Arc<Semaphore>,
}

/// Where an audit sends what it found: to the keeper, if that is still there.
#[derive(Clone, Debug)]
pub(crate) struct AuditOutlet(Weak<Sender<Queued>>);

/// An empty inbox, and the way to it.
pub(crate) fn inbox() -> (Outlet, Inbox) {
    let (sender, queue) = channel();
    let sender = Arc::new(sender);
    let outlet = Arc::downgrade(&sender);
    (Outlet { queue: sender, room: Arc::new(Semaphore::new(CAPACITY)) }, Inbox { queue, outlet })
}

impl Inbox {
    /// All that has come, after a wait of at most `patience` for the first of it; nothing once nobody is left who
    /// could ask.
    pub fn take(&self, patience: Duration) -> Option<Vec<Request>> {
        let first = match self.queue.recv_timeout(patience) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let more = self.queue.try_iter().take(CAPACITY);
        Some(first.into_iter().chain(more).map(|queued| queued.request).collect())
    }

    /// The way back for an audit.
    pub fn for_audits(&self) -> AuditOutlet {
        AuditOutlet(Weak::clone(&self.outlet))
    }
}

impl Outlet {
    /// Puts a request into the queue as soon as there is room. If the keeper has ended, the request is dropped, and
    /// with it the place where its answer would have gone.
    pub async fn send(&self, request: Request) {
        if let Ok(room) = Arc::clone(&self.room).acquire_owned().await {
            self.queue.send(Queued { request, _room: Some(room) }).ok();
        }
    }

    /// Puts a request into the queue whether there is room or not: for what followers say, who are few.
    pub fn post(&self, request: Request) {
        self.queue.send(Queued { request, _room: None }).ok();
    }
}

impl AuditOutlet {
    /// Hands in what an audit found. Audits are few: they need no room.
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
    fn who_waits_for_room_is_let_go_when_the_keeper_ends() {
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

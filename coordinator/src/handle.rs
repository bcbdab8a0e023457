//! The way to the keeper: a handle that can be cloned and used from anywhere.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use proto::{Lease, LeaseReply, Registration, Report, RunStatus, Verdict, Welcome, WorkerId};
use queens::{Plan, UnitId};
use thiserror::Error;
use tokio::sync::{oneshot, watch};

use crate::audit::Audit;
use crate::clock::{Clock, SystemClock};
use crate::core::{Core, Refusal};
use crate::double_check::DoubleCheck;
use crate::keeper::{self, Snapshot};
use crate::shard::Shard;
use crate::standing::Standing;
use crate::store::Store;

/// Why a call did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// The core refuses it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The records could not be put on disk; the same report may be made again.
    #[error("{0}")]
    NotRecorded(String),
    /// The keeper has ended.
    #[error("the coordinator is closing")]
    Closed,
}

type Reply<T> = oneshot::Sender<Result<T, CallError>>;

/// A request that the keeper answers.
pub(crate) enum Command {
    Register(Registration, Reply<Welcome>),
    Lease(LeaseRequest),
    Renew { worker: WorkerId, held: Vec<Lease>, reply: Reply<Vec<UnitId>> },
    Report(Report, Reply<Vec<Verdict>>),
    Release { worker: WorkerId, held: Vec<Lease>, leaving: bool, reply: Reply<()> },
    Status(oneshot::Sender<RunStatus>),
    Audited(Purpose, Box<Result<Audit, String>>),
    Close(oneshot::Sender<()>),
}

/// What an audit was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// After a start, while units are counted on.
    Resumption,
    /// All is counted: the answer depends on it.
    Answer,
}

/// A request for units, which may wait until some open.
pub(crate) struct LeaseRequest {
    pub worker: WorkerId,
    pub want: u32,
    /// By the keeper's clock.
    pub until: Duration,
    pub reply: Reply<LeaseReply>,
}

/// The way to the keeper of a run.
#[derive(Clone, Debug)]
pub struct Handle {
    commands: Sender<Command>,
    snapshots: watch::Receiver<Snapshot>,
    plan: Arc<Plan>,
    begun: Instant,
}

impl Handle {
    /// Starts the keeper of a run that records in `store`, or in memory only.
    pub fn start(
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        policy: DoubleCheck,
        store: Option<Store>,
    ) -> std::io::Result<Self> {
        Self::start_by(Box::new(SystemClock::default()), plan, shard, standing, policy, store)
    }

    /// The same by another clock.
    pub(crate) fn start_by(
        clock: Box<dyn Clock>,
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        policy: DoubleCheck,
        store: Option<Store>,
    ) -> std::io::Result<Self> {
        let core = Core::new(plan, shard, standing, policy, rand::random());
        let (commands, inbox) = channel();
        let (publisher, snapshots) = watch::channel(keeper::first_snapshot(&core));
        let handle = Self { commands, snapshots, plan: Arc::clone(core.plan()), begun: Instant::now() };
        keeper::start(core, store, clock, inbox, handle.clone(), publisher)?;
        Ok(handle)
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Snapshots of the run as they are published, at most twice a second.
    pub fn snapshots(&self) -> watch::Receiver<Snapshot> {
        self.snapshots.clone()
    }

    /// Registers a worker.
    pub async fn register(&self, registration: Registration) -> Result<Welcome, CallError> {
        self.call(|reply| Command::Register(registration, reply)).await
    }

    /// Leases up to `want` units, and waits up to `wait` for some to open.
    pub async fn lease(&self, worker: WorkerId, want: u32, wait: Duration) -> Result<LeaseReply, CallError> {
        let until = self.begun.elapsed() + wait;
        self.call(|reply| Command::Lease(LeaseRequest { worker, want, until, reply })).await
    }

    /// Keeps leases alive; the units named in return are lost.
    pub async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Vec<UnitId>, CallError> {
        self.call(|reply| Command::Renew { worker, held, reply }).await
    }

    /// Reports counts. When this returns their verdicts, what was to be recorded is on disk.
    pub async fn report(&self, report: Report) -> Result<Vec<Verdict>, CallError> {
        self.call(|reply| Command::Report(report, reply)).await
    }

    /// Gives units back, and strikes the worker off if it leaves.
    pub async fn release(&self, worker: WorkerId, held: Vec<Lease>, leaving: bool) -> Result<(), CallError> {
        self.call(|reply| Command::Release { worker, held, leaving, reply }).await
    }

    /// Where the run stands.
    pub async fn status(&self) -> Result<RunStatus, CallError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Status(reply));
        answer.await.map_err(|_| CallError::Closed)
    }

    /// Saves the checkpoint, publishes the last snapshot and lets go of the run directory.
    pub async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        self.send(Command::Close(reply));
        closed.await.ok();
    }

    pub(crate) fn send(&self, command: Command) {
        // If the keeper has ended, the reply channel is dropped with the command, and that is noticed.
        self.commands.send(command).ok();
    }

    async fn call<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, CallError> {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply));
        answer.await.map_err(|_| CallError::Closed)?
    }
}

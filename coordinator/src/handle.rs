//! A handle to the keeper that can be cloned and used from anywhere. The keeper ends with the last of them.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::{
    Lease, LeaseReply, Owner, PolicyChange, PolicyInForce, Registration, Renewal, Report, RunId, RunStatus,
    Steering, Takeback, TakenBack, Term, Verdict, Welcome, WorkerId,
};
use queens::{Class, Classified, Plan};
use records::ledger::LedgerPosition;
use records::policy::PolicyError;
use records::run_directory::{LeaseKey, RunDirectory};
use records::shard::Shard;
use records::standing::Standing;
use records::store::{Store, StoreError};
use records::{Clock, DoubleCheck, SystemClock};
use thiserror::Error;
use tokio::sync::{oneshot, watch};
use tracing::warn;

use crate::core::{Checking, Core};
use crate::keeper::{
    self, CallError, Channels, FollowCall, LeaseCall, Outlet, ReplyTo, Request, Snapshot, TurnedAway,
};

/// How counts are to be checked from a start on: what is not said is as the ledger has it, or as usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckingOptions {
    /// Which counts are made a second time.
    pub double_check: Option<DoubleCheck>,
    /// By how many owners each checked unit must have been counted.
    pub require_owners: Option<u32>,
    /// After how long, where only checks are left, less independent ones are accepted.
    pub relax_after: Option<Duration>,
}

impl From<Option<DoubleCheck>> for CheckingOptions {
    fn from(double_check: Option<DoubleCheck>) -> Self {
        Self { double_check, ..Self::default() }
    }
}

/// A run that is not begun or gone on with.
#[derive(Debug, Error)]
pub enum StartError {
    /// Less is to be checked than the ledger says.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The term in which it is written cannot be noted in the run directory.
    #[error("cannot note the term {term} in {}: {source}; make room, and start again", .folder.display())]
    Unnoted {
        /// Its number.
        term: u64,
        /// The run directory.
        folder: PathBuf,
        /// The disk's reason.
        source: io::Error,
    },
    /// What is to be done there before it goes on cannot be done.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gives no thread.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl Classified for StartError {
    fn class(&self) -> Class {
        match self {
            Self::Policy(error) => error.class(),
            Self::Store(error) => error.class(),
            Self::Unnoted { .. } | Self::System(_) => Class::Failed,
        }
    }
}

/// A handle to the keeper of a run, on behalf of the unnamed owner unless it was made for another.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: Outlet,
    snapshots: watch::Receiver<Snapshot>,
    /// What followers are given, where there is a ledger.
    source: Option<LedgerSource>,
    plan: Arc<Plan>,
    clock: Arc<dyn Clock>,
    owner: Owner,
}

/// What followers are given of a run.
#[derive(Clone, Debug)]
pub struct LedgerSource {
    /// Where the run is.
    pub directory: RunDirectory,
    /// What the terms of its coordinators are proven with.
    pub key: LeaseKey,
    /// The term of this process.
    pub term: Term,
    /// Where the ledger ends.
    pub ends: watch::Receiver<LedgerPosition>,
}

impl Handle {
    /// Starts the keeper of a run that records in `store`, or in memory only. How counts are checked is what the ledger
    /// says, unless `policy` says otherwise; that goes on record.
    ///
    /// # Errors
    /// That would be less than the ledger says, or the system gives no thread.
    pub fn start(
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        checking: impl Into<CheckingOptions>,
        store: Option<Store>,
    ) -> Result<Self, StartError> {
        Self::start_by(Arc::new(SystemClock::default()), plan, shard, standing, checking, store, None)
    }

    /// Starts the keeper of a run that is served to others, and may be followed by some. How many followers must have a
    /// record before it is acknowledged is what the ledger says, unless `replicas` says otherwise; that goes on record.
    ///
    /// # Errors
    /// That would be less than the ledger says, or the system gives no thread.
    pub fn start_replicated(
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        checking: impl Into<CheckingOptions>,
        store: Store,
        replicas: Option<u32>,
    ) -> Result<Self, StartError> {
        let (before, replicas) = (standing.replicas(None), standing.replicas(replicas));
        let clock = Arc::new(SystemClock::default());
        let handle = Self::start_by(clock, plan, shard, standing, checking, Some(store), Some(replicas))?;
        if replicas < before {
            warn!(
                "{replicas} followers are waited for from now on, where it was {before}: when there are as many again, say \
                 diadem policy URL --replicas {before} --reason TEXT, with --keys keys/admin where the run has keys"
            );
        }
        Ok(handle)
    }

    /// Starts the keeper of a run by a clock of the caller's; where it may be followed, by so many that must have a record
    /// before it is acknowledged.
    ///
    /// # Errors
    /// That would be less than the ledger says, or the system gives no thread.
    pub(crate) fn start_by(
        clock: Arc<dyn Clock>,
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        checking: impl Into<CheckingOptions>,
        mut store: Option<Store>,
        replicas: Option<u32>,
    ) -> Result<Self, StartError> {
        let CheckingOptions { double_check, require_owners, relax_after } = checking.into();
        let checking = Checking {
            policy: standing.policy_at_start(double_check)?,
            require_owners: require_owners.or(standing.sums().require_owners),
            relax_after,
            counted_before: store.as_ref().map_or(Duration::ZERO, |store| store.mark().elapsed()),
        };
        let key = store.as_ref().map_or_else(LeaseKey::random, |store| store.lease_key().clone());
        let mut core = Core::new(Arc::clone(&plan), shard, standing, checking, key, rand::random());
        if let (Some(_), Some(store)) = (replicas, &mut store) {
            let folder = store.directory().path().to_owned();
            let term = store.term().number;
            let unnoted = |source| StartError::Unnoted { term, folder, source };
            match store.announce().map_err(unnoted) {
                // Nobody counts for it, who could take the next one for another.
                Err(error) if core.is_complete() => warn!("{error}"),
                announced => announced?,
            }
            let paused = store.notes().paused.clone();
            if let Some(reason) = &paused {
                warn!(reason, "the run pauses: no units are lent until diadem resume");
            }
            core.pause(Duration::ZERO, paused);
        }
        // What refuses a command comes before: from here on only the system can.
        if let Some(store) = &mut store {
            store.settle(core.standing())?;
        }
        let parts =
            store.as_ref().map(|store| (store.directory().clone(), store.lease_key().clone(), store.term()));
        let Channels { requests, snapshots, ends } =
            keeper::start(core, store, Arc::clone(&clock), replicas)?;
        let source = parts.map(|(directory, key, term)| LedgerSource { directory, key, term, ends });
        Ok(Self { requests, snapshots, source, plan, clock, owner: Owner::default() })
    }

    /// A handle to the same keeper whose calls are the owner's: they name no worker of another.
    #[must_use]
    pub fn on_behalf_of(&self, owner: Owner) -> Self {
        Self { owner, ..self.clone() }
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The clock by which the run is kept.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Snapshots of the run as they are published, at most twice a second. They end with the keeper.
    pub fn snapshots(&self) -> watch::Receiver<Snapshot> {
        self.snapshots.clone()
    }

    /// Registers a worker of the handle's owner.
    ///
    /// # Errors
    /// The core refuses it, or the keeper has ended.
    pub async fn register(&self, registration: Registration) -> Result<Welcome, CallError> {
        let registration = Registration { owner: self.owner.clone(), ..registration };
        self.call(|reply| Request::Register(registration, reply)).await
    }

    /// Leases up to `want` units, and waits up to `wait` for some to open.
    ///
    /// # Errors
    /// The worker is not registered by this owner, or the keeper has ended.
    pub async fn lease(&self, worker: WorkerId, want: u32, wait: Duration) -> Result<LeaseReply, CallError> {
        let owner = self.owner.clone();
        self.call(|reply| Request::Lease(LeaseCall { owner, worker, want, wait, reply })).await
    }

    /// Keeps leases alive; the units named in return are lost.
    ///
    /// # Errors
    /// The worker is not registered by this owner, or the keeper has ended.
    pub async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CallError> {
        let owner = self.owner.clone();
        self.call(|reply| Request::Renew { owner, worker, held, reply }).await
    }

    /// Reports counts. When this returns their verdicts, what was to be recorded is on disk.
    ///
    /// # Errors
    /// The worker is not registered by this owner, the disk does not take the records, or the keeper has ended.
    pub async fn report(&self, report: Report) -> Result<Vec<Verdict>, CallError> {
        let owner = self.owner.clone();
        self.call(|reply| Request::Report { owner, report, reply }).await
    }

    /// Gives units back, and strikes the worker off if it leaves.
    ///
    /// # Errors
    /// The worker is not registered by this owner, or the keeper has ended.
    pub async fn release(&self, worker: WorkerId, held: Vec<Lease>, leaving: bool) -> Result<(), CallError> {
        let owner = self.owner.clone();
        self.call(|reply| Request::Release { owner, worker, held, leaving, reply }).await
    }

    /// The term of this process, where there is a ledger.
    pub fn term(&self) -> Option<Term> {
        self.source.as_ref().map(|source| source.term)
    }

    /// Which run this is, where there is a ledger.
    pub fn run(&self) -> Option<RunId> {
        let source = self.source.as_ref()?;
        Some(RunId(u128::from_be_bytes(source.directory.run().hash().bytes())))
    }

    /// What followers are given, where there is a ledger.
    pub fn source(&self) -> Option<&LedgerSource> {
        self.source.as_ref()
    }

    /// Somebody has met a coordinator of that term.
    ///
    /// # Errors
    /// This coordinator has stopped for another one, or the keeper has ended.
    pub async fn meet(&self, met: Term) -> Result<(), CallError> {
        self.call(|reply| Request::Met(met, reply)).await
    }

    /// A follower has called whose copy fits. It is connected until what this returns is dropped.
    ///
    /// # Errors
    /// The keeper has ended.
    pub async fn follow(&self, follower: u64, records: u64) -> Result<Following, CallError> {
        let (owner, call) = (self.owner.clone(), rand::random());
        let following = Following { requests: self.requests.clone(), owner: owner.clone(), follower, call };
        self.call(|reply| Request::Follow(FollowCall { owner, follower, call, records, reply })).await?;
        Ok(following)
    }

    /// A caller of the handle's owner was turned away, which called from that host. `why` is one sentence for the log.
    pub async fn turned_away(&self, host: Option<IpAddr>, why: String) {
        let owner = self.owner.clone();
        self.requests.send(Request::TurnedAway(TurnedAway { owner, host, why })).await;
    }

    /// Strikes off all workers of an owner who is let in no longer.
    pub async fn strike_off(&self, owner: Owner) {
        self.requests.send(Request::StrikeOff(owner)).await;
    }

    /// Takes counts back that the operator does not believe; gives their number. As many followers as are needed have it on disk when
    /// this returns, unless it says otherwise.
    ///
    /// # Errors
    /// There is nothing of the kind, the run has ended, the disk does not take the records, or the keeper has ended.
    pub async fn retract(&self, takeback: Takeback) -> Result<TakenBack, CallError> {
        self.call(|reply| Request::Retract(takeback, reply)).await
    }

    /// Changes how the run is checked and copied; gives what holds from then on. As many followers as are needed from then on have it on
    /// disk when this returns, unless it says otherwise.
    ///
    /// # Errors
    /// That would lower what is checked, the run has ended, the disk does not take the records, or the keeper has ended.
    pub async fn change_policy(&self, change: PolicyChange) -> Result<PolicyInForce, CallError> {
        self.call(|reply| Request::ChangePolicy(change, reply)).await
    }

    /// Does as the operator wishes of the run; gives how many workers it concerns.
    ///
    /// # Errors
    /// There is no such worker, it cannot be noted in the run directory, or the keeper has ended.
    pub async fn steer(&self, steering: Steering) -> Result<u64, CallError> {
        self.call(|reply| Request::Steer(steering, reply)).await
    }

    /// Where the run stands; where its disk hangs, where it stood last, and that it does.
    ///
    /// # Errors
    /// The keeper has ended.
    pub async fn status(&self) -> Result<RunStatus, CallError> {
        let asked = async {
            let (reply, answer) = oneshot::channel();
            self.requests.send(Request::Status(reply)).await;
            answer.await.map_err(|_| CallError::Closed)
        };
        let mut snapshots = self.snapshots();
        tokio::select! {
            biased;
            answer = asked => answer,
            Ok(last) = snapshots.wait_for(|snapshot| snapshot.is_stalled) => Ok(last.status.clone()),
        }
    }

    /// Saves the checkpoint, publishes the last snapshot and lets go of the run directory.
    pub async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        self.requests.send(Request::Close(reply)).await;
        closed.await.ok();
    }

    async fn call<T>(&self, request: impl FnOnce(ReplyTo<T>) -> Request) -> Result<T, CallError> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).await;
        answer.await.map_err(|_| CallError::Closed)?
    }
}

/// A follower that is there.
#[derive(Debug)]
pub struct Following {
    requests: Outlet,
    owner: Owner,
    follower: u64,
    call: u64,
}

impl Following {
    /// The follower has so many records on disk.
    pub fn has(&self, records: u64) {
        let Self { follower, call, .. } = *self;
        self.requests.post(Request::Followed { follower, call, records });
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let Self { follower, call, .. } = *self;
        self.requests.post(Request::Unfollowed { owner: self.owner.clone(), follower, call });
    }
}

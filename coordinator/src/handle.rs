//! A handle to the keeper, which can be cloned and used from any thread. The keeper ends when its last handle is
//! dropped.

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use domain::{
    Explained, Lease, LeaseReply, Owner, PolicyChange, PolicyInForce, Registration, Renewal, Report, RunId,
    RunStatus, Steering, Subject, Takeback, TakenBack, Term, Verdict, Welcome, WorkerId,
};
use queens::{Class, Classified, Plan, UnitId};
use records::ledger::{LedgerPosition, lines_of_unit};
use records::policy::PolicyError;
use records::run_directory::{LeaseKey, RunDirectory};
use records::shard::Shard;
use records::standing::Standing;
use records::store::{Store, StoreError};
use records::{Clock, DoubleCheck, OwnChecks, SystemClock};
use thiserror::Error;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::spawn_blocking;
use tracing::warn;

use crate::core::{Checking, Core};
use crate::keeper::{
    self, CallError, Channels, FollowCall, LeaseCall, Outlet, ReplyTo, Request, Snapshot, TurnedAway,
};

/// How counts are checked after a start. Missing values are taken from the ledger, or else are the defaults.
#[derive(Clone, Debug, Default)]
pub struct CheckingOptions {
    /// Which counts are checked.
    pub double_check: Option<DoubleCheck>,
    /// The number of owners that must count each checked unit.
    pub require_owners: Option<u32>,
    /// The share of units that the operator's own machines count once more.
    pub own_checks: Option<DoubleCheck>,
    /// The owner of these machines.
    pub own: Option<String>,
    /// When only checks are left, the time after which less independent checks are accepted.
    pub relax_after: Option<Duration>,
}

impl From<Option<DoubleCheck>> for CheckingOptions {
    fn from(double_check: Option<DoubleCheck>) -> Self {
        Self { double_check, ..Self::default() }
    }
}

/// The reason why a run cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The policy requires fewer checks than the ledger.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The term of this process cannot be noted in the run directory.
    #[error("cannot write the term {term} in {}: {source}; make room, and start again", .folder.display())]
    Unnoted {
        /// The number of the term.
        term: u64,
        /// The run directory.
        folder: PathBuf,
        /// The error of the disk.
        source: io::Error,
    },
    /// The store cannot be prepared.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system cannot start a thread.
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

/// A handle to the keeper of a run, on behalf of the unnamed owner or of a given owner.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: Outlet,
    snapshots: watch::Receiver<Snapshot>,
    /// The data for followers, if there is a ledger.
    source: Option<LedgerSource>,
    /// The permit to search the ledger for a unit, which takes seconds at record size.
    search: Arc<Semaphore>,
    plan: Arc<Plan>,
    clock: Arc<dyn Clock>,
    owner: Owner,
}

/// The data of a run for followers.
#[derive(Clone, Debug)]
pub struct LedgerSource {
    /// The run directory.
    pub directory: RunDirectory,
    /// The key that proves the terms of its coordinators.
    pub key: LeaseKey,
    /// The term of this process.
    pub term: Term,
    /// The end of the ledger.
    pub ends: watch::Receiver<LedgerPosition>,
}

impl Handle {
    /// Starts the keeper of a run that records in `store`, or only in memory. The check policy comes from the ledger
    /// unless `policy` is given, which is then recorded.
    ///
    /// # Errors
    /// The policy requires less than the ledger, or the system cannot start a thread.
    pub fn start(
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        checking: impl Into<CheckingOptions>,
        store: Option<Store>,
    ) -> Result<Self, StartError> {
        Self::start_by(Arc::new(SystemClock::default()), plan, shard, standing, checking, store, None)
    }

    /// Starts the keeper of a run that is served over the network and can be followed. The number of followers that
    /// must have a record before it is acknowledged comes from the ledger, unless `replicas` is given, which is then
    /// recorded.
    ///
    /// # Errors
    /// The policy requires less than the ledger, or the system cannot start a thread.
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
                "records now wait for {replicas} followers instead of {before}; to undo this, run diadem \
                 policy URL --replicas {before} --reason TEXT, with --keys keys/admin if the run has \
                 keys"
            );
        }
        Ok(handle)
    }

    /// Starts the keeper of a run with the caller's clock. If the run can be followed, `replicas` is the required
    /// number of followers.
    ///
    /// # Errors
    /// The policy requires less than the ledger, or the system cannot start a thread.
    pub(crate) fn start_by(
        clock: Arc<dyn Clock>,
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        checking: impl Into<CheckingOptions>,
        mut store: Option<Store>,
        replicas: Option<u32>,
    ) -> Result<Self, StartError> {
        let CheckingOptions { double_check, require_owners, own_checks, own, relax_after } = checking.into();
        let checking = Checking {
            policy: standing.policy_at_start(double_check)?,
            require_owners: require_owners.or(standing.sums().require_owners),
            own_checks: OwnChecks::changed(standing.own_checks(), own_checks, own.as_deref())?,
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
                // No worker counts for it, so none could mistake the next process for another coordinator.
                Err(error) if core.is_complete() => warn!("{error}"),
                announced => announced?,
            }
            let paused = store.notes().paused.clone();
            if let Some(reason) = &paused {
                warn!(reason, "the run is paused: no units are lent until diadem resume");
            }
            core.pause(Duration::ZERO, paused);
        }
        // Checks that can refuse a command come first. From here on only the system can fail.
        if let Some(store) = &mut store {
            store.settle(core.standing())?;
        }
        let parts =
            store.as_ref().map(|store| (store.directory().clone(), store.lease_key().clone(), store.term()));
        let Channels { requests, snapshots, ends } =
            keeper::start(core, store, Arc::clone(&clock), replicas)?;
        let source = parts.map(|(directory, key, term)| LedgerSource { directory, key, term, ends });
        let search = Arc::new(Semaphore::new(1));
        Ok(Self { requests, snapshots, source, search, plan, clock, owner: Owner::default() })
    }

    /// A handle to the same keeper on behalf of this owner. Its calls can only name workers of this owner.
    #[must_use]
    pub fn on_behalf_of(&self, owner: Owner) -> Self {
        Self { owner, ..self.clone() }
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The clock of the run.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Snapshots of the run, published at most twice a second. They end with the keeper.
    pub fn snapshots(&self) -> watch::Receiver<Snapshot> {
        self.snapshots.clone()
    }

    /// Registers a worker of the handle's owner.
    ///
    /// # Errors
    /// The core refuses the worker, or the keeper has ended.
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

    /// Renews leases. Returns the lost units.
    ///
    /// # Errors
    /// The worker is not registered by this owner, or the keeper has ended.
    pub async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CallError> {
        let owner = self.owner.clone();
        self.call(|reply| Request::Renew { owner, worker, held, reply }).await
    }

    /// Reports counts. When this returns their verdicts, their records are on disk.
    ///
    /// # Errors
    /// The worker is not registered by this owner, the disk does not take the records, or the keeper has ended.
    pub async fn report(&self, report: Report) -> Result<Vec<Verdict>, CallError> {
        let owner = self.owner.clone();
        self.call(|reply| Request::Report { owner, report, reply }).await
    }

    /// Returns units, and removes the worker if it leaves.
    ///
    /// # Errors
    /// The worker is not registered by this owner, or the keeper has ended.
    pub async fn release(&self, worker: WorkerId, held: Vec<Lease>, leaving: bool) -> Result<(), CallError> {
        let owner = self.owner.clone();
        self.call(|reply| Request::Release { owner, worker, held, leaving, reply }).await
    }

    /// The term of this process, if the run has a ledger.
    pub fn term(&self) -> Option<Term> {
        self.source.as_ref().map(|source| source.term)
    }

    /// The identity of the run, if it has a ledger.
    pub fn run(&self) -> Option<RunId> {
        let source = self.source.as_ref()?;
        Some(RunId(u128::from_be_bytes(source.directory.run().hash().bytes())))
    }

    /// The data for followers, if there is a ledger.
    pub fn source(&self) -> Option<&LedgerSource> {
        self.source.as_ref()
    }

    /// Reports that a caller has met a coordinator with this term.
    ///
    /// # Errors
    /// This coordinator has stopped for another coordinator, or the keeper has ended.
    pub async fn meet(&self, met: Term) -> Result<(), CallError> {
        self.call(|reply| Request::Met(met, reply)).await
    }

    /// Adds a follower with a matching copy. It is connected until the returned value is dropped.
    ///
    /// # Errors
    /// The keeper has ended.
    pub async fn follow(&self, follower: u64, records: u64) -> Result<Following, CallError> {
        let (owner, call) = (self.owner.clone(), rand::random());
        let following = Following { requests: self.requests.clone(), owner: owner.clone(), follower, call };
        self.call(|reply| Request::Follow(FollowCall { owner, follower, call, records, reply })).await?;
        Ok(following)
    }

    /// Reports that a caller of the handle's owner was refused, with its host. `why` is one sentence for the log.
    pub async fn turned_away(&self, host: Option<IpAddr>, why: String) {
        let owner = self.owner.clone();
        self.requests.send(Request::TurnedAway(TurnedAway { owner, host, why })).await;
    }

    /// Removes all workers of a revoked owner.
    pub async fn strike_off(&self, owner: Owner) {
        self.requests.send(Request::StrikeOff(owner)).await;
    }

    /// Retracts counts that the operator does not believe. Returns their number. When this returns, enough followers
    /// have the records on disk, unless the result states otherwise.
    ///
    /// # Errors
    /// Nothing matches, the run has ended, the disk does not take the records, or the keeper has ended.
    pub async fn retract(&self, takeback: Takeback) -> Result<TakenBack, CallError> {
        self.call(|reply| Request::Retract(takeback, reply)).await
    }

    /// Changes the check policy and the required followers. Returns the values in effect. When this returns, enough
    /// followers have the records on disk, unless the result states otherwise.
    ///
    /// # Errors
    /// The change would lower the policy, the run has ended, the disk does not take the records, or the keeper has
    /// ended.
    pub async fn change_policy(&self, change: PolicyChange) -> Result<PolicyInForce, CallError> {
        self.call(|reply| Request::ChangePolicy(change, reply)).await
    }

    /// Executes the operator's command. Returns the number of workers concerned.
    ///
    /// # Errors
    /// No such worker exists, the command cannot be noted in the run directory, or the keeper has ended.
    pub async fn steer(&self, steering: Steering) -> Result<u64, CallError> {
        self.call(|reply| Request::Steer(steering, reply)).await
    }

    /// The status of the run. If its disk hangs, this is the last status with a message about the disk.
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

    /// What the run knows of a unit, a machine or a worker.
    ///
    /// # Errors
    /// The keeper has ended.
    pub async fn explain(&self, subject: Subject) -> Result<Explained, CallError> {
        self.call(|reply| Request::Explain(subject, reply)).await
    }

    /// The lines of the ledger about a unit; one search at a time.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub async fn lines_of_unit(&self, unit: UnitId) -> io::Result<Vec<String>> {
        let Some(source) = self.source() else { return Ok(Vec::new()) };
        let folder = source.directory.ledger();
        let permit = Arc::clone(&self.search).acquire_owned().await;
        let found = spawn_blocking(move || {
            let lines = lines_of_unit(&folder, unit);
            drop(permit);
            lines
        });
        found.await?.map_err(io::Error::other)
    }

    /// Saves the checkpoint, publishes the last snapshot and unlocks the run directory.
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

/// A connected follower.
#[derive(Debug)]
pub struct Following {
    requests: Outlet,
    owner: Owner,
    follower: u64,
    call: u64,
}

impl Following {
    /// Reports the number of records on the follower's disk.
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

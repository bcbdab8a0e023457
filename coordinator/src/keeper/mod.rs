//! The keeper: the one thread that owns core, ledger and checkpoint.
//!
//! ```text
//! forever:
//!     wait for a request; take all that have come meanwhile
//!     let the core judge them, and collect the records
//!     commit the records: one write and two syncs for all of them
//!     only now answer the reports
//!     lend to those who wait, save the checkpoint and tell the status from time to time
//! ```

mod ending;
mod recording;

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use proto::{LeaseReply, Phase, RunStatus};
use tokio::sync::watch;
use tracing::{error, info, warn};

use crate::clock::Clock;
use crate::core::Core;
use crate::handle::{CallError, Command, Handle, LeaseRequest};
use crate::ledger::CommitMark;
use crate::store::Store;
pub use ending::Ending;
use ending::Stage;
use recording::PendingReport;

/// The longest time without a look at leases, waiting workers and checkpoint.
const TICK: Duration = Duration::from_millis(200);

/// Between two checkpoints.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// After one that could not be written: each attempt sets a folder aside.
const SAVE_AGAIN: Duration = Duration::from_mins(5);

/// Between two messages to those who watch.
const PUBLISH_EVERY: Duration = Duration::from_millis(500);

/// At most so many requests share one commit.
const MOST_AT_ONCE: usize = 4096;

/// What the keeper tells those who watch.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Where the run stands.
    pub status: RunStatus,
    /// How it ended, if it has.
    pub ending: Option<Ending>,
}

pub(crate) struct Keeper {
    core: Core,
    /// None for a run in memory.
    store: Option<Store>,
    clock: Box<dyn Clock>,
    /// For how long nobody could be heard, because the disk was slow.
    stalled: Duration,
    commands: Receiver<Command>,
    /// For the threads that audit.
    handle: Handle,
    snapshots: watch::Sender<Snapshot>,
    published: Duration,
    /// When the next checkpoint is due.
    save_next: Duration,
    /// Requests for units that wait until some open.
    waiting: Vec<LeaseRequest>,
    /// Reports that wait for the commit of their records.
    reports: Vec<PendingReport>,
    stage: Stage,
    trouble: String,
    /// Elapsed time and peak threads of earlier sessions.
    earlier: CommitMark,
    threads: u32,
    /// The kernels of all workers that have registered.
    kernels: BTreeSet<String>,
    /// The machines of which it was said that they are quarantined.
    quarantined: BTreeSet<String>,
}

/// Starts the keeper of a run.
pub(crate) fn start(
    core: Core,
    store: Option<Store>,
    clock: Box<dyn Clock>,
    commands: Receiver<Command>,
    handle: Handle,
    snapshots: watch::Sender<Snapshot>,
) -> std::io::Result<thread::JoinHandle<()>> {
    let keeper = Keeper {
        earlier: store.as_ref().map(Store::mark).unwrap_or_default(),
        core,
        store,
        clock,
        stalled: Duration::ZERO,
        commands,
        handle,
        snapshots,
        published: Duration::ZERO,
        save_next: SAVE_EVERY,
        waiting: Vec::new(),
        reports: Vec::new(),
        stage: Stage::Counting,
        trouble: String::new(),
        threads: 0,
        kernels: BTreeSet::new(),
        quarantined: BTreeSet::new(),
    };
    thread::Builder::new().name("keeper".into()).spawn(|| keeper.run())
}

impl Keeper {
    fn run(mut self) {
        self.audit_in_background();
        loop {
            let first = match self.commands.recv_timeout(TICK) {
                Ok(command) => Some(command),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut close = None;
            let meanwhile: Vec<_> = self.commands.try_iter().take(MOST_AT_ONCE).collect();
            for command in first.into_iter().chain(meanwhile) {
                if let Command::Close(reply) = command {
                    close = Some(reply);
                } else {
                    self.take(command);
                }
            }
            self.commit();
            self.take_back();
            for unit in self.core.tick(self.now()) {
                error!(%unit, "the unit was lost with five workers and is set aside");
            }
            self.end_if_complete();
            self.serve_waiting();
            self.save_and_publish(close.is_some());
            if let Some(reply) = close {
                drop(self.store.take());
                reply.send(()).ok();
                break;
            }
        }
    }

    /// The time that the core is told: it stands still while nobody can be heard, so that a slow disk does not
    /// make workers seem lost.
    fn now(&self) -> Duration {
        self.clock.now().saturating_sub(self.stalled)
    }

    fn take(&mut self, command: Command) {
        let now = self.now();
        match command {
            Command::Register(registration, reply) => {
                self.kernels.insert(registration.kernel.to_string());
                let (name, held) = (registration.name.clone(), registration.held.len());
                let welcome = self.core.register(now, registration);
                match &welcome {
                    Ok(w) => {
                        info!(worker = %w.worker, name, held, again = w.leases.len(), "worker registered")
                    }
                    Err(refusal) => warn!(name, %refusal, "worker refused"),
                }
                self.threads = self.threads.max(self.core.threads());
                reply.send(welcome.map_err(CallError::from)).ok();
            }
            Command::Lease(request) => self.waiting.push(request),
            Command::Renew { worker, held, reply } => {
                reply.send(self.core.renew(now, worker, &held).map_err(CallError::from)).ok();
            }
            Command::Release { worker, held, leaving, reply } => {
                let released = self.core.release(now, worker, &held, leaving);
                if leaving && released.is_ok() {
                    info!(%worker, units = held.len(), "worker left");
                }
                reply.send(released.map_err(CallError::from)).ok();
            }
            Command::Report(report, reply) => self.judge(report, reply),
            Command::Status(reply) => {
                reply.send(self.status()).ok();
            }
            Command::Audited(purpose, result) => self.audited(purpose, *result),
            Command::Close(_) => unreachable!("the loop keeps this one for itself"),
        }
    }

    fn serve_waiting(&mut self) {
        let (now, clock) = (self.now(), self.clock.now());
        for LeaseRequest { worker, want, until, reply } in std::mem::take(&mut self.waiting) {
            if reply.is_closed() {
                continue;
            }
            if matches!(self.stage, Stage::Ended(_)) {
                reply.send(Ok(LeaseReply::Finished)).ok();
                continue;
            }
            match self.core.lease(now, worker, want) {
                Ok(leases) if leases.is_empty() && clock < until => {
                    self.waiting.push(LeaseRequest { worker, want, until, reply });
                }
                Ok(leases) => {
                    reply.send(Ok(LeaseReply::Granted(leases))).ok();
                }
                Err(refusal) => {
                    reply.send(Err(refusal.into())).ok();
                }
            }
        }
    }

    fn elapsed(&self) -> Duration {
        self.earlier.elapsed() + self.clock.now()
    }

    fn status(&self) -> RunStatus {
        let mut status = self.core.status(self.now());
        status.elapsed = self.elapsed();
        if !self.trouble.is_empty() {
            status.trouble.clone_from(&self.trouble);
        }
        status.phase = match &self.stage {
            Stage::Counting => Phase::Counting,
            Stage::Auditing => Phase::Auditing,
            Stage::Ended(Ending::Answered(_)) => Phase::Complete,
            Stage::Ended(Ending::Withheld(why)) => {
                status.trouble.clone_from(why);
                Phase::Withheld
            }
        };
        status
    }

    /// Saves the checkpoint and publishes a snapshot, where it is time to or at the close.
    fn save_and_publish(&mut self, closing: bool) {
        let now = self.clock.now();
        if let Some(store) = &mut self.store
            && (closing || now >= self.save_next)
        {
            self.save_next = now + SAVE_EVERY;
            if let Err(why) = store.save(self.core.standing()) {
                warn!("the checkpoint is not up to date, the ledger is: {why}");
                self.save_next = now + SAVE_AGAIN;
            }
        }
        if closing || self.published == Duration::ZERO || now >= self.published + PUBLISH_EVERY {
            self.published = now.max(Duration::from_nanos(1));
            let ending = match &self.stage {
                Stage::Ended(ending) => Some(ending.clone()),
                Stage::Counting | Stage::Auditing => None,
            };
            let snapshot = Snapshot { status: self.status(), ending };
            self.snapshots.send_replace(snapshot);
        }
    }
}

/// The first snapshot of a run.
pub(crate) fn first_snapshot(core: &Core) -> Snapshot {
    Snapshot { status: core.status(Duration::ZERO), ending: None }
}

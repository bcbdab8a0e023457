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

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proto::{LeaseReply, Phase, Report, RunStatus, Verdict};
use tokio::sync::{oneshot, watch};
use tracing::{error, info, warn};

use crate::answer::Answer;
use crate::audit::{Audit, AuditError, audit_until};
use crate::clock::Clock;
use crate::core::Core;
use crate::double_check::DoubleCheck;
use crate::handle::{CallError, Command, Handle, LeaseRequest, Purpose};
use crate::ledger::{Mark, Record};
use crate::store::Store;
use crate::worth::worth;

/// The longest time without a look at leases, waiting workers and checkpoint.
const TICK: Duration = Duration::from_millis(200);

/// Between two checkpoints.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Between two messages to those who watch.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// A commit that takes longer is no silence of the workers.
const DEAF: Duration = Duration::from_secs(1);

/// At most so many requests share one commit.
const MOST_AT_ONCE: usize = 4096;

/// At most so many counts of quarantined machines are taken back at a time.
const MOST_TAKEN_BACK: usize = 1000;

/// How a run ended, if it has.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// All is counted and the ledger has been audited.
    Answered(Box<Answer>),
    /// There is no answer, for this reason.
    Withheld(String),
}

/// What the keeper tells those who watch.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
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
    deaf: Duration,
    commands: Receiver<Command>,
    /// For the threads that audit.
    handle: Handle,
    news: watch::Sender<News>,
    told: Duration,
    saved: Duration,
    /// Requests for units that wait until some open.
    waiting: Vec<LeaseRequest>,
    /// Reports that wait for the commit of their records.
    reports: Vec<PendingReport>,
    stage: Stage,
    trouble: String,
    /// Elapsed time and peak threads of earlier sessions.
    earlier: Mark,
    threads: u32,
    /// The kernels of all workers that have registered.
    kernels: BTreeSet<String>,
    /// The machines of which it was said that they are quarantined.
    quarantined: BTreeSet<String>,
}

/// How far the run has come.
enum Stage {
    Counting,
    Auditing,
    Ended(Ending),
}

struct PendingReport {
    report: Report,
    verdicts: Vec<Verdict>,
    records: Vec<Record>,
    reply: oneshot::Sender<Result<Vec<Verdict>, CallError>>,
}

/// Starts the keeper of a run.
pub(crate) fn start(
    core: Core,
    store: Option<Store>,
    clock: Box<dyn Clock>,
    commands: Receiver<Command>,
    handle: Handle,
    news: watch::Sender<News>,
) -> std::io::Result<thread::JoinHandle<()>> {
    let keeper = Keeper {
        earlier: store.as_ref().map(Store::mark).unwrap_or_default(),
        core,
        store,
        clock,
        deaf: Duration::ZERO,
        commands,
        handle,
        news,
        told: Duration::ZERO,
        saved: Duration::ZERO,
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
            self.save_and_tell(close.is_some());
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
        self.clock.now().saturating_sub(self.deaf)
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

    /// Has the core judge a report. Its answer waits for the commit.
    fn judge(&mut self, report: Report, reply: oneshot::Sender<Result<Vec<Verdict>, CallError>>) {
        let now = self.now();
        let unix_time = unix_time();
        let mut verdicts = Vec::with_capacity(report.counts.len());
        let mut records = Vec::new();
        for count in &report.counts {
            match self.core.judge(now, unix_time, report.worker, count) {
                Ok((verdict, mut news)) => {
                    if verdict == Verdict::Conflict {
                        let (unit, worker) = (count.lease.unit, report.worker);
                        warn!(%unit, %worker, completions = count.completions, "counts of a unit disagree");
                    }
                    verdicts.push(verdict);
                    records.append(&mut news);
                }
                Err(refusal) => {
                    reply.send(Err(refusal.into())).ok();
                    return;
                }
            }
        }
        self.reports.push(PendingReport { report, verdicts, records, reply });
    }

    /// Puts the records of all pending reports on disk and answers them.
    fn commit(&mut self) {
        let reports = std::mem::take(&mut self.reports);
        let records: Vec<Record> =
            reports.iter().flat_map(|pending| pending.records.iter().cloned()).collect();
        let (elapsed, threads) = (self.elapsed(), self.threads);
        let begun = self.clock.now();
        let committed = match &mut self.store {
            Some(store) if !records.is_empty() => store.commit(&records, elapsed, threads),
            _ => Ok(()),
        };
        let taken = self.clock.now().saturating_sub(begun);
        if taken > DEAF {
            warn!(seconds = taken.as_secs_f64(), "the disk was slow to take records");
            self.deaf += taken;
        }
        let now = self.now();
        match committed {
            Ok(()) => {
                if !records.is_empty() && !self.trouble.is_empty() {
                    info!("records can be written again");
                    self.trouble.clear();
                }
                for PendingReport { report, verdicts, records, reply } in reports {
                    if let Err(what) = self.core.recorded(now, Some(report.worker), &records) {
                        self.stage = Stage::Ended(Ending::Withheld(what));
                    }
                    reply.send(Ok(verdicts)).ok();
                }
            }
            Err(error) => {
                let trouble = format!("nothing is recorded: {error}");
                if self.trouble != trouble {
                    error!("{trouble}");
                }
                for PendingReport { records, reply, .. } in reports {
                    self.core.not_recorded(&records);
                    reply.send(Err(CallError::NotRecorded(trouble.clone()))).ok();
                }
                self.trouble = trouble;
            }
        }
    }

    /// Says which machines were wrong, and has their counts made again.
    fn take_back(&mut self) {
        let quarantined: Vec<_> = {
            let machines = self.core.standing().sums().machines.quarantined();
            machines.map(|machine| machine.name.clone()).collect()
        };
        for machine in quarantined {
            if self.quarantined.insert(machine.clone()) {
                warn!(machine, "the machine was wrong and is quarantined");
            }
        }
        let records = self.core.take_back(unix_time(), MOST_TAKEN_BACK);
        if records.is_empty() {
            return;
        }
        let (elapsed, threads) = (self.elapsed(), self.threads);
        let committed = self.store.as_mut().map_or(Ok(()), |store| store.commit(&records, elapsed, threads));
        if let Err(error) = committed {
            self.core.not_recorded(&records);
            self.trouble = format!("nothing is recorded: {error}");
        } else if let Err(what) = self.core.recorded(self.now(), None, &records) {
            self.stage = Stage::Ended(Ending::Withheld(what));
        } else {
            warn!(units = records.len(), "counts of quarantined machines are taken back");
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

    /// Once all is counted, audits the ledger, and gives the answer if it stands.
    fn end_if_complete(&mut self) {
        if !matches!(self.stage, Stage::Counting) || !self.core.is_complete() {
            return;
        }
        if self.store.is_some() {
            self.stage = Stage::Auditing;
            self.spawn_audit(Purpose::Answer);
        } else {
            self.stage = Stage::Ended(self.answer_from_memory());
        }
        self.told = Duration::ZERO;
    }

    /// The answer of a run that has no ledger.
    fn answer_from_memory(&mut self) -> Ending {
        let sums = self.core.standing().sums().clone();
        match sums.tally.totals() {
            Ok(totals) => Ending::Answered(Box::new(Answer {
                board: self.core.plan().board(),
                shard: self.core.shard(),
                totals,
                units: self.core.standing().done(),
                threads: self.threads,
                kernels: self.kernels.clone(),
                elapsed: self.elapsed(),
                cpu: Duration::from_micros(sums.cpu_us),
                worth: worth(self.core.standing(), DoubleCheck::default()),
            })),
            Err(error) => Ending::Withheld(error.to_string()),
        }
    }

    /// The audit after a start: finds old damage early and learns the counts that the checkpoint does not keep.
    fn audit_in_background(&mut self) {
        let has_records = self.store.as_ref().is_some_and(|store| store.mark().records > 0);
        if has_records && !self.core.is_complete() {
            self.spawn_audit(Purpose::Resumption);
        }
    }

    fn spawn_audit(&self, purpose: Purpose) {
        let Some(store) = &self.store else { return };
        let (directory, end) = (store.directory().clone(), store.end().clone());
        let handle = self.handle.clone();
        let work = move || {
            let result = audit_until(&directory, Some(&end)).map_err(|error| error.to_string());
            handle.send(Command::Audited(purpose, Box::new(result)));
        };
        if let Err(error) = thread::Builder::new().name("audit".into()).spawn(work) {
            error!("cannot start the audit: {error}");
        }
    }

    fn audited(&mut self, purpose: Purpose, result: Result<Audit, String>) {
        match result {
            Err(what) => {
                error!("the audit failed: {what}");
                self.stage = Stage::Ended(Ending::Withheld(what));
            }
            Ok(audit) if purpose == Purpose::Answer => {
                self.stage = Stage::Ended(self.answer(&audit));
            }
            Ok(audit) => {
                self.core.standing().learn_counts(&audit.standing);
                self.core.learnt();
            }
        }
        self.told = Duration::ZERO;
    }

    /// The answer, if the ledger says what the core says.
    fn answer(&mut self, audit: &Audit) -> Ending {
        if audit.missing.is_some() || audit.standing.sums() != self.core.standing().sums() {
            return Ending::Withheld(AuditError::Differs.to_string());
        }
        Ending::Answered(Box::new(Answer::of(audit, self.core.plan().board(), self.core.shard())))
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

    /// Saves the checkpoint and tells the news, where it is time to or at the close.
    fn save_and_tell(&mut self, closing: bool) {
        let now = self.clock.now();
        if let Some(store) = &mut self.store
            && (closing || now >= self.saved + SAVE_EVERY)
        {
            self.saved = now;
            if let Err(why) = store.save(self.core.standing()) {
                warn!("the checkpoint is not up to date, the ledger is: {why}");
            }
        }
        if closing || self.told == Duration::ZERO || now >= self.told + TELL_EVERY {
            self.told = now.max(Duration::from_nanos(1));
            let ending = match &self.stage {
                Stage::Ended(ending) => Some(ending.clone()),
                Stage::Counting | Stage::Auditing => None,
            };
            let news = News { status: self.status(), ending };
            self.news.send_replace(news);
        }
    }
}

/// Seconds since 1970 (UTC).
fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The first news of a run.
pub(crate) fn first_news(core: &Core) -> News {
    News { status: core.status(Duration::ZERO), ending: None }
}

//! The life of a worker: register, lease, count, report, and leave.
//!
//! ```text
//! while not told to stop, and not told that all is counted:
//!     hold enough units for the time ahead        (one request at a time, waiting at the coordinator)
//!     report what has been counted                (one report at a time, with all that is there)
//!     renew the leases of what is held
//!     when the coordinator does not know us: register again, and name what we hold
//! stop the pool, report what is there, give back the rest, leave
//! ```
//!
//! Calls run as tasks of their own and come back as events, so that nothing waits for anything else. A count is
//! kept until the coordinator has acknowledged it.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use proto::{Lease, LeaseReply, Registration, Report, UnitCount, Verdict, Welcome, WorkerId};
use queens::kernel::Kernel;
use queens::self_test::{self, SelfTestError};
use queens::{Plan, UnitId};
use rayon::ThreadPoolBuildError;
use thiserror::Error;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

use crate::coordinator::{Coordinator, CoordinatorError, Reply};
use crate::outage::{GaveUp, Outage};
use crate::pace::Pace;
use crate::pool::{Outcome, Pool};

/// How long a request for units waits at the coordinator.
const LEASE_WAIT: Duration = Duration::from_secs(20);

/// At most so many counts in one report.
const MOST_COUNTS: usize = 10_000;

/// Leaving takes no longer than the pool's end, a report and a farewell, each bounded.
const POOL_END: Duration = Duration::from_millis(500);
const LAST_REPORT: Duration = Duration::from_millis(900);
const FAREWELL: Duration = Duration::from_millis(300);

/// Outcomes are taken from the pool this often, or when it runs dry: otherwise a thread that tells one need not wake
/// anybody, which costs more than the smallest units take.
const SETTLE_EVERY: Duration = Duration::from_millis(2);

/// Counts are gathered for this long before they are reported, unless the pool runs dry: every report costs the
/// coordinator a sync.
const GATHER: Duration = Duration::from_millis(25);

/// Counts that could not be judged are reported again after this time.
const AGAIN: Duration = Duration::from_secs(1);

/// What makes a worker.
#[derive(Clone)]
pub struct Config {
    /// What people call it.
    pub name: String,
    /// The machine that it runs on, as people call it.
    pub machine: String,
    /// How many units it counts at a time; at least 1.
    pub threads: u32,
    /// What it counts with.
    pub kernel: Arc<dyn Kernel>,
    /// How long it waits for a coordinator that does not answer; `None` for ever.
    pub give_up_after: Option<Duration>,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Units whose counts were acknowledged.
    pub units: u64,
    /// Whether all units of the run have been counted, by whomever.
    pub finished: bool,
}

/// Why a worker had to leave.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// The coordinator does not want it.
    #[error("the coordinator refuses this worker: {0}")]
    Refused(String),
    /// Its kernel miscounts.
    #[error(transparent)]
    SelfTest(#[from] SelfTestError),
    /// The coordinator did not answer for too long.
    #[error(transparent)]
    GaveUp(#[from] GaveUp),
    /// The system gave no threads.
    #[error("cannot start the counting threads: {0}")]
    Threads(#[from] ThreadPoolBuildError),
}

/// Runs a worker until all is counted, it has to leave, or `shutdown` completes; then it leaves within two seconds.
pub async fn run(
    coordinator: impl Coordinator,
    plan: Arc<Plan>,
    config: Config,
    shutdown: impl Future<Output = ()>,
) -> Result<Summary, WorkerError> {
    let self_test = self_test::run(&*config.kernel)?;
    let (outcomes_in, outcomes) = unbounded_channel();
    let (events_in, events) = unbounded_channel();
    let mean_weight = plan.total_weight() as f64 / plan.units().max(1) as f64;
    let pace = Pace::new(config.threads, mean_weight);
    let pool = Pool::new(config.threads, Arc::clone(&plan), Arc::clone(&config.kernel), outcomes_in)?;
    let mut worker = Worker {
        coordinator,
        plan,
        outage: Outage::new(config.give_up_after),
        record_outage: Outage::new(config.give_up_after),
        config,
        self_test,
        pool,
        pace,
        events: events_in,
        membership: Membership::None,
        counting: HashMap::new(),
        counted: Vec::new(),
        reporting: Vec::new(),
        report_not_before: None,
        gather_until: Instant::now(),
        leasing: false,
        renewing: false,
        summary: Summary::default(),
    };
    let result = worker.work(outcomes, events, shutdown).await;
    result.map(|()| worker.summary)
}

struct Worker<C> {
    coordinator: C,
    plan: Arc<Plan>,
    config: Config,
    /// The solutions of the known board.
    self_test: u64,
    pool: Pool,
    pace: Pace,
    outage: Outage,
    /// A coordinator that answers may still be unable to record: its disk is full.
    record_outage: Outage,
    events: UnboundedSender<Event>,
    membership: Membership,
    /// Units in the pool.
    counting: HashMap<UnitId, Lease>,
    /// Counts that are to be reported.
    counted: Vec<UnitCount>,
    /// Counts that are being reported.
    reporting: Vec<UnitCount>,
    report_not_before: Option<Instant>,
    gather_until: Instant,
    leasing: bool,
    renewing: bool,
    summary: Summary,
}

/// Whether the coordinator knows the worker.
enum Membership {
    None,
    Asked,
    Member { worker: WorkerId, renew_every: Duration, renew_next: Instant },
}

/// A call has come back.
enum Event {
    Registered(Result<Welcome, CoordinatorError>),
    Leased(Result<LeaseReply, CoordinatorError>),
    Reported(Result<Vec<Verdict>, CoordinatorError>),
    Renewed(Result<Vec<UnitId>, CoordinatorError>),
}

impl<C: Coordinator> Worker<C> {
    async fn work(
        &mut self,
        mut outcomes: UnboundedReceiver<Outcome>,
        mut events: UnboundedReceiver<Event>,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), WorkerError> {
        tokio::pin!(shutdown);
        let mut settle_next = Instant::now();
        loop {
            self.call_where_due();
            let settles = self.pool.runs_dry() || Instant::now() >= settle_next;
            let wake = if settles { self.wake() } else { self.wake().min(settle_next) };
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                Some(event) = events.recv() => self.take(event)?,
                Some(outcome) = outcomes.recv(), if settles => {
                    settle_next = Instant::now() + SETTLE_EVERY;
                    self.settle(outcome);
                    while let Ok(outcome) = outcomes.try_recv() {
                        self.settle(outcome);
                    }
                }
                () = self.pool.running_dry() => {}
                () = sleep_until(wake) => {}
            }
            if self.summary.finished {
                break;
            }
        }
        self.leave(&mut outcomes, &mut events).await;
        Ok(())
    }

    /// When something is due although nothing happens.
    fn wake(&self) -> Instant {
        let far = Instant::now() + Duration::from_mins(1);
        if let Some(until) = self.outage.until() {
            return until;
        }
        // What waits for an answer wakes nobody before that comes.
        let Membership::Member { renew_next, .. } = self.membership else { return far };
        let renew = if self.renewing { far } else { renew_next };
        let gathered = (!self.counted.is_empty() && self.reporting.is_empty()).then_some(self.gather_until);
        let report = self.record_outage.until().or(self.report_not_before).or(gathered);
        renew.min(report.unwrap_or(far)).min(far)
    }

    /// Whether nothing can be reported at the moment.
    fn is_cut_off(&self) -> bool {
        self.outage.until().is_some() || self.record_outage.until().is_some()
    }

    /// Whether there are counts that the coordinator has not acknowledged.
    fn has_unacknowledged(&self) -> bool {
        !self.counted.is_empty() || !self.reporting.is_empty()
    }

    /// Makes the calls that are due.
    fn call_where_due(&mut self) {
        if self.outage.until().is_some() {
            return;
        }
        let Membership::Member { worker, renew_every, renew_next } = self.membership else {
            if matches!(self.membership, Membership::None) {
                self.membership = Membership::Asked;
                let registration = self.registration();
                self.call(move |c| async move { c.register(registration).await }, Event::Registered);
            }
            return;
        };
        let now = Instant::now();
        let due = (self.pool.runs_dry() || now >= self.gather_until)
            && self.report_not_before.is_none_or(|at| at <= now)
            && self.record_outage.until().is_none();
        if self.reporting.is_empty() && !self.counted.is_empty() && due {
            self.report_not_before = None;
            self.gather_until = now + GATHER;
            let most = self.counted.len().min(MOST_COUNTS);
            self.reporting = self.counted.drain(..most).collect();
            let report = Report { worker, counts: self.reporting.clone() };
            self.call(move |c| async move { c.report(report).await }, Event::Reported);
        }
        let (target, held) = (self.pace.target(), self.held());
        if !self.leasing && held * 4 <= target * 3 {
            self.leasing = true;
            let want = (target - held) as u32;
            self.call(move |c| async move { c.lease(worker, want, LEASE_WAIT).await }, Event::Leased);
        }
        if !self.renewing && now >= renew_next {
            self.renewing = true;
            self.membership = Membership::Member { worker, renew_every, renew_next: now + renew_every };
            let held = self.leases();
            self.call(move |c| async move { c.renew(worker, held).await }, Event::Renewed);
        }
    }

    /// Makes a call in a task of its own.
    fn call<T: Send + 'static, R: Reply<T> + 'static>(
        &self,
        call: impl FnOnce(C) -> R + Send + 'static,
        event: fn(Result<T, CoordinatorError>) -> Event,
    ) {
        let (coordinator, events) = (self.coordinator.clone(), self.events.clone());
        tokio::spawn(async move {
            let result = call(coordinator).await;
            // The worker may have left meanwhile.
            events.send(event(result)).ok();
        });
    }

    fn registration(&self) -> Registration {
        Registration {
            fingerprint: self.plan.fingerprint().clone(),
            name: self.config.name.clone(),
            machine: self.config.machine.clone(),
            self_test: self.self_test,
            threads: self.config.threads,
            kernel: self.config.kernel.name(),
            held: self.leases().into_iter().map(|lease| lease.unit).collect(),
        }
    }

    /// How many units are held: to be counted, counted, being reported.
    fn held(&self) -> usize {
        self.counting.len() + self.counted.len() + self.reporting.len()
    }

    fn leases(&self) -> Vec<Lease> {
        let counted = self.counted.iter().chain(&self.reporting).map(|count| count.lease);
        self.counting.values().copied().chain(counted).collect()
    }

    fn settle(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Counted(mut count) => {
                // The lease may have been renewed under another token while the unit was in the pool.
                if let Some(lease) = self.counting.remove(&count.lease.unit) {
                    count.lease.token = lease.token;
                }
                self.pace.counted(count.cpu);
                self.counted.push(count);
            }
            Outcome::Stopped => {}
        }
    }

    /// Takes in what a call has brought.
    fn take(&mut self, event: Event) -> Result<(), WorkerError> {
        let result = match event {
            Event::Registered(result) => {
                self.membership = Membership::None;
                result.map(|welcome| self.welcome(welcome))
            }
            Event::Leased(result) => {
                self.leasing = false;
                result.map(|reply| self.leased(reply))
            }
            Event::Reported(result) => {
                let counts = std::mem::take(&mut self.reporting);
                match result {
                    Ok(verdicts) => {
                        self.record_outage.over();
                        self.reported(counts, &verdicts);
                        Ok(())
                    }
                    Err(CoordinatorError::Unavailable(why)) => {
                        self.counted.extend(counts);
                        self.record_outage.failed(&why)?;
                        return Ok(());
                    }
                    Err(error) => {
                        self.counted.extend(counts);
                        Err(error)
                    }
                }
            }
            Event::Renewed(result) => {
                self.renewing = false;
                result.map(|lost| {
                    if !lost.is_empty() {
                        warn!(units = lost.len(), "leases lost; their counts are still welcome");
                    }
                })
            }
        };
        match result {
            Ok(()) => self.outage.over(),
            Err(CoordinatorError::Unavailable(why)) => self.outage.failed(&why)?,
            Err(CoordinatorError::Unregistered) => {
                if matches!(self.membership, Membership::Member { .. }) {
                    self.membership = Membership::None;
                }
            }
            Err(CoordinatorError::Refused(why)) => return Err(WorkerError::Refused(why)),
        }
        Ok(())
    }

    fn welcome(&mut self, Welcome { worker, lease_time, leases }: Welcome) {
        let renew_every = lease_time / 6;
        self.membership =
            Membership::Member { worker, renew_every, renew_next: Instant::now() + renew_every };
        info!(%worker, kernel = %self.config.kernel.name(), again = leases.len(), "registered");
        leases.into_iter().for_each(|lease| self.lent_again(lease));
    }

    fn leased(&mut self, reply: LeaseReply) {
        match reply {
            LeaseReply::Finished => self.summary.finished = true,
            LeaseReply::Granted(leases) => {
                let held: HashSet<UnitId> =
                    self.counted.iter().chain(&self.reporting).map(|count| count.lease.unit).collect();
                for lease in leases {
                    // A unit that comes twice (its lease had expired while the network was cut) is counted once.
                    if held.contains(&lease.unit) {
                        self.lent_again(lease);
                    } else if self.counting.insert(lease.unit, lease).is_none() {
                        self.pool.count(lease);
                    }
                }
            }
        }
    }

    /// A unit that is held has a lease under another token.
    fn lent_again(&mut self, lease: Lease) {
        if let Some(held) = self.counting.get_mut(&lease.unit) {
            held.token = lease.token;
        }
        for count in self.counted.iter_mut().filter(|count| count.lease.unit == lease.unit) {
            count.lease.token = lease.token;
        }
    }

    fn reported(&mut self, counts: Vec<UnitCount>, verdicts: &[Verdict]) {
        for (count, verdict) in counts.into_iter().zip(verdicts) {
            match verdict {
                Verdict::Recorded | Verdict::Known => self.summary.units += 1,
                Verdict::Conflict => {
                    warn!(unit = %count.lease.unit, "another worker counted this unit differently")
                }
                Verdict::Unwanted => {
                    warn!(unit = %count.lease.unit, "the coordinator does not know this unit")
                }
                Verdict::Later => {
                    self.counted.push(count);
                    self.report_not_before = Some(Instant::now() + AGAIN);
                }
            }
        }
    }

    /// Stops the pool, reports what is there, gives back the rest, takes leave.
    async fn leave(
        &mut self,
        outcomes: &mut UnboundedReceiver<Outcome>,
        events: &mut UnboundedReceiver<Event>,
    ) {
        self.pool.stop();
        let pool_end = async {
            let mut in_pool = self.counting.len();
            while in_pool > 0 {
                let Some(outcome) = outcomes.recv().await else { break };
                in_pool -= 1;
                self.settle(outcome);
            }
        };
        timeout(POOL_END, pool_end).await.ok();
        let Membership::Member { worker, .. } = self.membership else { return };
        if self.outage.until().is_some() {
            return;
        }
        // No more units: those that a request on its way still brings go back when the worker is struck off.
        self.leasing = true;
        let last_reports = async {
            while self.has_unacknowledged() && !self.is_cut_off() {
                if self.reporting.is_empty() {
                    self.call_where_due();
                }
                let Some(event) = events.recv().await else { break };
                let is_lease = matches!(event, Event::Leased(_));
                if !is_lease && self.take(event).is_err() {
                    break;
                }
            }
        };
        timeout(LAST_REPORT, last_reports).await.ok();
        let held = self.leases();
        timeout(FAREWELL, self.coordinator.release(worker, held, true)).await.ok();
    }
}

//! A coordinator in a test's hands: it lends units, keeps books, notes each call with its time, and fails as the test
//! wishes.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use proto::{Lease, LeaseReply, Registration, Report, Token, UnitCount, Variant, Verdict, Welcome, WorkerId};
use queens::UnitId;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use crate::coordinator::{Coordinator, CoordinatorError};

/// How long its leases last.
pub const LEASE_TIME: Duration = Duration::from_mins(1);

/// What it was asked, in the order in which it came.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    Register(Vec<UnitId>),
    Lease,
    Renew(Vec<UnitId>),
    Report(Vec<UnitCount>),
    Release { held: Vec<UnitId>, leaving: bool },
}

/// How it behaves at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// It does what it is asked.
    #[default]
    Well,
    /// It cannot be reached.
    Away,
    /// It answers, but its disk is full.
    CannotRecord,
    /// Connections are made and nothing ever comes back.
    Mute,
}

/// What it knows and what it has heard.
pub struct Books {
    begun: Instant,
    pub condition: Condition,
    pub heard: Vec<(Duration, Heard)>,
    /// Units to be lent.
    pub open: VecDeque<UnitId>,
    lent: HashMap<UnitId, Token>,
    pub recorded: BTreeMap<UnitId, u64>,
    /// Verdicts of the next counts, instead of its own.
    pub verdicts: VecDeque<Verdict>,
    /// What it says to the next report, instead of taking it.
    pub report_error: Option<CoordinatorError>,
    /// Units whose leases are gone when they are renewed next.
    pub lost: Vec<UnitId>,
    /// At most so many units are lent at a time.
    pub most_lent: usize,
    /// A request for units takes so long.
    pub lease_delay: Duration,
    /// Counts that came under another token than that of their lease.
    pub stale: usize,
    /// Counts that were on record already.
    pub repeated: usize,
    /// The worker that it knows, if it knows one.
    worker: Option<WorkerId>,
    workers: u64,
    tokens: u64,
}

/// The coordinator, as both the worker and the test hold it.
#[derive(Clone)]
pub struct FakeCoordinator {
    books: Arc<Mutex<Books>>,
    changed: Arc<Notify>,
}

impl FakeCoordinator {
    /// A coordinator with so many units to lend.
    pub fn with_units(units: u64) -> Self {
        let books = Books {
            begun: Instant::now(),
            condition: Condition::Well,
            heard: Vec::new(),
            open: (0..units).map(UnitId).collect(),
            lent: HashMap::new(),
            recorded: BTreeMap::new(),
            verdicts: VecDeque::new(),
            report_error: None,
            lost: Vec::new(),
            most_lent: usize::MAX,
            lease_delay: Duration::ZERO,
            stale: 0,
            repeated: 0,
            worker: None,
            workers: 0,
            tokens: 0,
        };
        Self { books: Arc::new(Mutex::new(books)), changed: Arc::new(Notify::new()) }
    }

    /// Its books, to be read and to be changed.
    pub fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// From now on it is in that condition; requests that wait notice it.
    pub fn set(&self, condition: Condition) {
        self.books().condition = condition;
        self.changed.notify_waiters();
    }

    /// It starts anew: records stay, workers and leases are forgotten.
    pub fn restart(&self) {
        let mut books = self.books();
        books.worker = None;
        let lent: Vec<_> = books.lent.drain().map(|(unit, _)| unit).collect();
        books.open.extend(lent);
        drop(books);
        self.changed.notify_waiters();
    }

    /// Takes note of a call.
    fn hear(&self, call: Heard) {
        let mut books = self.books();
        let at = books.begun.elapsed();
        books.heard.push((at, call));
    }

    /// Whether it can answer that caller at all.
    async fn can_answer(&self, worker: Option<WorkerId>) -> Result<(), CoordinatorError> {
        let (condition, known) = {
            let books = self.books();
            (books.condition, books.worker)
        };
        match condition {
            Condition::Away => Err(CoordinatorError::Unavailable("nobody there".into())),
            Condition::Mute => std::future::pending().await,
            Condition::Well | Condition::CannotRecord if worker.is_some() && worker != known => {
                Err(CoordinatorError::Unregistered)
            }
            Condition::Well | Condition::CannotRecord => Ok(()),
        }
    }
}

impl Books {
    /// When calls that are so came.
    pub fn times(&self, is_so: impl Fn(&Heard) -> bool) -> Vec<Duration> {
        self.heard.iter().filter(|(_, heard)| is_so(heard)).map(|(at, _)| *at).collect()
    }

    /// How often a count of that unit was reported.
    pub fn reports_of(&self, unit: u64) -> usize {
        let counts = self.heard.iter().filter_map(|(_, heard)| match heard {
            Heard::Report(counts) => Some(counts),
            _ => None,
        });
        counts.flatten().filter(|count| count.lease.unit == UnitId(unit)).count()
    }

    fn lend(&mut self, unit: UnitId) -> Lease {
        self.tokens += 1;
        let token = Token(self.tokens);
        self.lent.insert(unit, token);
        Lease { unit, token, variant: Variant::default() }
    }

    fn judge(&mut self, count: &UnitCount) -> Verdict {
        if let Some(verdict) = self.verdicts.pop_front() {
            return verdict;
        }
        let unit = count.lease.unit;
        if self.lent.remove(&unit) != Some(count.lease.token) {
            self.stale += 1;
        }
        self.open.retain(|open| *open != unit);
        if self.recorded.insert(unit, count.completions).is_some() {
            self.repeated += 1;
            return Verdict::Known;
        }
        Verdict::Recorded
    }

    fn is_finished(&self) -> bool {
        self.open.is_empty() && self.lent.is_empty()
    }
}

fn units(leases: &[Lease]) -> Vec<UnitId> {
    let mut units: Vec<_> = leases.iter().map(|lease| lease.unit).collect();
    units.sort();
    units
}

impl Coordinator for FakeCoordinator {
    async fn register(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        let mut held = registration.held;
        held.sort();
        self.hear(Heard::Register(held.clone()));
        self.can_answer(None).await?;
        let mut books = self.books();
        books.workers += 1;
        let worker = WorkerId(books.workers);
        books.worker = Some(worker);
        books.open.retain(|unit| !held.contains(unit));
        let leases = held.into_iter().map(|unit| books.lend(unit)).collect();
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases })
    }

    async fn lease(
        &self,
        worker: WorkerId,
        want: u32,
        wait: Duration,
    ) -> Result<LeaseReply, CoordinatorError> {
        self.hear(Heard::Lease);
        let delay = self.books().lease_delay;
        sleep(delay).await;
        let until = Instant::now() + wait;
        loop {
            self.can_answer(Some(worker)).await?;
            {
                let mut books = self.books();
                if books.is_finished() {
                    return Ok(LeaseReply::Finished);
                }
                let granted = books.open.len().min(want as usize).min(books.most_lent);
                let granted: Vec<_> = books.open.drain(..granted).collect();
                if !granted.is_empty() {
                    return Ok(LeaseReply::Granted(
                        granted.into_iter().map(|unit| books.lend(unit)).collect(),
                    ));
                }
            }
            if timeout_at(until, self.changed.notified()).await.is_err() {
                return Ok(LeaseReply::Granted(Vec::new()));
            }
        }
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Vec<UnitId>, CoordinatorError> {
        self.hear(Heard::Renew(units(&held)));
        self.can_answer(Some(worker)).await?;
        let mut books = self.books();
        let lost = std::mem::take(&mut books.lost);
        for unit in &lost {
            books.lent.remove(unit);
            books.open.push_back(*unit);
        }
        self.changed.notify_waiters();
        Ok(lost)
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        self.hear(Heard::Report(report.counts.clone()));
        self.can_answer(Some(report.worker)).await?;
        let mut books = self.books();
        if books.condition == Condition::CannotRecord {
            return Err(CoordinatorError::Unavailable("the disk is full".into()));
        }
        if let Some(error) = books.report_error.take() {
            return Err(error);
        }
        let verdicts = report.counts.iter().map(|count| books.judge(count)).collect();
        self.changed.notify_waiters();
        Ok(verdicts)
    }

    async fn release(
        &self,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
    ) -> Result<(), CoordinatorError> {
        self.hear(Heard::Release { held: units(&held), leaving });
        self.can_answer(Some(worker)).await?;
        let mut books = self.books();
        for unit in units(&held) {
            books.lent.remove(&unit);
            books.open.push_back(unit);
        }
        Ok(())
    }
}

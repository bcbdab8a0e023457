//! A coordinator in a test's hands: it lends units, records counts, and fails as the test wishes.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use domain::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use queens::UnitId;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use super::coordinator_state::{Condition, CoordinatorState, Heard};
use crate::coordinator::{CallResult, CoordinatorError, Lender};

/// How long its leases last.
pub const LEASE_TIME: Duration = Duration::from_mins(1);

/// The coordinator, as both the worker and the test hold it.
#[derive(Clone)]
pub struct FakeCoordinator {
    begun: Instant,
    state: Arc<Mutex<CoordinatorState>>,
    changed: Arc<Notify>,
}

impl FakeCoordinator {
    /// A coordinator with this number of units.
    pub fn with_units(units: u64) -> Self {
        let state = Arc::new(Mutex::new(CoordinatorState::with_units(units)));
        Self { begun: Instant::now(), state, changed: Arc::default() }
    }

    fn hear(&self, call: Heard) {
        self.state().heard.push((self.begun.elapsed(), call));
    }

    /// Access to its state.
    pub fn state(&self) -> MutexGuard<'_, CoordinatorState> {
        self.state.lock().unwrap()
    }

    /// From now on it is in that condition; requests that wait notice it.
    pub fn set(&self, condition: Condition) {
        self.state().script.condition = condition;
        self.changed.notify_waiters();
    }

    /// Restarts the coordinator: it keeps records and forgets workers and leases.
    pub fn restart(&self) {
        self.state().forget();
        self.changed.notify_waiters();
    }

    /// Whether it can answer that caller at all.
    async fn can_answer(&self, worker: Option<WorkerId>) -> CallResult<()> {
        let (condition, is_known) = {
            let state = self.state();
            (state.script.condition, worker.is_none_or(|worker| state.knows(worker)))
        };
        match condition {
            Condition::Away => Err(CoordinatorError::Unavailable("nobody there".into())),
            Condition::Mute => std::future::pending().await,
            Condition::Well | Condition::CannotRecord if !is_known => Err(CoordinatorError::Unregistered),
            Condition::Well | Condition::CannotRecord => Ok(()),
        }
    }

    /// Its reply to a report.
    async fn judge(&self, report: &Report) -> CallResult<Vec<Verdict>> {
        self.can_answer(Some(report.worker)).await?;
        let mut state = self.state();
        if state.script.condition == Condition::CannotRecord {
            return Err(CoordinatorError::Unavailable("the disk is full".into()));
        }
        if let Some(error) = state.script.report_error.take() {
            return Err(error);
        }
        let judged = state.script.judged_of_next.take().unwrap_or(report.counts.len());
        Ok(report.counts.iter().take(judged).map(|count| state.judge(count)).collect())
    }
}

fn units(leases: &[Lease]) -> Vec<UnitId> {
    let mut units: Vec<_> = leases.iter().map(|lease| lease.unit).collect();
    units.sort();
    units
}

#[async_trait]
impl Lender for FakeCoordinator {
    async fn register(&self, registration: Registration) -> CallResult<Welcome> {
        self.hear(Heard::Register(units(&registration.leases)));
        self.can_answer(None).await?;
        let (worker, leases) = self.state().enrol(&registration.leases);
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases, term: None })
    }

    async fn lease(&self, worker: WorkerId, want: u32, wait: Duration) -> CallResult<LeaseReply> {
        self.hear(Heard::Lease);
        let delay = self.state().script.lease_delay;
        sleep(delay).await;
        let until = Instant::now() + wait;
        loop {
            self.can_answer(Some(worker)).await?;
            {
                let mut state = self.state();
                if state.is_finished() {
                    return Ok(LeaseReply::Finished);
                }
                let leases = state.lend_up_to(want);
                if !leases.is_empty() {
                    return Ok(LeaseReply::Granted(leases));
                }
            }
            if timeout_at(until, self.changed.notified()).await.is_err() {
                return Ok(LeaseReply::Granted(Vec::new()));
            }
        }
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> CallResult<Renewal> {
        self.hear(Heard::Renew(units(&held)));
        self.can_answer(Some(worker)).await?;
        let lost = self.state().lose();
        self.changed.notify_waiters();
        Ok(Renewal { lost, finished: false, drain: false })
    }

    async fn report(&self, report: Report) -> CallResult<Vec<Verdict>> {
        self.hear(Heard::Report(report.counts.clone()));
        let verdicts = self.judge(&report).await;
        self.changed.notify_waiters();
        let delay = self.state().script.report_delay;
        sleep(delay).await;
        verdicts
    }

    async fn release(&self, worker: WorkerId, held: Vec<Lease>, leaving: bool) -> CallResult<()> {
        self.hear(Heard::Release { held: units(&held), leaving });
        self.can_answer(Some(worker)).await?;
        self.state().take_back(&units(&held));
        Ok(())
    }
}

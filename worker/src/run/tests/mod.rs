//! The worker's loop with a fake coordinator and a pool without threads. The coordinator works, is away, does not
//! answer, or cannot record. The test's clock jumps to the next event, so minutes take no time and times are exact.

mod absence;
mod coordinator_state;
mod fake_coordinator;
mod leases;
mod leaving;
mod reports;
mod virtual_pool;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::Verdict;
use queens::kernel::{Isa, Kernel, Method, kernel};
use queens::plan::PlanSpec;
use queens::{Board, Plan, UnitId};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::counting::Counting;
use super::worker_loop::WorkerLoop;
use super::{Config, Summary, Wish, WorkerError};
use crate::coordinator::CoordinatorError;
use crate::outage::Hopeful;
use crate::pool::UnitOutcome;
use coordinator_state::{Condition, Heard};
pub use fake_coordinator::FakeCoordinator;
use fake_coordinator::LEASE_TIME;
use virtual_pool::{VirtualPool, completions};

const UNITS: u64 = 10;

/// No unit ends at a round second.
const UNIT_TIME: Duration = Duration::from_secs(7);

/// The drain time of the workers.
const DRAIN: Duration = Duration::from_secs(20);

/// Maximum lifetime of a worker in these tests.
const PATIENCE: Duration = Duration::from_hours(1);

/// The configuration of a worker with one thread.
pub fn config(kernel: Arc<dyn Kernel>) -> Config {
    Config {
        name: "worker".into(),
        machine: "machine".into(),
        threads: 1,
        kernel,
        give_up_after: None,
        hopeful: Hopeful::default(),
        give_up_unrecorded_after: None,
        finishes_when_lost: false,
        ahead: crate::pace::AHEAD,
        drain: DRAIN,
    }
}

/// The same with the portable search.
fn plain() -> Config {
    config(kernel(Method::Search, Some(Isa::Portable)).unwrap())
}

/// A worker that lives its life in a task.
struct Life {
    begun: Instant,
    task: JoinHandle<Result<Summary, WorkerError>>,
    wish: watch::Sender<Wish>,
}

impl Life {
    /// A worker with one thread and this time for a unit.
    fn begin(coordinator: &FakeCoordinator, unit_time: Duration, give_up_after: Option<Duration>) -> Self {
        Self::begin_with(coordinator, Config { give_up_after, ..plain() }, |outcomes| {
            VirtualPool::new(unit_time, outcomes)
        })
    }

    /// A worker with this configuration and this pool.
    fn begin_with(
        coordinator: &FakeCoordinator,
        config: Config,
        pool: impl FnOnce(UnboundedSender<UnitOutcome>) -> VirtualPool,
    ) -> Self {
        let plan = Plan::derive(PlanSpec::for_kernel(Board::new(16).unwrap(), Method::Search)).unwrap();
        let (outcomes_in, outcomes) = unbounded_channel();
        let plan = Arc::new(plan);
        let counting = Counting::new(Arc::clone(&plan), pool(outcomes_in), outcomes, 1, config.ahead);
        let mut worker =
            WorkerLoop::new(Arc::new(coordinator.clone()), plan, config, 14200, counting, Summary::default());
        let (wish, mut wished) = watch::channel(Wish::Stay);
        let task = tokio::spawn(async move { worker.work(&mut wished).await });
        Self { begun: Instant::now(), task, wish }
    }

    /// Advances the time to this time after the start.
    async fn until(&self, after: Duration) {
        sleep_until(self.begun + after).await;
    }

    /// The result of the worker, and its time since the start.
    async fn end(self) -> (Result<Summary, WorkerError>, Duration) {
        let result = timeout(PATIENCE, self.task).await.expect("the worker comes to an end").unwrap();
        (result, self.begun.elapsed())
    }

    /// Waits until all units are counted and recorded once. Returns the time that it takes.
    async fn counts_all(self, coordinator: &FakeCoordinator, units: u64) -> Duration {
        let (summary, took) = self.end().await;
        assert_eq!(summary.unwrap(), counted(units));
        assert_all_recorded_once(coordinator, units);
        took
    }

    /// Stops the worker. Returns its summary and the time that it takes.
    async fn stop(self) -> (Summary, Duration) {
        self.wish(Wish::Leave).await
    }

    /// Commands the worker to drain or leave. Returns its summary and the time that it takes.
    async fn wish(self, wish: Wish) -> (Summary, Duration) {
        let asked = Instant::now();
        self.wish.send_replace(wish);
        let result = timeout(PATIENCE, self.task).await.expect("the worker leaves").unwrap();
        (result.unwrap(), asked.elapsed())
    }
}

/// A worker with one thread, and a coordinator with this number of units.
fn begin(units: u64) -> (FakeCoordinator, Life) {
    let coordinator = FakeCoordinator::with_units(units);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    (coordinator, life)
}

/// The summary of a worker that has counted this number of units of a finished run.
fn counted(units: u64) -> Summary {
    Summary { units, finished: true, ..Summary::default() }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn units(range: std::ops::Range<u64>) -> Vec<UnitId> {
    range.map(UnitId).collect()
}

/// The times between times.
fn waits(times: &[Duration]) -> Vec<Duration> {
    times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

/// Every unit is on record with its own count, and none was recorded twice or under a lease of before.
#[track_caller]
fn assert_all_recorded_once(coordinator: &FakeCoordinator, of: u64) {
    let state = coordinator.state();
    let expected = units(0..of).into_iter().map(|unit| (unit, completions(unit))).collect();
    assert_eq!(state.recorded, expected);
    assert_eq!((state.repeated, state.stale), (0, 0));
}

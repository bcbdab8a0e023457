//! The worker's loop beside a coordinator that is well, away, mute or full, and a pool without threads, all on a clock
//! that stands still while there is something to do: minutes take no time, and times can be asserted.

mod fake_coordinator;
mod virtual_pool;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use proto::Verdict;
use queens::kernel::{Isa, Method, kernel};
use queens::plan::PlanSpec;
use queens::{Board, Plan, UnitId};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{Config, Summary, WorkerError, WorkerLoop};
use crate::coordinator::CoordinatorError;
use fake_coordinator::{Condition, FakeCoordinator, Heard, LEASE_TIME};
use virtual_pool::{VirtualPool, completions};

const UNITS: u64 = 10;

/// No unit ends at a round second.
const UNIT_TIME: Duration = Duration::from_secs(7);

/// No worker of these tests lives longer.
const PATIENCE: Duration = Duration::from_hours(1);

/// A worker that lives its life in a task.
struct Life {
    begun: Instant,
    task: JoinHandle<Result<Summary, WorkerError>>,
    shutdown: oneshot::Sender<()>,
}

impl Life {
    /// A worker with one thread that takes so long for a unit.
    fn begin(coordinator: &FakeCoordinator, unit_time: Duration, give_up_after: Option<Duration>) -> Self {
        let plan = Plan::derive(PlanSpec::for_kernel(Board::new(16).unwrap(), Method::Search)).unwrap();
        let (outcomes_in, outcomes) = unbounded_channel();
        let (events_in, events) = unbounded_channel();
        let pool = VirtualPool::new(unit_time, outcomes_in);
        let config = Config {
            name: "worker".into(),
            machine: "machine".into(),
            threads: 1,
            kernel: kernel(Method::Search, Some(Isa::Portable)).unwrap(),
            give_up_after,
        };
        let worker = WorkerLoop::new(coordinator.clone(), Arc::new(plan), config, 14200, pool, events_in);
        let (shutdown, asked) = oneshot::channel::<()>();
        let asked = async {
            if asked.await.is_err() {
                std::future::pending().await
            }
        };
        Self { begun: Instant::now(), task: tokio::spawn(worker.work(outcomes, events, asked)), shutdown }
    }

    /// Lets time pass up to so long after the beginning.
    async fn until(&self, after: Duration) {
        sleep_until(self.begun + after).await;
    }

    /// What becomes of it, and how long after the beginning.
    async fn end(self) -> (Result<Summary, WorkerError>, Duration) {
        let result = timeout(PATIENCE, self.task).await.expect("the worker comes to an end").unwrap();
        (result, self.begun.elapsed())
    }

    /// What becomes of it when it is stopped, and how long that takes.
    async fn stop(self) -> (Summary, Duration) {
        let asked = Instant::now();
        self.shutdown.send(()).unwrap();
        let result = timeout(PATIENCE, self.task).await.expect("the worker leaves").unwrap();
        (result.unwrap(), asked.elapsed())
    }
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
    let books = coordinator.books();
    let expected = units(0..of).into_iter().map(|unit| (unit, completions(unit))).collect();
    assert_eq!(books.recorded, expected);
    assert_eq!((books.repeated, books.stale), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn leases_of_all_that_is_held_are_renewed_six_times_while_they_last() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    let (summary, _) = life.end().await;
    assert_eq!(summary.unwrap(), Summary { units: UNITS, finished: true });
    assert_all_recorded_once(&coordinator, UNITS);
    let books = coordinator.books();
    let renewals = books.heard.iter().filter_map(|(at, heard)| match heard {
        Heard::Renew(held) => Some((*at, held.clone())),
        _ => None,
    });
    let renewals: Vec<_> = renewals.take_while(|(at, _)| *at < UNIT_TIME * UNITS as u32).collect();
    assert_eq!(renewals.len(), 6);
    for (k, (at, held)) in (1..).zip(renewals) {
        assert_eq!(at.as_secs(), (LEASE_TIME / 6 * k).as_secs());
        assert_eq!(held, units(at.as_secs() / UNIT_TIME.as_secs()..UNITS), "after {at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_unit_whose_lease_was_lost_and_that_is_lent_again_is_counted_once() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(5)).await;
    coordinator.books().lost = vec![UnitId(1), UnitId(9)];
    let (summary, took) = life.end().await;
    assert_eq!(summary.unwrap(), Summary { units: UNITS, finished: true });
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs() * UNITS);
    let books = coordinator.books();
    assert_eq!((books.reports_of(1), books.reports_of(9)), (1, 1));
    // The first was reported before it was lent again: its count is welcome all the same.
    assert_eq!((books.recorded.len() as u64, books.repeated, books.stale), (UNITS, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn while_the_coordinator_is_away_counting_goes_on_and_nothing_is_lost() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(5)).await;
    coordinator.set(Condition::Away);
    life.until(seconds(40)).await;
    assert!(coordinator.books().recorded.is_empty());
    let tries = coordinator.books().times(|heard| !matches!(heard, Heard::Register(_) | Heard::Lease));
    let longest = waits(&tries).into_iter().max().unwrap();
    assert!((10..40).contains(&tries.len()) && longest < seconds(4), "{tries:?}");
    coordinator.set(Condition::Well);
    life.until(seconds(44)).await;
    assert_eq!(coordinator.books().recorded.len(), 6, "all that was counted meanwhile");
    let (summary, took) = life.end().await;
    assert_eq!(summary.unwrap(), Summary { units: UNITS, finished: true });
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs() * UNITS, "no time was lost");
    assert_all_recorded_once(&coordinator, UNITS);
}

#[tokio::test(start_paused = true)]
async fn a_worker_waits_for_a_coordinator_that_is_away_for_as_long_as_it_was_asked_to() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, Some(seconds(30)));
    life.until(seconds(5)).await;
    coordinator.set(Condition::Away);
    let (result, took) = life.end().await;
    let Err(WorkerError::GaveUp(gave_up)) = result else { panic!("{result:?}") };
    assert_eq!((gave_up.after, &*gave_up.why), (seconds(30), "nobody there"));
    // The first call that failed was the report of the first unit.
    assert_eq!(took.as_secs(), (UNIT_TIME + seconds(30)).as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_short_absence_after_another_begins_the_wait_anew() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::Away);
    let life = Life::begin(&coordinator, UNIT_TIME, Some(seconds(10)));
    for (from, to) in [(0, 8), (20, 28), (40, 48)] {
        life.until(seconds(from)).await;
        coordinator.set(Condition::Away);
        life.until(seconds(to)).await;
        coordinator.set(Condition::Well);
    }
    let (summary, _) = life.end().await;
    assert_eq!(summary.unwrap(), Summary { units: UNITS, finished: true });
    assert_all_recorded_once(&coordinator, UNITS);
}

#[tokio::test(start_paused = true)]
async fn counts_that_cannot_be_recorded_are_kept_and_their_leases_renewed_until_they_can() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(5)).await;
    coordinator.set(Condition::CannotRecord);
    life.until(seconds(95)).await;
    assert!(coordinator.books().recorded.is_empty());
    let renewals =
        coordinator.books().times(|heard| matches!(heard, Heard::Renew(held) if *held == units(0..UNITS)));
    assert_eq!(renewals.len(), 9, "all of it is still held: {renewals:?}");
    coordinator.set(Condition::Well);
    let (summary, took) = life.end().await;
    assert_eq!(summary.unwrap(), Summary { units: UNITS, finished: true });
    assert!(took < seconds(99), "{took:?}");
    assert_all_recorded_once(&coordinator, UNITS);
}

#[tokio::test(start_paused = true)]
async fn a_worker_gives_up_on_a_coordinator_that_cannot_record_for_too_long() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::CannotRecord);
    let (result, took) = Life::begin(&coordinator, UNIT_TIME, Some(seconds(10))).end().await;
    let Err(WorkerError::GaveUp(gave_up)) = result else { panic!("{result:?}") };
    assert_eq!(&*gave_up.why, "the disk is full");
    assert_eq!(took.as_secs(), (UNIT_TIME + seconds(10)).as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_count_that_cannot_be_judged_yet_is_reported_again_after_a_second() {
    let coordinator = FakeCoordinator::with_units(1);
    coordinator.books().verdicts = [Verdict::Later, Verdict::Later].into();
    let (summary, _) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert_eq!(summary.unwrap(), Summary { units: 1, finished: true });
    let reports = coordinator.books().times(|heard| matches!(heard, Heard::Report(_)));
    assert_eq!(waits(&reports), [seconds(1); 2]);
    assert_all_recorded_once(&coordinator, 1);
}

#[tokio::test(start_paused = true)]
async fn counts_in_conflict_or_unwanted_are_dropped_and_do_not_count_as_done() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.books().verdicts = [Verdict::Conflict, Verdict::Unwanted].into();
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(UNIT_TIME * UNITS as u32 + seconds(5)).await;
    {
        let books = coordinator.books();
        assert_eq!((books.reports_of(0), books.reports_of(1)), (1, 1));
        assert_eq!(books.recorded.keys().copied().collect::<Vec<_>>(), units(2..UNITS));
    }
    let (summary, _) = life.stop().await;
    assert_eq!(summary, Summary { units: UNITS - 2, finished: false });
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_refused_leaves_with_the_reason() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.books().report_error = Some(CoordinatorError::Refused("quarantined".into()));
    let (result, took) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert!(matches!(&result, Err(WorkerError::Refused(why)) if why == "quarantined"), "{result:?}");
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_coordinator_that_restarts_is_told_what_is_held_and_takes_it_under_new_leases() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(15)).await;
    coordinator.restart();
    let (summary, took) = life.end().await;
    assert_eq!(summary.unwrap(), Summary { units: UNITS, finished: true });
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs() * UNITS);
    let books = coordinator.books();
    let registrations = books.heard.iter().filter(|(_, heard)| matches!(heard, Heard::Register(_)));
    let registrations: Vec<_> = registrations.map(|(_, heard)| heard.clone()).collect();
    assert_eq!(registrations, [Heard::Register(vec![]), Heard::Register(units(2..UNITS))]);
    drop(books);
    assert_all_recorded_once(&coordinator, UNITS);
}

#[tokio::test(start_paused = true)]
async fn a_worker_takes_its_leave_once_when_all_is_counted() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    Life::begin(&coordinator, UNIT_TIME, None).end().await.0.unwrap();
    let books = coordinator.books();
    let farewell = Heard::Release { held: vec![], leaving: true };
    assert_eq!(books.heard.last().unwrap().1, farewell);
    assert_eq!(books.times(|heard| matches!(heard, Heard::Release { .. })).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_stopped_reports_what_it_has_counted_and_gives_back_the_rest() {
    let coordinator = FakeCoordinator::with_units(1000);
    let life = Life::begin(&coordinator, Duration::from_millis(50), None);
    // Between two reports: some counts are still being gathered in the pool.
    life.until(Duration::from_millis(20_120)).await;
    let reported = coordinator.books().recorded.len();
    let (summary, took) = life.stop().await;
    assert!(took < Duration::from_millis(10), "{took:?}");
    let books = coordinator.books();
    assert_eq!((books.recorded.len(), summary.units, summary.finished), (402, 402, false));
    assert!(reported < 402, "nothing was left to be reported in leaving");
    let Heard::Release { held, leaving: true } = &books.heard.last().unwrap().1 else {
        panic!("{:?}", books.heard.last())
    };
    assert_eq!(*held, units(402..1000));
}

#[tokio::test(start_paused = true)]
async fn leaving_takes_less_than_two_seconds_however_mute_the_coordinator_is() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(10)).await;
    coordinator.set(Condition::Mute);
    life.until(seconds(20)).await;
    let (summary, took) = life.stop().await;
    assert_eq!(summary, Summary { units: 1, finished: false });
    assert!(took > Duration::from_millis(300) && took < seconds(2), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_worker_leaves_at_once_when_the_coordinator_is_known_to_be_away() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::Away);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(20)).await;
    let (summary, took) = life.stop().await;
    assert_eq!(summary, Summary::default());
    assert!(took < Duration::from_millis(10), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn more_units_are_asked_for_before_the_last_is_counted() {
    let coordinator = FakeCoordinator::with_units(40);
    let delay = seconds(3);
    coordinator.books().most_lent = 4;
    coordinator.books().lease_delay = delay;
    let (summary, took) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert_eq!(summary.unwrap(), Summary { units: 40, finished: true });
    // It waits for the first units, and at the end to hear that there are no more.
    let idle = took.saturating_sub(UNIT_TIME * 40);
    assert!((delay..3 * delay).contains(&idle), "the pool was idle for {idle:?}");
    assert_all_recorded_once(&coordinator, 40);
}

#[tokio::test(start_paused = true)]
async fn short_units_are_reported_many_at_a_time_and_the_first_ones_soon() {
    let coordinator = FakeCoordinator::with_units(3000);
    let life = Life::begin(&coordinator, Duration::from_millis(1), None);
    sleep(Duration::from_millis(200)).await;
    assert!(!coordinator.books().recorded.is_empty());
    life.end().await.0.unwrap();
    let reports = coordinator.books().times(|heard| matches!(heard, Heard::Report(_)));
    assert!(reports.len() < 60, "{} reports", reports.len());
    let distinct: BTreeSet<_> = reports.iter().collect();
    assert_eq!(distinct.len(), reports.len(), "one report at a time");
    assert_all_recorded_once(&coordinator, 3000);
}

//! A worker leaves: at the end, or when it is stopped, with everything reported that can be.

use queens::Position;
use queens::kernel::{Count, KernelName, Stop};

use super::*;

#[tokio::test(start_paused = true)]
async fn worker_with_all_threads_hung_returns_its_units() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, seconds(3600), None);
    let (end, took) = life.end().await;
    assert!(matches!(end, Err(WorkerError::Hung(1))), "{end:?}");
    assert!((600..630).contains(&took.as_secs()), "{took:?}");
    assert_eq!(coordinator.state().released(true).len(), 1);
}

/// A card without further properties.
struct Card;

impl Kernel for Card {
    fn name(&self) -> KernelName {
        KernelName { method: Method::Search, isa: Isa::OpenCl }
    }

    fn count(&self, _: &Position, _: &Stop) -> Option<Count> {
        unreachable!("the pool counts")
    }
}

#[tokio::test(start_paused = true)]
async fn worker_with_hung_card_returns_units_and_names_card() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let pool = |outcomes| VirtualPool::new(seconds(3600), outcomes);
    let (end, took) = Life::begin_with(&coordinator, config(Arc::new(Card)), pool).end().await;
    let said = end.unwrap_err();
    assert!(matches!(said, WorkerError::CardHung) && said.to_string().contains("--gpu"), "{said}");
    assert!((600..630).contains(&took.as_secs()), "{took:?}");
    assert_eq!(coordinator.state().released(true).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_worker_takes_its_leave_once_when_all_is_counted() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    Life::begin(&coordinator, UNIT_TIME, None).end().await.0.unwrap();
    let state = coordinator.state();
    let farewell = Heard::Release { held: vec![], leaving: true };
    assert_eq!(state.heard.last().unwrap().1, farewell);
    assert_eq!(state.times(|heard| matches!(heard, Heard::Release { .. })).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn stopped_worker_reports_counts_and_returns_units() {
    let coordinator = FakeCoordinator::with_units(1000);
    let life = Life::begin(&coordinator, Duration::from_millis(50), None);
    // Between two reports: some counts are still being gathered in the pool.
    life.until(Duration::from_millis(20_120)).await;
    let reported = coordinator.state().recorded.len();
    let (summary, took) = life.stop().await;
    assert!(took < Duration::from_millis(10), "{took:?}");
    let state = coordinator.state();
    assert_eq!((state.recorded.len(), summary.units, summary.finished), (402, 402, false));
    assert!(reported < 402, "nothing was left to be reported in leaving");
    let farewell = Heard::Release { held: units(402..1000), leaving: true };
    assert_eq!(state.heard.last().unwrap().1, farewell);
}

#[tokio::test(start_paused = true)]
async fn worker_that_reregisters_leaves_under_new_number() {
    let coordinator = FakeCoordinator::with_units(1000);
    let life = Life::begin(&coordinator, Duration::from_millis(50), None);
    // Between two reports: some counts are not reported yet.
    life.until(Duration::from_millis(20_120)).await;
    coordinator.restart();
    let (summary, took) = life.stop().await;
    assert!(took < Duration::from_millis(10), "{took:?}");
    let state = coordinator.state();
    assert_eq!((state.recorded.len(), summary.unacknowledged, state.lent()), (402, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn leaving_mute_coordinator_takes_under_two_seconds() {
    let (coordinator, life) = begin(UNITS);
    life.until(seconds(10)).await;
    coordinator.set(Condition::Mute);
    life.until(seconds(20)).await;
    let (summary, took) = life.stop().await;
    assert_eq!(summary, Summary { units: 1, finished: false, broken_off: 1, unacknowledged: 1 });
    assert!(took > Duration::from_millis(300) && took < seconds(2), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn worker_leaves_absent_coordinator_at_once() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::Away);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(20)).await;
    let (summary, took) = life.stop().await;
    assert_eq!(summary, Summary::default());
    assert!(took < Duration::from_millis(10), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn leaving_worker_names_unacknowledged_counts() {
    for condition in [Condition::Away, Condition::CannotRecord] {
        let (coordinator, life) = begin(UNITS);
        life.until(seconds(5)).await;
        coordinator.set(condition);
        life.until(seconds(16)).await;
        let (summary, took) = life.stop().await;
        assert_eq!(summary, Summary { units: 0, finished: false, broken_off: 1, unacknowledged: 2 });
        assert!(took < seconds(2), "{took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn draining_worker_finishes_begun_units_only() {
    let (coordinator, life) = begin(UNITS);
    // The first two units are counted, the third is begun.
    life.until(seconds(15)).await;
    let (summary, took) = life.wish(Wish::Drain).await;
    assert!((seconds(6)..seconds(7)).contains(&took), "{took:?}");
    assert_eq!(summary, Summary { units: 3, finished: false, broken_off: 0, unacknowledged: 0 });
    let state = coordinator.state();
    let ([(at_once, held)], [(_, rest)]) = (&state.released(false)[..], &state.released(true)[..]) else {
        panic!("{:?}", state.heard)
    };
    assert!(!held.is_empty() && !held.contains(&UnitId(2)), "{held:?}");
    assert!(*at_once < seconds(16), "{at_once:?}");
    assert_eq!(*rest, []);
}

#[tokio::test(start_paused = true)]
async fn draining_is_bounded_and_a_second_wish_ends_it() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, seconds(300), None);
    life.until(seconds(100)).await;
    let (summary, took) = life.wish(Wish::Drain).await;
    assert!((DRAIN..DRAIN + seconds(2)).contains(&took), "{took:?}");
    assert_eq!(summary, Summary { units: 0, finished: false, broken_off: 1, unacknowledged: 0 });

    let life = Life::begin(&FakeCoordinator::with_units(UNITS), seconds(300), None);
    life.until(seconds(100)).await;
    life.wish.send_replace(Wish::Drain);
    life.until(seconds(105)).await;
    let (summary, took) = life.wish(Wish::Leave).await;
    assert!(took < seconds(2), "{took:?}");
    assert_eq!(summary.broken_off, 1);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_holds_nothing_has_drained_at_once() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::Away);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(20)).await;
    let (summary, took) = life.wish(Wish::Drain).await;
    assert_eq!(summary, Summary::default());
    assert!(took < seconds(1), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn finished_counts_in_pool_are_reported_at_drain() {
    let coordinator = FakeCoordinator::with_units(10_000);
    let life = Life::begin(&coordinator, Duration::from_millis(20), None);
    // Between two times at which counts are taken.
    life.until(Duration::from_millis(3210)).await;
    let (summary, _) = life.wish(Wish::Drain).await;
    assert_eq!(summary.units, 3210 / 20 + 1);
    let state = coordinator.state();
    let (_, given_back) = &state.released(false)[0];
    let counted = |unit: &UnitId| state.recorded.contains_key(unit);
    assert!(!given_back.is_empty() && !given_back.iter().any(counted));
    assert_eq!((state.repeated, state.stale), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn draining_worker_waits_for_acknowledgement() {
    for condition in [Condition::Away, Condition::CannotRecord, Condition::Mute] {
        let (coordinator, life) = begin(UNITS);
        // Two units are counted, the third ends at 21 s.
        life.until(seconds(5)).await;
        coordinator.set(condition);
        life.until(seconds(15)).await;
        life.wish.send_replace(Wish::Drain);
        life.until(seconds(30)).await;
        assert!(coordinator.state().recorded.is_empty() && !life.task.is_finished(), "{condition:?}");
        if condition == Condition::Mute {
            continue;
        }
        coordinator.set(Condition::Well);
        let (summary, took) = life.end().await;
        let all = Summary { units: 3, finished: false, broken_off: 0, unacknowledged: 0 };
        assert_eq!(summary.unwrap(), all, "{condition:?}");
        assert!((seconds(30)..seconds(34)).contains(&took), "{took:?}");
        assert_eq!(coordinator.state().recorded.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn draining_worker_leaves_without_acknowledgement() {
    for condition in [Condition::Away, Condition::CannotRecord, Condition::Mute] {
        let (coordinator, life) = begin(UNITS);
        life.until(seconds(5)).await;
        coordinator.set(condition);
        life.until(seconds(15)).await;
        let (summary, took) = life.wish(Wish::Drain).await;
        let lost = Summary { units: 0, finished: false, broken_off: 0, unacknowledged: 3 };
        assert_eq!(summary, lost, "{condition:?}");
        assert!((DRAIN..DRAIN + seconds(2)).contains(&took), "{condition:?} {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn thread_with_small_processor_share_is_not_hung() {
    let coordinator = FakeCoordinator::with_units(2);
    let starved = Life::begin_with(&coordinator, plain(), |outcomes| {
        VirtualPool::new(seconds(1700), outcomes).with_share(10)
    });
    let summary = starved.end().await.0.unwrap();
    assert_eq!((summary.units, summary.finished), (2, true));
}

#[tokio::test(start_paused = true)]
async fn thread_without_processor_time_is_hung() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let blocked = Life::begin_with(&coordinator, plain(), |outcomes| {
        VirtualPool::new(seconds(1_000_000), outcomes).with_share(1_000_000)
    });
    let (end, took) = timeout(seconds(20_000), blocked.task)
        .await
        .map(|end| (end.unwrap(), blocked.begun.elapsed()))
        .unwrap();
    assert!(matches!(end, Err(WorkerError::Hung(1))), "{end:?}");
    assert!((9600..9700).contains(&took.as_secs()), "{took:?}");
}

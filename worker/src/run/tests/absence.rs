//! While the coordinator is away, counting continues, and the worker waits for the configured time.

use super::*;

#[tokio::test(start_paused = true)]
async fn counting_continues_while_coordinator_is_away() {
    let (coordinator, life) = begin(UNITS);
    life.until(seconds(5)).await;
    coordinator.set(Condition::Away);
    life.until(seconds(40)).await;
    assert!(coordinator.state().recorded.is_empty());
    let tries = coordinator.state().times(|heard| !matches!(heard, Heard::Register(_) | Heard::Lease));
    let longest = waits(&tries).into_iter().max().unwrap();
    assert!((10..40).contains(&tries.len()) && longest < seconds(4), "{tries:?}");
    coordinator.set(Condition::Well);
    life.until(seconds(44)).await;
    assert_eq!(coordinator.state().recorded.len(), 6, "all that was counted meanwhile");
    let took = life.counts_all(&coordinator, UNITS).await;
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs() * UNITS, "no time was lost");
}

#[tokio::test(start_paused = true)]
async fn worker_gives_up_after_configured_absence() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    let life = Life::begin(&coordinator, UNIT_TIME, Some(seconds(30)));
    life.until(seconds(5)).await;
    coordinator.set(Condition::Away);
    let (result, took) = life.end().await;
    let Err(WorkerError::GaveUp(gave_up)) = result else { panic!("{result:?}") };
    assert_eq!((gave_up.after.as_secs(), &*gave_up.why), (30, "nobody there"));
    // The first call that failed was the report of the first unit.
    assert_eq!(took.as_secs(), (UNIT_TIME + seconds(30)).as_secs());
}

#[tokio::test(start_paused = true)]
async fn each_absence_restarts_the_wait() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::Away);
    let life = Life::begin(&coordinator, UNIT_TIME, Some(seconds(10)));
    for (from, to) in [(0, 8), (20, 28), (40, 48)] {
        life.until(seconds(from)).await;
        coordinator.set(Condition::Away);
        life.until(seconds(to)).await;
        coordinator.set(Condition::Well);
    }
    life.counts_all(&coordinator, UNITS).await;
}

#[tokio::test(start_paused = true)]
async fn workers_of_one_process_give_up_together() {
    let (first, second) = (FakeCoordinator::with_units(UNITS), FakeCoordinator::with_units(UNITS));
    let config = Config { give_up_after: Some(seconds(15)), ..plain() };
    let begin = |coordinator| {
        Life::begin_with(coordinator, config.clone(), |outcomes| VirtualPool::new(UNIT_TIME, outcomes))
    };
    let lives = [begin(&first), begin(&second)];
    first.set(Condition::Away);
    lives[0].until(seconds(40)).await;
    second.set(Condition::Away);
    for life in lives {
        let (result, took) = life.end().await;
        assert!(matches!(result, Err(WorkerError::GaveUp(_))), "{result:?}");
        assert!((55..70).contains(&took.as_secs()), "{took:?}");
    }
}

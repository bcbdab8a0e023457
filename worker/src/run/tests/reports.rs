//! Counts are reported until they are on record, or not wanted.

use super::*;

#[tokio::test(start_paused = true)]
async fn unrecorded_counts_are_kept_and_leases_renewed() {
    let (coordinator, life) = begin(UNITS);
    life.until(seconds(5)).await;
    coordinator.set(Condition::CannotRecord);
    life.until(seconds(95)).await;
    assert!(coordinator.state().recorded.is_empty());
    let renewals =
        coordinator.state().times(|heard| matches!(heard, Heard::Renew(held) if *held == units(0..UNITS)));
    assert_eq!(renewals.len(), 9, "all of it is still held: {renewals:?}");
    coordinator.set(Condition::Well);
    let took = life.counts_all(&coordinator, UNITS).await;
    assert!(took < seconds(99), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn count_command_gives_up_if_nothing_is_recorded() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::CannotRecord);
    let config = Config { give_up_unrecorded_after: Some(seconds(10)), ..plain() };
    let life = Life::begin_with(&coordinator, config, |outcomes| VirtualPool::new(UNIT_TIME, outcomes));
    let (result, took) = life.end().await;
    let Err(WorkerError::GaveUp(gave_up)) = result else { panic!("{result:?}") };
    let told = "gave up after 10s without a record of its counts: the disk is full";
    assert_eq!(gave_up.to_string(), told);
    assert_eq!(took.as_secs(), (UNIT_TIME + seconds(10)).as_secs());
}

#[tokio::test(start_paused = true)]
async fn coordinator_that_cannot_record_is_not_lost() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.set(Condition::CannotRecord);
    let life = Life::begin(&coordinator, UNIT_TIME, Some(seconds(2)));
    life.until(seconds(300)).await;
    coordinator.set(Condition::Well);
    life.counts_all(&coordinator, UNITS).await;
}

#[tokio::test(start_paused = true)]
async fn count_with_verdict_later_is_resent_after_a_second() {
    let coordinator = FakeCoordinator::with_units(1);
    coordinator.state().script.verdicts = [Verdict::Later, Verdict::Later].into();
    let (summary, _) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert_eq!(summary.unwrap(), counted(1));
    let reports = coordinator.state().times(|heard| matches!(heard, Heard::Report(_)));
    assert_eq!(waits(&reports), [seconds(1); 2]);
    assert_all_recorded_once(&coordinator, 1);
}

#[tokio::test(start_paused = true)]
async fn counts_missing_from_reply_are_reported_again() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.state().script.judged_of_next = Some(0);
    let (summary, _) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert_eq!(summary.unwrap().units, UNITS);
    assert_eq!(coordinator.state().reports_of(0), 2);
    assert_all_recorded_once(&coordinator, UNITS);
}

#[tokio::test(start_paused = true)]
async fn conflicting_and_unwanted_counts_are_dropped() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.state().script.verdicts = [Verdict::Conflict, Verdict::Unwanted].into();
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(UNIT_TIME * UNITS as u32 + seconds(5)).await;
    {
        let state = coordinator.state();
        assert_eq!((state.reports_of(0), state.reports_of(1)), (1, 1));
        assert_eq!(state.recorded.keys().copied().collect::<Vec<_>>(), units(2..UNITS));
    }
    let (summary, _) = life.stop().await;
    assert_eq!(summary, Summary { units: UNITS - 2, finished: false, broken_off: 0, unacknowledged: 0 });
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_refused_leaves_with_the_reason() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.state().script.report_error = Some(CoordinatorError::Refused("quarantined".into()));
    let (result, took) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert!(matches!(&result, Err(WorkerError::Refused(why)) if why == "quarantined"), "{result:?}");
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs());
}

#[tokio::test(start_paused = true)]
async fn short_units_are_reported_in_batches_and_first_soon() {
    let coordinator = FakeCoordinator::with_units(3000);
    let life = Life::begin(&coordinator, Duration::from_millis(1), None);
    sleep(Duration::from_millis(200)).await;
    assert!(!coordinator.state().recorded.is_empty());
    life.end().await.0.unwrap();
    let reports = coordinator.state().times(|heard| matches!(heard, Heard::Report(_)));
    assert!(reports.len() < 60, "{} reports", reports.len());
    let distinct: BTreeSet<_> = reports.iter().collect();
    assert_eq!(distinct.len(), reports.len(), "one report at a time");
    assert_all_recorded_once(&coordinator, 3000);
}

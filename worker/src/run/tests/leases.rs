//! Units are lent, renewed, lost and lent again, and each is counted once.

use super::*;

#[tokio::test(start_paused = true)]
async fn held_leases_are_renewed_six_times_a_lease_time() {
    let (coordinator, life) = begin(UNITS);
    life.counts_all(&coordinator, UNITS).await;
    let state = coordinator.state();
    let renewals = state.heard.iter().filter_map(|(at, heard)| match heard {
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
async fn unit_lent_again_after_lost_lease_is_counted_once() {
    let (coordinator, life) = begin(UNITS);
    life.until(seconds(5)).await;
    coordinator.state().script.lost = vec![UnitId(1), UnitId(9)];
    let (summary, took) = life.end().await;
    assert_eq!(summary.unwrap(), counted(UNITS));
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs() * UNITS);
    let state = coordinator.state();
    assert_eq!((state.reports_of(1), state.reports_of(9)), (1, 1));
    // The first unit was reported before it was lent again. Its count is still accepted.
    assert_eq!((state.recorded.len() as u64, state.repeated, state.stale), (UNITS, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn restarted_coordinator_renews_held_units() {
    let (coordinator, life) = begin(UNITS);
    life.until(seconds(15)).await;
    coordinator.restart();
    let took = life.counts_all(&coordinator, UNITS).await;
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs() * UNITS);
    let state = coordinator.state();
    let registrations = state.heard.iter().filter(|(_, heard)| matches!(heard, Heard::Register(_)));
    let registrations: Vec<_> = registrations.map(|(_, heard)| heard.clone()).collect();
    assert_eq!(registrations, [Heard::Register(vec![]), Heard::Register(units(2..UNITS))]);
    drop(state);
}

#[tokio::test(start_paused = true)]
async fn worker_requests_units_before_running_out() {
    let coordinator = FakeCoordinator::with_units(40);
    let delay = seconds(3);
    coordinator.state().script.most_lent = Some(4);
    coordinator.state().script.lease_delay = delay;
    let (summary, took) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert_eq!(summary.unwrap(), counted(40));
    // The worker waits for the first units, and at the end for the news that the run is complete.
    let idle = took.saturating_sub(UNIT_TIME * 40);
    assert!((delay..3 * delay).contains(&idle), "the pool was idle for {idle:?}");
    assert_all_recorded_once(&coordinator, 40);
}

#[tokio::test(start_paused = true)]
async fn check_of_count_in_report_is_counted() {
    let coordinator = FakeCoordinator::with_units(1);
    coordinator.state().script.checks_all = true;
    coordinator.state().script.report_delay = seconds(1) / 2;
    let (summary, took) = Life::begin(&coordinator, UNIT_TIME, None).end().await;
    assert_eq!(summary.unwrap(), counted(2));
    assert_eq!(took.as_secs(), UNIT_TIME.as_secs() * 2, "it waits for nothing");
    assert_eq!(coordinator.state().checked, 1);
    assert_all_recorded_once(&coordinator, 1);
}

#[tokio::test(start_paused = true)]
async fn report_during_reregistration_uses_new_lease() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    // The first unit, counted after 7 s, is reported to a coordinator that has forgotten the worker. Before that is heard
    // a renewal, after 10 s, has told the same, and the worker is registered.
    coordinator.state().script.report_delay = seconds(5);
    let life = Life::begin(&coordinator, UNIT_TIME, None);
    life.until(seconds(5)).await;
    coordinator.restart();
    life.until(seconds(13)).await;
    coordinator.state().script.report_delay = Duration::ZERO;
    life.counts_all(&coordinator, UNITS).await;
    assert_eq!(coordinator.state().stale, 0);
}

#[tokio::test(start_paused = true)]
async fn draining_worker_returns_units_of_new_registration() {
    let given_back = Heard::Release { held: vec![UnitId(9)], leaving: false };
    for drains in [false, true] {
        let coordinator = FakeCoordinator::with_units(2);
        let life = Life::begin(&coordinator, UNIT_TIME * 3, None);
        life.until(seconds(5)).await;
        coordinator.restart();
        coordinator.state().script.besides = vec![UnitId(9)];
        if drains {
            life.wish.send_replace(Wish::Drain);
        }
        // The renewal after 10 s shows that the coordinator does not know the worker.
        let (summary, _) = life.end().await;
        let state = coordinator.state();
        let at_once = state.times(|heard| *heard == given_back);
        assert_eq!((state.reports_of(9), at_once.len()), if drains { (0, 1) } else { (1, 0) });
        assert_eq!(summary.unwrap().finished, !drains);
    }
}

#[tokio::test(start_paused = true)]
async fn unit_for_missing_method_is_returned_at_renewal() {
    let coordinator = FakeCoordinator::with_units(UNITS);
    coordinator.state().script.by_other = vec![UnitId(3)];
    let kernel = kernel(Method::Search, Some(Isa::Portable)).unwrap();
    let life = Life::begin_with(&coordinator, config(kernel), |outcomes| {
        VirtualPool::new(UNIT_TIME, outcomes).with_one_method()
    });
    // If a coordinator lends the unit again all the same, the worker does not ask all the time.
    life.until(UNIT_TIME * 20).await;
    let given_back = Heard::Release { held: vec![UnitId(3)], leaving: false };
    let times = coordinator.state().times(|heard| *heard == given_back);
    let renewals = UNIT_TIME * 20 / (LEASE_TIME.as_secs() as u32 / 6);
    assert!((2..=renewals.as_secs() as usize).contains(&times.len()), "{times:?}");
    coordinator.state().script.by_other.clear();
    life.counts_all(&coordinator, UNITS).await;
}

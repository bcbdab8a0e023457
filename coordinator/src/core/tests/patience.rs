//! How long the checks of one owner's counts are left to another who is there.

use std::sync::Arc;
use std::time::Duration;

use proto::{Assurance, Lease, UnitCount, Verdict, WorkerId};

use super::{T0, core_with, counted, join_of};
use crate::core::leases::LEASE_TIME;
use crate::core::{Core, LeaseKey};
use crate::double_check::DoubleCheck;
use crate::shard::Shard;
use crate::standing::Standing;

const SECOND: Duration = Duration::from_secs(1);

/// The checks are left to others for as long as a lease lasts; where all are made twice others are then asked once more for
/// as long. What is held is overdue in less.
const BOUND: Duration = LEASE_TIME.saturating_mul(4);

/// The worker counts a unit in the time that was expected.
fn count(core: &mut Core, now: Duration, worker: WorkerId, lease: Lease) {
    let cpu = Duration::from_nanos(core.plan().weight(lease.unit));
    let (verdict, records) = core.judge(now, 0, worker, &UnitCount { cpu, ..counted(lease, 0) }).unwrap();
    assert_eq!(verdict, Verdict::Recorded);
    core.recorded(now, Some(worker), &records).unwrap();
}

/// The worker counts all that it is lent now.
fn count_all(core: &mut Core, now: Duration, worker: WorkerId) {
    loop {
        let lent = core.lease(now, worker, 100).unwrap();
        if lent.is_empty() {
            return;
        }
        lent.into_iter().for_each(|lease| count(core, now, worker, lease));
    }
}

/// What a run is worth whose units these machines of Ada's count, while Ben does something each second with what he holds;
/// and when the last one was counted and checked.
fn run(
    policy: DoubleCheck,
    machines: &[&str],
    ben: impl FnMut(&mut Core, Duration, WorkerId, &mut Vec<Lease>),
) -> (Assurance, u64, Duration) {
    go_on(core_with(policy), machines, ben)
}

/// The same from there on.
fn go_on(
    mut core: Core,
    machines: &[&str],
    mut ben: impl FnMut(&mut Core, Duration, WorkerId, &mut Vec<Lease>),
) -> (Assurance, u64, Duration) {
    let adas: Vec<_> = machines.iter().map(|machine| join_of(&mut core, "ada", machine)).collect();
    let (of_ben, mut held) = (join_of(&mut core, "ben", "b"), Vec::new());
    let mut now = T0;
    while !core.is_complete(now) {
        assert!(now < BOUND, "it does not end: {:?}", core.status(now));
        adas.iter().for_each(|worker| count_all(&mut core, now, *worker));
        ben(&mut core, now, of_ben, &mut held);
        core.renew(now, of_ben, &held).unwrap();
        core.tick(now);
        now += SECOND;
    }
    (core.status(now).assurance, core.plan().units(), now)
}

/// He keeps all that he is lent.
fn hoard(core: &mut Core, now: Duration, ben: WorkerId, held: &mut Vec<Lease>) {
    held.extend(core.lease(now, ben, 100_000).unwrap());
}

#[test]
fn an_owner_who_is_merely_there_does_not_keep_the_checks_of_another() {
    for policy in [DoubleCheck::None, DoubleCheck::default(), DoubleCheck::Share(0.3), DoubleCheck::All] {
        let (assurance, units, _) = run(policy, &["a1", "a2", "a3"], |_, _, _, _| {});
        assert_eq!(
            (assurance.on_two_owners, assurance.pending),
            (0, 0),
            "{policy}: nothing is called proven"
        );
        assert!(assurance.on_two_machines > 0, "{policy}");
        assert!(policy != DoubleCheck::All || assurance.on_two_machines == units, "{assurance:?}");
    }
}

#[test]
fn an_owner_who_holds_checks_and_makes_none_does_not_keep_them() {
    for policy in [DoubleCheck::default(), DoubleCheck::All] {
        let (assurance, ..) = run(policy, &["a1", "a2"], hoard);
        assert_eq!((assurance.on_two_owners, assurance.pending), (0, 0), "{policy}");
    }
}

#[test]
fn an_owner_who_is_slow_makes_the_checks_that_he_can_make_in_time() {
    let mut made = 0;
    let slow = |core: &mut Core, now: Duration, ben, held: &mut Vec<Lease>| {
        if now.as_secs().is_multiple_of(5) {
            held.drain(..).for_each(|lease| {
                count(core, now, ben, lease);
                made += 1;
            });
            held.extend(core.lease(now, ben, 1).unwrap());
        }
    };
    let (assurance, units, _) = run(DoubleCheck::All, &["a1", "a2"], slow);
    assert!(made > 1 && assurance.on_two_owners == made, "{made}: {assurance:?}");
    assert_eq!(assurance.on_two_owners + assurance.on_two_machines, units);
}

#[test]
fn a_machine_alone_with_another_owner_s_checks_its_own_counts_in_the_other_way_in_the_end() {
    let (assurance, units, _) = run(DoubleCheck::All, &["a"], |_, _, _, _| {});
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (units, 0));
    // Where she has another one there, that does it.
    let (assurance, ..) = run(DoubleCheck::All, &["a", "a2"], |_, _, _, _| {});
    assert_eq!(assurance.on_one_machine, 0);
}

#[test]
fn a_card_does_not_wait_for_a_processor_of_another_owner_who_is_merely_there() {
    let (assurance, units, _) = run(DoubleCheck::All, &["a/gpu0", "a2/gpu0"], |_, _, _, _| {});
    assert_eq!((assurance.on_two_machines, assurance.on_two_kinds), (units, 0));
}

#[test]
fn checks_are_left_to_another_owner_who_makes_them_for_as_long_as_he_does() {
    let last = |core: &mut Core, now: Duration, ben, _: &mut Vec<Lease>| {
        if now + SECOND * 2 >= LEASE_TIME {
            count_all(core, now, ben);
        }
    };
    let (assurance, units, now) = run(DoubleCheck::All, &["a1", "a2"], last);
    assert_eq!(assurance.on_two_owners, units);
    assert!(now <= LEASE_TIME);
}

#[test]
fn a_processor_time_that_nobody_believes_holds_nothing_up() {
    for policy in [DoubleCheck::None, DoubleCheck::All] {
        let mut core = core_with(policy);
        let ben = join_of(&mut core, "ben", "b2");
        let lease = core.lease(T0, ben, 1).unwrap()[0];
        let said = UnitCount { cpu: Duration::MAX, ..counted(lease, 0) };
        let (_, records) = core.judge(T0, 0, ben, &said).unwrap();
        core.recorded(T0, Some(ben), &records).unwrap();
        assert_eq!(core.standing().sums().cpu_us, u64::MAX);
        assert!(core.mean_speed() > 0.01, "{}", core.mean_speed());
        go_on(core, &["a1", "a2"], hoard);
    }
}

#[test]
fn a_run_that_has_such_a_time_on_record_ends_after_a_restart() {
    let (mut core, units) = (core_with(DoubleCheck::All), 30);
    let ada = join_of(&mut core, "ada", "a1");
    (0..units).for_each(|_| {
        let lease = core.lease(T0, ada, 1).unwrap()[0];
        count(&mut core, T0, ada, lease);
    });
    let (marks, mut sums) = (core.standing().marks().clone(), core.standing().sums().clone());
    sums.cpu_us = u64::MAX;
    let standing = Standing::restored(core.plan(), marks, sums);
    let known = core.standing().clone();
    let plan = Arc::clone(core.plan());
    let key = LeaseKey::new([7; LeaseKey::BYTES]);
    let mut again = Core::new(plan, Shard::default(), standing, DoubleCheck::All, key, 8);
    again.standing().adopt_counts(&known);
    again.ledger_read(T0);
    assert!((again.mean_speed() * 30.0 - 1.0).abs() < 1e-3, "{}", again.mean_speed());
    go_on(again, &["a1", "a2"], hoard);
}

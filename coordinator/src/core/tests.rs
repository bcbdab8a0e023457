use std::collections::BTreeSet;

use proto::{Owner, Token, UnitCount, Variant, Verdict};
use queens::{Board, PlanSpec};

use super::*;

const T0: Duration = Duration::ZERO;

fn core() -> Core {
    core_with(DoubleCheck::None)
}

fn core_with(policy: DoubleCheck) -> Core {
    let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
    let standing = Standing::new(&plan);
    Core::new(Arc::new(plan), Shard::default(), standing, policy, 7)
}

fn registration(core: &Core, name: &str, held: &[UnitId]) -> Registration {
    Registration {
        owner: Owner::default(),
        fingerprint: core.plan().fingerprint().clone(),
        name: name.into(),
        machine: name.into(),
        threads: 2,
        kernel: "search/portable".parse().unwrap(),
        self_test: self_test::expected(),
        held: held.to_vec(),
    }
}

fn join(core: &mut Core, name: &str) -> WorkerId {
    let registration = registration(core, name, &[]);
    core.register(T0, registration).unwrap().worker
}

fn counted(lease: Lease, completions: u64) -> UnitCount {
    UnitCount { lease, completions, nodes: 1, cpu: Duration::from_micros(1) }
}

/// Judges and records at once.
fn report(core: &mut Core, now: Duration, worker: WorkerId, lease: Lease, completions: u64) -> Verdict {
    let (verdict, records) = core.judge(now, 0, worker, &counted(lease, completions)).unwrap();
    core.recorded(now, Some(worker), &records).unwrap();
    verdict
}

#[test]
fn a_run_is_complete_when_every_unit_has_been_lent_once_and_recorded() {
    let mut core = core();
    let worker = join(&mut core, "a");
    let mut seen = BTreeSet::new();
    loop {
        let leases = core.lease(T0, worker, 7).unwrap();
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            assert!(seen.insert(lease.unit), "unit {} is lent once", lease.unit);
            assert_eq!(report(&mut core, T0, worker, lease, 0), Verdict::Recorded);
        }
    }
    assert_eq!(seen.len() as u64, core.plan().units());
    assert!(core.is_complete());
}

#[test]
fn a_count_that_no_unit_can_have_is_dropped_and_its_unit_counted_on() {
    let mut core = core();
    let worker = join(&mut core, "a");
    let lease = core.lease(T0, worker, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, worker, lease, u64::MAX), Verdict::Unwanted);
    assert_eq!(report(&mut core, T0, worker, lease, 1), Verdict::Recorded);
}

#[test]
fn the_last_units_are_shared_between_workers() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let first = core.lease(T0, a, 100_000).unwrap();
    let plan = Arc::clone(core.plan());
    let work = |leases: &[Lease]| leases.iter().map(|l| u128::from(plan.weight(l.unit))).sum::<u128>();
    let fair = plan.total_weight() / 2;
    assert!(work(&first) >= fair / 4, "a quarter of what is fair for one worker of two");
    assert!(work(&first[1..]) <= fair / 4, "and at most one unit more");
    assert!(!core.lease(T0, b, 100_000).unwrap().is_empty());
}

#[test]
fn a_worker_is_lent_what_it_counts_while_it_would_wait_for_more() {
    for (cpu, lent) in [(Duration::from_millis(1), 8), (Duration::from_mins(1), 3)] {
        let mut core = core();
        let worker = join(&mut core, "a");
        while core.open_counts() > 8 {
            let lease = core.lease(T0, worker, 1).unwrap()[0];
            let (_, records) = core.judge(T0, 0, worker, &UnitCount { cpu, ..counted(lease, 0) }).unwrap();
            core.recorded(T0, Some(worker), &records).unwrap();
        }
        // Of eight units a quarter is its share; two threads count twenty of a millisecond in 10 ms.
        assert_eq!(core.lease(T0, worker, 100).unwrap().len(), lent, "units of {cpu:?}");
    }
}

/// A core in which worker `a` holds one unit and worker `b` has counted all others.
fn all_but_one_counted(core: &mut Core) -> (WorkerId, WorkerId, Lease) {
    let (a, b) = (join(core, "a"), join(core, "b"));
    let held = core.lease(T0, a, 1).unwrap()[0];
    loop {
        let leases = core.lease(T0, b, 100).unwrap();
        if leases.is_empty() {
            return (a, b, held);
        }
        for lease in leases {
            report(core, T0, b, lease, 0);
        }
    }
}

#[test]
fn an_expired_lease_is_lent_again_when_nothing_else_is_open() {
    let mut core = core();
    let (a, b, held) = all_but_one_counted(&mut core);
    assert_eq!(core.lease(LEASE_TIME / 2, b, 1).unwrap(), [], "it has not expired");
    let again = core.lease(LEASE_TIME, b, 1).unwrap();
    assert_eq!(again[0].unit, held.unit);
    assert_ne!(again[0].token, held.token);
    assert_eq!(core.renew(LEASE_TIME, a, &[held]).unwrap(), [held.unit], "the lost one is named");
}

#[test]
fn an_expired_lease_goes_on_while_nobody_needs_its_unit() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let held = core.lease(T0, a, 1).unwrap();
    let later = LEASE_TIME * 4;
    assert_ne!(core.lease(later, b, 1).unwrap()[0].unit, held[0].unit);
    assert_eq!(core.renew(later, a, &held).unwrap(), []);
}

#[test]
fn a_renewed_lease_is_not_lent_again() {
    let mut core = core();
    let (a, b, held) = all_but_one_counted(&mut core);
    assert_eq!(core.renew(LEASE_TIME / 2, a, &[held]).unwrap(), []);
    assert_eq!(core.lease(LEASE_TIME, b, 1).unwrap(), []);
}

#[test]
fn late_result_of_expired_lease_is_accepted() {
    let mut core = core();
    let (a, b, late) = all_but_one_counted(&mut core);
    let again = core.lease(LEASE_TIME, b, 1).unwrap()[0];
    assert_eq!(again.unit, late.unit);
    assert_eq!(report(&mut core, LEASE_TIME, a, late, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, LEASE_TIME, b, again, 5), Verdict::Recorded, "and the other confirms it");
    assert_eq!(core.status(LEASE_TIME).assurance.on_two_machines, 1);
    assert!(core.is_complete());
}

#[test]
fn the_same_report_twice_is_acknowledged_twice_and_counted_once() {
    let mut core = core();
    let a = join(&mut core, "a");
    let lease = core.lease(T0, a, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Known);
    assert_eq!(core.standing().done(), 1);
}

#[test]
fn a_contradicted_count_stands_again_only_when_another_machine_agrees() {
    let mut core = core();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| join(&mut core, name));
    let lease = core.lease(T0, a, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, b, lease, 6), Verdict::Conflict);
    assert_eq!((core.standing().done(), core.status(T0).disputed), (0, 1));
    assert_eq!(report(&mut core, T0, b, lease, 6), Verdict::Known, "the same again says nothing new");
    assert_eq!(report(&mut core, T0, c, lease, 7), Verdict::Conflict);
    assert_eq!(core.lease(T0, d, 1).unwrap()[0].unit, lease.unit, "it is lent again");
    assert_eq!(report(&mut core, T0, d, lease, 6), Verdict::Recorded);
    assert_eq!(core.standing().count(lease.unit), Some(6));
    let status = core.status(T0);
    assert_eq!((status.disputed, status.assurance.on_two_machines), (0, 1));
    assert_eq!(status.assurance.quarantined, ["a", "c"], "those who lost it");
    assert_eq!(core.lease(T0, a, 1), Err(Refusal::UnknownWorker(a)));
    let again = registration(&core, "a", &[]);
    assert_eq!(core.register(T0, again), Err(Refusal::Quarantined("a".into())));
}

#[test]
fn a_count_that_did_not_reach_the_disk_is_not_done() {
    let mut core = core();
    let a = join(&mut core, "a");
    let lease = core.lease(T0, a, 1).unwrap()[0];
    let (_, records) = core.judge(T0, 0, a, &counted(lease, 5)).unwrap();
    core.not_recorded(&records);
    assert_eq!(core.standing().done(), 0);
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
}

#[test]
fn a_worker_that_comes_back_is_leased_what_it_holds() {
    let mut before = core();
    let a = join(&mut before, "a");
    let held: Vec<UnitId> = before.lease(T0, a, 3).unwrap().iter().map(|lease| lease.unit).collect();
    // The coordinator is restarted: leases are gone, the worker is unknown.
    let mut after = core();
    assert_eq!(after.lease(T0, a, 1), Err(Refusal::UnknownWorker(a)));
    let back = registration(&after, "a", &held);
    let welcome = after.register(T0, back).unwrap();
    assert_eq!(welcome.leases.iter().map(|lease| lease.unit).collect::<Vec<_>>(), held);
    let other = join(&mut after, "b");
    let lent = after.lease(T0, other, 5).unwrap();
    assert!(lent.iter().all(|lease| !held.contains(&lease.unit)));
}

#[test]
fn a_worker_whose_first_registration_was_not_answered_is_leased_what_it_holds() {
    let mut core = core();
    let held = [UnitId(3), UnitId(5)];
    let again = registration(&core, "a", &held);
    core.register(T0, again.clone()).unwrap();
    let welcome = core.register(T0, again).unwrap();
    assert_eq!(welcome.leases.iter().map(|lease| lease.unit).collect::<Vec<_>>(), held);
    assert_eq!(core.renew(LEASE_TIME / 2, welcome.worker, &welcome.leases).unwrap(), []);
    let other = registration(&core, "b", &held);
    assert!(core.register(T0, other).unwrap().leases.is_empty(), "nobody else is");
}

#[test]
fn units_whose_lease_never_arrived_are_lent_again_and_not_blamed() {
    let mut core = core();
    let a = join(&mut core, "a");
    for round in 1..10 {
        let now = LEASE_TIME * round;
        core.renew(now, a, &[]).unwrap();
        while !core.lease(now, a, 100_000).unwrap().is_empty() && core.leases.held_by(a).units < 40 {}
        assert!(core.leases.held_by(a).units > 0);
    }
    assert_eq!(core.tick(LEASE_TIME * 10), []);
    assert!((0..core.plan().units()).all(|unit| !core.losses.is_suspect(UnitId(unit))));
}

#[test]
fn a_renewal_that_crosses_a_new_lease_of_the_same_worker_loses_nothing() {
    let mut core = core();
    let (_, b, held) = all_but_one_counted(&mut core);
    let later = LEASE_TIME * 2;
    let again = core.lease(later, b, 1).unwrap();
    assert_eq!(again.iter().map(|lease| lease.unit).collect::<Vec<_>>(), [held.unit]);
    let again = core.lease(later * 2, b, 1).unwrap();
    assert_ne!(again[0].token, held.token);
    let old = Lease { token: held.token, ..held };
    assert_eq!(core.renew(later * 2, b, &[old]).unwrap(), []);
}

#[test]
fn units_of_a_worker_that_leaves_or_falls_silent_are_open_again() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let of_a = core.lease(T0, a, 2).unwrap();
    core.release(T0, a, &of_a[..1], false).unwrap();
    assert_eq!(core.lease(T0, b, 1).unwrap()[0].unit, of_a[0].unit);
    core.release(T0, a, &[], true).unwrap();
    assert_eq!(core.lease(T0, b, 1).unwrap()[0].unit, of_a[1].unit);
    let later = SILENCE * 2;
    core.tick(later);
    assert!(core.is_deserted());
    assert_eq!(core.status(later).leased, 0);
}

#[test]
fn a_worker_of_another_plan_is_refused_and_unknown_units_are_unwanted() {
    let mut core = core();
    let foreign = Registration { fingerprint: "0".repeat(32).into(), ..registration(&core, "a", &[]) };
    assert!(matches!(core.register(T0, foreign), Err(Refusal::OtherPlan { .. })));
    let a = join(&mut core, "a");
    let beyond = Lease { unit: UnitId(core.plan().units()), token: Token(1), variant: Variant::default() };
    assert_eq!(report(&mut core, T0, a, beyond, 1), Verdict::Unwanted);
}

#[test]
fn a_kernel_that_miscounts_a_known_board_is_refused() {
    let mut core = core();
    let wrong = Registration { self_test: 14_199, ..registration(&core, "a", &[]) };
    let refusal = core.register(T0, wrong).unwrap_err();
    assert!(matches!(refusal, Refusal::SelfTest { found: 14_199, expected: 14_200, .. }), "{refusal}");
}

#[test]
fn checks_go_mirrored_to_another_machine_and_only_left_alone_to_the_same_with_another_kernel() {
    let mut core = core_with(DoubleCheck::All);
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let of_a = core.lease(T0, a, 3).unwrap();
    of_a.iter().for_each(|lease| _ = report(&mut core, T0, a, *lease, 5));
    let to_b = core.lease(T0, b, 3).unwrap();
    assert!(to_b.iter().map(|lease| lease.unit).eq(of_a.iter().map(|lease| lease.unit)));
    assert!(to_b.iter().all(|lease| lease.variant.mirrored));
    report(&mut core, T0, b, to_b[0], 5);
    core.release(T0, b, &to_b[1..], true).unwrap();
    // The other has left. All is counted; what is not checked waits for another machine, but not for ever.
    let next = |core: &mut Core, now| core.lease(now, a, 100_000).unwrap();
    loop {
        let leases = next(&mut core, T0);
        if leases.is_empty() {
            break;
        }
        assert!(leases.iter().all(|lease| lease.variant == Variant::default()));
        leases.iter().for_each(|lease| _ = report(&mut core, T0, a, *lease, 5));
    }
    let mut checked = 1;
    loop {
        let leases = next(&mut core, ALONE);
        if leases.is_empty() {
            break;
        }
        checked += leases.len() as u64;
        assert!(leases.iter().all(|lease| lease.variant.mirrored && lease.variant.other_kernel));
        leases.iter().for_each(|lease| _ = report(&mut core, ALONE, a, *lease, 5));
    }
    assert!(core.is_complete());
    let assurance = core.status(ALONE).assurance;
    assert_eq!((assurance.on_two_machines, assurance.on_one_machine), (1, checked - 1));
}

#[test]
fn a_wrong_count_of_a_unit_that_two_machines_have_counted_quarantines_at_once() {
    let mut core = core_with(DoubleCheck::All);
    let [a, b, c] = ["a", "b", "c"].map(|name| join(&mut core, name));
    let lease = core.lease(T0, a, 1).unwrap()[0];
    report(&mut core, T0, a, lease, 5);
    let again = core.lease(T0, b, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, b, again, 5), Verdict::Recorded);
    let mut canary = None;
    while canary.is_none() {
        let leases = core.lease(T0, c, 3).unwrap();
        canary = leases.iter().find(|other| other.unit == lease.unit).copied();
        core.release(T0, c, &leases, false).unwrap();
    }
    let canary = canary.unwrap();
    assert_eq!(canary.variant, Variant::default(), "nothing tells it from a unit that nobody has counted");
    assert_eq!(report(&mut core, T0, c, canary, 6), Verdict::Conflict);
    assert_eq!(core.status(T0).assurance.quarantined, ["c"]);
    assert_eq!(core.standing().count(lease.unit), Some(5));
}

#[test]
fn a_unit_that_kills_its_workers_is_set_aside_after_five_and_named() {
    let mut core = core();
    let mut now = T0;
    let deadly = UnitId(3);
    let mut killed = 0;
    while core.status(now).trouble.is_empty() {
        let worker = join(&mut core, "a");
        let mut is_alive = true;
        while is_alive {
            // Workers hold many units, and count them in their order.
            let leases = core.lease(now, worker, 1000).unwrap();
            if leases.is_empty() {
                break;
            }
            for lease in leases {
                is_alive &= lease.unit != deadly;
                if is_alive {
                    report(&mut core, now, worker, lease, 0);
                }
            }
        }
        killed += u32::from(!is_alive);
        assert!(killed <= 5 && !core.is_complete());
        now += SILENCE * 2;
        core.tick(now);
    }
    let status = core.status(now);
    assert_eq!((killed, &status.set_aside[..]), (5, &[deadly][..]));
    assert_eq!(status.done, status.units - 1, "no other unit is blamed");
    assert!(status.trouble.contains("(3)") && status.trouble.contains("restart"), "{}", status.trouble);
}

use std::collections::BTreeSet;

use proto::{Token, UnitCount, Verdict, Way};
use queens::{Board, PlanSpec};

use super::*;

const T0: Duration = Duration::ZERO;

fn core() -> Core {
    let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
    let standing = Standing::new(&plan);
    Core::new(Arc::new(plan), Shard::default(), standing, DoubleCheck::None, 7)
}

fn registration(core: &Core, name: &str, held: &[UnitId]) -> Registration {
    Registration {
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
    assert_eq!(core.status(LEASE_TIME).worth.on_two_machines, 1);
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
    assert_eq!((status.disputed, status.worth.on_two_machines), (0, 1));
    assert_eq!(status.worth.quarantined, ["a", "c"], "those who lost it");
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
    let beyond = Lease { unit: UnitId(core.plan().units()), token: Token(1), way: Way::default() };
    assert_eq!(report(&mut core, T0, a, beyond, 1), Verdict::Unwanted);
}

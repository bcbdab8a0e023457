//! Reports: first, repeated, late and unwanted.

use domain::{Lease, Registration, UnitCount, Variant, Verdict};
use queens::{Board, Plan, PlanSpec, UnitId};
use records::DoubleCheck;

use super::{T0, all_but_one_counted, core, core_of, core_with, counted, given, join, registration, report};
use crate::core::{Core, LEASE_TIME};

#[test]
fn impossible_count_is_dropped_and_lease_kept() {
    let mut core = core();
    let worker = join(&mut core, "a");
    let lease = core.lease(T0, worker, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, worker, lease, u64::MAX), Verdict::Unwanted);
    assert_eq!(report(&mut core, T0, worker, lease, 1), Verdict::Recorded);
}

#[test]
fn late_result_of_expired_lease_is_accepted() {
    let mut core = core();
    let (a, b, late) = all_but_one_counted(&mut core);
    let checked = core.status(LEASE_TIME).assurance.on_two_machines;
    let again = core.lease(LEASE_TIME, b, 1).unwrap()[0];
    assert_eq!(again.unit, late.unit);
    assert_eq!(report(&mut core, LEASE_TIME, a, late, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, LEASE_TIME, b, again, 5), Verdict::Recorded, "and the other confirms it");
    assert_eq!(core.status(LEASE_TIME).assurance.on_two_machines, checked + 1);
    assert!(core.is_complete());
}

#[test]
fn repeated_report_is_acknowledged_and_counted_once() {
    let mut core = core();
    let a = join(&mut core, "a");
    let lease = core.lease(T0, a, 1).unwrap()[0];
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Recorded);
    assert_eq!(report(&mut core, T0, a, lease, 5), Verdict::Known);
    assert_eq!(core.standing().done(), 1);
}

#[test]
fn extra_check_is_superfluous_but_no_contradiction() {
    let mut core = core();
    let (a, b, late) = all_but_one_counted(&mut core);
    let mut units = (0..core.plan().units()).map(UnitId);
    let unit = units.find(|unit| *unit != late.unit && !core.work.is_symmetric_count(*unit)).unwrap();
    let kept_back = given(&core, a, Lease { unit, variant: Variant::ALL[1], token: late.token });
    let say = |core: &mut Core, completions| {
        let (verdict, records) = core.judge(T0, 0, a, &counted(kept_back, completions)).unwrap();
        core.not_recorded(&records);
        (verdict, core.is_superfluous(&records))
    };
    assert_eq!(say(&mut core, 0), (Verdict::Recorded, false), "a unit is open");
    report(&mut core, T0, a, late, 5);
    report(&mut core, T0, b, late, 5);
    assert!(core.is_complete());
    assert_eq!(say(&mut core, 0), (Verdict::Recorded, true));
    assert_eq!(say(&mut core, 6), (Verdict::Conflict, false));
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
fn report_without_lease_is_unwanted() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let leases = core.lease(T0, a, 2).unwrap();
    assert_eq!(report(&mut core, T0, a, leases[0], 5), Verdict::Recorded);
    for lease in &leases {
        let (verdict, records) = core.judge(T0, 0, b, &counted(*lease, 6)).unwrap();
        assert_eq!((verdict, records.len()), (Verdict::Unwanted, 0), "the lease is another worker's");
    }
    assert_eq!((core.standing().done(), core.standing().count(leases[0].unit)), (1, Some(5)));
}

#[test]
fn released_unit_is_open_if_its_count_is_not_written() {
    let mut core = core_with(DoubleCheck::All);
    let [a, b] = ["a", "b"].map(|name| join(&mut core, name));
    let of_a = core.lease(T0, a, 2).unwrap();
    report(&mut core, T0, a, of_a[0], 5);
    let check = core.lease(T0, b, 1).unwrap()[0];
    assert_eq!(check.unit, of_a[0].unit);
    // The one leaves, the other registers once more, before it is known that the disk is full.
    let on_way = [(b, check), (a, of_a[1])]
        .map(|(worker, lease)| core.judge(T0, 0, worker, &counted(lease, 5)).unwrap().1);
    core.release(T0, b, &[check], true).unwrap();
    let again = registration(&core, "a", &[]);
    let again = Registration { former: Some(a), leases: vec![of_a[1]], ..again };
    let again = core.register(T0, again).unwrap();
    assert_eq!(core.leases.units_of(again.worker), 0);
    on_way.iter().for_each(|records| core.not_recorded(records));
    core.release(T0, again.worker, &again.leases, true).unwrap();
    let c = join(&mut core, "c");
    let mut lent = Vec::new();
    loop {
        let leases = core.lease(T0, c, 100_000).unwrap();
        if leases.is_empty() {
            break;
        }
        leases.iter().for_each(|lease| _ = report(&mut core, T0, c, *lease, 5));
        lent.extend(leases.iter().map(|lease| (lease.unit, lease.variant.mirrored)));
    }
    assert!(lent.contains(&(check.unit, true)), "the check");
    assert!(lent.contains(&(of_a[1].unit, false)), "and the count");
}

#[test]
fn symmetric_recount_by_same_algorithm_is_no_check() {
    let mut core = core();
    let [a, b] = ["a", "b"].map(|name| join(&mut core, name));
    let lease = core.lease(T0, a, 1).unwrap()[0];
    assert!(core.work.is_symmetric_count(lease.unit));
    report(&mut core, T0, a, lease, 5);
    // The count was overdue, and the unit was lent to another worker.
    assert_eq!(report(&mut core, T0, b, lease, 5), Verdict::Known);
    assert_eq!(core.status(T0).assurance.pending, 1);
    let check = core.lease(T0, b, 1).unwrap()[0];
    assert_eq!((check.unit, check.variant), (lease.unit, Variant { mirrored: true, other_kernel: true }));
    assert_eq!(report(&mut core, T0, b, check, 5), Verdict::Recorded);
    assert_eq!(core.status(T0).assurance.pending, 0);
}

#[test]
fn differing_nodes_conflict_only_in_plans_for_search() {
    let board = Board::new(8).unwrap();
    for (spec, verdict) in
        [(PlanSpec::new(board), Verdict::Conflict), (PlanSpec::families(board), Verdict::Recorded)]
    {
        let mut core = core_of(Plan::derive(spec).unwrap(), DoubleCheck::All);
        let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
        let unit =
            (0..core.plan().units()).map(UnitId).find(|unit| !core.work.is_symmetric_count(*unit)).unwrap();
        let lease = Lease { unit, ..core.lease(T0, a, 1).unwrap()[0] };
        report(&mut core, T0, a, lease, 3);
        let count = UnitCount { nodes: 2, ..counted(given(&core, b, lease), 3) };
        let (said, records) = core.judge(T0, 0, b, &count).unwrap();
        assert_eq!(said, verdict, "{}", spec.method());
        core.recorded(T0, Some(b), &records).unwrap();
    }
}

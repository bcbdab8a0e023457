//! The last units, which one owner takes again and again and does not count.

use std::time::Duration;

use domain::{Lease, Owner, Registration, WorkerId};

use super::{T0, core, count_all, join_of, registration, report};
use crate::core::{Core, LEASE_TIME};

/// Longer than any of these units is lent before it is overdue, and shorter than a lease lasts.
const OVERDUE: Duration = Duration::from_secs(10);

/// Of two workers of Mallory's one holds the last unit. Ada has counted all others.
fn all_but_one() -> (Core, [WorkerId; 3], Lease) {
    let mut core = core();
    let [holder, idle] = ["m1", "m2"].map(|machine| join_of(&mut core, "mallory", machine));
    let ada = join_of(&mut core, "ada", "a");
    let held = core.lease(T0, holder, 1).unwrap()[0];
    count_all(&mut core, ada);
    // What a run always checks.
    count_all(&mut core, idle);
    count_all(&mut core, ada);
    assert_eq!((core.open_counts(), core.leases.to_count()), (0, 1));
    (core, [holder, idle, ada], held)
}

fn units(leases: &[Lease]) -> Vec<u64> {
    leases.iter().map(|lease| lease.unit.0).collect()
}

#[test]
fn an_overdue_unit_is_for_other_owners_first_than_its_holder_s() {
    let (mut core, [holder, idle, ada], held) = all_but_one();
    let due = core.leases.overdue(OVERDUE, (T0, held.unit)).next().unwrap().due;
    for now in [due, OVERDUE] {
        [(holder, vec![held]), (ada, vec![])]
            .into_iter()
            .for_each(|(worker, held)| _ = core.renew(now, worker, &held).unwrap());
        assert_eq!(core.lease(now, idle, 100_000).unwrap(), [], "another owner is there");
    }
    assert_eq!(units(&core.lease(OVERDUE, ada, 1).unwrap()), [held.unit.0]);
}

#[test]
fn an_overdue_unit_that_no_other_owner_asks_for_is_lent_to_the_same_again() {
    let (mut core, [holder, idle, ada], held) = all_but_one();
    let due = core.leases.overdue(OVERDUE, (T0, held.unit)).next().unwrap().due;
    let later = due + LEASE_TIME;
    core.renew(LEASE_TIME / 2, holder, &[held]).unwrap();
    core.renew(later, holder, &[held]).unwrap();
    core.renew(later, ada, &[]).unwrap();
    assert_eq!(units(&core.lease(later, idle, 1).unwrap()), [held.unit.0]);
}

#[test]
fn a_unit_whose_lease_has_expired_is_for_other_owners_first() {
    let (mut core, [_, idle, ada], held) = all_but_one();
    core.renew(LEASE_TIME, ada, &[]).unwrap();
    assert_eq!(core.lease(LEASE_TIME, idle, 100_000).unwrap(), []);
    assert_eq!(units(&core.lease(LEASE_TIME, ada, 1).unwrap()), [held.unit.0]);
    assert_eq!(report(&mut core, LEASE_TIME, ada, held, 0), domain::Verdict::Recorded);
}

#[test]
fn a_unit_whose_lease_has_expired_is_nobody_s_for_longer_than_a_lease() {
    let (mut core, [_, idle, ada], held) = all_but_one();
    for (now, lent) in [(LEASE_TIME, vec![]), (LEASE_TIME * 2, vec![held.unit.0])] {
        core.renew(now, ada, &[]).unwrap();
        assert_eq!(units(&core.lease(now, idle, 1).unwrap()), lent);
    }
}

#[test]
fn the_last_units_that_are_given_back_or_left_out_of_renewals_are_for_other_owners_first() {
    let give_back = |core: &mut Core, holder, held| core.release(T0, holder, &[held], false).unwrap();
    let leave = |core: &mut Core, holder, _| core.release(T0, holder, &[], true).unwrap();
    let leave_out = |core: &mut Core, holder, _| {
        [0, 1].into_iter().for_each(|_| _ = core.renew(T0, holder, &[]).unwrap())
    };
    for give_back in [give_back as fn(&mut Core, WorkerId, Lease), leave, leave_out] {
        let (mut core, [holder, idle, ada], held) = all_but_one();
        give_back(&mut core, holder, held);
        assert_eq!(core.lease(T0, idle, 100_000).unwrap(), []);
        assert_eq!(units(&core.lease(T0, ada, 1).unwrap()), [held.unit.0], "it is found again");
    }
}

#[test]
fn who_registers_again_and_again_with_what_he_holds_has_no_more_time_for_it() {
    let (mut core, [mut holder, _, ada], mut held) = all_but_one();
    let due = core.leases.due(held.unit).unwrap();
    for now in (1..=4).map(|part| due * part / 4) {
        let again = registration(&core, "m1", &[held.unit]);
        let (owner, former) = (Owner::new("mallory"), Some(holder));
        let welcome =
            core.register(now, Registration { owner, former, leases: vec![held], ..again }).unwrap();
        (holder, held) = (welcome.worker, welcome.leases[0]);
        core.renew(now, ada, &[]).unwrap();
    }
    assert_eq!(units(&core.lease(due, ada, 1).unwrap()), [held.unit.0]);
}

#[test]
fn an_owner_who_is_alone_takes_up_at_once_what_came_back() {
    let (mut core, [_, idle, ada], held) = all_but_one();
    core.release(T0, ada, &[], true).unwrap();
    assert_eq!(units(&core.lease(LEASE_TIME, idle, 1).unwrap()), [held.unit.0]);
}

#[test]
fn a_symmetric_count_in_dispute_that_came_back_is_for_an_owner_who_has_counted_it_by_one_algorithm_only() {
    let (mut core, [holder, idle, ada], held) = all_but_one();
    assert!(core.is_symmetric_count(held.unit));
    assert_eq!(report(&mut core, T0, holder, held, 7), domain::Verdict::Recorded);
    assert_eq!(report(&mut core, T0, ada, held, 5), domain::Verdict::Conflict);
    core.tick(T0);
    let asked = |core: &mut Core, worker| {
        core.lease(T0, worker, 100).unwrap().into_iter().find(|lease| lease.unit == held.unit)
    };
    let other = asked(&mut core, holder).expect("by the other algorithm");
    assert!(other.variant.other_kernel);
    core.release(T0, holder, &[other], false).unwrap();
    assert_eq!(asked(&mut core, idle), None, "ada may count it by the other algorithm, too");
    assert_eq!(asked(&mut core, ada).map(|lease| lease.variant), Some(other.variant));
}

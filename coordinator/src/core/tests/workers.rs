//! Workers that come, come back, leave or are refused.

use proto::{Lease, Registration, Token, Variant, Verdict};
use queens::UnitId;

use super::{T0, core, join, registration, report};
use crate::core::LEASE_TIME;
use crate::core::Refusal;
use crate::core::release::SILENCE;

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

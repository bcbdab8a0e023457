//! Units that are lost with their workers.

use std::time::Duration;

use domain::{Owner, Registration, WorkerId};
use queens::UnitId;
use records::DoubleCheck;

use super::{T0, core, core_with, count_all, count_all_but, join, join_of, registration, report};
use crate::core::Core;
use crate::core::LEASE_TIME;
use crate::core::schedule::MAX_RETRY_WAIT;
use crate::core::worker_calls::SILENCE;

#[test]
fn undelivered_leases_are_lent_again_without_blame() {
    let mut core = core();
    let a = join(&mut core, "a");
    for round in 1..10 {
        let now = LEASE_TIME * round;
        core.renew(now, a, &[]).unwrap();
        while !core.lease(now, a, 100_000).unwrap().is_empty() && core.leases.units_of(a) < 40 {}
        assert!(core.leases.units_of(a) > 0);
    }
    assert_eq!(core.tick(LEASE_TIME * 10), []);
    assert!((0..core.plan().units()).all(|unit| !core.schedule.is_suspect(UnitId(unit))));
}

/// The unit that kills the workers.
const DEADLY: UnitId = UnitId(3);

/// Lets workers of this machine count and check open units until the status names the deadly unit. Five workers die
/// with it. Returns the time.
fn lose_workers_with(core: &mut Core, machine: &str) -> Duration {
    let (mut now, mut killed) = (T0, 0);
    while core.status(now).trouble.is_empty() {
        let worker = join(core, machine);
        let mut is_alive = true;
        while is_alive {
            // Workers hold many units, and count them in their order.
            let leases = core.lease(now, worker, 1000).unwrap();
            if leases.is_empty() {
                break;
            }
            for lease in leases {
                is_alive &= lease.unit != DEADLY;
                if is_alive {
                    report(core, now, worker, lease, 0);
                }
            }
        }
        killed += u32::from(!is_alive);
        assert!(killed <= 5 && !core.is_complete());
        now += SILENCE * 2;
        assert!(now < SILENCE * 40, "nothing goes on, and nobody says why");
        core.tick(now);
    }
    assert_eq!(killed, 5);
    now
}

#[test]
fn unit_that_kills_five_workers_is_set_aside() {
    let mut core = core();
    let now = lose_workers_with(&mut core, "a");
    let status = core.status(now);
    assert_eq!(status.set_aside, [DEADLY]);
    assert_eq!(status.done, status.units - 1, "no other unit is blamed");
    assert!(status.trouble.contains("(3)") && status.trouble.contains("restart"), "{}", status.trouble);
}

#[test]
fn set_aside_unit_is_lent_alone_after_a_wait() {
    let mut core = core();
    let mut now = lose_workers_with(&mut core, "a");
    for is_deadly in [true, true, false] {
        let [one, other] = ["a", "b"].map(|name| join(&mut core, name));
        now += MAX_RETRY_WAIT;
        let leases = core.lease(now, one, 1000).unwrap();
        assert_eq!(leases.iter().map(|lease| lease.unit).collect::<Vec<_>>(), [DEADLY]);
        assert_eq!(core.lease(now, other, 1000).unwrap(), [], "one at a time");
        if is_deadly {
            now += SILENCE * 2;
            assert_eq!(core.tick(now), [], "it was named before");
            let early = join(&mut core, "a");
            assert_eq!(core.lease(now, early, 1000).unwrap(), []);
        } else {
            report(&mut core, now, one, leases[0], 0);
        }
        assert_eq!(core.status(now).trouble.is_empty(), !is_deadly);
    }
    let status = core.status(now);
    assert_eq!((status.done, status.set_aside_total), (status.units, 0));
}

/// Machines take all units and disappear, until the units left are lent to machines that have counted only. These workers
/// stay connected. Returns the time.
fn take_units_and_disappear(core: &mut Core, connected: &[WorkerId]) -> Duration {
    let mut now = T0;
    for name in 0.. {
        let forgetful = join(core, &format!("forgetful-{name}"));
        if core.lease(now, forgetful, 1000).unwrap().is_empty() {
            break;
        }
        now += LEASE_TIME;
        connected.iter().for_each(|worker| _ = core.renew(now, *worker, &[]).unwrap());
        core.tick(now);
    }
    now
}

#[test]
fn suspect_goes_to_a_machine_that_has_counted() {
    let mut core = core();
    let ada = join(&mut core, "a");
    count_all_but(&mut core, ada, Some(DEADLY));
    let now = take_units_and_disappear(&mut core, &[ada]);
    assert!(core.schedule.is_suspect(DEADLY) && core.status(now).set_aside.is_empty());
    let lent = core.lease(now, ada, 1000).unwrap();
    assert_eq!(lent.iter().map(|lease| lease.unit).collect::<Vec<_>>(), [DEADLY]);
}

#[test]
fn suspect_check_goes_to_a_machine_that_has_counted() {
    let mut core = core_with(DoubleCheck::All);
    let [a, b] = ["a", "b"].map(|name| join(&mut core, name));
    let first = core.lease(T0, b, 1).unwrap()[0];
    report(&mut core, T0, b, first, 0);
    count_all(&mut core, a);
    let now = take_units_and_disappear(&mut core, &[a, b]);
    let lent = core.lease(now, b, 1000).unwrap();
    assert!(core.schedule.is_suspect(lent[0].unit) && lent.len() == 1, "{lent:?}");
}

#[test]
fn check_that_kills_workers_is_named_in_status() {
    let mut core = core_with(DoubleCheck::All);
    let [a, b] = ["a", "b"].map(|name| join(&mut core, name));
    count_all(&mut core, a);
    [a, b].into_iter().for_each(|worker| core.release(T0, worker, &[], true).unwrap());
    let now = lose_workers_with(&mut core, "b");
    let status = core.status(now);
    assert_eq!((status.done, &status.set_aside[..]), (status.units, &[DEADLY][..]));
    assert_eq!(status.assurance.pending, 1, "no other check is blamed");
    assert!(status.trouble.contains("(3)") && status.trouble.contains("restart"), "{}", status.trouble);
}

#[test]
fn owner_that_hoards_and_falls_silent_slows_no_other() {
    let mut core = core();
    let ada = join_of(&mut core, "ada", "a");
    let mut now = T0;
    for _ in 0..4 {
        for k in 0..1000 {
            let of_many = registration(&core, &format!("b{k}"), &[]);
            let of_many = Registration { owner: Owner::new("ben"), threads: 1 << 16, ..of_many };
            let ben = core.register(now, of_many).unwrap().worker;
            core.lease(now, ben, 100_000).unwrap();
        }
        assert!(core.open_counts() < 10, "he holds all but a few");
        now += SILENCE * 2;
        core.renew(now, ada, &[]).unwrap();
        core.tick(now);
    }
    assert!(core.schedule.suspects().next().is_none() && core.status(now).set_aside.is_empty());
    assert!(core.lease(now, ada, 100_000).unwrap().len() > 10, "more than a unit at a time");
}

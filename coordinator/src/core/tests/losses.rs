//! Units that are lost with their workers.

use proto::{Owner, Registration};
use queens::UnitId;

use super::{T0, core, join, join_of, registration, report};
use crate::core::LEASE_TIME;
use crate::core::release::SILENCE;

#[test]
fn units_whose_lease_never_arrived_are_lent_again_and_not_blamed() {
    let mut core = core();
    let a = join(&mut core, "a");
    for round in 1..10 {
        let now = LEASE_TIME * round;
        core.renew(now, a, &[]).unwrap();
        while !core.lease(now, a, 100_000).unwrap().is_empty() && core.leases.units_of(a) < 40 {}
        assert!(core.leases.units_of(a) > 0);
    }
    assert_eq!(core.tick(LEASE_TIME * 10), []);
    assert!((0..core.plan().units()).all(|unit| !core.losses.is_suspect(UnitId(unit))));
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
        assert!(killed <= 5 && !core.is_complete(T0));
        now += SILENCE * 2;
        core.tick(now);
    }
    let status = core.status(now);
    assert_eq!((killed, &status.set_aside[..]), (5, &[deadly][..]));
    assert_eq!(status.done, status.units - 1, "no other unit is blamed");
    assert!(status.trouble.contains("(3)") && status.trouble.contains("restart"), "{}", status.trouble);
}

#[test]
fn an_owner_who_takes_all_and_falls_silent_again_and_again_slows_no_other_down() {
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
    assert!(core.open.suspects.is_empty() && core.status(now).set_aside.is_empty());
    assert!(core.lease(now, ada, 100_000).unwrap().len() > 10, "more than a unit at a time");
}

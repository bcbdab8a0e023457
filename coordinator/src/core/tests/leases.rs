//! What is lent, to whom and for how long.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, Owner, Registration, UnitCount, Verdict, WorkerId};
use queens::plan::Scheme;
use queens::{Board, Plan, PlanSpec};
use records::DoubleCheck;
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;

use super::{Core, T0, all_but_one_counted, core, core_of, counted, join, registration, report};
use crate::core::LEASE_TIME;
use crate::core::members::MAX_WORKERS_PER_OWNER;

#[test]
fn run_is_complete_after_each_unit_is_recorded() {
    let mut core = core();
    let worker = join(&mut core, "a");
    let mut seen = BTreeSet::new();
    loop {
        let leases = core.lease(T0, worker, 7).unwrap();
        if leases.is_empty() {
            break;
        }
        for lease in leases {
            let is_check = lease.variant.mirrored;
            assert!(seen.insert(lease.unit) != is_check, "unit {} is lent once to be counted", lease.unit);
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

#[test]
fn worker_is_lent_enough_to_bridge_its_next_request() {
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

#[test]
fn each_thread_has_unit_when_shard_is_underestimated() {
    let plan = Plan::derive(PlanSpec::families(Board::new(18).unwrap())).unwrap();
    let shard: Shard = "3/8".parse().unwrap();
    let work = shard.units(plan.units()).map(|unit| u128::from(plan.weight(unit))).sum::<u128>();
    assert!(work * 10 > plan.total_weight() / 8 * 11, "more than a tenth above an eighth of the plan");
    let (units, standing) = (shard.size(plan.units()), Standing::new(&plan));
    let key = LeaseKey::new([7; LeaseKey::BYTES]);
    let mut core = Core::new(Arc::new(plan), shard, standing, DoubleCheck::None.into(), key, 7);
    let worker = join_with(&mut core, "a", 16);
    while core.votes.standing().done() < units {
        let (status, left) = (core.status(T0), units - core.votes.standing().done());
        assert!((0.9..1.1).contains(&(status.work.total * 1e9 / work as f64)), "{:?}", status.work);
        assert!(status.progress < 0.9999, "{left} of {units} units are left: {}", status.progress);
        let leases = core.lease(T0, worker, 16).unwrap();
        assert!(leases.len() as u64 >= left.min(16), "{} of {left} units that are left", leases.len());
        for lease in leases {
            report(&mut core, T0, worker, lease, 0);
        }
    }
    assert!(core.work.left(core.votes.standing()) < 1.0, "{}", core.work.left(core.votes.standing()));
}

/// A core of a plan with thousands of units.
fn core_of_thousands() -> Core {
    let scheme = Scheme::Constellations { grain: 1 };
    let plan = Plan::derive(PlanSpec { scheme, ..PlanSpec::new(Board::new(11).unwrap()) }).unwrap();
    core_of(plan, DoubleCheck::None)
}

#[test]
fn leases_of_one_call_are_bounded() {
    let scheme = Scheme::Constellations { grain: 1 };
    let plan = Plan::derive(PlanSpec { scheme, ..PlanSpec::new(Board::new(14).unwrap()) }).unwrap();
    let mut core = core_of(plan, DoubleCheck::None);
    let worker = join(&mut core, "a");
    let first = core.lease(T0, worker, 100_000).unwrap().len();
    assert_eq!(first, 4096, "of {}", core.plan().units());
    assert!(
        !core.lease(T0, worker, 100_000).unwrap().is_empty(),
        "the rest of its share is lent in the next"
    );
}

fn join_with(core: &mut Core, owner: &str, threads: u32) -> WorkerId {
    let registration = registration(core, owner, &[]);
    let registration = Registration { owner: Owner::new(owner), threads, ..registration };
    core.register(T0, registration).unwrap().worker
}

#[test]
fn claimed_threads_leave_a_unit_for_each_real_thread() {
    let mut core = core_of_thousands();
    for _ in 0..MAX_WORKERS_PER_OWNER {
        join_with(&mut core, "mallory", 65_536);
    }
    let honest = join_with(&mut core, "ada", 64);
    assert_eq!(core.lease(T0, honest, 1000).unwrap().len(), 64);
}

#[test]
fn claimed_threads_and_speed_leave_share_for_others() {
    let mut core = core_of_thousands();
    let honest = join_with(&mut core, "ada", 64);
    let greedy: Vec<_> = (0..10).map(|_| join_with(&mut core, "mallory", 65_536)).collect();
    // Claims to count all in no time.
    for lease in core.lease(T0, greedy[0], 4).unwrap() {
        let count = UnitCount { cpu: Duration::from_micros(1), ..counted(lease, 0) };
        let (_, records) = core.judge(T0, 0, greedy[0], &count).unwrap();
        core.recorded(T0, Some(greedy[0]), &records).unwrap();
    }
    core.tick(T0);
    let left = core.work.left(core.votes.standing());
    greedy.iter().for_each(|worker| _ = core.lease(T0, *worker, 100_000).unwrap());
    let work = core.leases.work_of_owner(&Owner::new("mallory"));
    // Mallory's part is half, a quarter goes by speed, and each worker may always hold one unit.
    let part = work as f64 / left;
    assert!(part > 0.5 && part < 0.8, "{work} of {left}");
    assert!(core.lease(T0, honest, 1000).unwrap().len() >= 64);
}

#[test]
fn fast_worker_may_hold_more_and_card_two_units() {
    let mut core = core();
    let (card, slow) = (join(&mut core, "a/gpu0"), join(&mut core, "b"));
    for (worker, slower) in [(card, 1), (slow, 50)].repeat(20) {
        let lease = core.lease(T0, worker, 1).unwrap()[0];
        let cpu = Duration::from_nanos(core.plan().weight(lease.unit)) * 10_000_000 * slower;
        let (_, records) = core.judge(T0, 0, worker, &UnitCount { cpu, ..counted(lease, 0) }).unwrap();
        core.recorded(T0, Some(worker), &records).unwrap();
    }
    core.tick(T0);
    let [of_card, of_slow] = [card, slow].map(|worker| core.borrower(T0, worker).unwrap());
    assert!((of_card.worth / of_slow.worth / 50.0 - 1.0).abs() < 0.05, "{of_card:?} {of_slow:?}");
    // Little of what is left is lent to the slow one.
    let all: Vec<Lease> = std::iter::from_fn(|| core.lease(T0, slow, 1).unwrap().first().copied()).collect();
    assert!(all.len() < 10, "{}", all.len());
    while core.open_counts() > 2 {
        let lease = core.lease(T0, card, 1).unwrap()[0];
        report(&mut core, T0, card, lease, 0);
    }
    assert_eq!(core.lease(T0, card, 10).unwrap().len(), 2, "one to count, and the next one");
}

#[test]
fn lease_is_renewable_for_ten_times_expected_time() {
    let plan = Plan::derive(PlanSpec::new(Board::new(18).unwrap())).unwrap();
    let mut core = core_of(plan, DoubleCheck::None);
    let worker = join_with(&mut core, "ada", 64);
    let held = core.lease(T0, worker, 200).unwrap();
    let speed = core.borrower(T0, worker).unwrap().speed_of_others;
    let mut before = 0.0;
    for lease in held {
        let own = core.plan().weight(lease.unit) as f64;
        let until = core.leases.renewable_until(lease.unit, worker).unwrap();
        // One thread counts it after its part of what was lent before.
        let expected = Duration::from_secs_f64((before / 64.0 + own) / 1e9 / speed) * 10;
        assert!(
            until.abs_diff(expected.max(LEASE_TIME)) < Duration::from_millis(1),
            "{until:?} {expected:?}"
        );
        before += own;
    }
}

#[test]
fn unrenewed_lease_ends_even_if_units_are_open() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let share = core.lease(T0, a, 100_000).unwrap();
    assert_eq!(core.lease(T0, a, 100_000).unwrap(), [], "it holds its share");
    assert!(core.open_counts() > 2);
    // The answer was lost on the way: the worker keeps asking, and renews nothing.
    core.renew(LEASE_TIME, a, &[]).unwrap();
    core.tick(LEASE_TIME);
    assert_eq!(core.renew(LEASE_TIME, a, &share).unwrap().len(), share.len(), "they are named as lost");
    assert!(
        !core.lease(LEASE_TIME, a, 100_000).unwrap().is_empty(),
        "they count no longer against its share"
    );
    assert!(!core.lease(LEASE_TIME, b, 1).unwrap().is_empty());
}

#[test]
fn renewed_lease_lasts() {
    let mut core = core();
    let (a, _, held) = all_but_one_counted(&mut core);
    assert_eq!(core.renew(LEASE_TIME / 2, a, &[held]).unwrap(), []);
    core.tick(LEASE_TIME);
    assert_eq!(core.renew(LEASE_TIME, a, &[held]).unwrap(), []);
    core.tick(LEASE_TIME * 2);
    assert_eq!(core.renew(LEASE_TIME * 2, a, &[held]).unwrap(), [held.unit], "it ended");
}

#[test]
fn renewing_hoarder_loses_leases_at_renewal_limit() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join(&mut core, "b"));
    let held = core.lease(T0, a, 3).unwrap();
    let until = held.iter().map(|lease| core.leases.renewable_until(lease.unit, a).unwrap()).max().unwrap();
    let mut now = T0;
    while now < until {
        now += LEASE_TIME / 3;
        core.renew(now, a, &held).unwrap();
        core.tick(now);
    }
    assert_eq!(core.leases.units_of(a), 0);
    // A late count is still accepted.
    assert_eq!(report(&mut core, now, a, held[0], 5), Verdict::Recorded);
    assert!(!core.lease(now, b, 1).unwrap().is_empty());
}

#[test]
fn renewal_that_crosses_a_new_lease_loses_nothing() {
    let mut core = core();
    let (_, b, held) = all_but_one_counted(&mut core);
    let later = LEASE_TIME * 2;
    core.tick(later);
    let again = core.lease(later, b, 1).unwrap();
    assert_eq!(again.iter().map(|lease| lease.unit).collect::<Vec<_>>(), [held.unit]);
    let old = Lease { token: held.token, ..held };
    assert_eq!(core.renew(later, b, &[old]).unwrap(), []);
}

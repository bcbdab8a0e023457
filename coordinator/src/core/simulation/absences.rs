//! Two owners that connect alternately and check each other's counts.

use domain::Owner;
use rand::RngExt;
use records::DoubleCheck;

use super::worker::Habit;
use super::{Truth, World};
use crate::core::leases::LEASE_TIME;

/// Ada has two machines, and Ben two.
const OWNERS: [&str; 4] = ["ada", "ada", "ben", "ben"];

/// A run in which one of the two and then the other was away for a time, and the coordinator was killed now and then.
fn with_absences(truth: &std::sync::Arc<Truth>, seed: u64) -> World {
    let mut world = World::new(truth, DoubleCheck::All, &[Habit::Honest; 4], seed);
    for (worker, owner) in world.workers.iter_mut().zip(OWNERS) {
        worker.owner = Owner::new(owner);
    }
    // Both have counted in the run: each is asked to check the other from now on.
    for k in 0..4 {
        world.join(k);
        world.lease(k, 1);
        world.report(k, 1, false);
    }
    for absent in [2..4, 0..2] {
        absent.clone().for_each(|k| world.die(k));
        for _ in 0..world.random.random_range(4..9) {
            world.now += std::time::Duration::from_secs(1);
            for k in (0..4).filter(|k| !absent.contains(k)) {
                world.join(k);
                world.lease(k, 3);
                world.report(k, 3, false);
            }
            world.core.tick(world.now);
        }
        let from_checkpoint = world.random.random();
        world.restart(from_checkpoint);
        world.audited();
        world.workers.iter_mut().for_each(|worker| worker.id = None);
    }
    world
}

#[test]
fn alternating_owners_check_each_other_in_100_runs() {
    let truth = Truth::of(8, 20);
    for seed in 0..100 {
        let mut world = with_absences(&truth, seed);
        world.finish();
        assert!(world.is_exact(), "seed {seed}");
        let assurance = world.core.status(world.now).assurance;
        // The first counts were checked before all had counted.
        assert!(assurance.on_two_owners + 4 >= truth.plan.units(), "seed {seed}: {assurance:?}");
        assert_eq!(assurance.on_one_machine, 0, "seed {seed}");
    }
}

#[test]
fn hoarding_owner_delays_end_by_relaxing_in_100_runs() {
    let truth = Truth::of(8, 20);
    for seed in 0..100 {
        let mut world = with_absences(&truth, seed);
        for ben in &mut world.workers[2..] {
            ben.habit = Habit::Hoards;
        }
        let mut only_checks_since = None;
        while !world.core.is_complete() {
            world.round();
            let is_counted =
                world.core.votes.standing().is_counted(&world.truth.plan, records::shard::Shard::default());
            let since = *only_checks_since.get_or_insert(world.now);
            only_checks_since = Some(if is_counted { since } else { world.now });
            // Twice the time after which checks relax, plus the hoarder's last leases.
            assert!(world.now < since + LEASE_TIME * 5, "seed {seed}");
        }
        assert!(world.is_exact(), "seed {seed}");
    }
}

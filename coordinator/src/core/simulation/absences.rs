//! Two owners of whom one is away now and then: what the other has checked alone meanwhile is checked by both in the end.

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
fn every_unit_is_counted_by_two_owners_in_the_end_though_either_was_away_in_100_runs() {
    let truth = Truth::of(8, 20);
    let mut alone = 0;
    for seed in 0..100 {
        let mut world = with_absences(&truth, seed);
        let assurance = world.core.status(world.now).assurance;
        alone += assurance.on_two_machines + assurance.on_one_machine;
        world.finish();
        assert!(world.is_exact(), "seed {seed}");
        let assurance = world.core.status(world.now).assurance;
        assert_eq!(assurance.on_two_owners, truth.plan.units(), "seed {seed}: {assurance:?}");
    }
    assert!(alone > 100, "{alone} units were checked within one owner only");
}

#[test]
fn an_owner_who_came_back_to_hoard_holds_up_the_answer_for_no_longer_than_a_lease_in_100_runs() {
    let truth = Truth::of(8, 20);
    for seed in 0..100 {
        let mut world = with_absences(&truth, seed);
        // Ben's first machine still counts what Ada cannot check of her own.
        world.workers[3].habit = Habit::Hoards;
        let mut settled = None;
        while !world.core.is_complete(world.now) {
            world.round();
            let (standing, plan) = (&world.core.standing, &world.truth.plan);
            if standing.is_settled(plan, records::shard::Shard::default(), DoubleCheck::All) {
                settled.get_or_insert(world.now);
            }
            assert!(world.now < settled.unwrap_or(world.now) + LEASE_TIME * 2, "seed {seed}");
        }
        assert!(world.is_exact(), "seed {seed}");
    }
}

//! A run that starts without keys and continues with keys, so that its owners get names.

use std::sync::Arc;

use domain::Owner;
use rand::RngExt;
use records::DoubleCheck;

use super::worker::{Habit, SimulatedWorker};
use super::{Truth, World};

/// Which units the liar is wrong in.
const LIAR: Habit = Habit::LiesAlikeOneIn(3);

/// A run of two machines without owners, which is then restarted with keys. One machine lies. After the restart machines
/// of these owners are connected; the first two are the old machines.
fn with_keys(truth: &Arc<Truth>, owners: &[&str], seed: u64) -> World {
    let mut world = World::new(truth, DoubleCheck::All, &[LIAR, Habit::Honest], seed);
    for _ in 0..world.random.random_range(3..30) {
        world.round();
    }
    // Without a third machine, the liar's word stands against the other's where only one of them has counted yet.
    while world.core.status(world.now).done > 0 {
        world.round();
    }
    world.restart(false);
    world.workers = owners.iter().zip(0..).map(|(owner, k)| owned(owner, k)).collect();
    world
}

fn owned(owner: &str, machine: usize) -> SimulatedWorker {
    let mut worker = SimulatedWorker::new(machine, if machine == 0 { LIAR } else { Habit::Honest });
    worker.owner = Owner::new(owner);
    worker
}

#[test]
fn owner_first_without_key_has_one_vote_in_100_runs() {
    let truth = Truth::of(8, 20);
    let mut disputed = 0;
    for seed in 0..100 {
        let mut world = with_keys(&truth, &["mallory", "ada", "bob"], seed);
        disputed += world.core.status(world.now).disputed;
        world.finish();
        assert!(world.is_exact(), "seed {seed}");
        let struck = world.core.status(world.now).assurance.quarantined;
        assert!(struck.iter().all(|title| title.ends_with("machine-0")), "seed {seed}: {struck:?}");
    }
    assert!(disputed > 100, "{disputed} disputes");
}

#[test]
fn last_owner_decides_former_disputes_in_100_runs() {
    let truth = Truth::of(8, 20);
    let mut disputed = 0;
    for seed in 0..100 {
        let mut world = with_keys(&truth, &["ada"; 3], seed);
        disputed += world.core.status(world.now).disputed;
        // The liar has left; one or two machines remain.
        world.workers.remove(0);
        world.workers.truncate(1 + seed as usize % 2);
        world.finish();
        assert!(world.is_exact(), "seed {seed}");
        let assurance = world.core.status(world.now).assurance;
        assert_eq!((assurance.on_two_owners, assurance.pending), (0, 0), "seed {seed}");
    }
    assert!(disputed > 100, "{disputed} disputes");
}

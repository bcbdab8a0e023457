//! A malicious owner with any number of machines among honest owners.

use std::sync::Arc;
use std::time::Duration;

use domain::Owner;
use records::DoubleCheck;
use records::standing::Standing;

use super::worker::{Habit, SimulatedWorker};
use super::{Truth, World};

/// Three honest owners with one machine each, and the given workers of a malicious owner.
fn world(truth: &Arc<Truth>, malice: &[Habit], seed: u64) -> World {
    let mut world = World::new(truth, DoubleCheck::All, &[Habit::Honest; 3], seed);
    for (worker, owner) in world.workers.iter_mut().zip(["ada", "ben", "cho"]) {
        worker.owner = Owner::new(owner);
    }
    for (k, habit) in malice.iter().enumerate() {
        let mut worker = SimulatedWorker::new(k, *habit);
        (worker.owner, worker.machine) = (Owner::new("mallory"), format!("m-{k}"));
        worker.cpu = [worker.cpu, Duration::ZERO, Duration::MAX][seed as usize % 3];
        world.workers.push(worker);
    }
    world
}

/// A refused machine of the malicious owner returns under another name.
fn rounds(world: &mut World) -> u32 {
    for round in 0..20_000 {
        if world.core.is_complete() {
            return round;
        }
        for worker in world.workers.iter_mut().filter(|worker| worker.habit != Habit::Honest) {
            if world.core.votes.is_quarantined(&worker.identity()) {
                worker.machine = format!("m-{round}-{}", worker.machine.len());
                worker.id = None;
            }
        }
        world.round();
    }
    panic!("the run does not end: {:?}", world.core.status(world.now));
}

#[test]
fn malicious_owner_of_four_delays_little_in_100_runs() {
    let truth = Truth::of(9, 20);
    let kinds: [&[Habit]; 5] = [
        &[Habit::LiesOneIn(1); 4],
        &[Habit::LiesOneIn(5); 8],
        &[Habit::LiesAlikeOneIn(3); 6],
        &[Habit::Hoards; 6],
        &[
            Habit::Hoards,
            Habit::LiesAlikeOneIn(2),
            Habit::LiesOneIn(2),
            Habit::Hoards,
            Habit::WrongNodesOneIn(2),
        ],
    ];
    for seed in 0..100 {
        let malice = kinds[seed as usize % kinds.len()];
        let alone = rounds(&mut world(&truth, &[], seed));
        let mut disturbed = world(&truth, malice, seed);
        let taken = rounds(&mut disturbed);
        assert!(disturbed.is_exact(), "seed {seed}, {malice:?}");
        assert!(taken <= 2 * alone, "seed {seed}, {malice:?}: {taken} rounds instead of {alone}");
        for honest in &disturbed.workers[..3] {
            assert!(
                !disturbed.core.votes.is_quarantined(&honest.identity()),
                "seed {seed}: {}",
                honest.owner
            );
        }
        let assurance = disturbed.core.status(disturbed.now).assurance;
        assert_eq!(assurance.on_two_owners, truth.plan.units(), "seed {seed}: {assurance:?}");
    }
}

#[test]
fn malicious_owner_of_three_is_harmless_in_100_runs() {
    let truth = Truth::of(9, 20);
    let kinds: [&[Habit]; 4] = [
        &[Habit::LiesOneIn(1); 4],
        &[Habit::LiesAlikeOneIn(3); 6],
        &[Habit::Hoards; 6],
        &[Habit::Hoards, Habit::LiesAlikeOneIn(2), Habit::LiesOneIn(2), Habit::WrongNodesOneIn(2)],
    ];
    for seed in 0..100 {
        let malice = kinds[seed as usize % kinds.len()];
        let mut world = world(&truth, malice, seed);
        // Cho has not come.
        world.workers.remove(2);
        rounds(&mut world);
        assert!(world.is_exact(), "seed {seed}, {malice:?}");
        for honest in &world.workers[..2] {
            assert!(!world.core.votes.is_quarantined(&honest.identity()), "seed {seed}: {}", honest.owner);
        }
    }
}

#[test]
fn run_of_last_remaining_owner_ends_in_100_runs() {
    let truth = Truth::of(8, 20);
    for seed in 0..100 {
        let mut world = world(&truth, &[], seed);
        for _ in 0..3 + seed % 20 {
            world.round();
        }
        // A departing worker dies, or takes leave.
        for k in [1, 2] {
            if seed % 2 == 0 { world.die(k) } else { world.release(k, true) }
        }
        world.workers.truncate(1);
        world.finish();
        assert!(world.is_exact(), "seed {seed}");
    }
}

#[test]
fn hoarding_owner_cannot_stop_one_other_in_60_runs() {
    let truth = Truth::of(8, 20);
    for seed in 0..60 {
        let policy = [DoubleCheck::All, DoubleCheck::default(), DoubleCheck::Share(0.3)][seed as usize % 3];
        let mut world = world(&truth, &[Habit::Hoards; 4], seed);
        world.workers.iter_mut().take(3).for_each(|worker| worker.owner = Owner::new("ada"));
        (world.policy, world.core) =
            (policy, World::core(&truth, Standing::new(&truth.plan), policy.into(), seed));
        let taken = rounds(&mut world);
        assert!(world.is_exact() && taken < 200, "seed {seed}, {policy}: {taken} rounds");
        let assurance = world.core.status(world.now).assurance;
        assert_eq!(assurance.on_two_owners, 0, "seed {seed}, {policy}: mallory has counted nothing");
        let on_two_machines = if policy == DoubleCheck::All { truth.plan.units() * 9 / 10 } else { 1 };
        assert!(assurance.on_two_machines >= on_two_machines, "seed {seed}, {policy}: {assurance:?}");
    }
}

#[test]
fn slow_then_hoarding_owner_delays_little_in_30_runs() {
    let truth = Truth::of(8, 20);
    for seed in 0..30 {
        let mut world = World::new(&truth, DoubleCheck::None, &[Habit::Honest; 2], seed);
        for (worker, owner) in world.workers.iter_mut().zip(["mallory", "ada"]) {
            worker.owner = Owner::new(owner);
        }
        // A minute for each of mallory's counts is plausible. At most half of the run is ada's.
        world.workers[0].cpu = Duration::from_mins(1);
        let late = world.workers.pop().unwrap();
        let counted = [1, 3, truth.plan.units() / 2][seed as usize % 3];
        while world.core.standing().done() < counted {
            world.round();
        }
        world.workers[0].habit = Habit::Hoards;
        (0..20).for_each(|_| world.round());
        world.workers.push(late);
        let taken = rounds(&mut world);
        assert!(world.is_exact() && taken < 100, "seed {seed}: {taken} rounds");
    }
}

#[test]
fn owner_with_three_wrong_machines_is_expelled() {
    let truth = Truth::of(9, 20);
    let mut disturbed = world(&truth, &[Habit::LiesOneIn(1); 6], 1);
    rounds(&mut disturbed);
    let assurance = disturbed.core.status(disturbed.now).assurance;
    assert_eq!(assurance.expelled, ["mallory"]);
    let another = SimulatedWorker { owner: Owner::new("mallory"), ..SimulatedWorker::new(3, Habit::Honest) };
    assert!(disturbed.core.votes.is_quarantined(&another.identity()), "under any name");
}

#[test]
fn disagreeing_owners_wait_for_third_owner() {
    let truth = Truth::of(8, 20);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::Honest], 1);
    world.workers[0].owner = Owner::new("ada");
    for k in 0..4 {
        let mut worker = SimulatedWorker::new(k, Habit::LiesAlikeOneIn(3));
        worker.owner = Owner::new("mallory");
        world.workers.push(worker);
    }
    for _ in 0..300 {
        world.round();
    }
    let status = world.core.status(world.now);
    assert!(status.disputed > 0 && !world.core.is_complete(), "{status:?}");
    assert!(!world.core.votes.is_quarantined(&world.workers[0].identity()));
    let mut third = SimulatedWorker::new(1, Habit::Honest);
    third.owner = Owner::new("ben");
    world.workers.push(third);
    world.finish();
    assert!(world.is_exact());
}

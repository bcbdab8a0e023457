//! Workers that lie are found, as often as is promised, and leave nothing wrong behind.

use std::sync::Arc;

use records::DoubleCheck;

use super::worker::Habit;
use super::{Truth, World};

/// Three honest machines and one that is not.
fn world(truth: &Arc<Truth>, policy: DoubleCheck, habit: Habit, seed: u64) -> World {
    World::new(truth, policy, &[Habit::Honest, Habit::Honest, habit, Habit::Honest], seed)
}

const LIAR: &str = "machine-2";

#[test]
fn check_all_finds_one_in_twenty_liar_in_50_runs() {
    let truth = Truth::of(9, 20);
    for seed in 0..50 {
        let mut world = world(&truth, DoubleCheck::All, Habit::LiesOneIn(20), seed);
        world.finish();
        assert!(world.workers[2].lies > 0 && world.is_quarantined(LIAR), "seed {seed}");
        assert!(world.is_exact(), "seed {seed}");
        let assurance = world.core.status(world.now).assurance;
        assert_eq!((assurance.on_two_machines, assurance.wrong_at_most), (truth.plan.units(), Some(0.0)));
    }
}

#[test]
fn default_policy_finds_one_in_five_liar_in_95_runs() {
    let truth = Truth::of(9, 20);
    let mut found = 0;
    for seed in 0..100 {
        let mut world = world(&truth, DoubleCheck::default(), Habit::LiesOneIn(5), seed);
        world.finish();
        let assurance = world.core.status(world.now).assurance;
        assert_eq!(assurance.sampled > 0, assurance.wrong_at_most.is_some(), "{assurance:?}");
        if world.is_quarantined(LIAR) {
            found += 1;
            assert!(world.is_exact(), "seed {seed}: what it counted was counted again");
        }
    }
    assert!(found >= 95, "found in {found} runs");
}

#[test]
fn repeatedly_wrong_machine_is_quarantined() {
    let truth = Truth::of(9, 20);
    for seed in 0..20 {
        let mut world = world(&truth, DoubleCheck::All, Habit::LiesAlikeOneIn(20), seed);
        world.finish();
        let is_found = world.is_quarantined(LIAR) || world.workers[2].lies == 0;
        assert!(is_found && world.is_exact(), "seed {seed}");
    }
}

#[test]
fn machine_with_wrong_nodes_is_quarantined() {
    let truth = Truth::of(9, 20);
    for seed in 0..20 {
        let mut world = world(&truth, DoubleCheck::All, Habit::WrongNodesOneIn(10), seed);
        world.finish();
        assert!(world.is_quarantined(LIAR) && world.is_exact(), "seed {seed}");
    }
}

#[test]
fn two_machines_that_disagree_wait_for_a_third() {
    let truth = Truth::of(8, 20);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::Honest, Habit::LiesAlikeOneIn(9)], 1);
    for _ in 0..200 {
        world.round();
    }
    let status = world.core.status(world.now);
    assert!(status.disputed > 0 && !world.core.is_complete(), "{status:?}");
    assert!(status.assurance.quarantined.is_empty(), "{status:?}");
    world.workers.push(super::SimulatedWorker::new(2, Habit::Honest));
    world.finish();
    assert!(world.is_quarantined("machine-1") && world.is_exact());
}

#[test]
fn single_machine_checks_itself_in_other_way() {
    let truth = Truth::of(8, 20);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::Honest], 1);
    world.finish();
    let assurance = world.core.status(world.now).assurance;
    assert_eq!((assurance.on_one_machine, assurance.on_two_machines), (truth.plan.units(), 0));
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::LiesOneIn(50)], 1);
    world.finish();
    assert!(world.is_exact(), "two equal attempts decide");
    assert!(world.core.status(world.now).assurance.conflicts > 0);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::LiesOneIn(5)], 1);
    (0..1000).for_each(|_| world.round());
    let status = world.core.status(world.now);
    assert!(!world.core.is_complete());
    assert_eq!(status.assurance.quarantined, ["machine-0"], "it contradicted itself in ten units");
}

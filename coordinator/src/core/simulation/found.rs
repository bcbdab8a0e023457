//! Failures that the simulation has found, each as a test of its own.

use proto::{Lease, Token, UnitCount};
use queens::UnitId;

use super::worker::Habit;
use super::{Truth, World};
use crate::core::Refusal;
use crate::double_check::DoubleCheck;

/// The liar's reports were taken for those of the honest worker that had got its number after a restart.
#[test]
fn a_worker_from_before_a_restart_is_not_taken_for_another() {
    let truth = Truth::of(6, 1);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::Honest, Habit::Honest], 1);
    world.join(0);
    let before = world.workers[0].id.unwrap();
    world.restart(false);
    world.join(1);
    let lease = Lease { unit: UnitId(0), token: Token(0), way: proto::Way::default() };
    let count = UnitCount { lease, completions: 7, nodes: 1, cpu: std::time::Duration::ZERO };
    let judged = world.core.judge(world.now, 0, before, &count);
    assert_eq!(judged, Err(Refusal::UnknownWorker(before)));
}

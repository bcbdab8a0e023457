//! Failures that the simulation has found, each as a test of its own.

use std::time::Duration;

use domain::{Lease, Token, UnitCount, Variant, Verdict};
use queens::UnitId;
use queens::kernel::{Count, Method};
use records::DoubleCheck;

use super::worker::{Habit, SimulatedWorker};
use super::{KEY, Truth, World};
use crate::core::Refusal;

/// Counts of a machine were retracted only while it had a worker, so the run did not end.
#[test]
fn counts_of_absent_quarantined_machine_are_retracted() {
    let truth = Truth::of(8, 20);
    let liar = Habit::LiesOneIn(1);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::Honest, Habit::Honest, liar], 1);
    let is_anybody_struck = |world: &World| world.core.votes.standing().sums().machines.trust_changes() > 0;
    while !is_anybody_struck(&world) || world.core.votes.standing().unbelieved() > 0 {
        world.round();
    }
    world.workers.push(SimulatedWorker::new(3, liar));
    world.join(3);
    world.lease(3, 3);
    world.report(3, 3, false);
    world.release(3, true);
    world.workers.pop();
    world.finish();
    assert!(world.is_quarantined("machine-3") && world.is_exact());
}

/// A count whose nodes are wrong was confirmed by the other method, which has other nodes; then an honest count by the
/// first method was held against its machine.
#[test]
fn unconfirmed_nodes_quarantine_no_machine() {
    let truth = Truth::of(6, 1);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::Honest; 3], 1);
    (0..3).for_each(|k| world.join(k));
    let unit = UnitId(0);
    let mut say = |k: usize, method: Method, astray: u64| {
        let variant = Variant { mirrored: k > 0, other_kernel: method == Method::Meet };
        let Count { completions, nodes } = truth.count(unit, method);
        let id = world.workers[k].id.unwrap();
        let token = KEY.token(unit, variant, id, &world.workers[k].identity());
        let lease = Lease { unit, token, variant };
        let count = UnitCount { lease, completions, nodes: nodes + astray, cpu: Duration::ZERO };
        let (verdict, records) = world.core.judge(world.now, 0, id, &count).unwrap();
        world.commit(Some(id), &records, false);
        verdict
    };
    assert_eq!(say(0, Method::Search, 1), Verdict::Recorded);
    assert_eq!(say(1, Method::Meet, 0), Verdict::Recorded);
    assert_eq!(say(2, Method::Search, 0), Verdict::Known);
    assert!(!world.is_quarantined("machine-2"));
}

/// The liar's reports were taken for those of the honest worker that had got its number after a restart.
#[test]
fn worker_number_from_before_restart_is_unknown() {
    let truth = Truth::of(6, 1);
    let mut world = World::new(&truth, DoubleCheck::All, &[Habit::Honest, Habit::Honest], 1);
    world.join(0);
    let before = world.workers[0].id.unwrap();
    world.restart(false);
    world.join(1);
    let lease = Lease { unit: UnitId(0), token: Token(0), variant: Variant::default() };
    let count = UnitCount { lease, completions: 7, nodes: 1, cpu: Duration::ZERO };
    let judged = world.core.judge(world.now, 0, before, &count);
    assert_eq!(judged, Err(Refusal::UnknownWorker(before)));
}

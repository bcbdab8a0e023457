//! Two owners who agree on the same lies, against own checks.

use std::sync::Arc;

use domain::{Owner, Takeback, Target};
use records::shard::Shard;
use records::{DoubleCheck, OwnChecks, retractions};

use super::worker::{Habit, SimulatedWorker};
use super::{Truth, World};

/// Simulated runs; `DIADEM_COLLUDERS=100` is the number in docs/reliability.md.
fn runs() -> u64 {
    std::env::var("DIADEM_COLLUDERS").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// Ada, the operator, up to two honest owners, and two owners who lie alike in one unit of twenty.
fn world(truth: &Arc<Truth>, seed: u64) -> World {
    let mut world = World::new(truth, DoubleCheck::All, &[], seed);
    world.own_checks = Some(OwnChecks { share: DoubleCheck::default(), owner: "ada".to_owned() });
    world.restart(false);
    let policy = world.core.policy_record(0).expect("the ledger has no policy");
    assert!(world.commit(None, &[policy], false));
    let honest = &["ada", "ben", "cho"][..=(seed as usize % 3)];
    let liars = ["mallory", "oscar"].map(|owner| (owner, Habit::LiesAlikeOneIn(20)));
    for (owner, habit) in honest.iter().map(|owner| (*owner, Habit::Honest)).chain(liars) {
        let mut worker = SimulatedWorker::new(0, habit);
        (worker.owner, worker.machine) = (Owner::new(owner), format!("{owner}-pc"));
        world.workers.push(worker);
    }
    world
}

/// A round in which each worker counts many units; the operator has a slow machine.
fn round(world: &mut World) {
    world.now += std::time::Duration::from_secs(1);
    for k in 0..world.workers.len() {
        world.join(k);
        let units = if k == 0 { 5 } else { 30 };
        world.lease(k, units);
        world.report(k, units as usize, false);
        world.renew(k);
    }
    let records = world.core.take_back(0, 10_000);
    world.commit(None, &records, false);
    world.core.tick(world.now);
}

/// The operator, who knows the own machines, takes back all counts of the suspended owners.
fn decide(world: &mut World, owners: &[String]) {
    for owner in owners {
        let reason = "an own check contradicts it".to_owned();
        let takeback = Takeback { target: Target::Owner(owner.clone()), reason, dry_run: false };
        let plan = Arc::clone(&world.truth.plan);
        let records = retractions(&plan, Shard::default(), world.core.standing(), &takeback, 0).unwrap();
        assert!(world.commit(None, &records, false));
    }
}

fn suspended(world: &mut World) -> Vec<String> {
    world.core.standing().sums().machines.suspended().map(str::to_owned).collect()
}

#[test]
fn no_run_of_colluders_ends_wrong_and_proven() {
    let truth = Truth::of(12, 4);
    assert!(truth.plan.units() >= 4000, "{} units", truth.plan.units());
    let mut found = 0;
    for seed in 0..runs() {
        let mut world = world(&truth, seed);
        let mut decided = Vec::new();
        for _ in 0..100_000 {
            let owners = suspended(&mut world);
            if world.core.is_complete() {
                break;
            }
            if !owners.is_empty() {
                let trouble = world.core.status(world.now).trouble;
                assert!(trouble.contains("retract --owner") && trouble.contains(&owners[0]), "{trouble}");
                // A restart changes nothing.
                world.restart(seed % 2 == 0);
                world.audited();
                assert_eq!(suspended(&mut world), owners, "seed {seed}");
                decide(&mut world, &owners);
                decided.extend(owners);
            }
            round(&mut world);
        }
        assert!(world.core.is_complete(), "seed {seed}: {:?}", world.core.status(world.now));
        assert!(world.is_exact(), "seed {seed}: {decided:?}");
        assert!(decided.iter().all(|owner| ["mallory", "oscar"].contains(&&**owner)), "{decided:?}");
        found += u64::from(decided.len() == 2);
        assert!(!world.is_quarantined("ada-pc"), "seed {seed}");
        let own = world.core.status(world.now).assurance.own_checks.unwrap();
        assert!(own.made >= 200 && own.pending == 0, "seed {seed}: {own:?}");
    }
    // Honest owners who are in the majority may find the liars first.
    assert!(3 * found >= runs(), "found in {found} of {} runs", runs());
}

#[test]
fn honest_run_has_at_least_200_own_checks() {
    let truth = Truth::of(9, 20);
    let mut world = world(&truth, 2);
    world.workers.iter_mut().for_each(|worker| worker.habit = Habit::Honest);
    for k in 0..100_000 {
        if world.core.is_complete() {
            break;
        }
        if k % 10 == 3 {
            world.restart(k % 20 == 3);
            world.audited();
        }
        round(&mut world);
    }
    assert!(world.core.is_complete() && world.is_exact());
    let assurance = world.core.status(world.now).assurance;
    let own = assurance.own_checks.unwrap();
    assert!(own.made >= truth.plan.units().min(200) && own.pending == 0, "{own:?}");
    assert!(assurance.quarantined.is_empty() && assurance.conflicts == 0, "{:?}", assurance.quarantined);
}

//! What the core does, step by step. The first core of each test begins at time 0 with nothing counted.

mod checks;
mod leases;
mod losses;
mod reports;
mod workers;

use std::sync::Arc;
use std::time::Duration;

use proto::{Lease, Owner, Registration, UnitCount, Verdict, WorkerId};
use queens::{Board, Plan, PlanSpec, UnitId, self_test};

use super::Core;
use crate::double_check::DoubleCheck;
use crate::shard::Shard;
use crate::standing::Standing;

const T0: Duration = Duration::ZERO;

fn core() -> Core {
    core_with(DoubleCheck::None)
}

fn core_with(policy: DoubleCheck) -> Core {
    let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
    let standing = Standing::new(&plan);
    Core::new(Arc::new(plan), Shard::default(), standing, policy, 7)
}

fn registration(core: &Core, name: &str, held: &[UnitId]) -> Registration {
    Registration {
        owner: Owner::default(),
        fingerprint: core.plan().fingerprint().clone(),
        name: name.into(),
        machine: name.into(),
        threads: 2,
        kernel: "search/portable".parse().unwrap(),
        self_test: self_test::expected(),
        held: held.to_vec(),
    }
}

fn join(core: &mut Core, name: &str) -> WorkerId {
    let registration = registration(core, name, &[]);
    core.register(T0, registration).unwrap().worker
}

fn counted(lease: Lease, completions: u64) -> UnitCount {
    UnitCount { lease, completions, nodes: 1, cpu: Duration::from_micros(1) }
}

/// Judges and records at once.
fn report(core: &mut Core, now: Duration, worker: WorkerId, lease: Lease, completions: u64) -> Verdict {
    let (verdict, records) = core.judge(now, 0, worker, &counted(lease, completions)).unwrap();
    core.recorded(now, Some(worker), &records).unwrap();
    verdict
}

/// A core in which worker `a` holds one unit and worker `b` has counted all others.
fn all_but_one_counted(core: &mut Core) -> (WorkerId, WorkerId, Lease) {
    let (a, b) = (join(core, "a"), join(core, "b"));
    let held = core.lease(T0, a, 1).unwrap()[0];
    loop {
        let leases = core.lease(T0, b, 100).unwrap();
        if leases.is_empty() {
            return (a, b, held);
        }
        for lease in leases {
            report(core, T0, b, lease, 0);
        }
    }
}

//! What the core does, step by step. The first core of each test begins at time 0 with nothing counted.

mod backups;
mod checks;
mod contradictions;
mod disputes;
mod explained;
mod leases;
mod losses;
mod own;
mod reports;
mod rules;
mod status;
mod workers;

use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, Owner, Registration, Token, UnitCount, Variant, Verdict, WorkerId};
use queens::{Board, Plan, PlanSpec, UnitId, self_test};
use records::DoubleCheck;
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;

use super::Core;

const T0: Duration = Duration::ZERO;

fn core() -> Core {
    core_with(DoubleCheck::None)
}

fn core_with(policy: DoubleCheck) -> Core {
    core_of(Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap(), policy)
}

fn core_of(plan: Plan, policy: DoubleCheck) -> Core {
    let standing = Standing::new(&plan);
    Core::new(
        Arc::new(plan),
        Shard::default(),
        standing,
        policy.into(),
        LeaseKey::new([7; LeaseKey::BYTES]),
        7,
    )
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
        former: None,
        met: None,
        leases: Vec::new(),
    }
}

fn join(core: &mut Core, name: &str) -> WorkerId {
    let registration = registration(core, name, &[]);
    core.register(T0, registration).unwrap().worker
}

/// A worker on that machine of the owner's.
fn join_of(core: &mut Core, owner: &str, machine: &str) -> WorkerId {
    let registration = registration(core, machine, &[]);
    core.register(T0, Registration { owner: Owner::new(owner), ..registration }).unwrap().worker
}

fn counted(lease: Lease, completions: u64) -> UnitCount {
    UnitCount { lease, completions, nodes: 1, cpu: Duration::from_mins(1) }
}

/// A valid lease of this unit for the worker.
fn given(core: &Core, worker: WorkerId, lease: Lease) -> Lease {
    let identity = core.members.get(worker).map(|worker| &worker.identity);
    let token = identity.map(|identity| core.key.token(lease.unit, lease.variant, worker, identity));
    Lease { token: token.unwrap_or(lease.token), ..lease }
}

/// A lease of a unit other than a symmetric count, for the worker that [reports](report) it.
fn any_lease(core: &Core) -> Lease {
    let mut units = (0..core.plan().units()).map(UnitId);
    let unit = units.find(|unit| !core.work.is_symmetric_count(*unit)).unwrap();
    Lease { unit, token: Token(0), variant: Variant::default() }
}

/// Judges and records the worker's count of a unit, as if the worker held it.
fn report(core: &mut Core, now: Duration, worker: WorkerId, lease: Lease, completions: u64) -> Verdict {
    let lease = given(core, worker, lease);
    let (verdict, records) = core.judge(now, 0, worker, &counted(lease, completions)).unwrap();
    core.recorded(now, Some(worker), &records).unwrap();
    verdict
}

/// A core in which worker `a` holds one unit, which is not a symmetric count, and worker `b` has counted all other
/// units. A third worker has made the checks that every policy requires, and has left.
fn all_but_one_counted(core: &mut Core) -> (WorkerId, WorkerId, Lease) {
    let (a, b) = (join(core, "a"), join(core, "b"));
    let first = core.lease(T0, b, 1).unwrap()[0];
    report(core, T0, b, first, 0);
    let held = loop {
        let lease = core.lease(T0, a, 1).unwrap()[0];
        if lease.variant == Variant::default() && !core.work.is_symmetric_count(lease.unit) {
            break lease;
        }
        report(core, T0, a, lease, 0);
    };
    count_all_but(core, b, Some(held.unit));
    let c = join(core, "c");
    count_all_but(core, c, Some(held.unit));
    core.release(T0, c, &[], true).unwrap();
    (a, b, held)
}

/// Lets the worker count all its leases.
fn count_all(core: &mut Core, worker: WorkerId) {
    count_all_but(core, worker, None);
}

/// The same, except that the worker returns this unit.
fn count_all_but(core: &mut Core, worker: WorkerId, left: Option<UnitId>) {
    loop {
        let lent = core.lease(T0, worker, 100).unwrap();
        let (back, leases): (Vec<Lease>, Vec<Lease>) =
            lent.into_iter().partition(|lease| Some(lease.unit) == left);
        core.release(T0, worker, &back, false).unwrap();
        if leases.is_empty() {
            return;
        }
        leases.into_iter().for_each(|lease| _ = report(core, T0, worker, lease, 0));
    }
}

//! A small run for tests with all its counts: the expected content of a run directory after any test.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use queens::kernel::{Isa, Method, Stop, kernel};
use queens::{Board, Plan, PlanSpec, Totals, UnitId, known};

use crate::ledger::{Record, Retraction, UnitRecord};
use crate::shard::Shard;
use crate::signing::SigningKey;
use crate::store::OpenOptions;

/// The board.
pub const N: u8 = 8;

static RUN: LazyLock<(Arc<Plan>, Vec<u64>)> = LazyLock::new(|| {
    let plan = Plan::derive(PlanSpec::new(Board::new(N).unwrap())).unwrap();
    let kernel = kernel(Method::Search, Some(Isa::Portable)).unwrap();
    let count = |id| plan.unit(UnitId(id)).count(&*kernel, &Stop::new()).unwrap().completions;
    let counts = (0..plan.units()).map(count).collect();
    (Arc::new(plan), counts)
});

/// The plan.
pub fn plan() -> Arc<Plan> {
    Arc::clone(&RUN.0)
}

/// The true count of a unit.
pub fn count(unit: UnitId) -> u64 {
    RUN.1[unit.0 as usize]
}

/// The published totals.
pub fn totals() -> Totals {
    known::totals(plan().board()).unwrap()
}

/// The true record of a unit.
pub fn record(unit: u64) -> Record {
    Record::Count(unit_record(unit, 0, "machine"))
}

/// The record of a worker on this machine that adds `lie` completions to the true count.
pub fn unit_record(unit: u64, lie: u64, machine: &str) -> UnitRecord {
    let unit = UnitId(unit);
    UnitRecord {
        unit,
        count: count(unit) + lie,
        nodes: 1,
        cpu_us: 1,
        worker: "w".into(),
        machine: machine.into(),
        kernel: "search/portable".into(),
        mirrored: false,
        recount: None,
        of: None,
        owner: String::new(),
        of_owner: String::new(),
        at: 1_790_000_000,
    }
}

/// The retraction of a standing count that another count contradicts.
pub fn retraction(r: &UnitRecord) -> Record {
    Record::Retract(Retraction {
        unit: r.unit,
        count: r.count,
        nodes: r.nodes,
        machine: r.machine.clone(),
        kernel: r.kernel.clone(),
        mirrored: r.mirrored,
        owner: String::new(),
        contradiction: false,
        reason: None,
        quarantine: false,
        at: r.at,
    })
}

/// How to open the run, or to begin it, in that directory.
pub fn options(path: &Path) -> OpenOptions {
    OpenOptions {
        path: path.to_owned(),
        begin: Some((*plan()).clone()),
        board: None,
        scheme: None,
        shard: Shard::default(),
        accept_loss: false,
        take_over: false,
        signing_key: Some(SigningKey::file_of_run(path)),
    }
}

//! What the status of a large run says, and what it weighs.

use std::time::Duration;

use prost::Message;
use proto::{Owner, Registration, v1};
use queens::{Board, Plan, PlanSpec};

use super::*;
use crate::ledger::{Record, UnitRecord};

/// A client of another make takes no larger message.
const USUAL_LIMIT: usize = 4 << 20;

/// A run of n = 28 with so many workers on as many machines, after an hour; `name` makes their names.
fn large_run(workers: u64, name: impl Fn(u64) -> String) -> Core {
    let plan = Arc::new(Plan::derive(PlanSpec::new(Board::new(28).unwrap())).unwrap());
    let standing = Standing::new(&plan);
    let key = LeaseKey::new([7; LeaseKey::BYTES]);
    let mut core = Core::new(plan, Shard::default(), standing, DoubleCheck::None, key, 7);
    for number in 0..workers {
        let (name, owner) = (name(number), Owner::new(&name(number % 7)));
        let registration = Registration { owner, machine: name.clone(), ..registration(&core, &name, &[]) };
        core.register(T0, registration).unwrap();
    }
    let count = |unit: u64| UnitRecord {
        unit: UnitId(unit),
        count: 1,
        nodes: 1,
        cpu_us: 1,
        worker: name(unit % workers),
        owner: name(unit % workers % 7),
        machine: name(unit % workers),
        kernel: "search/portable".into(),
        mirrored: false,
        recount: None,
        of: None,
        of_owner: String::new(),
        at: 1_790_000_000 + unit,
    };
    let records: Vec<_> = (0..3600).map(|unit| Record::Count(count(unit))).collect();
    core.recorded(Duration::from_hours(1), None, &records).unwrap();
    core
}

fn weight(core: &Core) -> usize {
    v1::StatusReply::from(core.status(Duration::from_hours(1))).encoded_len()
}

#[test]
fn the_status_of_a_thousand_workers_weighs_a_fifth_of_a_megabyte_at_most() {
    let core = large_run(1000, |number| format!("node-{number:03}.rack-{:02}", number / 40));
    let status = core.status(Duration::from_hours(1));
    assert_eq!((status.workers.len(), status.machines.len(), status.families.len()), (1000, 1000, 194));
    assert!((300..=600).contains(&status.history.len()), "{} samples", status.history.len());
    let weight = weight(&core);
    println!("{weight} bytes");
    assert!(weight < 200 << 10, "{weight} bytes");
}

#[test]
fn whatever_they_are_called_and_however_many_there_are_the_status_fits_a_message() {
    let core = large_run(3000, |number| format!("{number:0200}"));
    let status = core.status(Duration::from_hours(1));
    assert_eq!((status.workers.len(), status.workers_total, status.machines.len()), (1000, 3000, 1000));
    let threads: u64 = status.workers.iter().map(|worker| u64::from(worker.threads)).sum();
    let totals = (status.machines_total, status.machines_there, status.threads_total);
    assert_eq!(totals, (3000, 3000, 3 * threads));
    let weight = weight(&core);
    println!("{weight} bytes");
    // Events are not in it: 50 of 200 characters each.
    assert!(weight + (50 << 10) < USUAL_LIMIT, "{weight} bytes");
}

//! A run of record size: ten million units.

use std::time::{Duration, Instant};

use coordinator::ledger::{LedgerPosition, Record, UnitRecord, Writer};
use coordinator::run_directory::RunDirectory;
use coordinator::shard::Shard;
use queens::plan::Scheme;
use queens::{Board, Plan, PlanSpec, UnitId};

use crate::harness::{Folder, free_address, until};

/// Records of the synthetic ledger; `DIADEM_SCALE_RECORDS=10000000` is the full size.
fn records() -> u64 {
    std::env::var("DIADEM_SCALE_RECORDS").ok().and_then(|text| text.parse().ok()).unwrap_or(500_000)
}

/// The plan of n = 28, its grain chosen for a little more than ten million units.
fn ten_million_units() -> Plan {
    let mut spec = PlanSpec::new(Board::new(28).unwrap());
    loop {
        let plan = Plan::derive(spec).unwrap();
        if plan.units() > 10_000_000 {
            return plan;
        }
        let Scheme::Constellations { grain } = &mut spec.scheme else { panic!("a plan by constellations") };
        *grain = *grain / 10 * 8;
    }
}

#[test]
fn a_coordinator_of_ten_million_units_starts_in_seconds_and_stays_under_a_gigabyte() {
    let folder = Folder::new();
    let path = folder.path().join("run");
    let plan = ten_million_units();
    let units = plan.units();
    let directory = RunDirectory::begin(&path, plan, Shard::default(), Duration::ZERO).unwrap();
    let mut writer = Writer::new(&directory.ledger(), LedgerPosition::beginning(directory.run().hash()));
    let records = records().min(units);
    let record = |unit| {
        Record::Count(UnitRecord {
            unit: UnitId(unit),
            count: 1_000_000_007,
            nodes: 60_000_000_000,
            cpu_us: 600_000_000,
            worker: "synthetic".into(),
            machine: "synthetic".into(),
            kernel: "search/portable".into(),
            mirrored: false,
            recount: None,
            of: None,
            owner: String::new(),
            of_owner: String::new(),
            at: 1_790_000_000,
        })
    };
    // Symmetric counts come first in the plan and must fit each other; leave them out.
    let first = units - records;
    for begin in (first.max(1000)..units).step_by(50_000) {
        let group: Vec<_> = (begin..units.min(begin + 50_000)).map(record).collect();
        writer.commit(&group, Duration::from_secs(1), 64).unwrap();
    }
    let mut longest = Duration::ZERO;
    let limits =
        [("from the ledger", Duration::from_mins(2)), ("from the checkpoint", Duration::from_secs(10))];
    for (how, limit) in limits {
        let address = free_address();
        let begun = Instant::now();
        let coordinator = folder.start(&format!("coordinator --run run --listen {address}"), "log");
        until("it answers", || {
            folder.run(&format!("status --coordinator http://{address} --json")).code == Some(0)
        });
        let started = begun.elapsed();
        // The audit in the background reads all of the ledger: the memory's peak.
        longest = longest.max(started);
        std::thread::sleep(longest);
        let peak = coordinator.peak_kib().unwrap();
        println!("{units} units, {records} records: started {how} in {started:?}, peak memory {peak} KiB");
        assert!(peak < 1_000_000, "{how}: {peak} KiB");
        assert!(started < limit, "{how}: {started:?}");
        coordinator.terminate();
        assert_eq!(coordinator.end().code, Some(143));
    }
}

//! Runs of record size: ten million units, a ledger of a gigabyte, four hundred shards.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use queens::{Board, Plan, PlanSpec, UnitId};
use records::ledger::{LedgerPosition, Record, UnitRecord, Writer};
use records::run_directory::RunDirectory;
use records::shard::Shard;
use records::store::Store;
use records::testing::known_run;

use crate::harness::{Folder, repetitions, until, until_within};

/// The plan that n = 28 is counted by, of 9.7 million units.
fn ten_million_units() -> Plan {
    Plan::derive(PlanSpec::families(Board::new(28).unwrap())).unwrap()
}

/// The time limit of a step at full size.
const LONG: Duration = Duration::from_mins(9);

/// The number of symmetric counts to leave out: they come first in the plan and must agree with each other.
const FIRST: u64 = 1000;

/// A made-up count of a unit.
fn record(unit: u64) -> Record {
    Record::Count(UnitRecord {
        unit: UnitId(unit),
        count: 1_000_000_007,
        nodes: 60_000_000_000,
        cpu_us: 600_000_000,
        worker: "synthetic".into(),
        ..known_run::unit_record(0, 0, "synthetic")
    })
}

/// A run of that plan and shard with a made-up count of each of the units.
fn synthetic(path: &Path, plan: &Plan, shard: Shard, units: impl Iterator<Item = u64>) {
    let directory = RunDirectory::begin(path, plan.clone(), shard, Duration::ZERO).unwrap();
    let mut writer = Writer::new(&directory.ledger(), LedgerPosition::beginning(directory.run().hash()));
    let mut units = units.filter(|unit| *unit >= FIRST).map(record).peekable();
    while units.peek().is_some() {
        let group: Vec<Record> = units.by_ref().take(50_000).collect();
        writer.commit(&group, Duration::from_secs(1), 64).unwrap();
    }
}

/// The bytes of a run's ledger.
fn ledger_bytes(folder: &Folder, run: &str) -> u64 {
    let Ok(files) = fs::read_dir(folder.path().join(run).join("ledger")) else { return 0 };
    files.map(|file| file.unwrap().metadata().map_or(0, |metadata| metadata.len())).sum()
}

/// `DIADEM_SCALE_RECORDS=10000000` is the full size.
#[test]
fn coordinator_of_10_million_units_uses_under_1_gb() {
    let folder = Folder::new();
    let plan = ten_million_units();
    let units = plan.units();
    let records = u64::from(repetitions("DIADEM_SCALE_RECORDS", 500_000)).min(units);
    synthetic(&folder.path().join("run"), &plan, Shard::default(), units - records..units);
    let limits =
        [("from the ledger", Duration::from_mins(2)), ("from the checkpoint", Duration::from_secs(10))];
    for (how, limit) in limits {
        let begun = Instant::now();
        let (coordinator, address) = folder.serve("coordinator --run run", how);
        until("it answers", || {
            folder.run(&format!("status --coordinator http://{address} --json")).code == Some(0)
        });
        let started = begun.elapsed();
        // The audit in the background reads all of the ledger: the memory's peak.
        let is_audited = || fs::read_to_string(&coordinator.log).unwrap().contains("whole ledger sound");
        until_within(LONG, "it is audited", is_audited);
        let peak = coordinator.peak_kib().unwrap();
        println!("{units} units, {records} records: started {how} in {started:?}, peak memory {peak} KiB");
        assert!(peak < 1_000_000, "{how}: {peak} KiB");
        assert!(started < limit, "{how}: {started:?}");
        coordinator.terminate();
        assert_eq!(coordinator.end().code, Some(143));
    }
}

/// `DIADEM_CATCH_UP_RECORDS=4000000` are more than a gigabyte.
#[test]
fn follower_copies_long_ledger_in_little_memory() {
    let folder = Folder::new();
    let plan = ten_million_units();
    let units = plan.units();
    let records = u64::from(repetitions("DIADEM_CATCH_UP_RECORDS", 100_000)).min(units);
    synthetic(&folder.path().join("run"), &plan, Shard::default(), units - records..units);
    let (coordinator, address) = folder.serve("coordinator --run run", "log");
    // Once it has read the ledger itself, what it takes more is the follower's.
    until("it is audited", || fs::read_to_string(&coordinator.log).unwrap().contains("whole ledger sound"));
    let (before, begun) = (coordinator.peak_kib().unwrap(), Instant::now());
    let follower = folder.start(&format!("follow http://{address} --run copy"), "follow.log");
    let bytes = ledger_bytes(&folder, "run");
    until_within(LONG, "the copy is as long", || ledger_bytes(&folder, "copy") >= bytes);
    let taken = begun.elapsed();
    let [serving, following] = [&coordinator, &follower].map(|running| running.peak_kib().unwrap());
    println!(
        "{records} records, {bytes} bytes: caught up in {taken:?}; peak memory of the follower {following} KiB, of the \
         coordinator {serving} KiB, {before} before"
    );
    assert!(following < 1_000_000 && serving < 1_000_000, "{following} and {serving} KiB");
    follower.terminate();
    assert_eq!(follower.end().code, Some(143));
    coordinator.terminate();
    assert_eq!(coordinator.end().code, Some(143));
    assert_eq!(ledger_bytes(&folder, "run"), ledger_bytes(&folder, "copy"));
}

/// `DIADEM_SHARDS=400` is the full number.
#[test]
fn shards_of_n_28_merge_in_little_memory() {
    let folder = Folder::new();
    let plan = ten_million_units();
    let shards = u64::from(repetitions("DIADEM_SHARDS", 4));
    // All units of the plan are in four hundred shards. A short test uses a part of them.
    let some = plan.units() / 400 * shards.min(400);
    for k in 1..=shards {
        let shard: Shard = format!("{k}/{shards}").parse().unwrap();
        let units = (0..some).filter(|unit| shard.contains(UnitId(*unit)));
        synthetic(&folder.path().join(format!("part-{k}")), &plan, shard, units);
    }
    let parts: Vec<String> = (1..=shards).map(|k| format!("part-{k}")).collect();
    let begun = Instant::now();
    let mut merging = folder.start(&format!("merge out {}", parts.join(" ")), "merge.log");
    let mut peak = 0;
    until_within(LONG, "they are merged", || {
        peak = peak.max(merging.peak_kib().unwrap_or(0));
        merging.has_ended()
    });
    let taken = begun.elapsed();
    let merged = merging.end();
    println!("{shards} shards, {some} units: merged in {taken:?}, peak memory {peak} KiB");
    assert!(merged.stdout.contains("units missing"), "{merged:?}");
    assert_eq!(folder.counts("out") as u64, some - FIRST);
    assert!(peak < 600 << 10, "{peak} KiB");
}

/// The bytes that this process has written so far.
fn written() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap();
    io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
}

/// It counts what the whole process writes, so it runs alone.
#[test]
#[ignore = "measures; run it alone"]
fn save_after_1000_records_writes_under_a_megabyte() {
    let folder = Folder::new();
    let plan = ten_million_units();
    let run = folder.path().join("run");
    let half = plan.units() / 2;
    synthetic(&run, &plan, Shard::default(), FIRST..half);
    let begun = Instant::now();
    let (mut store, mut standing, _) = Store::open(known_run::options(&run)).unwrap();
    println!("read {half} records in {:?}", begun.elapsed());
    for round in 0..6 {
        let first = half + 1000 * round;
        let records: Vec<Record> = (first..first + 1000).map(record).collect();
        store.commit(&records, Duration::from_secs(1), 64).unwrap();
        for record in &records {
            standing.apply(&plan, Shard::default(), record).unwrap();
        }
        let (before, begun) = (written(), Instant::now());
        store.save(&standing).unwrap();
        let built = begun.elapsed();
        // The next call waits for the save.
        store.save(&standing).unwrap();
        let (bytes, took) = (written() - before, begun.elapsed());
        println!("save {round}: {bytes} bytes, {built:?} to begin, {took:?} in all");
        // The first save of a process writes a new store.
        assert!(round == 0 || bytes < 1 << 20, "{bytes} bytes");
    }
}

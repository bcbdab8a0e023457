//! The sled store of a checkpoint, damaged in every way: the run continues and ends exact, and no panic is shown.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use queens::kernel::{Method, Stop, kernel};
use queens::{Board, Plan, PlanSpec, UnitId};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use records::ledger::{Record, UnitRecord};
use records::shard::Shard;
use records::standing::Standing;
use records::store::{OpenOptions, Store};
use records::testing::known_run;
use serde_json::Value;

use crate::harness::{Completed, Folder, published, repetitions};
use crate::small_disk::SmallDisk;

const N: u8 = 9;

fn plan() -> Plan {
    Plan::derive(PlanSpec::new(Board::new(N).unwrap())).unwrap()
}

/// The true records of all units.
fn records(plan: &Plan) -> Vec<Record> {
    let kernel = kernel(Method::Search, None).unwrap();
    let record = |unit| {
        let count = plan.unit(unit).count(&*kernel, &Stop::new()).unwrap();
        let UnitRecord { at, worker, machine, .. } = known_run::unit_record(0, 0, "machine");
        let (count, nodes) = (count.completions, count.nodes);
        let kernel = kernel.name().to_string();
        let empty = known_run::unit_record(0, 0, "machine");
        Record::Count(UnitRecord { unit, count, nodes, at, worker, machine, kernel, ..empty })
    };
    (0..plan.units()).map(UnitId).map(record).collect()
}

fn open(path: &Path, plan: &Plan) -> (Store, Standing) {
    let options = OpenOptions {
        path: path.to_owned(),
        begin: Some(plan.clone()),
        board: Some(plan.board()),
        scheme: None,
        ..known_run::options(path)
    };
    let (store, standing, _) = Store::open(options).unwrap();
    (store, standing)
}

/// Records these counts, one commit each, and saves the checkpoint after each.
fn record(path: &Path, plan: &Plan, records: &[Record]) {
    let (mut store, mut standing) = open(path, plan);
    for record in records {
        store.commit(std::slice::from_ref(record), Duration::from_secs(1), 1).unwrap();
        standing.apply(plan, Shard::default(), record).unwrap();
        store.save(&standing).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::remove_dir_all(to).ok();
    assert!(Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap().success());
}

/// All files of a folder and of the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Flips a bit, cuts, overwrites, lengthens or removes a file of the store, or puts a foreign store in its place.
fn damage(folder: &Folder, random: &mut impl Rng) -> String {
    let checkpoint = folder.path().join("run/checkpoint");
    let files = files(&checkpoint);
    let file = &files[random.random_range(0..files.len())];
    let mut bytes = fs::read(file).unwrap();
    let at = if bytes.is_empty() { 0 } else { random.random_range(0..bytes.len()) };
    let kind = random.random_range(0..10);
    match kind {
        0..=4 if !bytes.is_empty() => bytes[at] ^= 1 << random.random_range(0..8),
        5 => bytes.truncate(at),
        6 => bytes[at..].fill(0),
        7 => bytes.extend([0xA5; 700]),
        8 => {
            fs::remove_file(file).unwrap();
            return format!("{} is removed", file.display());
        }
        _ => {
            copy(&folder.path().join("foreign"), &checkpoint);
            return "a foreign store".into();
        }
    }
    fs::write(file, bytes).unwrap();
    format!("damage {kind} of {} at {at}", file.display())
}

fn ends_exact(outcome: &Completed, what: &str) {
    assert_eq!(outcome.code, Some(0), "{what}: {outcome:?}");
    assert_eq!(outcome.json()["total"], published(N), "{what}");
    for word in ["panic", "internal error", "RUST_BACKTRACE"] {
        assert!(!outcome.stderr.contains(word), "{what}: {outcome:?}");
    }
}

/// `DIADEM_CHECKPOINT_DAMAGES=1000` is the full number.
#[test]
fn run_with_damaged_checkpoint_ends_exact() {
    let (folder, plan) = (Folder::new(), plan());
    let half = &records(&plan)[..plan.units() as usize / 2];
    record(&folder.path().join("whole"), &plan, half);
    let foreign = sled::open(folder.path().join("foreign")).unwrap();
    for key in 0..300u32 {
        foreign.insert(key.to_be_bytes(), vec![7; 3000]).unwrap();
    }
    foreign.flush().unwrap();
    drop(foreign);
    let mut random = StdRng::seed_from_u64(56);
    let mut rebuilt = 0;
    for trial in 0..repetitions("DIADEM_CHECKPOINT_DAMAGES", 40) {
        copy(&folder.path().join("whole"), &folder.path().join("run"));
        let what = format!("{trial}: {}", damage(&folder, &mut random));
        let status = folder.run("status run");
        assert!(status.code == Some(0) && !status.stderr.contains("panic"), "{what}: {status:?}");
        // Under the name of the records' machine, because the run would wait for checks by another machine.
        let outcome = folder.run(&format!("count {N} --run run --machine machine --json"));
        ends_exact(&outcome, &what);
        rebuilt += u32::from(outcome.stderr.contains("rebuilt the checkpoint from the ledger"));
    }
    println!("{rebuilt} were rebuilt from the ledger");
    assert!(rebuilt > 0);
}

#[test]
fn store_holds_the_totals_that_status_prints() {
    let (folder, plan) = (Folder::new(), plan());
    record(&folder.path().join("run"), &plan, &records(&plan)[..plan.units() as usize * 2 / 3]);
    let status = folder.run("status run --json").json();
    let share = &status["shares"][0];
    copy(&folder.path().join("run/checkpoint"), &folder.path().join("copy"));
    let store = sled::open(folder.path().join("copy")).unwrap();
    let families: Vec<Value> = store
        .scan_prefix("family/")
        .map(|entry| serde_json::from_slice(&entry.unwrap().1).unwrap())
        .collect();
    for (lower, upper) in [("a", "A"), ("p", "P"), ("r", "R")] {
        let sum: u64 = families.iter().map(|family| family["totals"][lower].as_u64().unwrap()).sum();
        assert_eq!(share["totals"][upper], sum.to_string(), "{upper}");
        let printed = share["families"].as_array().unwrap().iter();
        let printed = printed.map(|family| family["totals"][upper].as_str().unwrap().parse::<u64>().unwrap());
        assert_eq!(printed.sum::<u64>(), sum, "{upper}");
    }
    let text = folder.run("status run --families").stdout;
    assert_eq!(text.matches("family ").count(), families.len(), "{text}");
    assert!(text.contains(" so far\n"), "{text}");
}

/// The killed process of the next test.
#[test]
#[ignore = "the test below starts it"]
fn record_until_killed() {
    let path = PathBuf::from(std::env::var_os("DIADEM_CHECKPOINT_RUN").unwrap());
    let plan = plan();
    let (_, standing) = open(&path, &plan);
    let records = records(&plan);
    record(&path, &plan, &records[standing.done() as usize..]);
}

/// `DIADEM_CHECKPOINT_KILLS=200` is the full number.
#[test]
fn run_killed_during_saves_ends_exact() {
    let (folder, plan) = (Folder::new(), plan());
    let mut random = StdRng::seed_from_u64(200);
    let run = folder.path().join("run");
    let mut killed = 0;
    while killed < repetitions("DIADEM_CHECKPOINT_KILLS", 12) {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["crash::checkpoint::record_until_killed", "--exact", "--ignored"])
            .env("DIADEM_CHECKPOINT_RUN", &run)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(random.random_range(20..400)));
        process.kill().unwrap();
        if process.wait().unwrap().code().is_none() {
            killed += 1;
        }
        if !run.join("run.json").exists() {
            continue;
        }
        let (store, standing) = open(&run, &plan);
        assert_eq!(store.mark().records, standing.done(), "no record is lost");
        let done = standing.done();
        drop(store);
        if done == plan.units() {
            ends_exact(&folder.run(&format!("count {N} --run run --json")), "after kills");
            fs::remove_dir_all(&run).unwrap();
        }
    }
    fs::create_dir_all(&run).unwrap();
    ends_exact(&folder.run(&format!("count {N} --run run --json")), "at the end");
}

#[test]
fn save_on_full_disk_loses_nothing() {
    let (folder, plan) = (Folder::new(), plan());
    let Some(disk) = SmallDisk::mount(folder.path().join("small"), 2) else { return };
    let run = disk.path().join("run");
    let records = records(&plan);
    record(&run, &plan, &records[..10]);
    let (mut store, mut standing) = open(&run, &plan);
    let mut commit = |store: &mut Store, record: &Record| {
        store.commit(std::slice::from_ref(record), Duration::from_secs(1), 1).unwrap();
        standing.apply(&plan, Shard::default(), record).unwrap();
        store.save(&standing)
    };
    for record in &records[10..30] {
        commit(&mut store, record).ok();
        // The save that has begun may find no room any more.
        disk.fill();
        thread::sleep(Duration::from_millis(10));
        disk.make_room();
    }
    drop(store);
    let (store, standing) = open(&run, &plan);
    assert_eq!(standing.done(), 30);
    drop(store);
    // A new process has no room for a store of its own.
    disk.fill();
    let (mut store, standing) = open(&run, &plan);
    store.save(&standing).ok();
    assert!(store.save(&standing).is_err(), "the disk is full");
    drop(store);
    disk.make_room();
    record(&run, &plan, &records[30..]);
    ends_exact(&folder.run(&format!("count {N} --run small/run --json")), "with room again");
}

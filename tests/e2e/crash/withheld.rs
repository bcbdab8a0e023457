//! Runs whose answer is withheld: their workers, their status, and how they resume.

use std::fs;
use std::path::Path;
use std::time::Duration;

use queens::{Board, Plan, PlanSpec, UnitId};
use records::ledger::{Record, Replicas, UnitRecord};
use records::shard::Shard;
use records::store::{OpenOptions, Store};
use records::testing::known_run;
use serde_json::Value;

use crate::forgery::{flip, interrupt_and_damage};
use crate::harness::{Folder, Running, published, until};
use crate::http::get;

/// Why a worker waits.
const WAITS: &str = "waiting for the coordinator: the answer is withheld";

fn worker(folder: &Folder, address: &str, name: &str, more: &str) -> Running {
    let worker = format!("worker --coordinator http://{address} --threads 1 --name {name} {more}");
    folder.start(&worker, &format!("{name}.log"))
}

fn said(folder: &Folder, log: &str, words: &str) -> usize {
    fs::read_to_string(folder.path().join(log)).unwrap_or_default().matches(words).count()
}

#[test]
fn workers_wait_for_a_repaired_ledger_and_continue() {
    let folder = Folder::new();
    interrupt_and_damage(&folder);
    let (mut coordinator, address) =
        folder.serve("coordinator --run run --json --stay --http 127.0.0.1:0", "withheld.log");
    let http = coordinator.dashboard();
    let status = || {
        let status = folder.run(&format!("status --coordinator http://{address} --json"));
        serde_json::from_str::<Value>(&status.stdout).unwrap_or_default()
    };
    until("the answer is withheld", || status()["phase"] == "withheld");
    assert_eq!(folder.run(&format!("status --coordinator http://{address}")).code, Some(3));
    until("the log says so", || said(&folder, "withheld.log", "000001.jsonl") > 0);
    until("the dashboard shows it", || get(&http, "/readyz").contains("the answer is withheld"));
    assert!(get(&http, "/readyz").contains(" 503 "));
    assert!(get(&http, "/metrics").contains("diadem_phase{phase=\"withheld\"} 1\n"));

    let gives_up = worker(&folder, &address, "impatient", "--give-up-after 1s").end();
    assert!(gives_up.code == Some(1) && gives_up.stderr.contains("gave up after 1"), "{gives_up:?}");
    let mut waits = worker(&folder, &address, "patient", "");
    until("it says why it waits", || said(&folder, "patient.log", WAITS) > 0);
    assert!(!waits.has_ended());
    assert_eq!(status()["phase"], "withheld");
    coordinator.terminate();
    let ended = coordinator.end();
    assert!(ended.code == Some(3) && ended.stdout.is_empty(), "{ended:?}");

    flip(&folder);
    let mended = folder.serve_at(&address, "coordinator --run run --json", "mended.log").end();
    assert_eq!(mended.json()["total"], published(16), "{mended:?}");
    let ended = waits.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(ended.stderr.matches(WAITS).count(), 1, "{ended:?}");
}

/// Serves the run of [`left_without_answer`].
const SERVE: &str = "coordinator --run run --json";

/// The address of a run whose units are all counted and whose ledger is damaged; its worker waits.
fn left_without_answer(folder: &Folder) -> (String, Running) {
    let (coordinator, address) =
        folder.serve(&format!("{SERVE} --n 17 --double-check none"), "coordinator.log");
    let mut waits = worker(folder, &address, "worker", "--method search --isa portable");
    until("something is on record", || folder.counts("run") > 100);
    flip(folder);
    let ended = coordinator.end();
    assert!(ended.code == Some(3) && ended.stderr.contains("000001.jsonl"), "{ended:?}");
    assert_eq!(said(folder, "worker.log", WAITS), 1);
    assert!(!waits.has_ended());
    (address, waits)
}

#[test]
fn workers_outlast_a_withheld_answer() {
    let folder = Folder::new();
    let (address, waits) = left_without_answer(&folder);
    flip(&folder);
    let mended = folder.serve_at(&address, &format!("{SERVE} --stay"), "mended.log");
    assert_eq!(waits.end().code, Some(0));
    mended.terminate();
    assert_eq!(mended.end().json()["total"], published(17));
}

/// Begins a run whose checkpoint has a count more than its ledger, as memory that fails leaves it.
fn begin_with_wrong_sums(path: &Path) {
    let plan = Plan::derive(PlanSpec::new(Board::new(9).unwrap())).unwrap();
    let is_plain = |unit: &u64| !plan.summand(UnitId(*unit)).is_symmetric_count();
    let unit = UnitId((0..plan.units()).find(is_plain).unwrap());
    let (mut store, mut standing, _) = Store::open(OpenOptions {
        path: path.to_owned(),
        begin: Some(plan.clone()),
        board: None,
        scheme: None,
        shard: Shard::default(),
        accept_loss: false,
        take_over: false,
        signing_key: None,
    })
    .unwrap();
    let on_record = Record::Replicas(Replicas { replicas: 0, reason: None, at: 1_790_000_000 });
    let wrong = Record::Count(UnitRecord { unit, count: 1, ..known_run::unit_record(0, 0, "machine") });
    store.commit(std::slice::from_ref(&on_record), Duration::ZERO, 1).unwrap();
    [on_record, wrong].iter().for_each(|record| standing.apply(&plan, Shard::default(), record).unwrap());
    store.save(&standing).unwrap();
}

#[test]
fn coordinator_with_wrong_sums_exits_1_to_restart() {
    for more in ["", "--stay"] {
        let folder = Folder::new();
        begin_with_wrong_sums(&folder.path().join("run"));
        let serve = format!("coordinator --run run --json {more}");
        let (wrong, address) = folder.serve(&serve, "wrong.log");
        let wrong = wrong.end();
        assert!(wrong.code == Some(1) && wrong.stderr.contains("restart it"), "{wrong:?}");
        let again = folder.serve_at(&address, &serve, "again.log");
        let worker = worker(&folder, &address, "worker", "");
        assert_eq!(worker.end().code, Some(0));
        again.terminate();
        assert_eq!(again.end().json()["total"], published(9));
    }
}

//! A coordinator and workers as separate processes on loopback.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::harness::{Folder, Running, free_address, in_time, published, until, until_within};

fn worker(folder: &Folder, address: &str, name: &str) -> Running {
    let args = format!("worker --coordinator http://{address} --threads 1 --isa portable --name {name}");
    folder.start(&args, &format!("{name}.log"))
}

fn status(folder: &Folder, address: &str) -> Option<Value> {
    let outcome = folder.run(&format!("status --coordinator http://{address} --json"));
    (outcome.code == Some(0)).then(|| outcome.json())
}

#[test]
fn killed_workers_and_coordinator_count_exactly() {
    let folder = Folder::new();
    let mut random = StdRng::seed_from_u64(15);
    let serve = "coordinator --n 17 --method search --run run --json";
    let (coordinator, address) = folder.serve(serve, "coordinator.log");
    coordinator.kill();
    // A worker that starts first waits for its coordinator.
    let mut workers: Vec<Option<Running>> =
        (0..3).map(|k| Some(worker(&folder, &address, &format!("w{k}")))).collect();
    let mut coordinator = folder.serve_at(&address, serve, "coordinator.log");
    let mut coordinator_kills = 0;
    let mut worker_kills = 0;
    while !coordinator.has_ended() {
        // The next kill comes a random number of records later, so that each round makes some progress.
        let next = folder.counts("run") + random.random_range(1..30);
        until("there is progress", || folder.counts("run") > next || coordinator.has_ended());
        std::thread::sleep(Duration::from_millis(random.random_range(0..20)));
        if coordinator.has_ended() {
            break;
        }
        if coordinator_kills < 3 && worker_kills > coordinator_kills {
            coordinator.kill();
            coordinator = folder.serve_at(&address, serve, "coordinator.log");
            coordinator_kills += 1;
            continue;
        }
        let k = random.random_range(0..workers.len());
        if let Some(running) = workers[k].take() {
            running.kill();
            worker_kills += 1;
        }
        workers[k] = Some(worker(&folder, &address, &format!("w{k}")));
    }
    let answer = coordinator.end().json();
    assert!(coordinator_kills == 3 && worker_kills >= 3, "{coordinator_kills} and {worker_kills} kills");
    assert_eq!(answer["total"], published(17));
    assert_eq!(answer["known"], "agrees");
    assert_eq!(folder.counts("run") as u64, answer["units"].as_u64().unwrap(), "one record for each unit");
    assert_eq!(folder.run("verify run").code, Some(0));
}

#[test]
fn workers_leave_by_themselves_when_all_is_counted() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 13 --run run --json", "log");
    let workers = [worker(&folder, &address, "a"), worker(&folder, &address, "b")];
    assert_eq!(coordinator.end().json()["total"], published(13));
    for worker in workers {
        assert_eq!(worker.end().code, Some(0));
    }
}

#[test]
fn stopped_worker_returns_its_leases_within_2_s() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 18 --run run", "log");
    let leaving = worker(&folder, &address, "leaving");
    until("it has counted something", || folder.counts("run") > 0);
    let asked = Instant::now();
    leaving.terminate();
    assert_eq!(leaving.end().code, Some(0));
    in_time(Duration::from_secs(2), asked);
    // A status may be slightly old. Leases that are not given back end after 15 seconds.
    until_within(Duration::from_secs(10), "all is given back", || {
        let status = status(&folder, &address).unwrap();
        status["leased"] == 0 && status["workers"].as_array().unwrap().is_empty()
    });
    coordinator.terminate();
    assert_eq!(coordinator.end().code, Some(143));
}

#[test]
fn refused_worker_leaves_despite_silent_address() {
    let folder = Folder::new();
    folder.run("count 11 --run run --quiet");
    let ledger = folder.ledger("run");
    let machine = ledger.split("\"machine\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(folder.run(&format!("retract run --machine {machine} --reason hot --yes")).code, Some(0));
    let (coordinator, address) = folder.serve("coordinator --run run --json", "c.log");
    let silent = free_address();
    let join = format!("worker --coordinator http://{silent},http://{address} --threads 1 --machine");
    let mut refused = folder.start(&format!("{join} {machine}"), "refused.log");
    until_within(Duration::from_mins(1), "it leaves", || refused.has_ended());
    let refused = refused.end();
    assert_eq!((refused.code, refused.stderr.contains("is quarantined")), (Some(1), true), "{refused:?}");
    assert_eq!(folder.run(&format!("{join} other")).code, Some(0));
    assert_eq!(coordinator.end().json()["total"], published(11));
}

#[test]
fn a_run_can_be_served_and_taken_back() {
    let folder = Folder::new();
    let local = folder.start("count 17 --run run --isa portable --quiet", "log");
    until("something is on record", || folder.counts("run") > 0);
    local.terminate();
    local.end();
    let by_hand = folder.counts("run");
    let (coordinator, address) = folder.serve("coordinator --run run", "coordinator.log");
    let _worker = worker(&folder, &address, "a");
    until("the worker adds to it", || folder.counts("run") > by_hand);
    coordinator.terminate();
    coordinator.end();
    assert_eq!(folder.run("count 17 --run run --json").json()["total"], published(17));
}

/// The status of a finished run has its history, families, contributors and events.
fn assert_full_status(status: &Value) {
    let sum = |of: &str, list: &str| -> u64 {
        status[list].as_array().unwrap().iter().map(|entry| entry[of].as_u64().unwrap()).sum()
    };
    let units = status["units"].as_u64().unwrap();
    assert_eq!((sum("units", "families"), sum("done", "families")), (units, units));
    assert_eq!(sum("counts", "machines"), units);
    let last = status["history"].as_array().unwrap().last().unwrap();
    assert_eq!(last["done"], units);
    assert!(last["progress"].as_f64().unwrap() > 0.999, "{last}");
    let events: Vec<_> = status["events"].as_array().unwrap().iter().map(|event| &event["text"]).collect();
    for text in [
        "the coordinator began term 1",
        "worker a joined",
        "worker a left",
        "the answer is given: 14200 solutions",
    ] {
        assert!(events.iter().any(|event| *event == text), "no {text:?} in {events:?}");
    }
    assert!(status["seconds_left_low"].is_null() && status["paused"].is_null());
    assert_eq!(
        (&status["double_check"], &status["release"]),
        (&"1%".into(), &env!("CARGO_PKG_VERSION").into())
    );
    assert_eq!(status["work_done"], status["work"]);
}

#[test]
fn status_shows_the_progress_of_the_run() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 12 --run run --stay --json", "log");
    let before = status(&folder, &address).unwrap();
    assert_eq!((&before["phase"], &before["done"]), (&Value::from("counting"), &Value::from(0)));
    assert_eq!(before["open"], before["units"]);
    assert_eq!(worker(&folder, &address, "a").end().code, Some(0));
    until("the answer is there", || status(&folder, &address).is_some_and(|s| s["phase"] == "complete"));
    let after = status(&folder, &address).unwrap();
    assert_eq!((&after["solutions"], &after["done"]), (&Value::from("14200"), &after["units"]));
    let text = folder.run(&format!("status --coordinator http://{address}")).stdout;
    assert!(text.contains("n = 12, complete: 100 % of the work"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_full_status(&after);
    coordinator.terminate();
    assert_eq!(coordinator.end().json()["total"], "14200");
}

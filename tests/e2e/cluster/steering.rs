//! Operator requests to a run and to its workers while units are counted.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Folder, Running, free_address, in_time, published, stays, until};

fn status(folder: &Folder, access: &str) -> Value {
    let status = folder.run(&format!("status {access} --json"));
    serde_json::from_str(&status.stdout).unwrap_or_default()
}

#[test]
fn pause_survives_restart_until_resume() {
    let folder = Folder::new();
    folder.run("keys init keys --host 127.0.0.1");
    let serving = "coordinator --n 17 --method search --run run --keys keys/coordinator";
    let (coordinator, address) = folder.serve(serving, "c.log");
    let url = format!("https://{address}");
    let access = format!("--coordinator {url} --keys keys/status");
    let steer =
        |what: &str, keys: &str| folder.run(&format!("{what} --coordinator {url} --keys keys/{keys}"));

    assert_eq!(status(&folder, &access)["n"], 17);
    for (keys, why) in [("worker", "admin token"), ("status", "reads only")] {
        steer("pause --reason mine", keys).refused(&[why]);
        steer("resume", keys).refused(&[why]);
        steer("drain rack", keys).refused(&[why]);
    }
    steer("pause", "admin").refused(&["--reason"]);
    let nobody = format!("https://{}", free_address());
    let pause = "pause --reason maintenance --keys keys/admin --coordinator";
    folder.run(&format!("{pause} {nobody}")).refused(&[&nobody]);
    let paused = folder.run(&format!("{pause} {nobody},{url}"));
    assert!(paused.code == Some(0) && paused.stdout.starts_with(&format!("{url} paused")), "{paused:?}");
    let worker = folder.start(&format!("worker --coordinator {url} --keys keys/worker --threads 1"), "w.log");
    let has_worker = |known: &Value| known["workers_total"] == 1;
    until("the worker waits", || has_worker(&status(&folder, &access)));
    stays(Duration::from_millis(700), "nothing is counted", || folder.counts("run") == 0);
    let known = status(&folder, &access);
    assert_eq!((&known["leased"], &known["done"]), (&Value::from(0), &Value::from(0)), "{known}");
    assert_eq!(known["paused"], "maintenance", "{known}");
    let text = folder.run(&format!("status {access}")).stdout;
    assert!(text.contains("paused: maintenance"), "{text}");

    coordinator.kill();
    let coordinator = folder.serve_at(&address, serving, "c2.log");
    until("the worker is back", || has_worker(&status(&folder, &access)));
    stays(Duration::from_millis(700), "nothing is counted", || folder.counts("run") == 0);
    assert_eq!(status(&folder, &access)["done"], 0, "the pause is forgotten");
    until("the pause is told", || {
        fs::read_to_string(folder.path().join("c2.log")).unwrap().contains("maintenance")
    });
    let resumed = steer("resume", "admin");
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains("1 worker"), "{resumed:?}");
    assert_eq!(worker.end().code, Some(0));
    let answer = coordinator.end();
    assert!(answer.stdout.contains(&published(17)), "{answer:?}");
}

#[test]
fn settings_survive_restart_before_first_count() {
    let folder = Folder::new();
    let serving = "coordinator --run run";
    let told = |command: &str, log: &str| {
        let (coordinator, address) = folder.serve(command, log);
        let status = folder.run(&format!("status --coordinator http://{address} --json")).json();
        coordinator.terminate();
        coordinator.end();
        (status["double_check"].clone(), status["replicas"].clone())
    };
    let first = told(&format!("{serving} --n 12 --double-check all --replicas 1"), "1.log");
    assert_eq!(first, ("all".into(), 1.into()));
    assert_eq!(told(serving, "2.log"), first);
    folder
        .run(&format!("{serving} --listen 127.0.0.1:0 --double-check 5%"))
        .refused(&["this run checks all", "cannot be lowered"]);
    assert_eq!(folder.run(&format!("{serving} --listen 127.0.0.1:0 --double-check 5%")).code, Some(2));
}

#[test]
fn drained_machine_loses_its_workers() {
    let folder = Folder::new();
    // Units of seconds, by the slowest kernel.
    let (coordinator, address) =
        folder.serve("coordinator --n 20 --families 0,1,0 --run run --double-check none", "c.log");
    let access = format!("--coordinator http://{address}");
    let worker = |machine: &str| {
        let kernel = "--method search --isa portable --drain 4m";
        let command = format!("worker {access} --threads 1 --machine {machine} {kernel}");
        folder.start(&command, &format!("{machine}.log"))
    };
    let [leaving, staying] = [worker("rack-1"), worker("rack-2")];
    let leased = |machine: &str| -> u64 {
        let known = status(&folder, &access);
        let workers = known["workers"].as_array().into_iter().flatten();
        workers
            .filter(|worker| worker["machine"] == machine)
            .filter_map(|worker| worker["leased"].as_u64())
            .sum()
    };
    until("both count", || leased("rack-1") > 0 && leased("rack-2") > 0);
    folder.run(&format!("drain rack-3 {access}")).refused(&["rack-3", "has no connected worker"]);
    let drained = folder.run(&format!("drain rack-1 {access}"));
    assert!(drained.code == Some(0) && drained.stdout.starts_with("1 worker of rack-1"), "{drained:?}");
    let ended = leaving.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("the operator asked for it") && ended.stderr.contains("broken_off=0"),
        "{ended:?}"
    );
    until("only the other holds units", || leased("rack-1") == 0 && leased("rack-2") > 0);
    let known = status(&folder, &access);
    assert_eq!((&known["disputed"], &known["set_aside"]), (&Value::from(0), &Value::from(Vec::<u64>::new())));
    // Started again it counts.
    let again = worker("rack-1");
    until("it counts again", || leased("rack-1") > 0);
    [again, staying, coordinator].into_iter().for_each(Running::kill);
}

#[test]
fn time_limit_ends_worker_and_count_like_a_signal() {
    let folder = Folder::new();
    let counted = folder.run("count 19 --quiet --for 500ms --run run --nice 5");
    assert_eq!(counted.code, Some(143), "{counted:?}");
    assert!(counted.stderr.contains("resume with"), "{counted:?}");
    // Up before anything was begun.
    let begun = Instant::now();
    let counted = folder.run("count 20 --quiet --in-memory --for 0s");
    assert_eq!(counted.code, Some(143), "{counted:?}");
    in_time(Duration::from_secs(9), begun);
    let (mut coordinator, address) = folder.serve("coordinator --run run", "c.log");
    let begun = Instant::now();
    let worker = folder.start(
        &format!("worker --coordinator http://{address} --threads 1 --for 2s --nice 19 --drain 5s"),
        "w.log",
    );
    until("it is nice", || worker.niceness() == 19);
    let ended = worker.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("draining"), "{ended:?}");
    in_time(Duration::from_secs(9), begun);
    assert!(!coordinator.has_ended(), "there was more to count");
    coordinator.kill();
    for wrong in ["--until 25:00", "--until noon", "--for ever", "--nice 20", "--for 1h --until 07:00"] {
        let refused = folder.run(&format!("count 10 --quiet --in-memory {wrong}"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    assert_eq!(folder.run("count 10 --quiet --in-memory --until 23:59").code, Some(0));
}

#[test]
fn lost_coordinator_policy_of_worker_is_followed() {
    let folder = Folder::new();
    // The first units take minutes and all others years, so a worker that finishes its units is still running.
    let (coordinator, address) =
        folder.serve("coordinator --n 32 --families 0,1,0 --run run --double-check none", "c.log");
    let access = format!("--coordinator http://{address}");
    let worker = |what: &str| {
        let kernel = "--method search --isa portable --threads 1";
        let command =
            format!("worker {access} --name {what} {kernel} --on-coordinator-lost {what} --give-up-after 1s");
        folder.start(&command, &format!("{what}.log"))
    };
    let [mut waits, mut finishes, exits] = ["wait", "finish", "exit"].map(worker);
    until("all count", || {
        let known = status(&folder, &access);
        let workers = known["workers"].as_array().cloned().unwrap_or_default();
        let all_hold = workers.iter().all(|worker| worker["leased"].as_u64() >= Some(1));
        workers.len() == 3 && all_hold
    });
    coordinator.kill();
    let begun = Instant::now();
    let gone = exits.end();
    assert_eq!(gone.code, Some(1), "{gone:?}");
    assert!(gone.stderr.contains("gave up after "), "{gone:?}");
    in_time(Duration::from_secs(5), begun);
    stays(Duration::from_secs(1), "two are there", || !waits.has_ended() && !finishes.has_ended());
    // Their counts are accepted when the coordinator is back.
    let coordinator = folder.serve_at(&address, "coordinator --run run", "c2.log");
    until("they are back", || status(&folder, &access)["workers_total"] == 2);
    [coordinator, waits, finishes].into_iter().for_each(Running::kill);
}

#[test]
fn finishing_worker_reports_units_to_be_recounted() {
    let folder = Folder::new();
    let (coordinator, address) = folder.serve("coordinator --n 17 --method search --run run", "c.log");
    let finishes = "--on-coordinator-lost finish --give-up-after 1s --ahead 1s";
    let kernel = "--method search --isa portable --threads 1";
    let worker = folder.start(&format!("worker --coordinator http://{address} {kernel} {finishes}"), "w.log");
    until("some is counted", || folder.counts("run") > 0);
    coordinator.kill();
    let ended = worker.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let told = ended.stderr.lines().find(|line| line.contains("their units are counted again"));
    assert!(told.is_some_and(|line| line.contains("units=")), "{ended:?}");
}

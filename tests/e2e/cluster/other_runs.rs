//! Another run of the plan, or another coordinator of the run, at an address of a worker.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Completed, Folder, Running, free_address, published, until};
use crate::waiting::{SEES_RUN, start_waiting};

const SLOW: &str = "--threads 1 --method search --isa portable";

/// A board that keeps a slow worker busy for some seconds.
const N: u8 = 17;

/// A board that keeps a slow worker busy for longer than a test needs to stop its coordinator.
const LARGER_N: u8 = 18;

fn coordinator(folder: &Folder, run: &str, address: &str, more: &str) -> Running {
    let args = format!("coordinator --run {run} --listen {address} --json {more}");
    let running = folder.start(&args, &format!("{run}.log"));
    let status = format!("status --coordinator http://{address}");
    until("the coordinator serves", || folder.run(&status).code == Some(0));
    running
}

fn begun(folder: &Folder, run: &str, address: &str) -> Running {
    begun_with_board(folder, run, address, N)
}

fn begun_with_board(folder: &Folder, run: &str, address: &str, n: u8) -> Running {
    coordinator(folder, run, address, &format!("--n {n} --method search"))
}

/// A slow worker with these addresses.
fn worker(folder: &Folder, addresses: &[&str]) -> Running {
    let urls: Vec<String> = addresses.iter().map(|address| format!("http://{address}")).collect();
    folder.start(&format!("worker --coordinator {} {SLOW}", urls.join(",")), "worker")
}

fn status(folder: &Folder, address: &str) -> Value {
    folder.run(&format!("status --coordinator http://{address} --json")).json()
}

fn wait_for_first_count(folder: &Folder, address: &str) {
    until("something is counted", || status(folder, address)["done"].as_u64().unwrap() > 0);
}

/// A worker at full speed, to finish the run at that address.
fn fast_worker(folder: &Folder, address: &str) -> Running {
    folder.start(&format!("worker --coordinator http://{address} --threads 1 --name fast"), "fast.log")
}

#[track_caller]
fn is_exact(folder: &Folder, run: &str, outcome: &Completed) {
    let answer = outcome.json();
    assert_eq!(answer["total"], published(answer["n"].as_u64().unwrap() as u8));
    let verified = folder.run(&format!("verify {run} --recount 5"));
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

fn log(folder: &Folder) -> String {
    fs::read_to_string(folder.path().join("worker")).unwrap()
}

#[test]
fn workers_of_a_lost_run_join_the_new_run() {
    let (folder, address) = (Folder::new(), free_address());
    begun(&folder, "lost", &address).kill();
    let lost = coordinator(&folder, "lost", &address, "");
    let worker = worker(&folder, &[&address]);
    wait_for_first_count(&folder, &address);
    lost.kill();
    fs::remove_dir_all(folder.path().join("lost")).unwrap();
    // Its term is lower than the one that the worker has met.
    let anew = begun(&folder, "anew", &address);
    wait_for_first_count(&folder, &address);
    let fast = fast_worker(&folder, &address);
    is_exact(&folder, "anew", &anew.end());
    for worker in [worker, fast] {
        assert_eq!(worker.end().code, Some(0));
    }
    let log = log(&folder);
    assert_eq!(log.matches("this worker counts for it").count(), 1, "{log}");
    assert_eq!(log.matches("again=0").count(), 2, "it holds nothing of the new run: {log}");
    assert!(!log.contains("left alone") && !log.contains("does not know this unit"), "{log}");
}

#[test]
fn worker_keeps_its_run_among_two_addresses() {
    let (folder, first, second) = (Folder::new(), free_address(), free_address());
    let own = begun_with_board(&folder, "own", &first, LARGER_N);
    // Two runs of one plan that begin in the same second have one hash.
    let begun = Instant::now();
    until("a second has passed", || begun.elapsed() > Duration::from_secs(1));
    let other = begun_with_board(&folder, "other", &second, LARGER_N);
    let worker = worker(&folder, &[&first, &second]);
    wait_for_first_count(&folder, &first);
    own.kill();
    until("it has looked for another one", || log(&folder).contains("waiting for the coordinator"));
    let own = coordinator(&folder, "own", &first, "");
    let fast = fast_worker(&folder, &first);
    is_exact(&folder, "own", &own.end());
    for worker in [worker, fast] {
        assert_eq!(worker.end().code, Some(0));
    }
    let log = log(&folder);
    assert!(log.contains("the other coordinator is left alone"), "{log}");
    assert_eq!(status(&folder, &second)["workers_total"], 0);
    other.kill();
}

/// A run that was copied while it was not served, and is served at both addresses in the same term.
fn forked(folder: &Folder, addresses: &[String; 2]) -> [Running; 2] {
    begun(folder, "one", &addresses[0]).kill();
    let copied = Command::new("cp").args(["-r", "one", "other"]).current_dir(folder.path()).status();
    assert!(copied.unwrap().success());
    [("one", &addresses[0]), ("other", &addresses[1])].map(|(run, at)| coordinator(folder, run, at, ""))
}

#[test]
fn two_coordinators_of_one_term_both_stop() {
    let (folder, addresses) = (Folder::new(), [(); 2].map(|()| free_address()));
    let served = forked(&folder, &addresses);
    let worker = worker(&folder, &[&addresses[0], &addresses[1]]);
    let mut named = Vec::new();
    for coordinator in served {
        let stopped = coordinator.end();
        assert_eq!(stopped.code, Some(1), "{stopped:?}");
        for words in ["two coordinators serve this run in one term", "--take-over"] {
            assert!(stopped.stderr.contains(words), "no {words:?} in {stopped:?}");
        }
        let terms = stopped.stderr.split("term 2 of coordinator ").skip(1);
        let mut terms: Vec<_> = terms.map(|text| text[..8].to_owned()).collect();
        terms.sort();
        terms.dedup();
        named.push(terms);
    }
    assert!(named[0].len() == 2 && named[0] == named[1], "{named:?}");
    for run in ["one", "other"] {
        let again = folder.run(&format!("coordinator --run {run} --listen 127.0.0.1:0"));
        assert_eq!(again.code, Some(2), "{again:?}");
    }
    let again = coordinator(&folder, "one", &addresses[0], "--take-over");
    until("the worker comes", || status(&folder, &addresses[0])["workers_total"] == 1);
    let fast = fast_worker(&folder, &addresses[0]);
    is_exact(&folder, "one", &again.end());
    for worker in [worker, fast] {
        assert_eq!(worker.end().code, Some(0));
    }
}

#[test]
fn operator_request_to_two_runs_is_refused() {
    let (folder, addresses) = (Folder::new(), [(); 2].map(|()| free_address()));
    // Each has its own term, and terms of different runs do not compare.
    begun(&folder, "one", &addresses[0]).kill();
    let one = coordinator(&folder, "one", &addresses[0], "");
    let other = begun(&folder, "other", &addresses[1]);
    let [first, second] = addresses.each_ref().map(|address| format!("http://{address}"));
    for (run, address) in [("one", &addresses[0]), ("other", &addresses[1])] {
        let head = folder.run(&format!("head {run} --json")).json();
        assert_eq!(status(&folder, address)["run"], head["run"], "{head}");
    }
    for command in [
        "pause --reason there",
        "resume",
        "drain rack-1",
        "policy --double-check all --reason record",
        "retract --unit 1 --reason wrong",
        "status --json",
        "status --wait",
        "follow --run copy",
    ] {
        let refused = folder.run(&format!("{command} --coordinator {first},{second}"));
        assert_eq!(refused.code, Some(2), "{command}: {refused:?}");
        refused
            .refused(&[&format!("{first} and {second} serve two different runs: name the addresses of one")]);
    }
    for address in &addresses {
        let status = status(&folder, address);
        assert_eq!((&status["paused"], &status["double_check"]), (&Value::Null, &"1%".into()));
    }
    one.kill();
    other.kill();
}

/// `status --wait` with these addresses, once it has seen the run at the first of them.
fn waiting(folder: &Folder, addresses: &[String; 2]) -> Running {
    let urls = addresses.each_ref().map(|address| format!("http://{address}")).join(",");
    let waiting = start_waiting(folder, &format!("--coordinator {urls}"), "wait.log");
    until("it sees the run", || waiting.says(SEES_RUN));
    waiting
}

#[test]
fn wait_warns_when_another_coordinator_takes_over() {
    let (folder, addresses) = (Folder::new(), [(); 2].map(|()| free_address()));
    let first = begun(&folder, "first", &addresses[0]);
    let waiting = waiting(&folder, &addresses);
    first.kill();
    let copied = Command::new("cp").args(["-r", "first", "second"]).current_dir(folder.path()).status();
    assert!(copied.unwrap().success());
    let second = coordinator(&folder, "second", &addresses[1], "");
    let [before, now] = addresses.each_ref().map(|address| format!("http://{address}"));
    let news = format!("{now} serves the run in term 2 now; before it was {before} in term 1\n");
    until("it warns", || waiting.says(&news));
    waiting.kill();
    second.kill();
}

#[test]
fn wait_gives_up_on_a_coordinator_that_left() {
    let (folder, address) = (Folder::new(), free_address());
    let wait = format!("--coordinator http://{address} --give-up-after 1s");
    let coordinator = begun(&folder, "run", &address);
    let waiting = start_waiting(&folder, &wait, "wait.log");
    until("it sees the run", || waiting.says(SEES_RUN));
    coordinator.kill();
    for ended in [waiting.end(), start_waiting(&folder, &wait, "another.log").end()] {
        assert_eq!((ended.code, &*ended.stdout), (Some(1), ""), "{ended:?}");
        for words in ["no status, trying again: ", "s without a status: "] {
            assert!(ended.stderr.contains(words), "{words}: {ended:?}");
        }
    }
}

#[test]
fn wait_ends_when_another_address_serves_another_run() {
    let (folder, addresses) = (Folder::new(), [(); 2].map(|()| free_address()));
    let own = begun(&folder, "own", &addresses[0]);
    let waiting = waiting(&folder, &addresses);
    own.kill();
    let other = begun(&folder, "other", &addresses[1]);
    let ended = waiting.end();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("serve two different runs"), "{ended:?}");
    other.kill();
}

#[test]
fn operator_request_goes_to_the_highest_term() {
    let (folder, addresses) = (Folder::new(), [(); 2].map(|()| free_address()));
    let [first, second] = &addresses;
    let older = begun(&folder, "older", first);
    let copied = Command::new("cp").args(["-r", "older", "younger"]).current_dir(folder.path()).status();
    assert!(copied.unwrap().success());
    let younger = coordinator(&folder, "younger", second, "");
    // Takes connections and answers nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    let urls = [&silent, first, second].map(|address| format!("http://{address}")).join(",");
    let named = format!("http://{first} serves an older term 1 of this run and is left alone");
    let asked = |command: &str| {
        let done = folder.run(&format!("{command} --coordinator {urls}"));
        assert!(done.code == Some(0) && done.stderr.contains(&named), "{command}: {done:?}");
        done
    };
    asked("pause --reason there");
    assert_eq!(
        (&status(&folder, second)["paused"], &status(&folder, first)["paused"]),
        (&"there".into(), &Value::Null)
    );
    assert_eq!(asked("status --json").json()["paused"], "there");
    asked("policy --double-check all --reason record");
    let checked = [first, second].map(|address| status(&folder, address)["double_check"].clone());
    assert_eq!(checked, ["1%", "all"]);
    // No worker leaves the younger run, and no command asks the older one instead.
    let worker = worker(&folder, &[first]);
    until("it is there", || status(&folder, first)["workers_total"] == 1);
    let machine = status(&folder, first)["machines"][0]["name"].as_str().unwrap().to_owned();
    let drained = folder.run(&format!("drain {machine} --coordinator {urls}"));
    assert!(drained.code != Some(0), "{drained:?}");
    // An empty folder begins with the younger one too.
    let following = folder.start(&format!("follow {urls} --run copy"), "copy.log");
    until("it follows", || following.says("following"));
    assert!(following.says("term=2"), "{}", fs::read_to_string(&following.log).unwrap());
    for process in [older, younger, worker, following] {
        process.kill();
    }
}

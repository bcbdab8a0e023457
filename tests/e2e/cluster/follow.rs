//! A run outlives its machine: followers, acknowledgements that wait for them, takeovers, and coordinators that come back.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use queens::kernel::Isa;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use crate::harness::{Completed, Folder, Running, free_address, published, repetitions, until};
use crate::noting::Workers;

const SLOW: &str = "--threads 1 --method search --isa portable";

fn coordinator(folder: &Folder, run: &str, address: &str, more: &str) -> Running {
    let args = format!("coordinator --run {run} --listen {address} --json {more}");
    let running = folder.start(&args, &format!("{run}.log"));
    until("the coordinator listens", || std::net::TcpStream::connect(address).is_ok());
    running
}

fn follower(folder: &Folder, addresses: &[&str], run: &str) -> Running {
    let urls: Vec<String> = addresses.iter().map(|address| format!("http://{address}")).collect();
    folder.start(&format!("follow {} --run {run}", urls.join(",")), &format!("{run}.follow.log"))
}

fn status(folder: &Folder, address: &str) -> Value {
    folder.run(&format!("status --coordinator http://{address} --json")).json()
}

/// A worker at full speed, to finish the run.
fn fast_worker(folder: &Folder, address: &str) -> Running {
    folder.start(&format!("worker --coordinator http://{address} --threads 1 --name fast"), "fast.log")
}

/// Waits until the coordinator reports trouble with these words.
fn until_trouble(folder: &Folder, address: &str, words: &str) {
    until(words, || status(folder, address)["trouble"].as_str().unwrap().contains(words));
}

fn copy(folder: &Folder, from: &str, to: &str) {
    let copied = Command::new("cp").args(["-r", from, to]).current_dir(folder.path()).status().unwrap();
    assert!(copied.success());
}

/// Removes the mark that makes the directory a copy.
fn remove_notes(folder: &Folder, run: &str) {
    fs::remove_file(folder.path().join(run).join("notes.json")).unwrap();
}

/// The files of a ledger, as they are.
fn files(folder: &Folder, run: &str) -> BTreeMap<String, Vec<u8>> {
    let files =
        fs::read_dir(folder.path().join(run).join("ledger")).unwrap().map(|file| file.unwrap().path());
    let name = |file: &Path| file.file_name().unwrap().to_str().unwrap().to_owned();
    let ledger = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    ledger.map(|file| (name(&file), fs::read(&file).unwrap())).collect()
}

/// The counts on record, by unit.
fn counts(folder: &Folder, run: &str) -> BTreeMap<u64, u64> {
    let counts = folder.records(run).into_iter().filter(|record| record["kind"] == "count");
    counts.map(|r| (r["unit"].as_u64().unwrap(), r["count"].as_u64().unwrap())).collect()
}

/// The terms on record.
fn terms(folder: &Folder, run: &str) -> Vec<u64> {
    let records = folder.records(run).into_iter();
    records.filter(|record| record["kind"] == "term").map(|r| r["term"].as_u64().unwrap()).collect()
}

#[track_caller]
fn is_exact(folder: &Folder, run: &str, outcome: &Completed, n: u8) {
    let answer = outcome.json();
    assert_eq!(answer["total"], published(n));
    assert_eq!(folder.counts(run) as u64, answer["units"].as_u64().unwrap(), "one count for each unit");
    let verified = folder.run(&format!("verify {run} --recount 5"));
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn repeatedly_killed_follower_ends_with_equal_bytes() {
    let (folder, address) = (Folder::new(), free_address());
    let running = coordinator(&folder, "run", &address, "--n 15 --method search --stay");
    let mut workers = Workers::start(&[&address], 2, Some(Isa::Portable));
    for _ in 0..4 {
        let before = folder.counts("copy");
        let copying = follower(&folder, &[&address], "copy");
        let is_over = || folder.counts("run") as u64 == status(&folder, &address)["units"].as_u64().unwrap();
        until("it has more than before", || folder.counts("copy") > before || is_over());
        copying.kill();
    }
    let last = follower(&folder, &[&address], "copy");
    workers.end();
    let ended = last.end();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    running.terminate();
    is_exact(&folder, "run", &running.end(), 15);
    assert_eq!(files(&folder, "run"), files(&folder, "copy"));
    let file = |run: &str, name: &str| fs::read(folder.path().join(run).join(name)).unwrap();
    for name in ["run.json", "lease.key"] {
        assert_eq!(file("run", name), file("copy", name), "{name}");
    }
    let mode = fs::metadata(folder.path().join("copy/lease.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let verified = folder.run("verify copy --recount 5 --json");
    assert_eq!(verified.json()["sound"], true);
}

#[test]
fn late_follower_copies_a_complete_run_that_stays() {
    let (folder, address) = (Folder::new(), free_address());
    let running = coordinator(&folder, "run", &address, "--n 12 --stay");
    let early = follower(&folder, &[&address], "early");
    let worker = folder.start(&format!("worker --coordinator http://{address} --threads 1"), "w.log");
    assert_eq!(worker.end().code, Some(0));
    assert_eq!(early.end().code, Some(0));
    let late = follower(&folder, &[&address], "late");
    let in_use = folder.run(&format!("follow http://{address} --run run"));
    in_use.refused(&["in use by process"]);
    assert_eq!(late.end().code, Some(0));
    assert_eq!(files(&folder, "run"), files(&folder, "early"));
    assert_eq!(files(&folder, "run"), files(&folder, "late"));
    // A copy that continued from an earlier part by itself has parted.
    copy(&folder, "late", "forked");
    let ledger = folder.ledger("forked");
    let mark = ledger.find("{\"kind\":\"mark\"").unwrap();
    let first_group = &ledger[..=mark + ledger[mark..].find('\n').unwrap()];
    assert!(first_group.len() < ledger.len(), "more than one group");
    fs::write(folder.path().join("forked/ledger/000001.jsonl"), first_group).unwrap();
    remove_notes(&folder, "forked");
    let unit = counts(&folder, "forked").into_keys().next().unwrap();
    assert_eq!(folder.run(&format!("retract forked --unit {unit} --reason test")).code, Some(0));
    folder
        .run(&format!("follow http://{address} --run forked"))
        .refused(&["that are not the first of the coordinator's", "move the copy away"]);
    // One that has records of its own is no copy; and only a takeover writes to a copy.
    copy(&folder, "late", "other");
    let retract = "retract other --unit 3 --reason test";
    folder.run(retract).refused(&["another coordinator", "--take-over"]);
    remove_notes(&folder, "other");
    assert_eq!(folder.run(retract).code, Some(0));
    folder
        .run(&format!("follow http://{address} --run other"))
        .refused(&["that are not the first of the coordinator's", "--take-over"]);
    running.terminate();
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn sigterm_ends_follower_with_or_without_coordinator() {
    let (folder, address) = (Folder::new(), free_address());
    let alone = follower(&folder, &[&address], "copy");
    until("it waits", || fs::read_to_string(&alone.log).unwrap_or_default().contains("waiting"));
    alone.terminate();
    assert_eq!(alone.end().code, Some(143));
    let _running = coordinator(&folder, "run", &address, "--n 16 --method search");
    let following = follower(&folder, &[&address], "copy");
    until("it follows", || fs::read_to_string(&following.log).unwrap_or_default().contains("following"));
    following.terminate();
    assert_eq!(following.end().code, Some(143));
}

#[test]
fn acknowledgement_waits_for_the_required_follower() {
    let (folder, address) = (Folder::new(), free_address());
    let running = coordinator(&folder, "run", &address, "--n 14 --method search --replicas 1");
    let mut workers = Workers::start(&[&address], 2, Some(Isa::Portable));
    until("something is on record", || folder.counts("run") > 10);
    until_trouble(&folder, &address, "0 of 1 followers");
    assert!(workers.acknowledged().is_empty());
    let following = follower(&folder, &[&address], "copy");
    workers.end();
    is_exact(&folder, "run", &running.end(), 14);
    assert_eq!(following.end().code, Some(0));
    assert_eq!(files(&folder, "run"), files(&folder, "copy"));
    let acknowledged = workers.acknowledged().into_iter().map(|(unit, count)| (unit.0, count)).collect();
    assert_eq!(counts(&folder, "run"), acknowledged);
    // The ledger has the number of replicas, so the answer of the complete run waits for a follower, too.
    let again = coordinator(&folder, "run", &address, "");
    until_trouble(&folder, &address, "0 of 1 followers");
    assert_eq!(follower(&folder, &[&address], "copy").end().code, Some(0));
    is_exact(&folder, "run", &again.end(), 14);
}

#[test]
fn retraction_reports_the_number_of_replicas() {
    let (folder, address) = (Folder::new(), free_address());
    let _running = coordinator(&folder, "run", &address, "--n 18 --method search --replicas 1");
    let following = follower(&folder, &[&address], "copy");
    let _worker = folder.start(&format!("worker --coordinator http://{address} {SLOW}"), "w.log");
    until("some are copied", || folder.counts("copy") > 1);
    let copied: Vec<u64> = counts(&folder, "copy").into_keys().collect();
    let (unit, other) = (copied[0], copied[1]);
    let url = format!("--coordinator http://{address}");
    let taken = folder.run(&format!("retract {url} --unit {unit} --reason wrong"));
    let is_copied = folder.ledger("copy").contains("\"kind\":\"retract\"");
    assert!(taken.code == Some(0) && is_copied && taken.stderr.is_empty(), "{taken:?}");
    following.terminate();
    assert_eq!(following.end().code, Some(143));
    until_trouble(&folder, &address, "0 of 1 followers");
    let lack = "the coordinator has recorded this, but only 0 of 1 followers have";
    for wish in [format!("policy {url} --double-check all"), format!("retract {url} --unit {other}")] {
        let done = folder.run(&format!("{wish} --reason wrong"));
        assert!(done.code == Some(0) && done.stderr.contains(lack), "{done:?}");
    }
    // The way out is to require fewer followers.
    let fewer = folder.run(&format!("policy {url} --replicas 0 --reason test"));
    assert!(fewer.code == Some(0) && fewer.stderr.is_empty(), "{fewer:?}");
}

/// The state of a deleted folder when it came back.
#[derive(Debug)]
enum OldFolder {
    IsTheBeginning,
    HasForked,
}

/// One takeover, at a random moment.
fn take_over(random: &mut StdRng) -> OldFolder {
    const N: u8 = 18;
    let (folder, first, second) = (Folder::new(), free_address(), free_address());
    let old = coordinator(&folder, "old", &first, &format!("--n {N} --method search --replicas 1"));
    let following = follower(&folder, &[&first], "new");
    let mut workers = Workers::start(&[&first, &second], 2, Some(Isa::Portable));
    let units = status(&folder, &first)["units"].as_u64().unwrap() as usize;
    let moment = random.random_range(units / 20..units / 2);
    until("some have been acknowledged", || workers.acknowledged().len() > moment);
    copy(&folder, "old", "old.before");
    fs::remove_dir_all(folder.path().join("old")).unwrap();
    std::thread::sleep(std::time::Duration::from_micros(random.random_range(0..200_000)));
    old.kill();
    // From here on nothing may be acknowledged.
    let acknowledged = workers.acknowledged();
    following.terminate();
    assert_eq!(following.end().code, Some(143));
    let copied = counts(&folder, "new");
    for (unit, count) in &acknowledged {
        assert_eq!(copied.get(&unit.0), Some(count), "unit {unit} was acknowledged");
    }
    let new = coordinator(&folder, "new", &second, "--take-over --replicas 0 --stay");
    let fast = fast_worker(&folder, &second);
    workers.end();
    assert_eq!(fast.end().code, Some(0));
    let begun = terms(&folder, "new");
    assert!(begun.len() == 2 && begun[1] > begun[0] + 500, "{begun:?}");
    let history = status(&folder, &second)["incidents"].clone();
    let kinds: Vec<_> = history.as_array().unwrap().iter().map(|incident| &incident["kind"]).collect();
    assert_eq!(kinds[..2], ["start of the coordinator", "takeover by another coordinator"], "{history}");
    let counted = counts(&folder, "new");
    for (unit, count) in workers.acknowledged() {
        assert_eq!(counted.get(&unit.0), Some(&count));
    }
    // The old folder comes back. It is the beginning of the new one, or has records that were never acknowledged.
    let (before, after) = (folder.ledger("old.before"), folder.ledger("new"));
    let end =
        before.rfind("{\"kind\":\"mark\"").map_or(0, |mark| mark + before[mark..].find('\n').unwrap_or(0));
    let returned = folder.run(&format!("follow http://{second} --run old.before"));
    let old_folder = if after.starts_with(&before[..end]) {
        assert_eq!(returned.code, Some(0), "{returned:?}");
        assert_eq!(files(&folder, "new"), files(&folder, "old.before"));
        OldFolder::IsTheBeginning
    } else {
        returned.refused(&["that are not the first of the coordinator's"]);
        OldFolder::HasForked
    };
    new.terminate();
    is_exact(&folder, "new", &new.end(), N);
    old_folder
}

#[test]
fn takeover_by_follower_loses_nothing_acknowledged() {
    for seed in 0..repetitions("DIADEM_TAKEOVERS", 1) {
        println!("takeover {seed} begins");
        let old_folder = take_over(&mut StdRng::seed_from_u64(seed.into()));
        println!("takeover {seed}: exact, nothing acknowledged is lost; the old folder: {old_folder:?}");
    }
}

#[test]
fn old_coordinator_that_comes_back_stops() {
    const N: u8 = 18;
    let (folder, first, second) = (Folder::new(), free_address(), free_address());
    let old = coordinator(&folder, "old", &first, &format!("--n {N} --method search"));
    let following = follower(&folder, &[&first], "new");
    let worker = format!("worker --coordinator http://{first} --coordinator http://{second} {SLOW}");
    let workers: Vec<Running> =
        ["a", "b"].iter().map(|name| folder.start(&format!("{worker} --name {name}"), name)).collect();
    until("some is copied", || folder.counts("new") > 20);
    old.kill();
    following.terminate();
    assert_eq!(following.end().code, Some(143));
    let not_promoted = folder.run("coordinator --run new --listen 127.0.0.1:0");
    assert_eq!(not_promoted.code, Some(2));
    not_promoted.refused(&["another coordinator", "--run new --take-over"]);
    let new = coordinator(&folder, "new", &second, "--take-over");
    until("the workers are there", || status(&folder, &second)["workers"].as_array().unwrap().len() == 2);
    // The old coordinator comes back, and workers connect to it while the new one is away.
    new.kill();
    let before = files(&folder, "old");
    let stopped = coordinator(&folder, "old", &first, "--stay").end();
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    for words in ["another coordinator serves this run", "term 100", "--take-over"] {
        assert!(stopped.stderr.contains(words), "no {words:?} in {stopped:?}");
    }
    assert!(!stopped.stderr.contains("resume with"), "{stopped:?}");
    let again = folder.run(&format!("coordinator --run old --listen {first}"));
    assert_eq!(again.code, Some(2));
    again.refused(&["--run old --take-over"]);
    let new = coordinator(&folder, "new", &second, "");
    let fast = fast_worker(&folder, &second);
    is_exact(&folder, "new", &new.end(), N);
    for worker in workers.into_iter().chain([fast]) {
        let ended = worker.end();
        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    assert_eq!(files(&folder, "old"), before, "the old one has recorded nothing");
}

#[test]
fn copy_with_more_records_takes_over() {
    const N: u8 = 18;
    let (folder, addresses) = (Folder::new(), [(); 3].map(|()| free_address()));
    let [first, second, third] = &addresses;
    let old = coordinator(&folder, "old", first, &format!("--n {N} --method search"));
    let (b, c) = (follower(&folder, &[first], "b"), follower(&folder, &[first], "c"));
    let counting = folder.start(&format!("worker --coordinator http://{first} {SLOW}"), "first.log");
    until("both have some", || folder.counts("b") > 0 && folder.counts("c") > 0);
    // A folder of another run is no copy, whatever its records and term.
    folder.run("count 12 --run other --quiet");
    folder.run(&format!("follow http://{first} --run other")).refused(&["another run"]);
    b.terminate();
    assert_eq!(b.end().code, Some(143));
    let behind = folder.counts("b");
    until("one has more", || folder.counts("c") > behind + 500);
    old.kill();
    c.terminate();
    assert_eq!(c.end().code, Some(143));
    counting.kill();
    // The operator chooses the shorter copy, and gets an error when the other one follows.
    let wrong = coordinator(&folder, "b", second, "--take-over");
    let urls = [second, third].map(|address| format!("http://{address}")).join(",");
    let worker = folder.start(&format!("worker --coordinator {urls} {SLOW}"), "w.log");
    until("the worker is there", || status(&folder, second)["workers"].as_array().unwrap().len() == 1);
    folder
        .run(&format!("follow http://{second} --run c"))
        .refused(&["If it started from an old run directory"]);
    folder.run(&format!("follow http://{second} --run other")).refused(&["another run"]);
    wrong.terminate();
    assert_eq!(wrong.end().code, Some(143));
    // Both copies have the same coordinator, and take the same term. The worker reports it.
    let stopped = coordinator(&folder, "c", third, "--take-over").end();
    assert!(stopped.code == Some(1) && stopped.stderr.contains("in one term"), "{stopped:?}");
    let right = coordinator(&folder, "c", third, "--take-over");
    // A worker that comes after the end waits for another coordinator.
    until("the worker is there as well", || status(&folder, third)["workers"].as_array().unwrap().len() == 1);
    let fast = fast_worker(&folder, third);
    is_exact(&folder, "c", &right.end(), N);
    for worker in [worker, fast] {
        assert_eq!(worker.end().code, Some(0));
    }
}

#[test]
fn former_coordinators_longer_ledger_is_refused() {
    let (folder, first, second) = (Folder::new(), free_address(), free_address());
    let old = coordinator(&folder, "old", &first, "--n 18 --method search");
    let following = follower(&folder, &[&first], "new");
    let worker =
        folder.start(&format!("worker --coordinator http://{first},http://{second} {SLOW}"), "w.log");
    until("some is copied", || folder.counts("new") > 0);
    following.terminate();
    assert_eq!(following.end().code, Some(143));
    let copied = folder.counts("new");
    until("the old one has more", || folder.counts("old") > copied + 300);
    old.kill();
    let _new = coordinator(&folder, "new", &second, "--take-over");
    until("the new one has recorded something", || terms(&folder, "new").len() == 2);
    assert!(folder.counts("old") > folder.counts("new"));
    folder
        .run(&format!("follow http://{second} --run old"))
        .refused(&["that are not the first of the coordinator's", "move the copy away"]);
    let before = folder.counts("new");
    until("the new one goes on", || folder.counts("new") > before);
    assert_eq!(status(&folder, &second)["trouble"], "");
    worker.kill();
}

#[test]
fn coordinator_takes_over_from_absent_coordinator() {
    const N: u8 = 17;
    let (folder, first, second) = (Folder::new(), free_address(), free_address());
    let old = coordinator(&folder, "old", &first, &format!("--n {N} --method search"));
    let following = follower(&folder, &[&first], "mistaken");
    until("it follows", || fs::read_to_string(&following.log).unwrap_or_default().contains("following"));
    following.terminate();
    assert_eq!(following.end().code, Some(143));
    let mistaken = coordinator(&folder, "mistaken", &second, "--take-over");
    let worker =
        folder.start(&format!("worker --coordinator http://{first},http://{second} {SLOW}"), "w.log");
    until("the worker is there", || status(&folder, &second)["workers"].as_array().unwrap().len() == 1);
    mistaken.kill();
    fs::remove_dir_all(folder.path().join("mistaken")).unwrap();
    let stopped = old.end();
    assert!(stopped.code == Some(1) && stopped.stderr.contains("--take-over"), "{stopped:?}");
    let again = folder.run(&format!("coordinator --run old --listen {first}"));
    assert_eq!(again.code, Some(2));
    again.refused(&["another coordinator", "--take-over"]);
    let told = coordinator(&folder, "old", &first, "--take-over");
    is_exact(&folder, "old", &told.end(), N);
    assert_eq!(worker.end().code, Some(0));
}

#[test]
fn new_worker_joins_the_highest_term() {
    const N: u8 = 13;
    let (folder, first, second) = (Folder::new(), free_address(), free_address());
    let old = coordinator(&folder, "old", &first, &format!("--n {N} --method search --stay"));
    let following = follower(&folder, &[&first], "new");
    until("it follows", || fs::read_to_string(&following.log).unwrap_or_default().contains("following"));
    following.terminate();
    assert_eq!(following.end().code, Some(143));
    let new = coordinator(&folder, "new", &second, "--take-over");
    // Takes connections and answers nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let urls = [silent.local_addr().unwrap().to_string(), first.clone(), second];
    let args = format!("worker --coordinator {} {SLOW}", urls.join(","));
    let (begun, worker) = (std::time::Instant::now(), folder.start(&args, "worker"));
    is_exact(&folder, "new", &new.end(), N);
    assert_eq!(worker.end().code, Some(0));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert_eq!(status(&folder, &first)["done"], 0);
    assert_eq!(files(&folder, "old"), BTreeMap::new(), "nobody has counted for the old one");
    old.terminate();
    assert_eq!(old.end().code, Some(143));
}

#[test]
fn follower_of_ended_coordinator_names_the_takeover() {
    let (folder, address) = (Folder::new(), free_address());
    let running = coordinator(&folder, "run", &address, "--n 17 --method search");
    let following = follower(&folder, &[&address], "copy");
    let worker = folder.start(&format!("worker --coordinator http://{address} {SLOW}"), "w.log");
    until("some is copied", || folder.ledger("copy").contains("\"kind\":\"mark\""));
    following.kill();
    let ended = running.end();
    assert_eq!((ended.code, worker.end().code), (Some(0), Some(0)));
    let again = folder.run(&format!("follow http://{address} --run copy --give-up-after 1s"));
    assert_eq!(again.code, Some(1));
    let last = again.stderr.trim_end().lines().last().unwrap_or_default();
    for words in ["gave up after 1", "not complete", "with --stay"] {
        assert!(last.contains(words), "no {words:?} in {last:?}");
    }
    assert!(last.ends_with("diadem coordinator --run copy --take-over --listen ADDRESS:7227"), "{last}");
    let nothing = folder.run(&format!("follow http://{address} --run none --give-up-after 1s"));
    assert!(nothing.code == Some(1) && !nothing.stderr.contains("--run none"), "{nothing:?}");
    copy(&folder, "run", "whole");
    let whole = folder.run(&format!("follow http://{address} --run whole --give-up-after 1s"));
    assert_eq!(whole.code, Some(0), "{whole:?}");
    assert!(whole.stderr.contains("the copy is complete"), "{whole:?}");
}

#[test]
fn takeover_hint_has_keys_and_no_replicas() {
    let (folder, address) = (Folder::new(), free_address());
    assert_eq!(folder.run("keys init keys --host 127.0.0.1").code, Some(0));
    let running = coordinator(&folder, "run", &address, "--n 17 --keys keys/coordinator --replicas 1");
    let follow = format!("follow https://{address} --keys keys/follower --run copy --give-up-after 1s");
    let following = folder.start(&follow, "copy.log");
    until("some is copied", || folder.ledger("copy").contains("\"kind\":\"mark\""));
    running.kill();
    let ended = following.end();
    let way_on = "diadem coordinator --run copy --take-over --listen ADDRESS:7227 --keys keys/coordinator --replicas 0";
    assert!(ended.code == Some(1) && ended.stderr.trim_end().ends_with(way_on), "{ended:?}");
}

#[test]
fn following_needs_the_follow_token() {
    let (folder, address) = (Folder::new(), free_address());
    assert_eq!(folder.run("keys init keys --host 127.0.0.1").code, Some(0));
    let serve = format!("coordinator --n 12 --run run --listen {address} --keys keys/coordinator --stay");
    let _running = folder.start(&serve, "run.log");
    until("the coordinator listens", || std::net::TcpStream::connect(&address).is_ok());
    let follow = |keys: &str| format!("follow https://{address} --keys keys/{keys} --run copy-{keys}");
    for keys in ["worker", "status"] {
        folder.run(&follow(keys)).refused(&["following needs the follow token"]);
        let name = if keys == "worker" { "join.token" } else { "status.token" };
        let token = fs::read_to_string(folder.path().join("keys").join(keys).join(name)).unwrap();
        let mut command = folder.diadem(&follow(keys));
        let refused = Completed::of(command.env("DIADEM_FOLLOW_TOKEN", token.trim()).output().unwrap());
        refused.refused(&["following needs the follow token"]);
        assert!(!folder.path().join(format!("copy-{keys}/lease.key")).exists());
    }
    let worker = format!("worker --coordinator https://{address} --keys keys/worker --threads 1");
    assert_eq!(folder.run(&worker).code, Some(0));
    for keys in ["follower", "admin"] {
        assert_eq!(folder.run(&follow(keys)).code, Some(0));
        assert_eq!(files(&folder, "run"), files(&folder, &format!("copy-{keys}")));
    }
}

#[test]
fn takeover_is_foreseen_and_undone() {
    const N: u8 = 17;
    let (folder, first, second) = (Folder::new(), free_address(), free_address());
    let old = coordinator(&folder, "old", &first, &format!("--n {N} --method search"));
    let following = follower(&folder, &[&first], "new");
    let worker = folder.start(&format!("worker --coordinator http://{first} {SLOW}"), "w.log");
    until("some is copied", || folder.counts("new") > 20);
    let foresee = || folder.run("coordinator --run new --take-over --dry-run");
    let busy = foresee();
    assert!(busy.stdout.contains(&format!("process {} writes in new", following.pid())), "{busy:?}");
    [old, worker].into_iter().for_each(Running::kill);
    following.terminate();
    assert_eq!(following.end().code, Some(143));
    let before = folder.contents("new");
    let foreseen = foresee();
    assert_eq!(foreseen.code, Some(0), "{foreseen:?}");
    assert_eq!(folder.contents("new"), before);
    let counted = format!("{} counted units; the last count: 20", folder.counts("new"));
    for words in [
        "new, a follower's copy",
        "term: 1 -> 1000001",
        &counted,
        "waits for no follower",
        "to undo: stop this",
    ] {
        assert!(foreseen.stdout.contains(words), "{words}: {foreseen:?}");
    }
    folder.run("coordinator --run new --dry-run").refused(&["--take-over"]);
    folder.run("coordinator --run nowhere --take-over --dry-run").refused(&["no run in nowhere"]);
    // It happens as foreseen.
    let new = coordinator(&folder, "new", &second, "--take-over");
    assert_eq!(status(&folder, &second)["term"], 1_000_001);
    assert!(new.says("to undo: stop this coordinator"));
    new.terminate();
    assert_eq!(new.end().code, Some(143));
    // The way back that it has printed.
    let undone = coordinator(&folder, "old", &first, "--take-over");
    let fast = fast_worker(&folder, &first);
    is_exact(&folder, "old", &undone.end(), N);
    assert_eq!(fast.end().code, Some(0));
}

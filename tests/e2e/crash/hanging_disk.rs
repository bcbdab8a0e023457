//! A hanging disk. At the end of a run the process ends without the disk and loses nothing. During an audit
//! the process reports the hang until the disk answers.

use std::fs;
use std::time::{Duration, Instant};

use crate::harness::{Folder, Running, in_time, published, stays, until};
use crate::held_file::HeldFile;
use crate::relay::Relay;

const HANG_REPORTED: &str = "waiting for the disk of the run, which does not answer";
const HANGS: &str =
    "diadem: ended without the disk of the run, which does not answer; nothing that was acknowledged is lost";

/// The file that stands for the disk.
const LEDGER: &str = "run/ledger/000001.jsonl";

/// Slow enough that it is not over before the disk hangs.
const COUNT: &str = "count 17 --run run --method search --isa portable --threads 1 --quiet";

/// A run that has been begun, with some counts on record.
fn begun() -> Folder {
    let folder = Folder::new();
    let count = folder.start(COUNT, "begun.log");
    until("something is on record", || folder.counts("run") > 0);
    count.terminate();
    assert_eq!(count.end().code, Some(143));
    folder
}

/// A count that hangs in its disk, was asked to end, and has reported the hang.
fn hanging_count(folder: &Folder) -> Option<(HeldFile, Running)> {
    let disk = HeldFile::against_writers(folder, LEDGER)?;
    let count = folder.start(COUNT, "count.log");
    disk.is_waited_for();
    count.terminate();
    until("it says what it waits for", || count.says(HANG_REPORTED));
    Some((disk, count))
}

#[track_caller]
fn ends_exact(folder: &Folder, disk: HeldFile) {
    drop(disk);
    let answer = folder.run("count 17 --run run --json").json();
    assert_eq!(answer["total"], published(17));
    assert_eq!(folder.counts("run") as u64, answer["units"].as_u64().unwrap(), "one record for each unit");
}

#[test]
fn signalled_count_ends_despite_hanging_disk() {
    let folder = begun();
    let begun = Instant::now();
    let Some((disk, count)) = hanging_count(&folder) else { return };
    let ended = count.end();
    in_time(Duration::from_secs(25), begun);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(HANGS), "{ended:?}");
    ends_exact(&folder, disk);
}

#[test]
fn second_signal_ends_count_after_disk_report() {
    let folder = begun();
    let Some((disk, count)) = hanging_count(&folder) else { return };
    let asked = Instant::now();
    count.terminate();
    let ended = count.end();
    in_time(Duration::from_secs(3), asked);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(HANGS), "{ended:?}");
    ends_exact(&folder, disk);
}

#[test]
fn second_signal_ends_count_before_disk_report() {
    let folder = begun();
    let Some(disk) = HeldFile::against_writers(&folder, LEDGER) else { return };
    let mut count = folder.start(COUNT, "count.log");
    disk.is_waited_for();
    count.terminate();
    stays(Duration::from_millis(500), "it waits for its disk", || !count.has_ended());
    count.terminate();
    let asked = Instant::now();
    let ended = count.end();
    in_time(Duration::from_secs(3), asked);
    assert!(ended.code == Some(143) && !ended.stderr.contains(HANG_REPORTED), "{ended:?}");
    ends_exact(&folder, disk);
}

#[test]
fn recovered_disk_has_all_records_at_the_end() {
    let folder = begun();
    let before = folder.ledger("run").len();
    let Some((disk, count)) = hanging_count(&folder) else { return };
    drop(disk);
    let ended = count.end();
    assert_eq!(ended.code, Some(143), "{ended:?}");
    assert!(folder.ledger("run").len() > before, "what waited for the disk is on it");
}

#[test]
fn coordinator_with_hanging_disk_loses_nothing() {
    let folder = begun();
    let Some(disk) = HeldFile::against_writers(&folder, LEDGER) else { return };
    let (coordinator, address) = folder.serve("coordinator --run run --json", "coordinator.log");
    let relay = Relay::to(&address);
    let work = format!("worker --coordinator http://{} --threads 1", relay.address);
    let worker = folder.start(&work, "worker.log");
    disk.is_waited_for();
    coordinator.terminate();
    until("it says what it waits for", || coordinator.says(HANG_REPORTED));
    coordinator.terminate();
    let ended = coordinator.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(HANGS), "{ended:?}");
    relay.nothing_is_lost(&folder, "run");
    drop(disk);
    let again = folder.serve_at(&address, "coordinator --run run --json", "coordinator.log");
    let answer = again.end().json();
    assert_eq!(answer["total"], published(17));
    assert!(relay.nothing_is_lost(&folder, "run") > 0);
    assert_eq!(worker.end().code, Some(0));
}

const UNREAD: &str = "the audit has read nothing for ten seconds";

/// Cuts the ledger in two behind its first mark, and has a checkpoint speak for both: then audits alone open the first file.
fn cut_in_two(folder: &Folder) {
    let path = folder.path().join(LEDGER);
    let whole = fs::read_to_string(&path).unwrap();
    let mark = whole.find("{\"kind\":\"mark\"").unwrap();
    let (first, second) = whole.split_at(mark + whole[mark..].find('\n').unwrap() + 1);
    assert!(second.contains("{\"kind\":\"mark\""));
    fs::write(&path, first).unwrap();
    fs::write(path.with_file_name("000002.jsonl"), second).unwrap();
    fs::remove_dir_all(folder.path().join("run/checkpoint")).unwrap();
    let (coordinator, _) = folder.serve("coordinator --run run", "cut.log");
    coordinator.terminate();
    coordinator.end();
}

/// A coordinator whose audit hung in this phase, was reported, and has resumed; with its address.
fn coordinator_after_hanging_audit(folder: &Folder, phase: &str) -> Option<(Running, String)> {
    cut_in_two(folder);
    let disk = HeldFile::against_all(folder, LEDGER)?;
    let (coordinator, address) = folder.serve("coordinator --run run --json", "late.log");
    disk.is_waited_for();
    let status = || folder.run(&format!("status --coordinator http://{address} --json"));
    let is_told = || status().stdout.contains(UNREAD);
    until("it is told, unless the kernel was sooner", || is_told() || !disk.is_still_waited_for());
    if !disk.is_still_waited_for() {
        eprintln!("skipped: the kernel breaks leases too soon");
        return None;
    }
    assert_eq!(status().json()["phase"], phase);
    until("it logs it too", || coordinator.says(UNREAD));
    drop(disk);
    Some((coordinator, address))
}

#[test]
fn hanging_final_audit_is_reported_and_answer_follows() {
    let folder = Folder::new();
    folder.run("count 9 --run run --quiet");
    let Some((coordinator, _)) = coordinator_after_hanging_audit(&folder, "auditing") else { return };
    let ended = coordinator.end();
    assert_eq!(ended.json()["total"], published(9), "{ended:?}");
    assert_eq!(ended.stderr.matches(UNREAD).count(), 1, "{ended:?}");
}

#[test]
fn hanging_audit_is_reported_until_it_resumes() {
    let folder = begun();
    let before = folder.counts("run");
    let count = folder.start(COUNT, "more.log");
    until("more is on record", || folder.counts("run") > before);
    count.terminate();
    count.end();
    let Some((coordinator, address)) = coordinator_after_hanging_audit(&folder, "counting") else { return };
    until("it is told no longer", || {
        let status = folder.run(&format!("status --coordinator http://{address} --json")).json();
        status["trouble"] == "" && status["phase"] == "counting"
    });
    until("the ledger is read", || coordinator.says("the audit found the whole ledger sound"));
    coordinator.terminate();
    let ended = coordinator.end();
    assert_eq!(ended.stderr.matches(UNREAD).count(), 1, "{ended:?}");
}

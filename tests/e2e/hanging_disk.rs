//! A disk that hangs as the run is to end: what stands in it ends all the same, and loses nothing.

use std::time::{Duration, Instant};

use crate::harness::{Folder, Running, free_address, in_time, published, until};
use crate::held_file::HeldFile;
use crate::relay::Relay;

const SAID: &str = "waiting for the disk of the run, which does not answer";
const HANGS: &str =
    "diadem: ended without the disk of the run, which does not answer; nothing that was acknowledged is lost";

/// What stands for the disk.
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

/// A count of it that stands in its disk, asked to end, and that has said so.
fn standing(folder: &Folder) -> Option<(HeldFile, Running)> {
    let disk = HeldFile::against_writers(folder, LEDGER)?;
    let count = folder.start(COUNT, "count.log");
    disk.is_waited_for();
    count.terminate();
    until("it says what it waits for", || count.says(SAID));
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
fn a_count_whose_disk_hangs_ends_by_itself_where_it_was_asked_to_end() {
    let folder = begun();
    let begun = Instant::now();
    let Some((disk, count)) = standing(&folder) else { return };
    let ended = count.end();
    in_time(Duration::from_secs(25), begun);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(HANGS), "{ended:?}");
    ends_exact(&folder, disk);
}

#[test]
fn a_second_signal_ends_at_once_what_waits_for_its_disk() {
    let folder = begun();
    let Some((disk, count)) = standing(&folder) else { return };
    let asked = Instant::now();
    count.terminate();
    let ended = count.end();
    in_time(Duration::from_secs(3), asked);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(HANGS), "{ended:?}");
    ends_exact(&folder, disk);
}

#[test]
fn a_disk_that_answers_again_has_everything_when_the_count_ends() {
    let folder = begun();
    let before = folder.ledger("run").len();
    let Some((disk, count)) = standing(&folder) else { return };
    drop(disk);
    let ended = count.end();
    assert_eq!(ended.code, Some(143), "{ended:?}");
    assert!(folder.ledger("run").len() > before, "what waited for the disk is on it");
}

#[test]
fn a_coordinator_whose_disk_hangs_ends_and_loses_nothing_acknowledged() {
    let (folder, address) = (begun(), free_address());
    let Some(disk) = HeldFile::against_writers(&folder, LEDGER) else { return };
    let serve = format!("coordinator --run run --listen {address} --json");
    let coordinator = folder.start(&serve, "coordinator.log");
    let relay = Relay::to(&address);
    let work = format!("worker --coordinator http://{} --threads 1", relay.address);
    let worker = folder.start(&work, "worker.log");
    disk.is_waited_for();
    coordinator.terminate();
    until("it says what it waits for", || coordinator.says(SAID));
    coordinator.terminate();
    let ended = coordinator.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.stderr.lines().last(), Some(HANGS), "{ended:?}");
    relay.nothing_is_lost(&folder, "run");
    drop(disk);
    let answer = folder.start(&serve, "coordinator.log").end().json();
    assert_eq!(answer["total"], published(17));
    assert!(relay.nothing_is_lost(&folder, "run") > 0);
    assert_eq!(worker.end().code, Some(0));
}

//! The writer stopped, failed and cut off from power at every one of its steps.

#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use tempfile::TempDir;

use super::tests::record;
use std::fs;
use std::io;
use std::path::Path;

use super::*;
use crate::testing::{Fault, FaultyDisk};

const FULL: i32 = 28;
const READ_ONLY: i32 = 30;
const BROKEN: i32 = 5;

/// So small that most groups begin a file.
const FILE_SIZE: u64 = 600;

fn run_hash() -> LineHash {
    LineHash::of(b"a run")
}

/// The units of the groups that are committed one after the other.
fn groups() -> Vec<std::ops::Range<u64>> {
    vec![0..1, 1..4, 4..6, 6..7, 7..12, 12..13, 13..15]
}

fn records(group: &std::ops::Range<u64>) -> Vec<Record> {
    group.clone().map(record).collect()
}

fn writer(folder: &Path, disk: &FaultyDisk, end: LedgerPosition) -> Writer {
    Writer::on(Box::new(disk.clone()), folder, end).with_file_size(FILE_SIZE)
}

fn units(folder: &Path) -> (Vec<u64>, Tail) {
    let mut units = Vec::new();
    let tail = read(folder, &LedgerPosition::beginning(run_hash()), None, |_, record, _| {
        match record {
            Record::Count(r) => units.push(r.unit.0),
            Record::Mark(_) => {}
            _ => return Err(io::Error::other("another record")),
        }
        Ok(())
    });
    (units, tail.unwrap())
}

/// Commits the groups from `first` on, each as often as it takes; gives up after ten failures of one.
fn commit_all(writer: &mut Writer, first: usize) -> usize {
    for (number, group) in groups().iter().enumerate().skip(first) {
        if (0..10).all(|_| writer.commit(&records(group), Duration::from_secs(1), 1).is_err()) {
            return number;
        }
    }
    groups().len()
}

/// How many steps it takes when nothing fails.
fn steps() -> u64 {
    let (folder, disk) = (TempDir::new().unwrap(), FaultyDisk::default());
    let mut writer = writer(folder.path(), &disk, LedgerPosition::beginning(run_hash()));
    assert_eq!(commit_all(&mut writer, 0), groups().len());
    disk.steps()
}

/// Writes with these faults and an optional power cut, checks the remaining data, then continues to the end.
fn survives(faults: &[(u64, Fault)], power_cut: Option<u64>) {
    let what = format!("{faults:?}, power cut {power_cut:?}");
    let (folder, disk) = (TempDir::new().unwrap(), FaultyDisk::with_faults(faults));
    let mut failing = writer(folder.path(), &disk, LedgerPosition::beginning(run_hash()));
    let acknowledged = commit_all(&mut failing, 0);
    if let Some(seed) = power_cut {
        disk.cut_power(&mut StdRng::seed_from_u64(seed));
    }
    let (found, tail) = units(folder.path());
    let end_of = |groups_done: usize| groups()[..groups_done].last().map_or(0, |group| group.end);
    let expected: Vec<u64> = (0..found.len() as u64).collect();
    assert_eq!(found, expected, "{what}");
    let complete = (acknowledged..=groups().len()).find(|done| end_of(*done) == found.len() as u64);
    let complete = complete.unwrap_or_else(|| panic!("{what}: {acknowledged} groups, {found:?}"));
    assert!(complete <= acknowledged + 1, "{what}: a group that nobody asked for");
    let mut writer = writer(folder.path(), &FaultyDisk::default(), tail.end);
    assert_eq!(commit_all(&mut writer, complete), groups().len(), "{what}");
    let (found, tail) = units(folder.path());
    assert_eq!((found, tail.bytes), ((0..15).collect(), 0), "{what}");
    assert_eq!(tail.end, *writer.end(), "{what}");
}

#[test]
fn a_crash_at_any_step_loses_nothing_acknowledged() {
    for step in 0..steps() {
        survives(&[(step, Fault::Crash)], None);
    }
}

#[test]
fn a_power_cut_at_any_step_loses_nothing_acknowledged() {
    for step in 0..=steps() {
        for seed in 0..12 {
            survives(&[(step, Fault::Crash)], Some(seed));
        }
    }
}

#[test]
fn temporary_disk_failure_loses_nothing() {
    for step in 0..steps() {
        for errno in [FULL, READ_ONLY, BROKEN] {
            for steps in 1..=4 {
                survives(&[(step, Fault::Error { errno, steps })], None);
            }
        }
        survives(&[(step, Fault::Short { errno: FULL })], None);
    }
}

#[test]
fn power_cut_after_failed_step_loses_no_acknowledged() {
    for step in 0..steps() {
        for fault in [Fault::Error { errno: BROKEN, steps: 1 }, Fault::Short { errno: FULL }] {
            for later in 1..=9 {
                for seed in 0..2 {
                    survives(&[(step, fault), (step + later, Fault::Crash)], Some(seed));
                }
            }
        }
    }
}

#[test]
fn failed_group_is_cut_off_before_next_write() {
    let folder = TempDir::new().unwrap();
    // Steps: open, cut, sync, sync of the folder, append, sync, append of the mark, sync of the mark.
    let disk = FaultyDisk::with_faults(&[(7, Fault::Error { errno: BROKEN, steps: 1 })]);
    let mut writer = writer(folder.path(), &disk, LedgerPosition::beginning(run_hash()));
    let error = writer.commit(&records(&(0..5)), Duration::from_secs(1), 1).unwrap_err();
    assert!(error.to_string().starts_with("cannot sync "), "{error}");
    assert_eq!(*writer.end(), LedgerPosition::beginning(run_hash()), "nothing has changed");
    assert_eq!(units(folder.path()).0.len(), 5, "all of it is there, and nobody knows");
    writer.commit(&records(&(8..9)), Duration::from_secs(1), 1).unwrap();
    assert_eq!(units(folder.path()).0, [8], "another group may follow");
}

/// A change of the file by another program, its reversal, and the words of the error.
type Meddling = (fn(&Path), fn(&Path, &[u8]), &'static str);

fn append(path: &Path) {
    let bytes = [fs::read(path).unwrap(), vec![b'?'; 2000]].concat();
    fs::write(path, bytes).unwrap();
}

fn replace(path: &Path) {
    let len = fs::read(path).unwrap().len();
    fs::rename(path, path.with_extension("away")).unwrap();
    fs::write(path, vec![b'x'; len]).unwrap();
}

fn move_back(path: &Path, _: &[u8]) {
    fs::rename(path.with_extension("away"), path).unwrap();
}

const MEDDLINGS: [Meddling; 6] = [
    (replace, move_back, "was replaced by another one"),
    (|path| fs::rename(path, path.with_extension("away")).unwrap(), move_back, "was removed"),
    (|path| fs::remove_file(path).unwrap(), |path, whole| fs::write(path, whole).unwrap(), "was removed"),
    (
        |path| fs::write(path, "").unwrap(),
        |path, whole| fs::write(path, whole).unwrap(),
        "has 0 bytes instead of",
    ),
    (append, |path, whole| fs::write(path, whole).unwrap(), "another process wrote to it"),
    (
        |path| fs::write(path.with_file_name("000002.jsonl"), "x").unwrap(),
        |path, _| fs::remove_file(path.with_file_name("000002.jsonl")).unwrap(),
        "000002.jsonl was put there by another process",
    ),
];

#[test]
#[cfg_attr(windows, ignore = "nobody replaces a file that is open")]
fn changed_ledger_file_is_refused_until_restored() {
    for (meddle, undo, words) in MEDDLINGS {
        for fails_before in [false, true] {
            let folder = TempDir::new().unwrap();
            let faults = [(8, Fault::Short { errno: FULL })];
            let disk = FaultyDisk::with_faults(if fails_before { &faults } else { &[] });
            let mut writer = Writer::on(Box::new(disk), folder.path(), LedgerPosition::beginning(run_hash()));
            let mut commit = |units| writer.commit(&records(&units), Duration::from_secs(1), 1);
            commit(0..3).unwrap();
            let path = file_path(folder.path(), 1);
            let whole = fs::read(&path).unwrap();
            // An earlier failure of the writer leaves a part of the group behind the end.
            assert_eq!(commit(3..5).is_err(), fails_before);
            let whole = if fails_before { whole } else { fs::read(&path).unwrap() };
            meddle(&path);
            for _ in 0..3 {
                let error = commit(5..6).unwrap_err().to_string();
                assert!(error.contains(words), "{error}");
            }
            undo(&path, &whole);
            commit(5..6).unwrap();
            let expected: &[u64] = if fails_before { &[0, 1, 2, 5] } else { &[0, 1, 2, 3, 4, 5] };
            assert_eq!(units(folder.path()).0, expected, "{words}");
        }
    }
}

#[test]
#[cfg_attr(windows, ignore = "nobody replaces a file that is open")]
fn file_changed_before_first_group_is_refused() {
    let change: [fn(&Path); 3] =
        [replace, |path| fs::remove_file(path).unwrap(), |path| fs::write(path, "").unwrap()];
    for meddle in change {
        let (folder, disk) = (TempDir::new().unwrap(), FaultyDisk::default());
        let mut first = writer(folder.path(), &disk, LedgerPosition::beginning(run_hash()));
        first.commit(&records(&(0..3)), Duration::from_secs(1), 1).unwrap();
        let path = file_path(folder.path(), 1);
        let whole = fs::read(&path).unwrap();
        let mut next = Writer::new(folder.path(), first.end().clone());
        meddle(&path);
        let changed = fs::read(&path).ok();
        let refused = next.commit(&records(&(3..4)), Duration::from_secs(1), 1);
        assert!(matches!(refused, Err(LedgerError::Changed { .. })), "{refused:?}");
        assert_eq!(fs::read(&path).ok(), changed, "nothing was touched");
        fs::write(&path, &whole).unwrap();
        next.commit(&records(&(3..4)), Duration::from_secs(1), 1).unwrap();
        assert_eq!(units(folder.path()).0, [0, 1, 2, 3]);
    }
}

#[test]
#[cfg(unix)]
fn ledger_and_cut_tail_are_not_written_through_links() {
    let (folder, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut first = Writer::new(folder.path(), LedgerPosition::beginning(run_hash()));
    first.commit(&records(&(0..3)), Duration::from_secs(1), 1).unwrap();
    let path = file_path(folder.path(), 1);
    fs::write(&path, [&fs::read(&path).unwrap()[..], b"{"].concat()).unwrap();
    let (other, kept) = (elsewhere.path().join("other"), folder.path().join("cut-000001.jsonl-7000.tail"));
    fs::write(&other, "of somebody").unwrap();
    symlink(&other, &kept).unwrap();
    let mut next = Writer::new(folder.path(), first.end().clone()).opened_at(Duration::from_secs(7));
    next.commit(&records(&(3..4)), Duration::from_secs(1), 1).unwrap();
    assert_eq!((fs::read(&kept).unwrap(), fs::read(&other).unwrap()), (b"{".into(), b"of somebody".into()));
    let (moved, whole) = (elsewhere.path().join("moved"), fs::read(&path).unwrap());
    fs::rename(&path, &moved).unwrap();
    symlink(&moved, &path).unwrap();
    let mut linked = Writer::new(folder.path(), next.end().clone());
    let refused = linked.commit(&records(&(4..5)), Duration::from_secs(1), 1).unwrap_err().to_string();
    assert!(refused.contains("000001.jsonl: it is a link"), "{refused}");
    assert_eq!(fs::read(&moved).unwrap(), whole);
}

#[test]
fn cut_tail_is_kept_whichever_step_fails() {
    let (folder, disk) = (TempDir::new().unwrap(), FaultyDisk::default());
    let mut first = writer(folder.path(), &disk, LedgerPosition::beginning(run_hash()));
    first.commit(&records(&(0..3)), Duration::from_secs(1), 1).unwrap();
    let (end, path) = (first.end().clone(), file_path(folder.path(), 1));
    let (whole, tail) = (fs::read(&path).unwrap(), b"{\"kind\":\"count\",\"unit\":3,");
    let kept = folder.path().join("cut-000001.jsonl-7000.tail");
    let later_kept = folder.path().join("cut-000002.jsonl-7000.tail");
    for step in 0..12 {
        fs::write(&path, [&whole[..], tail].concat()).unwrap();
        fs::write(file_path(folder.path(), 2), "more").unwrap();
        let disk = FaultyDisk::with_faults(&[(step, Fault::Crash)]);
        let mut failing = Writer::on(Box::new(disk), folder.path(), end.clone());
        failing = failing.opened_at(Duration::from_secs(7));
        let failed = failing.commit(&records(&(3..4)), Duration::from_secs(1), 1).is_err();
        assert_eq!(failed, step < 11, "step {step}");
        let is_there = fs::read(&path).unwrap().ends_with(tail);
        assert!(is_there || fs::read(&kept).unwrap() == tail, "step {step}");
        let is_there = file_path(folder.path(), 2).exists();
        assert!(is_there || fs::read(&later_kept).unwrap() == b"more", "step {step}");
        assert!(is_there || step > 1, "there is no room for the copy, and nothing is changed");
        fs::remove_file(&kept).ok();
        fs::remove_file(&later_kept).ok();
    }
}

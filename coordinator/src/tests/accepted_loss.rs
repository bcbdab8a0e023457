//! A loss that is accepted is accepted for good before the run goes on, or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use crate::clock::SetClock;
use crate::ledger::LedgerError;
use crate::ledger::faulty_disk::{Fault, FaultyDisk};
use crate::shard::Shard;
use crate::standing::Standing;
use crate::store::{NoCheckpoint, Notice, OpenOptions, Store, StoreError};
use crate::tests::known_run;

const FULL: Fault = Fault::Error { errno: 28, steps: 1 };

/// The files of the ledger, and beside it.
fn files(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(run.join("ledger")).unwrap().map(Result::unwrap);
    let named =
        |file: fs::DirEntry| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap());
    entries.map(named).collect()
}

/// A run with two counts, of which a checkpoint knows the first, and its ledger ends in a line that no interrupted write leaves.
fn damaged() -> (TempDir, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    let (mut store, mut standing, _) = Store::open(known_run::options(folder.path())).unwrap();
    for unit in 0..2 {
        let record = known_run::record(unit);
        store.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
        standing.apply(&known_run::plan(), Shard::default(), &record).unwrap();
        if unit == 0 {
            store.save(&standing).unwrap();
        }
    }
    drop(store);
    let mut files = files(folder.path());
    let sound = files.remove("000001.jsonl").unwrap();
    let path = folder.path().join("ledger/000001.jsonl");
    fs::write(path, [&sound[..], b"{\"kind\":\"count\"}\n"].concat()).unwrap();
    (folder, sound)
}

/// Opens the run, and has it settled as whoever goes on with it does.
fn open(
    run: &Path,
    disk: FaultyDisk,
    accept_loss: bool,
) -> Result<(Store, Standing, Vec<Notice>), StoreError> {
    let options = OpenOptions { accept_loss, ..known_run::options(run) };
    let (mut store, standing, notices) =
        Store::open_on(Box::new(disk), Arc::new(SetClock::default()), options)?;
    store.settle(&standing)?;
    Ok((store, standing, notices))
}

fn open_plainly(run: &Path) -> Result<(Store, Standing, Vec<Notice>), StoreError> {
    open(run, FaultyDisk::default(), false)
}

#[test]
fn a_loss_is_accepted_once_though_nothing_is_recorded_after_it() {
    let (folder, sound) = damaged();
    let before = files(folder.path());
    let refused = open_plainly(folder.path());
    assert!(matches!(refused, Err(StoreError::Ledger(LedgerError::DamagedEnd { .. }))));
    assert_eq!(files(folder.path()), before, "nothing was touched");
    drop(open(folder.path(), FaultyDisk::default(), true).unwrap());
    let after = files(folder.path());
    assert_eq!(after["000001.jsonl"], sound);
    assert_eq!(after["cut-000001.jsonl-0.tail"], b"{\"kind\":\"count\"}\n");
    let (mut store, standing, notices) = open_plainly(folder.path()).unwrap();
    assert!(notices.is_empty() && standing.done() == 2, "{notices:?}");
    store.commit(&[known_run::record(2)], Duration::ZERO, 1).unwrap();
    drop(store);
    assert_eq!(open_plainly(folder.path()).unwrap().1.done(), 3);
}

#[test]
fn a_file_that_was_renamed_is_given_up_once_though_nothing_is_recorded_after_it() {
    let (folder, sound) = damaged();
    let path = folder.path().join("ledger/000001.jsonl");
    fs::write(&path, &sound).unwrap();
    fs::rename(&path, path.with_extension("jsonl.1")).unwrap();
    let refused = open_plainly(folder.path());
    assert!(matches!(refused, Err(StoreError::Ledger(LedgerError::Missing { .. }))));
    assert!(!path.exists(), "nothing was touched");
    let (_, standing, notices) = open(folder.path(), FaultyDisk::default(), true).unwrap();
    assert!(notices.len() == 1 && standing.done() == 0, "{notices:?}");
    let (mut store, standing, notices) = open_plainly(folder.path()).unwrap();
    let rebuilt = [Notice::CheckpointRebuilt { why: NoCheckpoint::Missing }];
    assert_eq!(format!("{notices:?}"), format!("{rebuilt:?}"));
    assert_eq!(standing.done(), 0);
    store.commit(&[known_run::record(2)], Duration::ZERO, 1).unwrap();
    drop(store);
    assert_eq!(open_plainly(folder.path()).unwrap().1.done(), 1);
    assert_eq!(files(folder.path())["000001.jsonl.1"], sound);
}

#[test]
fn a_loss_is_not_accepted_where_the_run_does_not_go_on() {
    let (folder, sound) = damaged();
    let before = files(folder.path());
    let open = || Store::open(OpenOptions { accept_loss: true, ..known_run::options(folder.path()) });
    drop(open().unwrap());
    assert_eq!(files(folder.path()), before);
    // A ledger that lacks what its checkpoint knows.
    let path = folder.path().join("ledger/000001.jsonl");
    fs::write(&path, &sound[..sound.len() / 4]).unwrap();
    let before = files(folder.path());
    let (_, _, notices) = open().unwrap();
    assert!(notices.iter().any(|notice| matches!(notice, Notice::LossAccepted { .. })), "{notices:?}");
    assert!(files(folder.path()) == before && folder.path().join("checkpoint").exists());
    let refused = open_plainly(folder.path());
    assert!(matches!(refused, Err(StoreError::Ledger(LedgerError::Lost { .. }))));
}

#[test]
fn a_loss_that_is_accepted_while_a_step_fails_leaves_what_can_be_started_again() {
    let mut steps = 0;
    for fault in [FULL, Fault::Crash] {
        for step in 0.. {
            let (folder, sound) = damaged();
            let before = files(folder.path());
            let failed = open(folder.path(), FaultyDisk::with_faults(&[(step, fault)]), true).err();
            let Some(failed) = failed else { break };
            let what = format!("{fault:?} at step {step}: {failed}");
            let after = files(folder.path());
            assert!(matches!(failed, StoreError::Ledger(LedgerError::Io { .. })), "{what}");
            // The first two open the file and copy what is to be cut off.
            assert!(step > 1 || after == before, "{what}");
            let kept = after.get("cut-000001.jsonl-0.tail").map_or(&[][..], |kept| kept);
            let is_there = after["000001.jsonl"] == before["000001.jsonl"];
            assert!(is_there || [&sound[..], kept].concat() == before["000001.jsonl"], "{what}");
            assert!(after["000001.jsonl"].starts_with(&sound), "{what}");
            drop(open(folder.path(), FaultyDisk::default(), true).unwrap());
            assert_eq!(open_plainly(folder.path()).unwrap().1.done(), 2, "{what}");
            let kept = &files(folder.path())["cut-000001.jsonl-0.tail"];
            assert_eq!([&sound[..], kept].concat(), before["000001.jsonl"], "{what}");
            steps += 1;
        }
    }
    assert_eq!(steps, 12, "six steps, with either fault");
}

#[test]
fn a_flag_that_finds_nothing_to_accept_touches_nothing() {
    let folder = TempDir::new().unwrap();
    let disk = FaultyDisk::default();
    let (store, ..) = open(folder.path(), disk.clone(), true).unwrap();
    drop(store);
    assert_eq!((disk.steps(), files(folder.path()).len()), (0, 0));
}

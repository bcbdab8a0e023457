//! An accepted loss becomes permanent before the run resumes, or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::ledger::{LedgerError, Writer};
use crate::shard::Shard;
use crate::standing::Standing;
use crate::store::{Notice, OpenOptions, Store, StoreError};
use crate::testing::{Fault, FaultyDisk, SetClock, known_run};
use tempfile::TempDir;

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

/// Opens the run, and makes the changes on disk as a resuming process does.
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
fn accepted_loss_persists_without_further_record() {
    let (folder, sound) = damaged();
    let before = files(folder.path());
    let refused = open_plainly(folder.path());
    assert!(matches!(refused, Err(StoreError::Ledger(LedgerError::Damaged { rest: Some(_), .. }))));
    assert_eq!(files(folder.path()), before, "nothing was touched");
    drop(open(folder.path(), FaultyDisk::default(), true).unwrap());
    let after = files(folder.path());
    let loss = after["000001.jsonl"].strip_prefix(&sound[..]).unwrap();
    assert!(loss.starts_with(b"{\"kind\":\"loss\",\"records\":1,\"bytes\":17,\"files\":0,"));
    assert_eq!(after["cut-000001.jsonl-0.tail"], b"{\"kind\":\"count\"}\n");
    let (mut store, standing, notices) = open_plainly(folder.path()).unwrap();
    assert!(notices.is_empty() && standing.done() == 2, "{notices:?}");
    store.commit(&[known_run::record(2)], Duration::ZERO, 1).unwrap();
    drop(store);
    assert_eq!(open_plainly(folder.path()).unwrap().1.done(), 3);
}

/// The files that these notices say are given up, and the names under which they are kept.
fn given_up(notices: &[Notice]) -> Vec<(String, String)> {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let told = |notice: &Notice| match notice {
        Notice::FileGivenUp { path, kept } => Some((name(path), name(kept))),
        _ => None,
    };
    notices.iter().filter_map(told).collect()
}

#[test]
fn renamed_files_are_given_up_once_and_kept() {
    const FIRST: &str = "000001.jsonl";
    // The files beside a sound first file, or the first file itself, and the number of units left.
    let cases: [(&[&str], u64); 4] = [
        (&["000001.jsonl.1"], 0),
        (&["000001.jsonl.1", "000002.jsonl.1", "000004.jsonl.1"], 0),
        (&["000002.jsonl.gz"], 2),
        (&["000002.jsonl-20261127", "old-000003.jsonl"], 2),
    ];
    for ((renamed, left), has_checkpoint) in cases.into_iter().flat_map(|case| [(case, true), (case, false)])
    {
        let (folder, sound) = damaged();
        let ledger = folder.path().join("ledger");
        fs::write(ledger.join(FIRST), &sound).unwrap();
        if left == 0 {
            fs::rename(ledger.join(FIRST), ledger.join(renamed[0])).unwrap();
        }
        for (name, n) in renamed.iter().zip(0_u8..) {
            if !ledger.join(name).exists() {
                fs::write(ledger.join(name), [n; 9]).unwrap();
            }
        }
        // It may be a copy of an existing file, or of no file.
        fs::write(ledger.join("000000.jsonl.1"), "").unwrap();
        if !has_checkpoint {
            fs::remove_dir_all(folder.path().join("checkpoint")).unwrap();
        }
        let before = files(folder.path());
        let refused = open_plainly(folder.path()).err();
        let is_missing = |error: &LedgerError| match error {
            LedgerError::Missing { .. } => true,
            LedgerError::Lost { .. } => has_checkpoint,
            _ => false,
        };
        assert!(matches!(&refused, Some(StoreError::Ledger(error)) if is_missing(error)), "{refused:?}");
        assert_eq!(files(folder.path()), before, "nothing was touched");
        let (_, standing, notices) = open(folder.path(), FaultyDisk::default(), true).unwrap();
        let named = |name: &&str| ((*name).to_owned(), format!("cut-{name}-0.tail"));
        let kept = renamed.iter().map(named).collect::<Vec<_>>();
        assert_eq!((given_up(&notices), standing.done()), (kept.clone(), left), "{notices:?}");
        let after = files(folder.path());
        assert!(kept.iter().all(|(name, kept)| after[kept] == before[name]), "{:?}", after.keys());
        assert_eq!(after.len(), renamed.len() + 2, "{:?}", after.keys());
        let (mut store, standing, notices) = open_plainly(folder.path()).unwrap();
        assert!(notices.is_empty() && standing.done() == left, "{notices:?}");
        store.commit(&[known_run::record(2)], Duration::ZERO, 1).unwrap();
        drop(store);
        assert_eq!(open_plainly(folder.path()).unwrap().1.done(), left + 1);
    }
}

#[test]
fn damaged_end_is_cut_off_before_renamed_files() {
    let (folder, sound) = damaged();
    fs::write(folder.path().join("ledger/000002.jsonl.1"), "renamed").unwrap();
    let (_, standing, notices) = open(folder.path(), FaultyDisk::default(), true).unwrap();
    assert!(matches!(notices[..], [Notice::RestGivenUp { .. }, Notice::FileGivenUp { .. }]), "{notices:?}");
    assert_eq!(standing.done(), 2);
    let after = files(folder.path());
    let loss = after["000001.jsonl"].strip_prefix(&sound[..]).unwrap();
    assert!(loss.starts_with(b"{\"kind\":\"loss\",\"records\":1,\"bytes\":17,\"files\":1,"));
    assert_eq!(after["cut-000001.jsonl-0.tail"], b"{\"kind\":\"count\"}\n");
    assert_eq!(after["cut-000002.jsonl.1-0.tail"], b"renamed");
    let (_, standing, notices) = open_plainly(folder.path()).unwrap();
    assert!(notices.is_empty() && standing.done() == 2, "{notices:?}");
}

#[test]
fn next_attempt_gives_up_files_after_failed_step() {
    let names = ["000002.jsonl.1", "000003.jsonl.1"];
    for fault in [FULL, Fault::Crash] {
        for step in 0.. {
            let (folder, _) = damaged();
            for name in names {
                fs::write(folder.path().join("ledger").join(name), name).unwrap();
            }
            let disk = FaultyDisk::with_faults(&[(step, fault)]);
            let Some(failed) = open(folder.path(), disk, true).err() else {
                assert_eq!(step, 13, "what is cut off, two names, the folder, and the record");
                break;
            };
            let what = format!("{fault:?} at step {step}: {failed}");
            // After the last step of the loss nothing more is required, even if its record is not written.
            assert_eq!(open_plainly(folder.path()).is_ok(), step >= 8, "{what}");
            drop(open(folder.path(), FaultyDisk::default(), true).unwrap());
            assert_eq!(open_plainly(folder.path()).unwrap().1.done(), 2, "{what}");
            for name in names {
                assert_eq!(files(folder.path())[&format!("cut-{name}-0.tail")], name.as_bytes(), "{what}");
            }
        }
    }
}

#[test]
fn loss_is_not_accepted_until_run_resumes() {
    let (folder, sound) = damaged();
    let before = files(folder.path());
    let open =
        || Store::open_unsettled(OpenOptions { accept_loss: true, ..known_run::options(folder.path()) });
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
fn failed_step_of_accepted_loss_can_be_retried() {
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
            // By this clock, which stands still, a torn record of the loss is kept under the same name.
            if step < 7 {
                let kept = &files(folder.path())["cut-000001.jsonl-0.tail"];
                assert_eq!([&sound[..], kept].concat(), before["000001.jsonl"], "{what}");
            }
            steps += 1;
        }
    }
    assert_eq!(steps, 22, "eleven steps, with either fault");
}

#[test]
fn accept_loss_without_loss_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let disk = FaultyDisk::default();
    let (store, ..) = open(folder.path(), disk.clone(), true).unwrap();
    drop(store);
    assert_eq!((disk.steps(), files(folder.path()).len()), (0, 0));
}

/// The bytes of a file in front of the record of a loss.
fn unlike_loss(file: &[u8]) -> usize {
    let loss = b"{\"kind\":\"loss\"";
    file.windows(loss.len()).position(|bytes| bytes == loss).unwrap_or(file.len())
}

#[test]
fn damage_in_front_of_marks_is_given_up_once() {
    // The file that is harmed, and how many counts are left in front of the harm.
    let harms: [(Harm, u64); 4] = [
        (|ledger| flip(&ledger.join("000002.jsonl")), 1),
        (|ledger| flip(&ledger.join("000001.jsonl")), 0),
        (|ledger| fs::remove_file(ledger.join("000002.jsonl")).unwrap(), 1),
        (|ledger| fs::remove_file(ledger.join("000001.jsonl")).unwrap(), 0),
    ];
    for ((harm, left), has_checkpoint) in harms.into_iter().flat_map(|harm| [(harm, true), (harm, false)]) {
        let folder = TempDir::new().unwrap();
        let (store, ..) = Store::open(known_run::options(folder.path())).unwrap();
        let (ledger, end) = (store.directory().ledger(), store.end().clone());
        drop(store);
        let mut writer = Writer::new(&ledger, end).with_file_size(1);
        for unit in 0..4 {
            writer.commit(&[known_run::record(unit)], Duration::ZERO, 1).unwrap();
        }
        if has_checkpoint {
            drop(open_plainly(folder.path()).unwrap());
        }
        harm(&ledger);
        let before = files(folder.path());
        let refused = open_plainly(folder.path());
        // The checkpoint is behind the damage: a start sees it only if it reads that file.
        assert!(has_checkpoint || refused.is_err(), "{left} left");
        assert_eq!(files(folder.path()), before, "nothing was touched");
        drop(refused);
        let (_, standing, notices) = open(folder.path(), FaultyDisk::default(), true).unwrap();
        let given_up = notices.iter().find_map(|notice| match notice {
            Notice::RestGivenUp { records, .. } => Some(*records),
            _ => None,
        });
        assert_eq!((standing.done(), given_up), (left, Some(4 - left)), "{notices:?}");
        let kept = files(folder.path());
        let bytes =
            |files: &BTreeMap<String, Vec<u8>>| files.values().map(|file| unlike_loss(file)).sum::<usize>();
        assert_eq!(bytes(&kept), bytes(&before), "all is kept: {:?}", kept.keys());
        let (mut store, standing, notices) = open_plainly(folder.path()).unwrap();
        assert!(notices.is_empty() && standing.done() == left, "{notices:?}");
        store.commit(&[known_run::record(2)], Duration::ZERO, 1).unwrap();
        drop(store);
        assert_eq!(open_plainly(folder.path()).unwrap().1.done(), left + 1);
    }
}

/// A change of the ledger in this folder.
type Harm = fn(&Path);

/// Changes a bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

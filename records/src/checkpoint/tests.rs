//! Checkpoints that other builds, other runs, damage and failed disks leave behind.

use super::*;
use crate::run_directory::RunDirectory;
use crate::run_directory::secret::{self, lease_key};
use crate::shard::Shard;
use crate::standing::Marks;
use crate::store::{Notice, Store};
use crate::testing::{forge_checkpoint, known_run};
use queens::UnitId;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A new run with one record in its ledger, and no checkpoint of it yet.
fn with_one_record(run: &Path) -> (Store, Standing) {
    let (mut store, mut standing, _) = Store::open(known_run::options(run)).unwrap();
    let record = known_run::record(3);
    store.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
    standing.apply(&known_run::plan(), Shard::default(), &record).unwrap();
    (store, standing)
}

/// The run's checkpoint counts as damaged, and its one record is read from the ledger.
#[track_caller]
fn is_rebuilt_as_damaged(run: &Path) {
    let (_, resumed, notices) = Store::open(known_run::options(run)).unwrap();
    let is_damaged = matches!(&notices[..], [Notice::CheckpointRebuilt { why: NoCheckpoint::Damaged }]);
    assert!(is_damaged, "{notices:?}");
    assert_eq!(resumed.done(), 1);
}

#[test]
fn checkpoint_with_huge_file_is_not_read_into_memory() {
    let run = TempDir::new().unwrap();
    let (mut store, standing) = with_one_record(run.path());
    store.save(&standing).unwrap();
    drop(store);
    // A sparse file: it takes no room on disk, and would take all memory.
    fs::File::create(run.path().join("checkpoint/snap.FF")).unwrap().set_len(1 << 36).unwrap();
    let (_, resumed, notices) = Store::open(known_run::options(run.path())).unwrap();
    let [Notice::CheckpointRebuilt { why }] = &notices[..] else { panic!("{notices:?}") };
    assert!(why.to_string().contains("larger than any checkpoint"), "{why}");
    assert_eq!(resumed.done(), 1);
}

#[test]
fn checkpoint_of_another_build_is_rebuilt() {
    let unknown = |head: &mut Value| *head = json!({"layout": 0});
    let newer = |head: &mut Value| (head["layout"], head["sums"]) = (json!(5), json!("otherwise"));
    let of_other_work = |head: &mut Value| head["plan_work"] = json!(7);
    for change in [unknown as fn(&mut Value), newer, of_other_work] {
        let run = TempDir::new().unwrap();
        let (mut store, standing) = with_one_record(run.path());
        store.save(&standing).unwrap();
        drop(store);
        forge_checkpoint(run.path(), "head", change);
        let (_, resumed, notices) = Store::open(known_run::options(run.path())).unwrap();
        assert_eq!(resumed.sums(), standing.sums());
        let [Notice::CheckpointRebuilt { why: NoCheckpoint::OtherBuild }] = &notices[..] else {
            panic!("{notices:?}")
        };
    }
}

#[test]
fn checkpoint_holds_totals_by_family_that_add_up() {
    let run = TempDir::new().unwrap();
    let (mut store, mut standing) = with_one_record(run.path());
    let plan = known_run::plan();
    for unit in (0..plan.units()).filter(|unit| *unit != 3) {
        let record = known_run::record(unit);
        store.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
        standing.apply(&plan, Shard::default(), &record).unwrap();
    }
    store.save(&standing).unwrap();
    drop(store);
    let store = sled::open(run.path().join("checkpoint")).unwrap();
    let mut sums = [0; 3];
    for entry in store.scan_prefix("family/") {
        let family: Value = serde_json::from_slice(&entry.unwrap().1).unwrap();
        for (sum, class) in sums.iter_mut().zip(["a", "p", "r"]) {
            *sum += u128::from(family["totals"][class].as_u64().unwrap());
        }
    }
    let totals = standing.sums().tally.totals().unwrap();
    assert_eq!(sums, [totals.a, totals.p, totals.r]);
    assert_eq!(Some(totals), queens::known::totals(plan.board()));
}

#[test]
fn second_save_writes_only_changed_entries() {
    let run = TempDir::new().unwrap();
    let (mut store, mut standing) = with_one_record(run.path());
    store.save(&standing).unwrap();
    for unit in 4..60 {
        let record = known_run::record(unit);
        store.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
        standing.apply(&known_run::plan(), Shard::default(), &record).unwrap();
        store.save(&standing).unwrap();
    }
    drop(store);
    let (_, resumed, notices) = Store::open(known_run::options(run.path())).unwrap();
    assert!(notices.is_empty(), "{notices:?}");
    assert_eq!((resumed.sums(), resumed.done()), (standing.sums(), 57));
    assert!(!resumed.is_done(UnitId(60)) && resumed.is_done(UnitId(59)));
}

#[test]
fn failed_save_is_reported_by_next_save_and_retried() {
    let run = TempDir::new().unwrap();
    let (store, standing) = with_one_record(run.path());
    let folder = run.path().join("folder");
    let mut checkpoint = Checkpoint::new(folder.join("checkpoint"), store.lease_key().clone());
    let mut save = || {
        let directory = store.directory();
        checkpoint.save(directory.run().hash(), directory.plan(), store.end(), &standing)
    };
    fs::write(&folder, "in the way").unwrap();
    save().unwrap();
    assert!(matches!(save(), Err(CheckpointError::Io(_) | CheckpointError::Sled(_))));
    fs::remove_file(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    save().unwrap();
    checkpoint.finish().unwrap();
    assert!(folder.join("checkpoint/db").exists());
}

#[test]
fn checkpoint_with_summed_unit_open_is_rebuilt() {
    let run = TempDir::new().unwrap();
    let (mut store, standing) = with_one_record(run.path());
    let plan = known_run::plan();
    let failed = Standing::restored(&plan, Marks::new(plan.units()), standing.sums().clone());
    store.save(&failed).unwrap();
    drop(store);
    is_rebuilt_as_damaged(run.path());
}

#[test]
fn checkpoint_sealed_with_other_key_is_rebuilt() {
    let run = TempDir::new().unwrap();
    let (mut store, standing) = with_one_record(run.path());
    store.save(&standing).unwrap();
    drop(store);
    fs::remove_file(run.path().join(secret::NAME)).unwrap();
    is_rebuilt_as_damaged(run.path());
}

#[test]
fn sealed_checkpoint_with_bad_entries_is_damaged() {
    let vote = |machine, kernel| {
        let origin = json!({"machine": machine, "kernel": kernel, "mirrored": false});
        json!([{"count": 1, "nodes": 1, "origin": origin}])
    };
    let units = known_run::plan().units();
    let dispute = |unit: u64| format!("dispute/{unit:012}");
    let family = {
        let family = known_run::plan().family_list()[0];
        format!("family/{:02}/{:02}", family.top, family.bottom)
    };
    let saved_with = |entry: &str, place: &str, value: Value| {
        let run = TempDir::new().unwrap();
        let (mut store, standing) = with_one_record(run.path());
        store.save(&standing).unwrap();
        drop(store);
        forge_checkpoint(run.path(), entry, |entry| *entry.pointer_mut(place).unwrap() = value);
        run
    };
    for (entry, place, value) in [
        (dispute(units), "", vote(0, 0)),
        (dispute(3), "", vote(1, 0)),
        (dispute(3), "", vote(u32::MAX, 0)),
        (dispute(3), "", vote(0, 1)),
        (dispute(3), "", vote(0, 127)),
        ("head".into(), "/sums/contradicted", json!([1000])),
        ("head".into(), "/sums/machines/losers", json!({"": [1]})),
        ("head".into(), "/sums/history/doublings", json!(64)),
        ("machine/00000001".into(), "", json!({"owner": "", "name": "one"})),
        ("stranger".into(), "", json!(1)),
        ("mark/unknown/00000000".into(), "", json!(1)),
        (family.clone(), "", Value::Null),
        (family, "/sums/symmetric", json!({"1000": 1})),
    ] {
        is_rebuilt_as_damaged(saved_with(&entry, place, value).path());
    }
    let known = saved_with(&dispute(3), "", vote(0, 0));
    assert!(Store::open(known_run::options(known.path())).unwrap().2.is_empty());
}

#[test]
fn set_aside_keeps_only_the_newest() {
    let run = TempDir::new().unwrap();
    let path = run.path().join("checkpoint");
    for time in 1..5 {
        fs::create_dir(&path).unwrap();
        fs::write(path.join("db"), time.to_string()).unwrap();
        let aside = set_aside(&path, Duration::from_secs(time)).unwrap();
        assert_eq!(fs::read_to_string(aside.join("db")).unwrap(), time.to_string());
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1, "after {time}");
    }
}

#[test]
fn changed_entries_do_not_fit_their_seal() {
    let run = TempDir::new().unwrap();
    let (mut store, standing) = with_one_record(run.path());
    store.save(&standing).unwrap();
    drop(store);
    let (directory, key) = (RunDirectory::open(run.path()).unwrap(), lease_key(run.path()).unwrap());
    let says = |entries| entries::restore(entries, &key, directory.run().hash(), directory.plan());
    let whole = store::read(&directory.checkpoint()).unwrap();
    assert!(says(whole.clone()).is_ok());
    for (entry, value) in &whole {
        let mut without = whole.clone();
        without.remove(entry);
        assert!(matches!(says(without), Err(NoCheckpoint::Damaged)), "{entry:?} is missing");
        for place in (0..value.len()).step_by(value.len().div_ceil(40)) {
            let mut flipped = whole.clone();
            flipped.get_mut(entry).unwrap()[place] ^= 1 << (place % 8);
            assert!(matches!(says(flipped), Err(NoCheckpoint::Damaged)), "{entry:?}: flipped at {place}");
        }
    }
}

#[test]
fn corrupt_checkpoint_never_gives_other_standing() {
    let run = TempDir::new().unwrap();
    let (mut store, standing) = with_one_record(run.path());
    store.save(&standing).unwrap();
    drop(store);
    let (directory, key) = (RunDirectory::open(run.path()).unwrap(), lease_key(run.path()).unwrap());
    let files: Vec<PathBuf> = fs::read_dir(directory.checkpoint())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    // sled stops serving a process in which it has panicked too often: the test of whole processes tries more.
    for (path, place) in files.iter().flat_map(|path| [0, 20, 300, 2_000].map(|place| (path, place))) {
        let whole = fs::read(path).unwrap();
        if place >= whole.len() {
            continue;
        }
        let mut flipped = whole.clone();
        flipped[place] ^= 16;
        for damaged in [&flipped[..], &whole[..place]] {
            fs::write(path, damaged).unwrap();
            if let Ok((_, read)) = read(&directory, &key) {
                assert_eq!(read.sums(), standing.sums(), "{} at {place}", path.display());
            }
        }
        fs::write(path, whole).unwrap();
    }
}

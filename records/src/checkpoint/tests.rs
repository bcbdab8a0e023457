//! Checkpoints of other releases and machines, and what becomes of those that are of no use.

use super::*;
use crate::run_directory::RunDirectory;
use crate::run_directory::secret::{self, lease_key};
use crate::shard::Shard;
use crate::store::{Notice, Store};
use crate::testing::{forge_checkpoint, known_run};
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

/// The run's checkpoint is taken for damaged, and its one record is read from the ledger.
#[track_caller]
fn is_rebuilt_as_damaged(run: &Path) {
    let (_, resumed, notices) = Store::open(known_run::options(run)).unwrap();
    let is_damaged = matches!(&notices[..], [Notice::CheckpointRebuilt { why: NoCheckpoint::Damaged }]);
    assert!(is_damaged, "{notices:?}");
    assert_eq!(resumed.done(), 1);
}

#[test]
fn a_checkpoint_that_is_longer_than_any_is_not_read_into_memory() {
    let run = TempDir::new().unwrap();
    with_one_record(run.path());
    // It takes no room, and would take all memory.
    fs::File::create(run.path().join("checkpoint")).unwrap().set_len(1 << 36).unwrap();
    let (_, resumed, notices) = Store::open(known_run::options(run.path())).unwrap();
    let is_too_long = |why: &NoCheckpoint| why.to_string().contains("it is longer than 268435456 bytes");
    let is_told = matches!(&notices[..], [Notice::CheckpointRebuilt { why }] if is_too_long(why));
    assert!(is_told, "{notices:?}");
    assert_eq!(resumed.done(), 1);
}

#[test]
fn the_checkpoint_of_another_release_is_rebuilt_from_the_ledger_and_nothing_is_lost() {
    let unknown = |head: &mut Value| *head = json!({"is": "otherwise"});
    let newer = |head: &mut Value| (head["layout"], head["sums"]) = (json!(LAYOUT + 1), json!("otherwise"));
    let of_other_work = |head: &mut Value| head["plan_work"] = json!(7);
    for change in [unknown as fn(&mut Value), newer, of_other_work] {
        let run = TempDir::new().unwrap();
        let (mut store, standing) = with_one_record(run.path());
        store.save(&standing).unwrap();
        drop(store);
        forge_checkpoint(run.path(), change);
        let (_, resumed, notices) = Store::open(known_run::options(run.path())).unwrap();
        assert_eq!(resumed.sums(), standing.sums());
        let [notice @ Notice::CheckpointRebuilt { why: NoCheckpoint::OtherRelease }] = &notices[..] else {
            panic!("{notices:?}")
        };
        assert_eq!(
            notice.to_string(),
            "rebuilt the checkpoint from the ledger: it was made by another release of diadem"
        );
    }
}

#[test]
fn a_checkpoint_in_which_a_unit_seems_open_that_was_added_up_is_not_believed() {
    let run = TempDir::new().unwrap();
    let (mut store, standing) = with_one_record(run.path());
    let plan = known_run::plan();
    let failed = Standing::restored(&plan, Marks::new(plan.units()), standing.sums().clone());
    store.save(&failed).unwrap();
    drop(store);
    is_rebuilt_as_damaged(run.path());
}

#[test]
fn a_checkpoint_that_was_written_without_the_key_of_the_run_is_not_believed() {
    let run = TempDir::new().unwrap();
    let (mut store, standing) = with_one_record(run.path());
    store.save(&standing).unwrap();
    drop(store);
    fs::remove_file(run.path().join(secret::NAME)).unwrap();
    is_rebuilt_as_damaged(run.path());
}

#[test]
fn a_sealed_checkpoint_that_speaks_of_what_there_is_not_is_not_believed() {
    let vote = |machine, kernel| {
        let origin = json!({"machine": machine, "kernel": kernel, "mirrored": false});
        json!([{"count": 1, "nodes": 1, "origin": origin}])
    };
    let units = known_run::plan().units();
    let of_disputes = [(units, 0, 0), (3, 1, 0), (3, u32::MAX, 0), (3, 0, 1), (3, 0, 127)];
    let disputes = of_disputes
        .map(|(unit, machine, kernel)| ("/sums/disputed", json!({unit.to_string(): vote(machine, kernel)})));
    let others = [
        ("/sums/contradicted", json!([1000])),
        ("/sums/machines/losers", json!({"": [1]})),
        ("/sums/history/doublings", json!(64)),
        ("/sums/tally/symmetric", json!([])),
        ("/sums/tally/symmetric/0/open", json!(u64::MAX)),
    ];
    let saved_with = |place, value: Value| {
        let run = TempDir::new().unwrap();
        let (mut store, standing) = with_one_record(run.path());
        store.save(&standing).unwrap();
        drop(store);
        forge_checkpoint(run.path(), |head| *head.pointer_mut(place).unwrap() = value);
        run
    };
    for (place, value) in disputes.into_iter().chain(others) {
        is_rebuilt_as_damaged(saved_with(place, value).path());
    }
    let known = saved_with("/sums/disputed", json!({"3": vote(0, 0)}));
    assert!(Store::open(known_run::options(known.path())).unwrap().2.is_empty());
}

#[test]
fn of_all_checkpoints_that_were_set_aside_the_last_is_kept() {
    let run = TempDir::new().unwrap();
    let path = run.path().join("checkpoint");
    for time in 1..5 {
        fs::write(&path, time.to_string()).unwrap();
        let aside = set_aside(&path, Duration::from_secs(time)).unwrap();
        assert_eq!(fs::read_to_string(aside).unwrap(), time.to_string());
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1, "after {time}");
    }
}

#[test]
fn a_checkpoint_with_any_bit_flipped_or_any_end_cut_off_is_not_believed() {
    let run = TempDir::new().unwrap();
    let (mut store, standing, _) = Store::open(known_run::options(run.path())).unwrap();
    store.save(&standing).unwrap();
    drop(store);
    let (path, other) = (run.path().join("checkpoint"), run.path().join("other"));
    let (directory, key) = (RunDirectory::open(run.path()).unwrap(), lease_key(run.path()).unwrap());
    let says = |path| read(path, &key, directory.run().hash(), directory.plan());
    assert!(says(&path).is_ok());
    let whole = fs::read(&path).unwrap();
    for place in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[place] ^= 1 << (place % 8);
        fs::write(&other, flipped).unwrap();
        assert!(matches!(says(&other), Err(NoCheckpoint::Damaged)), "flipped at {place}");
        fs::write(&other, &whole[..place]).unwrap();
        assert!(matches!(says(&other), Err(NoCheckpoint::Damaged)), "cut at {place}");
    }
}

//! Checkpoints of other releases and machines, and what becomes of those that are of no use.

use super::*;
use crate::clock::SetClock;
use crate::ledger::faulty_disk::FaultyDisk;
use crate::shard::Shard;
use crate::store::{NoCheckpoint, Notice, Store};
use crate::tests::known_run;
use crate::tests::known_worker::{coordinator, count_to_the_end, join, lease, report};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Changes what the checkpoint in a folder says, and seals it again.
fn forge(folder: &Path, change: impl FnOnce(&mut Value)) {
    // Whoever had it open lets go of it in a thread of its own.
    let opened = || sled::open(folder).map_err(|_| std::thread::sleep(Duration::from_millis(50))).ok();
    let store = (0..200).find_map(|_| opened()).expect("the store is let go of");
    let mut head: Value = serde_json::from_slice(&store.get(HEAD).unwrap().unwrap()).unwrap();
    change(&mut head);
    let head = serde_json::to_vec(&head).unwrap();
    store.insert(SEAL, LineHash::of(&head).to_string().as_bytes()).unwrap();
    store.insert(HEAD, head).unwrap();
    store.flush().unwrap();
}

#[tokio::test]
async fn a_checkpoint_from_a_machine_that_rounds_work_otherwise_leads_to_the_answer() {
    let (run, clock) = (TempDir::new().unwrap(), SetClock::default());
    let serve = || coordinator(run.path(), FaultyDisk::with_faults(&[]), &clock);
    let handle = serve();
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 5).await;
    handle.report(report(worker, &leases)).await.unwrap();
    handle.close().await;
    forge(&run.path().join("checkpoint"), |head| {
        head["sums"]["work"] = json!(head["sums"]["work"].as_u64().unwrap() + 1);
    });
    let handle = serve();
    let worker = join(&handle).await;
    count_to_the_end(&handle, worker).await;
    handle.close().await;
}

#[test]
fn the_checkpoint_of_another_release_is_rebuilt_from_the_ledger_and_nothing_is_lost() {
    let older = |head: &mut Value| {
        head.as_object_mut().unwrap().remove("layout");
        head["sums"].as_object_mut().unwrap().remove("history");
    };
    let newer = |head: &mut Value| (head["layout"], head["sums"]) = (json!(LAYOUT + 1), json!("otherwise"));
    let of_other_work = |head: &mut Value| head["plan_work"] = json!(7);
    for change in [older as fn(&mut Value), newer, of_other_work] {
        let run = TempDir::new().unwrap();
        let (mut store, mut standing, _) = Store::open(known_run::options(run.path())).unwrap();
        let record = known_run::record(3);
        store.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
        standing.apply(&known_run::plan(), Shard::default(), &record).unwrap();
        store.save(&mut standing).unwrap();
        drop(store);
        forge(&run.path().join("checkpoint"), change);
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
fn of_all_checkpoints_that_were_set_aside_the_last_is_kept() {
    let run = TempDir::new().unwrap();
    let folder = run.path().join("checkpoint");
    for time in 1..5 {
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("db"), time.to_string()).unwrap();
        let aside = set_aside(&folder, Duration::from_secs(time)).unwrap();
        assert_eq!(fs::read_to_string(aside.join("db")).unwrap(), time.to_string());
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 1, "after {time}");
    }
}

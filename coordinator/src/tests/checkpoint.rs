//! A run that resumes with an unusable checkpoint, or with a checkpoint of another machine.

use std::fs;
use std::time::Duration;

use records::DoubleCheck;
use records::ledger::{Policy, Record};
use records::shard::Shard;
use records::store::{Notice, Store};
use records::testing::{FaultyDisk, SetClock, forge_checkpoint, known_run};
use serde_json::json;
use tempfile::TempDir;

use crate::handle::Handle;
use crate::tests::known_worker::{coordinator, count_to_the_end, join, lease, report};

#[tokio::test]
async fn damaged_checkpoint_is_kept_until_run_resumes() {
    let run = TempDir::new().unwrap();
    let (mut store, mut standing, _) = Store::open(known_run::options(run.path())).unwrap();
    let record = known_run::record(3);
    store.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
    standing.apply(&known_run::plan(), Shard::default(), &record).unwrap();
    store.save(&standing).unwrap();
    drop(store);
    let checkpoint = run.path().join("checkpoint");
    fs::remove_dir_all(&checkpoint).unwrap();
    fs::write(&checkpoint, "damaged").unwrap();
    let (store, standing, notices) = Store::open_unsettled(known_run::options(run.path())).unwrap();
    assert!(matches!(&notices[..], [Notice::CheckpointRebuilt { .. }]), "{notices:?}");
    let start = |standing, policy, store| {
        Handle::start(known_run::plan(), Shard::default(), standing, Some(policy), Some(store))
    };
    let mut checked = standing.clone();
    let policy = Record::Policy(Policy {
        double_check: DoubleCheck::All,
        require_owners: None,
        own_checks: None,
        reason: None,
        at: 0,
    });
    checked.apply(&known_run::plan(), Shard::default(), &policy).unwrap();
    assert!(start(checked, DoubleCheck::None, store).is_err(), "less would be checked");
    assert_eq!(fs::read(&checkpoint).unwrap(), b"damaged");
    let (store, standing, notices) = Store::open_unsettled(known_run::options(run.path())).unwrap();
    assert_eq!(notices.len(), 1, "it is to be told still: {notices:?}");
    start(standing, DoubleCheck::None, store).unwrap().close().await;
    assert!(checkpoint.join("db").is_file());
}

#[tokio::test]
async fn checkpoint_with_rounding_difference_is_accepted() {
    let (run, clock) = (TempDir::new().unwrap(), SetClock::default());
    let serve = || coordinator(run.path(), FaultyDisk::with_faults(&[]), &clock);
    let handle = serve();
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 5).await;
    handle.report(report(worker, &leases)).await.unwrap();
    handle.close().await;
    forge_checkpoint(run.path(), "head", |head| {
        head["sums"]["work"] = json!(head["sums"]["work"].as_u64().unwrap() + 1);
    });
    let handle = serve();
    let worker = join(&handle).await;
    count_to_the_end(&handle, worker).await;
    handle.close().await;
}

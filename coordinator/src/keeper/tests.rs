//! How long the keeper is there, and by which clock it does what it does.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use proto::LeaseReply;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::audit::audit_each;
use crate::clock::SetClock;
use crate::double_check::DoubleCheck;
use crate::handle::Handle;
use crate::known_run;
use crate::known_worker::{coordinator, count_all, join, lease, report};
use crate::ledger::Record;
use crate::ledger::faulty_disk::FaultyDisk;
use crate::run_directory::RunDirectory;
use crate::shard::Shard;
use crate::standing::Standing;
use crate::store::Store;

/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The test's clock stands still: whoever waits by another one waits for ever.
#[tokio::test]
async fn a_request_for_units_that_waits_no_time_is_answered_at_once() {
    let handle = Handle::start_by(
        Arc::new(SetClock::default()),
        known_run::plan(),
        Shard::default(),
        Standing::new(&known_run::plan()),
        Some(DoubleCheck::None),
        None,
        None,
    );
    let handle = handle.unwrap();
    let (a, b) = (join(&handle).await, join(&handle).await);
    while !lease(&handle, a, 100_000).await.is_empty() {}
    while !lease(&handle, b, 100_000).await.is_empty() {}
    let answer = timeout(PATIENCE, handle.lease(a, 1, Duration::ZERO)).await;
    assert_eq!(answer.unwrap().unwrap(), LeaseReply::Granted(Vec::new()));
}

#[tokio::test]
async fn a_request_that_waits_is_answered_when_its_time_is_over_by_the_keepers_clock() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    while !lease(&handle, worker, 100_000).await.is_empty() {}
    let mut answer = pin!(handle.lease(worker, 1, Duration::from_secs(5)));
    // Two rounds of the keeper later it still waits, for its clock stands still.
    assert!(timeout(Duration::from_millis(500), &mut answer).await.is_err());
    clock.advance(Duration::from_secs(5));
    assert_eq!(timeout(PATIENCE, answer).await.unwrap().unwrap(), LeaseReply::Granted(Vec::new()));
}

#[tokio::test]
async fn the_keeper_ends_with_its_last_handle_and_lets_go_of_the_run_directory() {
    let folder = TempDir::new().unwrap();
    let clock = SetClock::default();
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    handle.report(report(worker, &leases)).await.unwrap();
    let (mut snapshots, another) = (handle.snapshots(), handle.clone());
    drop(handle);
    assert!(another.status().await.is_ok());
    drop(another);
    let ended = async { while snapshots.changed().await.is_ok() {} };
    timeout(PATIENCE, ended).await.expect("the keeper ends");
    assert_eq!(snapshots.borrow().status.done, leases.len() as u64);
    let (_, standing, notices) = Store::open(known_run::options(folder.path())).unwrap();
    assert_eq!(standing.done(), leases.len() as u64);
    assert!(notices.is_empty(), "the checkpoint was saved: {notices:?}");
}

#[tokio::test]
async fn records_bear_the_time_of_the_keepers_clock() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    clock.advance(Duration::from_secs(1_790_000_000));
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    assert_eq!(count_all(&handle, worker).await, 0);
    handle.close().await;
    let directory = RunDirectory::open(folder.path()).unwrap();
    assert_eq!(directory.run().begun, 1_790_000_000_000);
    audit_each(&directory, |_, record| {
        let at = match record {
            Record::Count(r) | Record::Check(r) => r.at,
            Record::Policy(r) => r.at,
            Record::Term(r) => r.at,
            Record::Merged(r) => r.at,
            Record::Admit(r) => r.at,
            other => panic!("{other:?}"),
        };
        assert_eq!(at, 1_790_000_000);
    })
    .unwrap();
}

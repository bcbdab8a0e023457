//! A coordinator that waits for followers before acknowledgements and before its answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use domain::{Phase, PolicyChange, Verdict};
use records::audit_each;
use records::ledger::{Record, file_path};
use records::run_directory::RunDirectory;
use records::store::Store;
use records::testing::{FaultyDisk, SetClock, known_run};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::handle::{Following, Handle};
use crate::keeper::{CallError, Ending};
use crate::tests::known_worker::{expect_the_answer, join, join_from, lease, replicated, report};

/// Upper limit of any wait in these tests.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time after which an absent event counts as absent.
const ABSENCE_TIME: Duration = Duration::from_millis(300);

#[tokio::test]
async fn report_is_acknowledged_when_followers_have_it() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = replicated(folder.path(), FaultyDisk::default(), &clock, Some(1));
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    // No follower: the record is on this disk, but not acknowledged.
    for _ in 0..2 {
        let mut reported = pin!(handle.report(report(worker, &leases)));
        assert!(timeout(ABSENCE_TIME, &mut reported).await.is_err());
        assert!(!lease(&handle, worker, 1).await.is_empty(), "lending goes on");
        assert!(handle.status().await.unwrap().trouble.contains("0 of 1 followers"));
        clock.advance(Duration::from_secs(5));
        assert!(matches!(timeout(PATIENCE, reported).await.unwrap(), Err(CallError::NotRecorded(_))));
    }
    // A follower without all records delays the acknowledgement, until it has them.
    let following = handle.follow(7, 0).await.unwrap();
    let mut reported = pin!(handle.report(report(worker, &leases)));
    assert!(timeout(ABSENCE_TIME, &mut reported).await.is_err());
    let records = handle.source().unwrap().ends.borrow().mark.records;
    following.has(records - 1);
    assert!(timeout(ABSENCE_TIME, &mut reported).await.is_err());
    following.has(records);
    assert_eq!(timeout(PATIENCE, reported).await.unwrap().unwrap(), [Verdict::Known; 3]);
    assert_eq!(handle.status().await.unwrap().trouble, "");
    // After the follower leaves, nothing is acknowledged.
    drop(following);
    let done = handle.status().await.unwrap().done;
    let leases = lease(&handle, worker, 3).await;
    let mut reported = pin!(handle.report(report(worker, &leases)));
    assert!(timeout(ABSENCE_TIME, &mut reported).await.is_err());
    let on_record = handle.status().await.unwrap().done;
    assert!(on_record > done, "they are on record all the same");
}

#[tokio::test]
async fn answer_waits_for_followers() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = replicated(folder.path(), FaultyDisk::default(), &clock, Some(1));
    let following = handle.follow(7, 0).await.unwrap();
    let worker = join(&handle).await;
    let reported = async {
        loop {
            let leases = lease(&handle, worker, 8).await;
            if leases.is_empty() {
                return;
            }
            let mut reported = pin!(handle.report(report(worker, &leases)));
            // It is held back, however long that takes.
            while timeout(Duration::from_millis(5), &mut reported).await.is_err() {
                clock.advance(Duration::from_secs(1));
            }
        }
    };
    timeout(PATIENCE, reported).await.unwrap();
    let status = handle.status().await.unwrap();
    assert_eq!((status.done, status.units), (status.units, status.units));
    assert!(status.trouble.contains("fewer than 1 of 1 followers"), "{status:?}");
    assert_eq!(status.phase, Phase::Counting);
    following.has(handle.source().unwrap().ends.borrow().mark.records);
    timeout(PATIENCE, expect_the_answer(&handle)).await.unwrap();
}

#[tokio::test]
async fn needed_followers_stand_in_the_ledger() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let begin = async |replicas: Option<u32>| {
        let (store, standing, _) = Store::open(known_run::options(folder.path())).unwrap();
        drop(store);
        let replicas = standing.replicas(replicas);
        let handle = replicated(folder.path(), FaultyDisk::default(), &clock, Some(replicas));
        let worker = join(&handle).await;
        let leases = lease(&handle, worker, 1).await;
        let report = handle.report(report(worker, &leases));
        _ = timeout(Duration::from_millis(200), report).await;
        let replicas = handle.status().await.unwrap().replicas;
        handle.close().await;
        replicas
    };
    assert_eq!(begin(None).await, 0);
    assert_eq!(begin(Some(2)).await, 2);
    assert_eq!(begin(None).await, 2);
    assert_eq!(begin(Some(0)).await, 0);
    assert_eq!(begin(None).await, 0);
    let mut on_record = Vec::new();
    audit_each(&RunDirectory::open(folder.path()).unwrap(), |_, record| {
        if let Record::Replicas(replicas) = record {
            on_record.push(replicas.replicas);
        }
    })
    .unwrap();
    assert_eq!(on_record, [2, 0]);
}

/// Starts the coordinator of the run in this folder with this number of required followers.
fn start(folder: &Path, replicas: u32) -> Handle {
    replicated(folder, FaultyDisk::default(), &SetClock::default(), Some(replicas))
}

/// The number of records on the coordinator's disk.
fn records(handle: &Handle) -> u64 {
    handle.source().unwrap().ends.borrow().mark.records
}

/// Counts all remaining units while a follower copies all records except the last `lacking`.
async fn count_all_but(handle: &Handle, following: &Following, lacking: u64) {
    let worker = join(handle).await;
    loop {
        let leases = lease(handle, worker, 8).await;
        if leases.is_empty() {
            return;
        }
        let mut reported = pin!(handle.report(report(worker, &leases)));
        while timeout(Duration::from_millis(5), &mut reported).await.is_err() {
            let status = handle.status().await.unwrap();
            if status.done == status.units {
                following.has(records(handle) - lacking);
                if lacking > 0 {
                    return;
                }
            } else {
                following.has(records(handle));
            }
        }
    }
}

async fn waits(handle: &Handle) -> bool {
    let is_late = timeout(ABSENCE_TIME, expect_the_answer(handle)).await.is_err();
    let status = handle.status().await.unwrap();
    assert_eq!(is_late, status.phase == Phase::Counting, "{status:?}");
    assert_eq!(is_late, status.trouble.contains("followers are connected"), "{status:?}");
    is_late
}

/// A complete run that is restarted and waits for a follower, because the former follower lacks a record.
async fn restarted_when_complete(folder: &Path) -> Handle {
    let handle = start(folder, 1);
    let following = handle.follow(7, 0).await.unwrap();
    count_all_but(&handle, &following, 1).await;
    handle.close().await;
    let again = start(folder, 1);
    assert!(waits(&again).await);
    again
}

#[tokio::test]
async fn complete_run_waits_for_a_copy_before_its_answer() {
    let folder = TempDir::new().unwrap();
    let again = restarted_when_complete(folder.path()).await;
    let trouble = again.status().await.unwrap().trouble;
    assert!(trouble.contains("0 of 1 followers") && trouble.contains("diadem policy"), "{trouble}");
    let all = records(&again);
    let following = again.follow(7, all - 1).await.unwrap();
    assert!(timeout(ABSENCE_TIME, expect_the_answer(&again)).await.is_err(), "it is there and lacks one");
    following.has(all);
    timeout(PATIENCE, expect_the_answer(&again)).await.unwrap();
}

#[tokio::test]
async fn complete_run_is_checked_after_policy_is_raised() {
    let folder = TempDir::new().unwrap();
    let again = restarted_when_complete(folder.path()).await;
    let double_check = Some("all".to_owned());
    again
        .change_policy(PolicyChange {
            double_check,
            replicas: None,
            require_owners: None,
            own_checks: None,
            own: None,
            reason: "a test".into(),
            dry_run: false,
        })
        .await
        .unwrap();
    let another = join_from(&again, "another").await;
    let checks = async {
        while lease(&again, another, 8).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, checks).await.expect("checks are lent");
}

/// A complete run whose followers have all records but one, its ledger file, and the place of this file while the disk
/// refuses it.
async fn complete_but_for_a_copy(folder: &Path, clock: &SetClock) -> (Handle, Following, [PathBuf; 2]) {
    let handle = replicated(folder, FaultyDisk::default(), clock, Some(1));
    let following = handle.follow(7, 0).await.unwrap();
    count_all_but(&handle, &following, 1).await;
    let ledger = handle.source().unwrap().directory.ledger();
    (handle, following, [file_path(&ledger, 1), folder.join("aside.jsonl")])
}

#[tokio::test]
async fn ledger_unreadable_for_a_moment_is_audited_again() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let (handle, following, [file, aside]) = complete_but_for_a_copy(folder.path(), &clock).await;
    fs::rename(&file, &aside).unwrap();
    symlink(&file, &file).unwrap();
    following.has(records(&handle));
    assert!(timeout(ABSENCE_TIME, expect_the_answer(&handle)).await.is_err());
    fs::remove_file(&file).unwrap();
    fs::rename(&aside, &file).unwrap();
    let answered = async {
        while timeout(ABSENCE_TIME, expect_the_answer(&handle)).await.is_err() {
            clock.advance(Duration::from_secs(10));
        }
    };
    timeout(PATIENCE, answered).await.unwrap();
}

#[tokio::test]
async fn ledger_unreadable_permanently_has_no_answer() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let (handle, following, [file, aside]) = complete_but_for_a_copy(folder.path(), &clock).await;
    fs::rename(&file, &aside).unwrap();
    symlink(&file, &file).unwrap();
    following.has(records(&handle));
    let mut snapshots = handle.snapshots();
    let withheld = async {
        while snapshots.borrow_and_update().ending.is_none() {
            clock.advance(Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, withheld).await.unwrap();
    assert!(matches!(handle.snapshots().borrow().ending, Some(Ending::Withheld(_))));
}

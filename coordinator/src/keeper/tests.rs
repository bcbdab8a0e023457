//! The lifetime of the keeper, and its clock.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use domain::{LeaseReply, PolicyChange, Verdict};
use records::ledger::Record;
use records::policy::PolicyError;
use records::run_directory::RunDirectory;
use records::shard::Shard;
use records::standing::Standing;
use records::store::Store;
use records::testing::{FaultyDisk, SetClock, known_run};
use records::{DoubleCheck, audit_each};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::handle::Handle;
use crate::keeper::CallError;
use crate::tests::known_worker::{
    coordinator, count_all, count_to_the_end, expect_the_answer, join, lease, replicated, report,
};

/// Upper limit of any wait in these tests.
const PATIENCE: Duration = Duration::from_secs(30);

/// The test's clock stands still, so a wait by this clock never ends.
#[tokio::test]
async fn lease_request_without_wait_is_answered_at_once() {
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
async fn lease_request_ends_by_the_keepers_clock() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    while !lease(&handle, worker, 100_000).await.is_empty() {}
    let mut answer = pin!(handle.lease(worker, 1, Duration::from_secs(5)));
    // After two rounds of the keeper the request still waits, because the clock stands still.
    assert!(timeout(Duration::from_millis(500), &mut answer).await.is_err());
    clock.advance(Duration::from_secs(5));
    assert_eq!(timeout(PATIENCE, answer).await.unwrap().unwrap(), LeaseReply::Granted(Vec::new()));
}

#[tokio::test]
async fn second_lease_request_answers_the_first() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    while !lease(&handle, worker, 100_000).await.is_empty() {}
    let wait = Duration::from_secs(5);
    let mut former = pin!(handle.lease(worker, 1, wait));
    assert!(timeout(Duration::from_millis(100), &mut former).await.is_err());
    let mut again = pin!(handle.lease(worker, 1, wait));
    assert!(timeout(Duration::from_millis(100), &mut again).await.is_err());
    assert_eq!(timeout(PATIENCE, former).await.unwrap().unwrap(), LeaseReply::Granted(Vec::new()));
    clock.advance(wait);
    assert_eq!(timeout(PATIENCE, again).await.unwrap().unwrap(), LeaseReply::Granted(Vec::new()));
}

#[tokio::test]
async fn report_after_the_answer_is_not_recorded() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    handle.report(report(worker, &leases)).await.unwrap();
    clock.advance(Duration::from_secs(10));
    count_to_the_end(&handle, worker).await;
    let directory = RunDirectory::open(folder.path()).unwrap();
    let records = || audit_each(&directory, |_, _| ()).unwrap().tail.end.mark.records;
    let answered = records();
    let again = report(worker, &leases);
    let mut otherwise = report(worker, &leases);
    otherwise.counts.iter_mut().for_each(|count| count.completions += 1);
    let mut never_lent = report(worker, &leases);
    never_lent.counts.iter_mut().for_each(|count| count.lease.token.0 ^= 1);
    for (said, verdict) in
        [(otherwise, Verdict::Unwanted), (again, Verdict::Known), (never_lent, Verdict::Unwanted)]
    {
        assert_eq!(handle.report(said).await.unwrap(), vec![verdict; leases.len()]);
    }
    handle.close().await;
    assert_eq!(records(), answered);
}

#[tokio::test]
async fn run_ends_after_its_clock_jumps_ahead() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    // As after a machine was suspended: leases end, and their counts are still welcome.
    clock.advance(Duration::from_hours(3));
    assert_eq!(handle.status().await.unwrap().trouble, "");
    let worker = join(&handle).await;
    handle.report(report(worker, &leases)).await.unwrap();
    timeout(PATIENCE, count_to_the_end(&handle, worker)).await.unwrap();
    handle.close().await;
}

#[tokio::test]
async fn dropping_last_handle_ends_keeper_and_unlocks_run() {
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
            Record::Mark(_) => return,
            other => panic!("{other:?}"),
        };
        assert_eq!(at, 1_790_000_000);
    })
    .unwrap();
}

fn change(double_check: Option<&str>, replicas: Option<u32>) -> PolicyChange {
    PolicyChange {
        double_check: double_check.map(str::to_owned),
        replicas,
        require_owners: None,
        own_checks: None,
        own: None,
        reason: "a test".into(),
        dry_run: false,
    }
}

#[tokio::test]
async fn fewer_replicas_release_waiting_reports() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = replicated(folder.path(), FaultyDisk::with_faults(&[]), &clock, Some(2));
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    // The clock stands still, so no wait times out.
    let mut acknowledged = pin!(handle.report(report(worker, &leases)));
    assert!(timeout(Duration::from_millis(500), &mut acknowledged).await.is_err());
    let in_force = handle.change_policy(change(None, Some(1))).await.unwrap();
    assert_eq!((in_force.double_check.as_str(), in_force.replicas), ("none", 1));
    assert!(timeout(Duration::from_millis(500), &mut acknowledged).await.is_err());
    assert_eq!(handle.change_policy(change(None, Some(0))).await.unwrap().replicas, 0);
    assert!(timeout(PATIENCE, acknowledged).await.unwrap().is_ok());
    assert_eq!(handle.status().await.unwrap().trouble, "");
    let too_many = handle.change_policy(change(None, Some(17))).await.unwrap_err();
    assert_eq!(too_many, CallError::Policy(PolicyError::TooManyReplicas(17)));
    handle.close().await;
    let mut said = Vec::new();
    let directory = RunDirectory::open(folder.path()).unwrap();
    audit_each(&directory, |_, record| {
        if let Record::Replicas(r) = record {
            said.push((r.replicas, r.reason.clone()));
        }
    })
    .unwrap();
    let reason = || Some("a test".to_owned());
    assert_eq!(said, [(2, None), (1, reason()), (0, reason())]);
    // The policy holds at the next start.
    let (_, standing, _) = Store::open(known_run::options(folder.path())).unwrap();
    assert_eq!(standing.replicas(None), 0);
}

#[tokio::test]
async fn check_policy_is_raised_at_once_and_never_lowered() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 5).await;
    handle.report(report(worker, &leases)).await.unwrap();
    for (said, in_force) in [("5%", "5%"), ("5%", "5%"), ("all", "all"), ("all", "all")] {
        assert_eq!(handle.change_policy(change(Some(said), None)).await.unwrap().double_check, in_force);
    }
    assert_eq!(handle.status().await.unwrap().assurance.pending, 5, "those on record, too");
    for lower in ["none", "5%", "100%"] {
        let refused = handle.change_policy(change(Some(lower), Some(0))).await.unwrap_err();
        assert!(matches!(refused, CallError::Policy(PolicyError::Lowered { .. })), "{refused}");
    }
    let none = handle.change_policy(change(Some("often"), None)).await.unwrap_err();
    assert!(matches!(none, CallError::Policy(PolicyError::NoPolicy(_))), "{none}");
    count_all(&handle, worker).await;
    clock.advance(Duration::from_secs(10));
    count_all(&handle, worker).await;
    expect_the_answer(&handle).await;
    let ended = handle.change_policy(change(Some("all"), None)).await.unwrap_err();
    assert_eq!(ended, CallError::Policy(PolicyError::HasEnded));
    handle.close().await;
    // A restart cannot lower the policy either.
    let (store, standing, _) = Store::open(known_run::options(folder.path())).unwrap();
    let (plan, policy) = (known_run::plan(), Some(DoubleCheck::default()));
    let refused = Handle::start(plan, Shard::default(), standing.clone(), policy, Some(store)).unwrap_err();
    assert!(refused.to_string().contains("checks all, which cannot be lowered to 1%"), "{refused}");
    assert_eq!(standing.policy_at_start(Some(DoubleCheck::All)), Ok(DoubleCheck::All));
    assert_eq!(standing.policy_at_start(None), Ok(DoubleCheck::All));
    let mut raised = Vec::new();
    let directory = RunDirectory::open(folder.path()).unwrap();
    let audit = audit_each(&directory, |_, record| {
        if let Record::Policy(r) = record {
            raised.push(r.double_check.to_string());
        }
    });
    assert_eq!(raised, ["none", "5%", "all"], "each once");
    assert_eq!(audit.unwrap().standing.sums().conflicts, 0);
}

//! Store and keeper on a disk that fails, fills up, stops or takes its time.

use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proto::{Lease, LeaseReply, Owner, Phase, Registration, Report, UnitCount, Verdict, WorkerId};
use queens::{UnitId, self_test};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::audit::{audit, audit_each};
use crate::clock::SetClock;
use crate::double_check::DoubleCheck;
use crate::handle::Handle;
use crate::keeper::{CallError, Ending};
use crate::known_run;
use crate::ledger::Record;
use crate::ledger::faulty_disk::{Fault, FaultyDisk};
use crate::run_directory::RunDirectory;
use crate::shard::Shard;
use crate::standing::Standing;
use crate::store::{Notice, Store};

/// Nothing here takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).ok();
        }
    }
}

fn apply(standing: &mut Standing, records: &[Record]) {
    for record in records {
        standing.apply(&known_run::plan(), Shard::default(), record).unwrap();
    }
}

/// Opens the run in `path`, which must have at least the first `acknowledged` units, and counts it to its end.
fn finish(path: &Path, acknowledged: u64, what: &str) {
    let (mut store, mut standing, notices) = Store::open(known_run::options(path)).unwrap();
    let gone = notices.iter().any(|notice| matches!(notice, Notice::RecordsGone { .. }));
    assert!(!gone, "{what}: {notices:?}");
    assert!((0..acknowledged).all(|unit| standing.is_done(UnitId(unit))), "{what}: of {acknowledged}");
    let rest: Vec<Record> = (0..known_run::plan().units())
        .filter(|unit| !standing.is_done(UnitId(*unit)))
        .map(known_run::record)
        .collect();
    if !rest.is_empty() {
        store.commit(&rest, Duration::ZERO, 1).unwrap();
        apply(&mut standing, &rest);
    }
    let audit = audit(store.directory()).unwrap();
    assert_eq!((audit.totals, audit.missing), (known_run::totals(), None), "{what}");
}

#[test]
fn a_process_killed_before_any_step_of_append_sync_mark_and_checkpoint_loses_nothing_acknowledged() {
    let (folder, images) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let acknowledged = Arc::new(AtomicU64::new(0));
    let taken: Arc<Mutex<Vec<(PathBuf, u64)>>> = Arc::default();
    let image = {
        let (run, images) = (folder.path().to_owned(), images.path().to_owned());
        let (acknowledged, taken) = (Arc::clone(&acknowledged), Arc::clone(&taken));
        move |what: String| {
            let path = images.join(what);
            copy(&run, &path);
            taken.lock().unwrap().push((path, acknowledged.load(Ordering::SeqCst)));
        }
    };
    let before_step = {
        let image = image.clone();
        move |step| image(format!("step-{step}"))
    };
    let disk = FaultyDisk::watched(before_step);
    let options = known_run::options(folder.path());
    let (mut store, mut standing, _) =
        Store::open_on(Box::new(disk), Arc::new(SetClock::default()), options).unwrap();
    let units = known_run::plan().units();
    for unit in (0..units).step_by(9) {
        let records: Vec<_> = (unit..units.min(unit + 9)).map(known_run::record).collect();
        store.commit(&records, Duration::ZERO, 1).unwrap();
        acknowledged.store(unit + records.len() as u64, Ordering::SeqCst);
        image(format!("committed-{unit}"));
        apply(&mut standing, &records);
        if unit % 2 == 1 {
            store.save(&mut standing).unwrap();
            image(format!("saved-{unit}"));
        }
    }
    let taken = taken.lock().unwrap();
    assert!(taken.len() > 40);
    for (path, acknowledged) in taken.iter() {
        finish(path, *acknowledged, &path.display().to_string());
    }
}

fn coordinator(folder: &Path, disk: FaultyDisk, clock: &SetClock) -> Handle {
    let clock = Arc::new(clock.clone());
    let options = known_run::options(folder);
    let (store, standing, _) = Store::open_on(Box::new(disk), clock.clone(), options).unwrap();
    let policy = DoubleCheck::None;
    Handle::start_by(clock, known_run::plan(), Shard::default(), standing, policy, Some(store)).unwrap()
}

async fn join(handle: &Handle) -> WorkerId {
    join_from(handle, "machine").await
}

async fn join_from(handle: &Handle, machine: &str) -> WorkerId {
    let registration = Registration {
        owner: Owner::default(),
        fingerprint: known_run::plan().fingerprint().clone(),
        name: "w".into(),
        machine: machine.into(),
        threads: 2,
        kernel: "search/portable".parse().unwrap(),
        self_test: self_test::expected(),
        held: Vec::new(),
    };
    handle.register(registration).await.unwrap().worker
}

async fn lease(handle: &Handle, worker: WorkerId, want: u32) -> Vec<Lease> {
    match handle.lease(worker, want, Duration::ZERO).await.unwrap() {
        LeaseReply::Granted(leases) => leases,
        LeaseReply::Finished => Vec::new(),
    }
}

fn report(worker: WorkerId, leases: &[Lease]) -> Report {
    let count = |lease: &Lease| UnitCount {
        lease: *lease,
        completions: known_run::count(lease.unit),
        nodes: 1,
        cpu: Duration::from_micros(1),
    };
    Report { worker, counts: leases.iter().map(count).collect() }
}

/// Leases and reports until nothing is left, each report as often as it takes; returns how many were not recorded.
async fn count_all(handle: &Handle, worker: WorkerId) -> u64 {
    let mut refused = 0;
    loop {
        let leases = lease(handle, worker, 8).await;
        if leases.is_empty() {
            return refused;
        }
        loop {
            match handle.report(report(worker, &leases)).await {
                Ok(verdicts) => {
                    assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Recorded), "{verdicts:?}");
                    break;
                }
                Err(CallError::NotRecorded(why)) => {
                    let status = handle.status().await.unwrap();
                    assert_eq!(status.trouble, why);
                    assert_eq!(status.phase, Phase::Counting);
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(handle.status().await.unwrap().trouble, "");
    }
}

/// The test's clock stands still: whoever waits by another one waits for ever.
#[tokio::test]
async fn a_request_for_units_that_waits_no_time_is_answered_at_once() {
    let handle = Handle::start_by(
        Arc::new(SetClock::default()),
        known_run::plan(),
        Shard::default(),
        Standing::new(&known_run::plan()),
        DoubleCheck::None,
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
        let Record::Count(r) = record else { panic!("{record:?}") };
        assert_eq!(r.at, 1_790_000_000);
    })
    .unwrap();
}

async fn expect_the_answer(handle: &Handle) {
    let mut snapshots = handle.snapshots();
    let snapshot = snapshots.wait_for(|snapshot| snapshot.ending.is_some()).await.unwrap().clone();
    match snapshot.ending.unwrap() {
        Ending::Answered(answer) => assert_eq!(answer.totals, known_run::totals()),
        Ending::Withheld(why) => panic!("{why}"),
    }
}

#[tokio::test]
async fn a_disk_that_is_full_or_read_only_acknowledges_nothing_says_so_and_goes_on_when_it_is_mended() {
    for errno in [28, 30] {
        let folder = TempDir::new().unwrap();
        let disk = FaultyDisk::with_faults(&[(9, Fault::Error { errno, steps: 5 })]);
        let handle = coordinator(folder.path(), disk, &SetClock::default());
        let worker = join(&handle).await;
        let refused = count_all(&handle, worker).await;
        assert!(refused >= 2, "{refused}");
        expect_the_answer(&handle).await;
        handle.close().await;
        let audit = audit(&RunDirectory::open(folder.path()).unwrap()).unwrap();
        assert_eq!((audit.totals, audit.missing), (known_run::totals(), None));
    }
}

#[tokio::test]
async fn a_late_check_during_the_audit_does_not_withhold_the_answer() {
    for _ in 0..20 {
        let folder = TempDir::new().unwrap();
        let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &SetClock::default());
        let worker = join(&handle).await;
        let late = join_from(&handle, "another machine").await;
        let first = lease(&handle, worker, 1).await;
        handle.report(report(worker, &first)).await.unwrap();
        // The last counts and a check that nobody waits for any more, as close to each other as can be.
        let (all, check) = tokio::join!(count_all(&handle, worker), async {
            let mut snapshots = handle.snapshots();
            snapshots.wait_for(|snapshot| snapshot.status.done == snapshot.status.units).await.unwrap();
            handle.report(report(late, &first)).await
        });
        assert_eq!(all, 0);
        // The keeper may have ended before it was heard.
        check.ok();
        expect_the_answer(&handle).await;
        handle.close().await;
    }
}

#[tokio::test]
async fn a_coordinator_that_ends_at_any_step_has_kept_all_that_it_acknowledged() {
    for step in 0..30 {
        let folder = TempDir::new().unwrap();
        let disk = FaultyDisk::with_faults(&[(step, Fault::Crash)]);
        let handle = coordinator(folder.path(), disk, &SetClock::default());
        let worker = join(&handle).await;
        let mut acknowledged = 0;
        // Units are lent in their order.
        loop {
            let leases = lease(&handle, worker, 3).await;
            match handle.report(report(worker, &leases)).await {
                Ok(_) => acknowledged += leases.len() as u64,
                Err(_) => break,
            }
        }
        handle.close().await;
        finish(folder.path(), acknowledged, &format!("step {step}"));
    }
}

#[tokio::test]
async fn a_sync_that_takes_twenty_minutes_loses_no_worker_and_no_lease() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let slow = {
        let clock = clock.clone();
        // The second step of a group and the fourth are its syncs; the first group has four more before.
        move |step| {
            if step == 5 {
                clock.advance(Duration::from_mins(20));
            }
        }
    };
    let handle = coordinator(folder.path(), FaultyDisk::watched(slow), &clock);
    let (a, b) = (join(&handle).await, join(&handle).await);
    let (reported, kept) = (lease(&handle, a, 2).await, lease(&handle, b, 5).await);
    let (verdicts, lost) = tokio::join!(handle.report(report(a, &reported)), handle.renew(b, kept.clone()));
    assert_eq!(verdicts.unwrap(), vec![Verdict::Recorded; reported.len()]);
    assert_eq!(lost.unwrap(), []);
    let status = handle.status().await.unwrap();
    assert_eq!((status.workers.len(), status.leased), (2, kept.len() as u64));
    // Whoever has been heard of since keeps its leases.
    assert_eq!(handle.renew(b, kept).await.unwrap(), []);
    assert_eq!(count_all(&handle, a).await, 0);
    handle.close().await;
}

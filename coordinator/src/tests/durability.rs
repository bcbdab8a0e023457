//! Store and keeper on a disk that fails, fills up, stops or takes its time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::{RunStatus, Takeback, Target, Verdict};
use queens::UnitId;
use records::audit;
use records::ledger::Record;
use records::run_directory::RunDirectory;
use records::shard::Shard;
use records::standing::Standing;
use records::store::{Notice, Store};
use records::testing::{Fault, FaultyDisk, SetClock, known_run};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::core::LEASE_TIME;
use crate::keeper::{Ending, Withheld};
use crate::tests::known_worker::{
    coordinator, count_all, count_to_the_end, expect_the_answer, join, join_from, lease, report,
};

/// Upper limit of any wait in these tests.
const PATIENCE: Duration = Duration::from_mins(2);

/// Copies a folder as `kill -9` leaves it: files that are renamed meanwhile are not in the copy.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).into_iter().flatten() {
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
    let gone = notices.iter().any(|notice| matches!(notice, Notice::LossAccepted { .. }));
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
fn kill_before_any_step_loses_no_acknowledged_count() {
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
            store.save(&standing).unwrap();
            image(format!("saved-{unit}"));
        }
    }
    let taken = taken.lock().unwrap();
    assert!(taken.len() > 40);
    for (path, acknowledged) in taken.iter() {
        finish(path, *acknowledged, &path.display().to_string());
    }
}

#[tokio::test]
async fn run_resumes_after_full_or_read_only_disk() {
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
async fn late_check_during_audit_does_not_withhold_answer() {
    for _ in 0..20 {
        let folder = TempDir::new().unwrap();
        let clock = SetClock::default();
        let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
        // Its silence lends its unit to another worker.
        let late = join_from(&handle, "another machine").await;
        let first = lease(&handle, late, 1).await;
        clock.advance(2 * LEASE_TIME);
        let worker = join(&handle).await;
        // The last counts, and a late check that is not required, as close together as possible.
        let count_and_check = async {
            tokio::join!(count_to_the_end(&handle, worker), async {
                let mut snapshots = handle.snapshots();
                let is_complete =
                    |status: &RunStatus| status.done == status.units && status.assurance.pending == 0;
                snapshots.wait_for(|snapshot| is_complete(&snapshot.status)).await.unwrap();
                // The keeper may end before it receives this.
                handle.report(report(late, &first)).await.ok();
            })
        };
        // The remaining checks wait for the other machine for a while.
        let pass_time = async {
            loop {
                clock.advance(Duration::from_secs(1));
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::select! {
            _ = count_and_check => {}
            () = pass_time => {}
        }
        handle.close().await;
    }
}

#[tokio::test]
async fn crash_at_any_step_keeps_acknowledged_counts() {
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
                Ok(_) => acknowledged += leases.iter().filter(|lease| !lease.variant.mirrored).count() as u64,
                Err(_) => break,
            }
        }
        handle.close().await;
        finish(folder.path(), acknowledged, &format!("step {step}"));
    }
}

/// A disk that takes twenty minutes of this clock for the next step whenever the flag is set.
fn slow_disk(clock: &SetClock) -> (FaultyDisk, Arc<AtomicBool>) {
    let (clock, is_slow) = (clock.clone(), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&is_slow);
    let disk = FaultyDisk::watched(move |_| {
        if flag.swap(false, Ordering::SeqCst) {
            clock.advance(Duration::from_mins(20));
        }
    });
    (disk, is_slow)
}

#[tokio::test]
async fn sync_of_twenty_minutes_loses_no_worker_or_lease() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let (disk, is_slow) = slow_disk(&clock);
    let handle = coordinator(folder.path(), disk, &clock);
    let (a, b) = (join(&handle).await, join(&handle).await);
    let (reported, kept) = (lease(&handle, a, 2).await, lease(&handle, b, 5).await);
    is_slow.store(true, Ordering::SeqCst);
    let (verdicts, lost) = tokio::join!(handle.report(report(a, &reported)), handle.renew(b, kept.clone()));
    assert_eq!(verdicts.unwrap(), vec![Verdict::Recorded; reported.len()]);
    assert_eq!(lost.unwrap().lost, []);
    let status = handle.status().await.unwrap();
    assert_eq!((status.workers.len(), status.leased), (2, kept.len() as u64));
    // A retraction by the operator goes to the same disk.
    is_slow.store(true, Ordering::SeqCst);
    let (target, reason) = (Target::Units(vec![reported[0].unit]), "test".into());
    assert_eq!(
        handle.retract(Takeback { target, reason, dry_run: false }).await.map(|taken| taken.units),
        Ok(1)
    );
    assert!(!is_slow.load(Ordering::SeqCst), "it was slow");
    let status = handle.status().await.unwrap();
    assert_eq!((status.workers.len(), status.leased), (2, kept.len() as u64));
    // A worker that has called since keeps its leases.
    assert_eq!(handle.renew(b, kept).await.unwrap().lost, []);
    assert_eq!(count_all(&handle, a).await, 0);
    handle.close().await;
}

#[tokio::test]
async fn hanging_disk_is_shown_until_it_answers() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let (mend, mended) = std::sync::mpsc::channel::<()>();
    let disk = FaultyDisk::watched(move |step| {
        if step == 9 {
            mended.recv().ok();
        }
    });
    let handle = coordinator(folder.path(), disk, &clock);
    let worker = join(&handle).await;
    let counting = async {
        loop {
            let leases = lease(&handle, worker, 8).await;
            if leases.is_empty() {
                return;
            }
            handle.report(report(worker, &leases)).await.unwrap();
        }
    };
    let watching = async {
        let mut snapshots = handle.snapshots();
        snapshots.wait_for(|snapshot| !snapshot.status.trouble.is_empty()).await.unwrap();
        let status = handle.status().await.unwrap();
        assert!(status.trouble.contains("the disk of the run has not answered"), "{status:?}");
        assert!(status.done < status.units && status.left.is_none() && status.rate == 0.0, "{status:?}");
        mend.send(()).unwrap();
        snapshots.wait_for(|snapshot| snapshot.status.trouble.is_empty()).await.unwrap();
    };
    timeout(PATIENCE, async { tokio::join!(counting, watching) }).await.unwrap();
    expect_the_answer(&handle).await;
    handle.close().await;
}

#[tokio::test]
async fn wrong_checkpoint_sums_are_found_and_discarded() {
    let plan = known_run::plan();
    let first = |is_symmetric: bool| {
        (0..plan.units())
            .find(|unit| plan.summand(UnitId(*unit)).is_symmetric_count() == is_symmetric)
            .unwrap()
    };
    // Nothing contradicts the sum of counts without symmetry. Contradictory symmetric counts would be retracted.
    for unit in [first(false), first(true)] {
        let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
        let (mut store, mut standing, _) = Store::open(known_run::options(folder.path())).unwrap();
        store.commit(&[known_run::record(unit)], Duration::ZERO, 1).unwrap();
        // As failing memory would have it.
        let lie = Record::Count(known_run::unit_record(unit, 1, "machine"));
        standing.apply(&plan, Shard::default(), &lie).unwrap();
        store.save(&standing).unwrap();
        drop(store);
        let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
        let mut snapshots = handle.snapshots();
        let withheld = snapshots.wait_for(|snapshot| snapshot.ending.is_some());
        let ending = timeout(PATIENCE, withheld).await.unwrap().unwrap().ending.clone();
        assert!(matches!(ending, Some(Ending::Withheld(Withheld::Audit(_)))), "{ending:?}");
        handle.close().await;
        drop(handle);
        assert!(!folder.path().join("checkpoint").exists(), "{ending:?}");
        let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
        let worker = join(&handle).await;
        count_all(&handle, worker).await;
        expect_the_answer(&handle).await;
        handle.close().await;
    }
}

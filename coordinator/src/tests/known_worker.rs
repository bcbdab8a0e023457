//! A worker for tests: it counts the small run of [`known_run`] over a handle.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, LeaseReply, Owner, Phase, Registration, Report, UnitCount, Verdict, WorkerId};
use queens::self_test;
use records::DoubleCheck;
use records::shard::Shard;
use records::store::Store;
use records::testing::{FaultyDisk, SetClock, known_run};
use tokio::time::timeout;

use crate::handle::Handle;
use crate::keeper::{CallError, Ending};

/// Upper limit of any wait in these tests.
const PATIENCE: Duration = Duration::from_mins(2);

/// Serves the small run from a folder on this disk with this clock.
pub fn coordinator(folder: &Path, disk: FaultyDisk, clock: &SetClock) -> Handle {
    replicated(folder, disk, clock, None)
}

/// Serves the small run with this number of required followers.
pub fn replicated(folder: &Path, disk: FaultyDisk, clock: &SetClock, replicas: Option<u32>) -> Handle {
    let clock = Arc::new(clock.clone());
    let options = known_run::options(folder);
    let (store, standing, _) = Store::open_on(Box::new(disk), clock.clone(), options).unwrap();
    let policy = DoubleCheck::None;
    let (plan, shard) = (known_run::plan(), Shard::default());
    Handle::start_by(clock, plan, shard, standing, Some(policy), Some(store), replicas).unwrap()
}

/// Registers a worker.
pub async fn join(handle: &Handle) -> WorkerId {
    join_from(handle, "machine").await
}

/// Registers a worker of that machine.
pub async fn join_from(handle: &Handle, machine: &str) -> WorkerId {
    handle.register(registration(machine)).await.unwrap().worker
}

/// The registration of a worker on this machine.
pub fn registration(machine: &str) -> Registration {
    Registration {
        owner: Owner::default(),
        fingerprint: known_run::plan().fingerprint().clone(),
        name: "w".into(),
        machine: machine.into(),
        threads: 2,
        kernel: "search/portable".parse().unwrap(),
        self_test: self_test::expected(),
        held: Vec::new(),
        former: None,
        leases: Vec::new(),
        met: None,
    }
}

/// Leases open units.
pub async fn lease(handle: &Handle, worker: WorkerId, want: u32) -> Vec<Lease> {
    match handle.lease(worker, want, Duration::ZERO).await.unwrap() {
        LeaseReply::Granted(leases) => leases,
        LeaseReply::Finished => Vec::new(),
    }
}

/// A report of the true counts of these units.
pub fn report(worker: WorkerId, leases: &[Lease]) -> Report {
    let count = |lease: &Lease| UnitCount {
        lease: *lease,
        completions: known_run::count(lease.unit),
        nodes: 1,
        cpu: Duration::from_micros(1),
    };
    Report { worker, counts: leases.iter().map(count).collect() }
}

/// Leases and reports until no unit is left, and repeats failed reports. Returns the number of failures.
pub async fn count_all(handle: &Handle, worker: WorkerId) -> u64 {
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

/// Counts until the run ends, as workers do: after a start, checks are lent once the ledger has been read. Expects the
/// published totals.
pub async fn count_to_the_end(handle: &Handle, worker: WorkerId) {
    let count = async {
        loop {
            assert_eq!(count_all(handle, worker).await, 0);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        () = expect_the_answer(handle) => (),
        () = count => (),
    }
}

/// Waits for the end of the run, and expects the published totals.
pub async fn expect_the_answer(handle: &Handle) {
    let mut snapshots = handle.snapshots();
    let ended = snapshots.wait_for(|snapshot| snapshot.ending.is_some());
    let snapshot = timeout(PATIENCE, ended).await.expect("the run ends").unwrap().clone();
    match snapshot.ending.unwrap() {
        Ending::Answered(answer) => assert_eq!(answer.totals, known_run::totals()),
        Ending::Withheld(why) => panic!("{why}"),
    }
}

//! The status of a run: its history from several sources, its families and machines, and its events.

use std::fs;
use std::time::Duration;

use domain::{Event, Owner, Phase, PolicyChange, Steering, Takeback, Target};
use records::ledger::{Record, UnitRecord};
use records::merge;
use records::replay::{Stretch, replay};
use records::run_directory::RunDirectory;
use records::shard::Shard;
use records::standing::{Milestone, Standing};
use records::store::{OpenOptions, Store};
use records::testing::known_run::{self, retraction, unit_record};
use records::testing::{Fault, FaultyDisk, SetClock};
use tempfile::TempDir;

use crate::handle::Handle;
use crate::keeper::CallError;
use crate::tests::known_worker::{
    coordinator, count_to_the_end, expect_the_answer, join, join_from, lease, registration, replicated,
    report,
};

const BEGUN: u64 = 1_790_000_000;

/// The true count of the unit, this many seconds after the start of the run.
fn counted(unit: u64, after: u64) -> UnitRecord {
    UnitRecord { at: BEGUN + after, ..unit_record(unit, 0, "machine") }
}

fn curve(standing: &Standing) -> Vec<(u64, u64)> {
    standing.sums().history.milestones().map(|Milestone { at, done, .. }| (at - BEGUN, done)).collect()
}

#[test]
fn history_is_same_from_checkpoint_and_from_ledger() {
    let folder = TempDir::new().unwrap();
    let options = || known_run::options(folder.path());
    let (mut store, mut standing, _) = Store::open(options()).unwrap();
    let mut commit = |store: &mut Store, records: &[Record]| {
        store.commit(records, Duration::ZERO, 1).unwrap();
        records.iter().for_each(|r| standing.apply(&known_run::plan(), Shard::default(), r).unwrap());
        standing.clone()
    };
    let first: Vec<_> = (0..20).map(|unit| Record::Count(counted(unit, 10 * unit))).collect();
    let on_record = commit(&mut store, &first);
    store.save(&on_record).unwrap();
    // The clock steps back, and a count is retracted.
    let (stepped, later) = (counted(30, 95), counted(31, 250));
    let behind = [Record::Count(stepped), retraction(&counted(3, 200)), Record::Count(later)];
    let live = commit(&mut store, &behind);
    drop(store);
    let expected: Vec<_> = (0..20).map(|k| (10 * k, k + 1 + u64::from(k >= 10))).collect();
    let expected = [&expected[..10], &[(95, 11)], &expected[10..], &[(200, 20), (250, 21)]].concat();
    assert_eq!(curve(&live), expected);
    let (store, resumed, notices) = Store::open(options()).unwrap();
    assert!(notices.is_empty(), "{notices:?}");
    let mut read = Standing::new(&known_run::plan());
    replay(store.directory(), Stretch::default(), &mut read, |_, _| ()).unwrap();
    drop(store);
    fs::remove_dir_all(folder.path().join("checkpoint")).unwrap();
    let (_, rebuilt, _) = Store::open(options()).unwrap();
    for standing in [resumed, read, rebuilt] {
        assert_eq!(standing.sums(), live.sums());
    }
}

#[test]
fn merged_history_joins_histories_of_parts() {
    let folder = TempDir::new().unwrap();
    let parts: Vec<_> = [(1, 0), (2, 5)]
        .into_iter()
        .map(|(index, after)| {
            let path = folder.path().join(format!("part-{index}"));
            let shard: Shard = format!("{index}/2").parse().unwrap();
            let options = OpenOptions { shard, ..known_run::options(&path) };
            let (mut store, _, _) = Store::open(options).unwrap();
            let units = shard.units(known_run::plan().units()).zip(0..10);
            let records: Vec<_> =
                units.map(|(unit, k)| Record::Count(counted(unit.0, after + 100 * k))).collect();
            store.commit(&records, Duration::ZERO, 1).unwrap();
            path
        })
        .collect();
    let out = folder.path().join("out");
    merge(&out, &parts).unwrap();
    let mut merged = Standing::new(&known_run::plan());
    replay(&RunDirectory::open(&out).unwrap(), Stretch::default(), &mut merged, |_, _| ()).unwrap();
    let expected: Vec<_> = (0..10).flat_map(|k| [(100 * k, 2 * k + 1), (100 * k + 5, 2 * k + 2)]).collect();
    assert_eq!(curve(&merged), expected);
}

/// The events of a run, from the second on: the first is its beginning.
async fn events(handle: &Handle) -> Vec<String> {
    let events = handle.status().await.unwrap().events;
    assert!(events[0].text.starts_with("the coordinator began term "), "{events:?}");
    events.into_iter().skip(1).map(|Event { text, .. }| text).collect()
}

#[tokio::test]
async fn events_have_their_times() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    clock.advance(Duration::from_secs(BEGUN));
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let (a, _) = (join(&handle).await, join_from(&handle, "other").await);
    clock.advance(Duration::from_secs(100));
    let leases = lease(&handle, a, 3).await;
    handle.report(report(a, &leases)).await.unwrap();
    let target = Target::Units(vec![leases[0].unit, leases[1].unit]);
    let what = target.to_string();
    handle.retract(Takeback { target, reason: "broken\u{202e}".into(), dry_run: false }).await.unwrap();
    let change = PolicyChange {
        double_check: Some("all".into()),
        replicas: None,
        require_owners: None,
        own_checks: None,
        own: None,
        reason: "a record".into(),
        dry_run: false,
    };
    handle.change_policy(change).await.unwrap();
    handle.release(a, Vec::new(), true).await.unwrap();
    assert_eq!(
        events(&handle).await,
        [
            "2 workers joined, w the last".to_owned(),
            format!("the operator takes back {what}: broken\\u{{202e}}"),
            "the operator sets --double-check all: a record".to_owned(),
            "worker w left".to_owned(),
        ]
    );
    let times: Vec<_> = handle.status().await.unwrap().events.iter().map(|event| event.at - BEGUN).collect();
    assert_eq!(times, [0, 0, 100, 100, 100]);
    handle.close().await;
}

#[tokio::test]
async fn dispute_full_disk_silence_and_answer_are_events() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let disk = FaultyDisk::with_faults(&[(12, Fault::Error { errno: 28, steps: 5 })]);
    let handle = coordinator(folder.path(), disk, &clock);
    let liar = join_from(&handle, "liar").await;
    let lies = lease(&handle, liar, 1).await;
    let mut lie = report(liar, &lies);
    lie.counts[0].completions += 1;
    handle.report(lie).await.unwrap();
    // The worker holds another unit and falls silent.
    lease(&handle, liar, 1).await;
    clock.advance(Duration::from_secs(601));
    let (b, c) = (join_from(&handle, "b").await, join_from(&handle, "c").await);
    while handle.status().await.unwrap().phase == Phase::Counting {
        for worker in [b, c] {
            let leases = lease(&handle, worker, 1000).await;
            while handle.report(report(worker, &leases)).await.is_err() {}
        }
    }
    expect_the_answer(&handle).await;
    let told = events(&handle).await;
    let unit = lies[0].unit;
    for text in [
        "nothing is recorded: ",
        "records can be written again",
        "worker w was silent and lost 1 unit",
        &format!("unit {unit} is in dispute: its counts differ"),
        &format!("the dispute about unit {unit} is decided"),
        "machine liar is quarantined",
        "the answer is given: 92 solutions",
    ] {
        assert_eq!(told.iter().filter(|event| event.starts_with(text)).count(), 1, "{text:?} in {told:#?}");
    }
    handle.close().await;
}

#[tokio::test]
async fn followers_pauses_and_drains_are_events() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = replicated(folder.path(), FaultyDisk::with_faults(&[]), &clock, Some(0));
    join_from(&handle, "rack").await;
    drop(handle.follow(7, 0).await.unwrap());
    let owner = Owner::default();
    for steering in [
        Steering::Pause { reason: "the weekend".into() },
        Steering::Resume,
        Steering::Drain { owner, machine: "rack".into() },
    ] {
        handle.steer(steering).await.unwrap();
    }
    assert_eq!(
        events(&handle).await,
        [
            "worker w joined",
            "a follower joined that has 0 records",
            "a follower left",
            "the operator pauses the run: the weekend",
            "the operator resumes the run",
            "the operator asks 1 worker of rack to leave",
        ]
    );
    handle.close().await;
}

#[tokio::test]
async fn paused_run_shows_no_speed_once_nothing_is_lent() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    clock.advance(Duration::from_secs(5));
    let leases = lease(&handle, worker, 20).await;
    handle.report(report(worker, &leases[..10])).await.unwrap();
    clock.advance(Duration::from_secs(1));
    handle.steer(Steering::Pause { reason: String::new() }).await.unwrap();
    let status = handle.status().await.unwrap();
    assert!(status.rate > 0.0 && status.workers[0].leased == 10, "{status:?}");
    handle.report(report(worker, &leases[10..])).await.unwrap();
    let status = handle.status().await.unwrap();
    let speeds = (status.rate, status.workers[0].rate, status.machines[0].speed);
    assert_eq!(speeds, (0.0, 0.0, 0.0));
    handle.close().await;
}

#[tokio::test]
async fn answered_run_stops_clock_and_refuses_pause() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    clock.advance(Duration::from_secs(7));
    let worker = join(&handle).await;
    count_to_the_end(&handle, worker).await;
    expect_the_answer(&handle).await;
    clock.advance(Duration::from_hours(1));
    assert_eq!(handle.status().await.unwrap().elapsed, Duration::from_secs(7));
    for steering in [Steering::Pause { reason: "the weekend".into() }, Steering::Resume] {
        let refused = handle.steer(steering).await.unwrap_err();
        assert!(matches!(refused, CallError::Ended), "{refused}");
    }
    handle.close().await;
}

#[tokio::test]
async fn audit_after_restart_is_an_event() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    handle.report(report(worker, &leases)).await.unwrap();
    handle.close().await;
    drop(handle);
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let mut snapshots = handle.snapshots();
    let is_told = |status: &domain::RunStatus| status.events.len() > 1;
    snapshots.wait_for(|snapshot| is_told(&snapshot.status)).await.ok();
    let _ = handle.status().await;
    while !is_told(&handle.status().await.unwrap()) {
        tokio::task::yield_now().await;
    }
    let told = events(&handle).await;
    assert!(
        told[0].starts_with("the audit found the whole ledger sound: ") && told[0].ends_with(" records"),
        "{told:?}"
    );
    handle.close().await;
}

#[tokio::test]
async fn families_and_machines_add_up_to_the_run() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = coordinator(folder.path(), FaultyDisk::with_faults(&[]), &clock);
    let (a, b) = (join_from(&handle, "a").await, join_from(&handle, "b").await);
    handle.register(registration("b")).await.unwrap();
    for (worker, units) in [(a, 20), (b, 10)] {
        clock.advance(Duration::from_secs(5));
        let leases = lease(&handle, worker, units).await;
        handle.report(report(worker, &leases)).await.unwrap();
    }
    clock.advance(Duration::from_secs(1));
    let status = handle.status().await.unwrap();
    let sum = |of: fn(&domain::FamilyStatus) -> u64| status.families.iter().map(of).sum::<u64>();
    assert_eq!((sum(|f| f.units), sum(|f| f.done)), (status.units, status.done));
    assert!(status.families.is_sorted_by_key(|family| (family.top, family.bottom)));
    assert!(status.families.iter().all(|family| family.done <= family.units && family.units > 0));
    let machines: Vec<_> =
        status.machines.iter().map(|m| (&*m.name, m.workers, m.threads, m.is_believed)).collect();
    assert_eq!(machines, [("a", 1, 2, true), ("b", 2, 4, true)]);
    assert_eq!(status.machines.iter().map(|machine| machine.counts).sum::<u64>(), status.done);
    assert!(status.machines.iter().all(|machine| machine.speed > 0.0), "{:?}", status.machines);
    let last = status.history.last().unwrap();
    assert_eq!(last.done, status.done);
    assert!((last.progress - status.work.done / status.work.total).abs() < 1e-9, "{last:?}");
    handle.release(a, Vec::new(), true).await.unwrap();
    let machines = handle.status().await.unwrap().machines;
    let still = status.machines[0].counts;
    assert_eq!((machines[0].workers, machines[0].speed, machines[0].counts), (0, 0.0, still));
    handle.close().await;
}

//! The status of a large run, and its size.

use std::time::Duration;

use domain::{Owner, Registration, RunStatus};
use prost::Message;
use proto::v1;
use queens::{Board, Plan, PlanSpec};
use records::ledger::{Record, UnitRecord};

use super::*;

/// A client of another make takes no larger message.
const USUAL_LIMIT: usize = 4 << 20;

/// When its workers have registered and counted.
const NOW: Duration = Duration::from_hours(1);

/// The time of its last record.
const LAST: u64 = 1_790_003_599;

/// A run of n = 28 after an hour, with this number of workers on separate machines. `name` makes their names.
fn large_run(workers: u64, name: impl Fn(u64) -> String) -> Core {
    let plan = Arc::new(Plan::derive(PlanSpec::new(Board::new(28).unwrap())).unwrap());
    let standing = Standing::new(&plan);
    let key = LeaseKey::new([7; LeaseKey::BYTES]);
    let mut core = Core::new(plan, Shard::default(), standing, DoubleCheck::None.into(), key, 7);
    for number in 0..workers {
        let (name, owner) = (name(number), Owner::new(&name(number % 7)));
        let registration = Registration { owner, machine: name.clone(), ..registration(&core, &name, &[]) };
        core.register(NOW, registration).unwrap();
    }
    let count = |unit: u64| UnitRecord {
        unit: UnitId(unit),
        count: 1,
        nodes: 1,
        cpu_us: 1,
        worker: name(unit % workers),
        owner: name(unit % workers % 7),
        machine: name(unit % workers),
        kernel: "search/portable".into(),
        mirrored: false,
        recount: None,
        of: None,
        of_owner: String::new(),
        at: LAST - 3599 + unit,
    };
    let records: Vec<_> = (0..3600).map(|unit| Record::Count(count(unit))).collect();
    core.recorded(NOW, None, &records).unwrap();
    core
}

fn weight(core: &Core) -> usize {
    let history = core.history(LAST);
    assert!((300..=600).contains(&history.len()), "{} samples", history.len());
    v1::StatusReply::from(RunStatus { history, ..core.status(NOW) }).encoded_len()
}

#[test]
fn status_of_1000_workers_is_under_200_kib() {
    let core = large_run(1000, |number| format!("node-{number:03}.rack-{:02}", number / 40));
    let status = core.status(NOW);
    assert_eq!((status.workers.len(), status.machines.len(), status.families.len()), (1000, 1000, 194));
    let weight = weight(&core);
    println!("{weight} bytes");
    assert!(weight < 200 << 10, "{weight} bytes");
}

#[test]
fn status_of_many_long_names_fits_a_message() {
    let core = large_run(3000, |number| format!("{number:0200}"));
    let status = core.status(NOW);
    assert_eq!((status.workers.len(), status.workers_total, status.machines.len()), (1000, 3000, 1000));
    let threads: u64 = status.workers.iter().map(|worker| u64::from(worker.threads)).sum();
    let totals = (status.machines_total, status.machines_there, status.threads_total);
    assert_eq!(totals, (3000, 3000, 3 * threads));
    let weight = weight(&core);
    println!("{weight} bytes");
    // Events are not in it: 50 of 200 characters each.
    assert!(weight + (50 << 10) < USUAL_LIMIT, "{weight} bytes");
}

#[test]
fn history_shows_standstill_until_all_is_counted() {
    let mut core = core();
    let a = join(&mut core, "a");
    let lease = core.lease(T0, a, 1).unwrap()[0];
    report(&mut core, T0, a, lease, 0);
    let last = |core: &Core, now| core.history(now).last().map(|sample| (sample.at, sample.done));
    assert_eq!(last(&core, 3600), Some((3600, 1)));
    count_all(&mut core, a);
    let units = core.plan().units();
    assert_eq!(last(&core, 3600), Some((0, units)), "it was counted then, and goes on no more");
}

#[test]
fn silent_workers_are_not_connected_nor_in_estimate() {
    let mut core = core();
    let (a, b) = (join(&mut core, "a"), join_with(&mut core, T0, "b", 3));
    let lease = core.lease(T0, a, 1).unwrap()[0];
    report(&mut core, T0, a, lease, 0);
    let seen = |core: &Core, seconds| {
        let status = core.status(Duration::from_secs(seconds));
        (status.there(), status.machines_there, status.left.is_some(), status.workers_total)
    };
    assert_eq!(seen(&core, 15), ((2, 5), 2, true, 2));
    core.renew(Duration::from_secs(15), b, &[]).unwrap();
    assert_eq!(seen(&core, 16), ((1, 3), 1, true, 2));
    assert_eq!(core.status(Duration::from_secs(16)).machines[0].workers, 0);
    assert_eq!(seen(&core, 31), ((0, 0), 0, false, 2));
    core.renew(Duration::from_secs(40), a, &[]).unwrap();
    assert_eq!(seen(&core, 40), ((1, 2), 1, true, 2), "it is back");
}

fn join_with(core: &mut Core, now: Duration, name: &str, threads: u32) -> WorkerId {
    let registration = registration(core, name, &[]);
    core.register(now, Registration { threads, ..registration }).unwrap().worker
}

#[test]
fn idle_threads_at_most_halve_time_left() {
    let mut core = core();
    let (worker, mut now) = (join_with(&mut core, T0, "a", 2), T0);
    for _ in 0..8 {
        let lease = core.lease(now, worker, 1).unwrap()[0];
        now += Duration::from_millis(500);
        let count = UnitCount { cpu: Duration::from_secs(1), ..counted(lease, 0) };
        let (_, records) = core.judge(now, 0, worker, &count).unwrap();
        core.recorded(now, Some(worker), &records).unwrap();
    }
    let left = |core: &Core| core.status(now).left.unwrap().expected;
    let before = left(&core);
    for name in ["m1", "m2", "m3"] {
        join_with(&mut core, now, name, 65_536);
        assert!(left(&core) > before.mul_f64(0.45), "{:?} instead of {before:?}", left(&core));
    }
    assert_eq!(core.status(now).threads_total, 2 + 3 * 65_536, "what they say is told all the same");
}

#[test]
fn threads_of_workers_with_counts_are_believed() {
    let mut core = core();
    let workers =
        [("a", 2), ("b", 3), ("c", 40)].map(|(name, threads)| join_with(&mut core, T0, name, threads));
    assert_eq!(core.members.believed_threads(), 45, "nobody has counted");
    for (worker, believed) in workers.into_iter().zip([4, 10, 45]) {
        let lease = core.lease(T0, worker, 1).unwrap()[0];
        report(&mut core, T0, worker, lease, 0);
        assert_eq!(core.members.believed_threads(), believed);
    }
    for (worker, believed) in workers.into_iter().zip([43, 40, 0]) {
        core.release(T0, worker, &[], true).unwrap();
        assert_eq!(core.members.believed_threads(), believed);
    }
}

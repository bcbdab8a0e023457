//! Made-up runs: where they stand, in all states that there are to show.

use std::time::Duration;

use domain::{
    Assurance, CoordinatorId, Credit, Credits, Earned, Event, FamilyStatus, Incident, MachineStatus, Owner,
    Phase, RunId, RunStatus, Sample, Term, TimeLeft, Work, WorkerStatus,
};
use queens::kernel::{Isa, KernelName, Method};
use queens::{Board, Totals, UnitId, known};

/// The units of the plan of n = 27.
const UNITS: u64 = 5_729_024;

/// The seconds that they take a core.
pub const WORK: f64 = 3.2e8;

/// Threads of a worker.
pub const THREADS: u64 = 8;

/// When the made-up runs are looked at, in seconds since 1970.
pub const NOW: u64 = 1_790_000_000;

/// In seconds.
pub const DAY: u64 = 86400;

/// A name that is a script unless it is escaped.
pub const SCRIPT: &str = "<script>window.broken = true</script><img src=x onerror=\"window.broken = true\">";

/// A run without counts.
pub fn empty() -> RunStatus {
    let board = Board::new(27).unwrap();
    RunStatus {
        board,
        fingerprint: "0b3f7c52a90e4d61b8e2f4a7c3d59e10".to_owned().into(),
        units: UNITS,
        done: 0,
        leased: 0,
        disputed: 0,
        progress: 0.0,
        totals: Totals::default(),
        elapsed: Duration::from_secs(40),
        left: None,
        rate: 0.0,
        phase: Phase::Counting,
        trouble: String::new(),
        workers: Vec::new(),
        workers_total: 0,
        threads_total: 0,
        run: Some(RunId(9)),
        term: Some(Term { number: 1, coordinator: CoordinatorId(7), proof: 0 }),
        replicas: 0,
        followers: 0,
        assurance: Assurance::default(),
        set_aside: Vec::new(),
        set_aside_total: 0,
        work: Work { total: WORK, done: 0.0 },
        families: families(board, UNITS, 0.0),
        history: Vec::new(),
        events: vec![Event { at: NOW - 40, text: "the coordinator began term 1".into() }],
        incidents: vec![incident(NOW - 40, "start of the coordinator", "the coordinator began term 1", None)],
        incidents_total: 1,
        head: Some(HEAD.into()),
        machines: Vec::new(),
        machines_total: 0,
        machines_there: 0,
        credits: Credits::default(),
        paused: None,
        double_check: "1%".into(),
        require_owners: 1,
        release: "0.1.0".into(),
    }
}

/// A head as it is published.
const HEAD: &str = "diadem-head run=4f9d0a7be2c15d80 records=2501011 head=91b2ae0c7fd3356e n=27 shard=1/1 \
                    plan=0b3f7c52a90e4d61b8e2f4a7c3d59e10 at=2026-09-21T14:13:20Z";

fn incident(at: u64, kind: &str, text: &str, reason: Option<&str>) -> Incident {
    Incident { at, kind: kind.into(), times: 1, text: text.into(), reason: reason.map(str::to_owned) }
}

/// What happened in three weeks.
fn incidents() -> Vec<Incident> {
    let retraction = incident(
        NOW - 5 * DAY,
        "counts taken back",
        "took back the counts of 12 units",
        Some("the memory of rack-07 is bad"),
    );
    vec![
        incident(NOW - 23 * DAY, "start of the coordinator", "the coordinator began term 1", None),
        incident(
            NOW - 6 * DAY,
            "counts contradicted each other",
            "1 count contradicts another, first of unit 9",
            None,
        ),
        incident(NOW - 6 * DAY, "quarantine", "machine ada/rack-07 is quarantined", None),
        Incident { times: 12, ..retraction },
        incident(
            NOW - DAY,
            "takeover by another coordinator",
            "another coordinator took over, with term 1000002",
            None,
        ),
    ]
}

/// In the middle of it, with a dozen machines.
pub fn running() -> RunStatus {
    let (progress, empty) = (0.4321, empty());
    let totals = known::totals(empty.board).unwrap();
    let part = |number: u128| number * 4321 / 10000;
    let machines = (0..12).map(machine).collect();
    RunStatus {
        done: 2_475_511,
        leased: 4_120,
        progress,
        totals: Totals { a: part(totals.a), p: part(totals.p), r: part(totals.r), full: 0 },
        elapsed: Duration::from_secs(23 * DAY),
        left: Some(TimeLeft {
            expected: Duration::from_secs(29 * DAY),
            low: Duration::from_secs(24 * DAY),
            high: Duration::from_secs(36 * DAY),
        }),
        rate: 1.52,
        workers: (0..14).map(worker).collect(),
        workers_total: 14,
        threads_total: 14 * THREADS,
        replicas: 1,
        followers: 2,
        assurance: Assurance {
            on_two_machines: 25_400,
            pending: 41,
            sampled: 24_731,
            wrong_at_most: Some(0.000_121),
            ..Assurance::default()
        },
        work: Work { total: WORK, done: WORK * progress },
        families: families(empty.board, empty.units, progress),
        history: history(23 * DAY, progress),
        events: events(),
        incidents: incidents(),
        incidents_total: 5,
        machines,
        machines_total: 12,
        machines_there: 12,
        credits: credits((0..4).map(|i| ["ada", "ben", "", SCRIPT][i].to_owned())),
        ..empty
    }
}

/// Counts contradict each other, a machine was wrong, units were lost.
pub fn disputed() -> RunStatus {
    let mut status = running();
    status.disputed = 3;
    status.set_aside = vec![UnitId(1_204_411), UnitId(1_204_412)];
    status.set_aside_total = 2;
    status.assurance.conflicts = 5;
    status.assurance.quarantined = vec!["rack-07".into()];
    status.machines[7].is_believed = false;
    status.machines[7].wrong = 4;
    status.trouble = "nothing is recorded: cannot write ledger/000003.jsonl: no space left on device".into();
    status.events.push(Event { at: NOW - 5, text: "machine rack-07 is quarantined".into() });
    status
}

/// All is counted.
pub fn finished() -> RunStatus {
    let running = running();
    RunStatus {
        done: running.units,
        leased: 0,
        progress: 1.0,
        totals: known::totals(running.board).unwrap(),
        left: None,
        rate: 0.0,
        phase: Phase::Complete,
        work: Work { total: WORK, done: WORK },
        families: families(running.board, running.units, 2.0),
        assurance: Assurance {
            on_two_owners: running.units,
            sampled: running.units,
            wrong_at_most: Some(0.000_000_52),
            ..Assurance::default()
        },
        ..running
    }
}

/// The audit found something wrong.
pub fn withheld() -> RunStatus {
    let trouble = "the ledger's counts contradict each other".into();
    RunStatus { phase: Phase::Withheld, trouble, ..finished() }
}

/// A thousand workers with long names, and ten million units.
pub fn huge() -> RunStatus {
    let board = Board::new(32).unwrap();
    let workers = (0..1000).map(|i| WorkerStatus {
        name: format!("{i:03}-{}", "ö<&\"".repeat(39)),
        machine: format!("{i:03}-{}", "machine-".repeat(24)),
        owner: Owner::new(&"owner".repeat(8)),
        ..worker(i)
    });
    let machines = (0..1000)
        .map(|i| MachineStatus { name: format!("{i:03}-{}", "\"machine\\".repeat(21)), ..machine(i) })
        .collect();
    let long = |at| Event { at, text: "what happened is a long story. ".repeat(20) };
    RunStatus {
        board,
        units: 10_000_000,
        done: 5_123_456,
        workers: workers.collect(),
        workers_total: 1000,
        threads_total: 64_000,
        machines,
        machines_total: 1200,
        credits: credits((0..1000).map(|i| format!("{i:03}-{}", "\"owner\\".repeat(24)))),
        machines_there: 1000,
        families: families(board, 10_000_000, 0.5),
        events: (0..50).map(|i| long(NOW - 50 + i)).collect(),
        incidents: (0..100)
            .map(|i| incident(NOW - 100 + i, "counts taken back", &long(0).text, Some(SCRIPT)))
            .collect(),
        incidents_total: 2_000,
        set_aside: (0..100).map(|i| UnitId(9_000_000 + i)).collect(),
        set_aside_total: 4_711,
        trouble: "trouble ".repeat(200),
        ..running()
    }
}

/// The families that stand for all others, some further than others.
fn families(board: Board, units: u64, progress: f64) -> Vec<FamilyStatus> {
    let n = board.n();
    let all: Vec<(u8, u8)> =
        (0..n.div_ceil(2)).flat_map(|top| (top..n - top).map(move |bottom| (top, bottom))).collect();
    let units = units / all.len() as u64;
    let of = |(top, bottom): (u8, u8)| {
        let wave = f64::from(u32::from(top) * 7 + u32::from(bottom) * 3).sin() / 4.0;
        let share = (progress * (1.6 - f64::from(top) / f64::from(n)) + wave * progress).clamp(0.0, 1.0);
        FamilyStatus { top, bottom, units, done: (units as f64 * share) as u64 }
    };
    all.into_iter().map(of).collect()
}

/// Faster when machines joined, slower at night.
fn history(length: u64, progress: f64) -> Vec<Sample> {
    let every = length / 600;
    let speed = |i: u64| {
        let day = (i * every) as f64 / DAY as f64;
        (1.0 + 0.35 * (day * std::f64::consts::TAU).sin()) * if day < 9.0 { 0.6 } else { 1.4 }
    };
    let whole: f64 = (0..600).map(speed).sum();
    let mut done = 0.0;
    let sample = |i: u64| {
        done += speed(i) / whole * progress;
        Sample { at: NOW - (600 - i) * every, done: (done * 1e6) as u64, progress: done }
    };
    (0..600).map(sample).collect()
}

fn events() -> Vec<Event> {
    let texts = [
        "the coordinator began term 1",
        "worker rack-00-4000 joined",
        "13 workers joined, rack-11-4013 the last",
        "a follower joined that has 61204 records",
        "worker rack-05-4005 was silent and lost 128 units",
        "the operator pauses the run: the cooling is repaired",
        "the operator resumes the run",
        "the operator asks 1 worker of rack-09 to leave",
    ];
    (0..).zip(texts).map(|(i, text)| Event { at: NOW - (8 - i) * 40_000, text: text.into() }).collect()
}

/// Credits of these owners, the first with the most. The second one lost a count today.
fn credits(names: impl Iterator<Item = String>) -> Credits {
    let credit = |units: i64, share: i64| Credit {
        units: units / share,
        solutions: 234_907_967_154_122_528 / i128::from(share),
        work: WORK / share as f64,
    };
    let earned = |i: i64| {
        let mut earned = Earned { total: credit(1_234_567, i + 1), ..Earned::default() };
        (0..).zip(&mut earned.days).for_each(|(day, of_day)| *of_day = credit(12_345, (i + 1) * (7 - day)));
        if i == 1 {
            earned.days[6] = Credit { units: -1, solutions: -94_906_842, work: -56.0 };
        }
        earned
    };
    let owners = (0..).zip(names).map(|(i, name)| (Owner::new(&name), earned(i)));
    Credits::new(NOW / DAY, owners.collect(), 1000)
}

fn machine(i: u64) -> MachineStatus {
    MachineStatus {
        owner: Owner::new(if i.is_multiple_of(3) { "ada" } else { "" }),
        name: format!("rack-{i:02}"),
        workers: 1 + u64::from(i < 2),
        threads: THREADS + THREADS * u64::from(i < 2),
        counts: 276_000 - 12_000 * i.min(20),
        verified: 2_400 - 90 * i.min(20),
        wrong: 0,
        is_believed: true,
        speed: 6.3 + i as f64 / 100.0,
    }
}

fn worker(i: u64) -> WorkerStatus {
    WorkerStatus {
        owner: Owner::new(if i.is_multiple_of(3) { "ada" } else { "" }),
        name: if i == 3 { SCRIPT.into() } else { format!("rack-{:02}-{}", i % 12, 4000 + i) },
        machine: format!("rack-{:02}", i % 12),
        threads: THREADS as u32,
        kernel: KernelName { method: Method::Meet, isa: Isa::Avx512 },
        leased: 300 - i % 100,
        done: 180_000 - 10 * i,
        rate: 0.109,
        last_word: Duration::from_secs(if i == 5 { 640 } else { i % 9 }),
        drains: i == 9,
    }
}

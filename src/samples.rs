//! Runs as they may stand, for tests of what is shown of them.

use std::time::Duration;

use proto::{
    Assurance, CoordinatorId, Event, FamilyStatus, MachineStatus, Owner, Phase, RunId, RunStatus, Sample,
    Term, TimeLeft, Work, WorkerStatus,
};
use queens::{Board, Totals, UnitId};

/// When it began, in seconds since 1970.
const BEGUN: u64 = 1_790_000_000;

const DAY: u64 = 86_400;

/// All that differ.
pub fn all() -> [RunStatus; 5] {
    [empty(), running(), disputed(), crowded(), finished()]
}

/// Nothing has been counted, and nobody is there.
pub fn empty() -> RunStatus {
    RunStatus {
        board: Board::new(28).unwrap(),
        fingerprint: "0123456789abcdef0123456789abcdef".to_owned().into(),
        units: 9_728_677,
        done: 0,
        leased: 0,
        disputed: 0,
        progress: 0.0,
        totals: Totals::default(),
        elapsed: Duration::ZERO,
        left: None,
        rate: 0.0,
        phase: Phase::Counting,
        trouble: String::new(),
        workers: Vec::new(),
        workers_total: 0,
        threads_total: 0,
        run: Some(RunId(9)),
        term: Some(Term { number: 3, coordinator: CoordinatorId(7), proof: 0 }),
        replicas: 0,
        followers: 0,
        assurance: Assurance::default(),
        set_aside: Vec::new(),
        set_aside_total: 0,
        work: Work { total: 1e9, done: 0.0 },
        families: families(0),
        history: Vec::new(),
        events: vec![event(0, "the coordinator began term 3")],
        machines: Vec::new(),
        machines_total: 0,
        machines_there: 0,
        paused: None,
        double_check: "1%".into(),
        release: "0.1.0".into(),
    }
}

/// Three days on, with two machines of three.
pub fn running() -> RunStatus {
    let days = |days: u64| Duration::from_secs(days * DAY);
    let total = 9_728_677;
    let sample = |k: u64| Sample {
        at: BEGUN + k * DAY / 100,
        done: total * 12 * k / 30_400,
        progress: 0.12 * k as f64 / 304.0,
    };
    RunStatus {
        done: total * 12 / 100,
        leased: 1280,
        progress: 0.12,
        totals: Totals { a: 38_417_000_000_000_000, p: 12_345, r: 67, full: 0 },
        elapsed: days(3) + Duration::from_hours(4),
        left: Some(TimeLeft { expected: days(23), low: days(20), high: days(28) }),
        rate: 3.68,
        workers: vec![worker("rack-1-17", "rack-1", 900), worker("rack-2-4711", "rack-2", 14_200)],
        workers_total: 2,
        threads_total: 128,
        assurance: Assurance {
            on_two_machines: 10_071,
            pending: 12,
            sampled: 9_876,
            wrong_at_most: Some(0.000_303),
            ..Assurance::default()
        },
        work: Work { total: 1e9, done: 1.2e8 },
        families: families(12),
        history: (0..=304).map(sample).collect(),
        events: vec![
            event(0, "the coordinator began term 3"),
            event(5, "2 workers joined, rack-2-4711 the last"),
            event(2 * DAY, "worker rack-3-1 left"),
        ],
        machines: vec![machine("rack-1", 1), machine("rack-2", 1), machine("rack-3", 0)],
        machines_total: 3,
        machines_there: 2,
        ..empty()
    }
}

/// Likewise, with all that can go wrong.
pub fn disputed() -> RunStatus {
    RunStatus {
        disputed: 2,
        trouble: "nothing is recorded: cannot write /var/lib/diadem/diadem-28/ledger/000007.jsonl: No space left on device".into(),
        replicas: 2,
        followers: 1,
        set_aside: (1000..1012).map(UnitId).collect(),
        set_aside_total: 12,
        paused: Some("the night is over".into()),
        assurance: Assurance {
            conflicts: 3,
            quarantined: vec!["rack-3".into()],
            expelled: vec!["mallory".into()],
            ..running().assurance
        },
        events: (0..50).map(|k| event(k * 3600, &format!("unit {k} is in dispute: its counts differ"))).collect(),
        machines: vec![
            machine("rack-1", 1),
            machine("rack-2", 1),
            MachineStatus { wrong: 3, is_believed: false, ..machine("rack-3", 0) },
        ],
        ..running()
    }
}

/// A thousand workers, with names as long as they may be and of all kinds.
pub fn crowded() -> RunStatus {
    let name = |k: usize| {
        ["x".repeat(200), format!("rack-{k}"), format!("日本語-{k}"), format!("<script>{k}")][k % 4].clone()
    };
    RunStatus {
        workers: (0..1000).map(|k| worker(&name(k), &name(k), k as u64)).collect(),
        workers_total: 2300,
        threads_total: 147_200,
        machines: (0..1000).map(|k| machine(&name(k), 1)).collect(),
        machines_total: 2400,
        machines_there: 2300,
        set_aside: (1000..1100).map(UnitId).collect(),
        set_aside_total: 120,
        totals: Totals { a: 10u128.pow(35), p: 10u128.pow(18), r: 10u128.pow(9), full: 0 },
        ..running()
    }
}

/// All is counted.
pub fn finished() -> RunStatus {
    let running = running();
    RunStatus {
        done: running.units,
        leased: 0,
        progress: 1.0,
        left: None,
        phase: Phase::Complete,
        families: families(100),
        workers: Vec::new(),
        workers_total: 0,
        threads_total: 0,
        ..running
    }
}

fn families(percent: u64) -> Vec<FamilyStatus> {
    let pairs = (1..14).flat_map(|top| (top..28).map(move |bottom| (top, bottom)));
    let family = |(top, bottom)| FamilyStatus { top, bottom, units: 30_000, done: 300 * percent };
    pairs.map(family).collect()
}

fn event(after: u64, text: &str) -> Event {
    Event { at: BEGUN + after, text: text.to_owned() }
}

fn worker(name: &str, machine: &str, last_word_ms: u64) -> WorkerStatus {
    WorkerStatus {
        owner: Owner::default(),
        name: name.to_owned(),
        machine: machine.to_owned(),
        threads: 64,
        kernel: "search/portable".parse().unwrap(),
        leased: 640,
        done: 123_456,
        rate: 1.84,
        last_word: Duration::from_millis(last_word_ms),
        drains: false,
    }
}

fn machine(name: &str, workers: u64) -> MachineStatus {
    MachineStatus {
        owner: Owner::default(),
        name: name.to_owned(),
        workers,
        threads: 64 * workers,
        counts: 335_000,
        verified: 3_400,
        wrong: 0,
        is_believed: true,
        speed: 58.0 * workers as f64,
    }
}

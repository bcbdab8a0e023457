//! The metrics in the format of Prometheus, their limits, and the readiness of a run.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use domain::{Phase, RunStatus};

use crate::made_up::{self, SCRIPT};
use crate::site::Site;
use crate::tools;

/// The metrics of a run.
pub fn metrics(status: RunStatus) -> String {
    let reply = Site::open(status).get("/metrics", &[]);
    assert_eq!(reply.code, 200, "{reply:?}");
    assert!(reply.head.contains("content-type: text/plain; version=0.0.4"), "{reply:?}");
    reply.body
}

#[test]
fn the_metrics_say_where_the_run_stands() {
    let metrics = metrics(made_up::disputed());
    let lines: Vec<&str> = metrics.lines().collect();
    for line in [
        "diadem_units 5729024",
        "diadem_units_done 2475511",
        "diadem_progress_ratio 0.4321",
        "diadem_left_seconds{bound=\"high\"} 3110400",
        "diadem_phase{phase=\"counting\"} 1",
        "diadem_phase{phase=\"complete\"} 0",
        "diadem_trouble 1",
        "diadem_disk_trouble 1",
        "diadem_units_disputed 3",
        "diadem_units_set_aside 2",
        "diadem_machine_units_done{owner=\"ada\",machine=\"rack-03\"} 240000",
        "diadem_machine_believed{owner=\"\",machine=\"rack-07\"} 0",
        "diadem_worked_seconds_total 1987200",
    ] {
        assert!(lines.contains(&line), "no {line} in {metrics}");
    }
}

#[test]
fn silent_worker_is_not_counted_as_connected() {
    let mut status = made_up::running();
    let seen = |status: &RunStatus| {
        let metrics = metrics(status.clone());
        let lines = metrics
            .lines()
            .filter(|line| ["diadem_workers ", "diadem_threads "].iter().any(|name| line.starts_with(name)));
        lines.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let threads = format!("diadem_threads {}", 13 * made_up::THREADS);
    assert_eq!(seen(&status), ["diadem_workers 13".to_owned(), threads], "one is silent");
    status.workers.iter_mut().for_each(|worker| worker.last_word = Duration::from_secs(42));
    assert_eq!(seen(&status), ["diadem_workers 0", "diadem_threads 0"]);
}

#[test]
fn series_are_bounded_unique_and_quick_to_scrape() {
    let mut huge = made_up::huge();
    // Names that would share a series, or end a label.
    huge.machines[1].name = "other".into();
    huge.machines[2].name = "a\"} 1\nbroken 1".into();
    huge.machines[4].name = huge.machines[5].name.clone();
    huge.machines[4].owner = huge.machines[5].owner.clone();
    let site = Site::open(huge);
    // The best of five, because others use the machine.
    let scrapes = (0..5).map(|_| {
        let begun = Instant::now();
        let metrics = site.get("/metrics", &[]).body;
        (begun.elapsed(), metrics)
    });
    let (quickest, metrics) = scrapes.min_by_key(|(taken, _)| *taken).unwrap();
    assert!(quickest < Duration::from_millis(100), "{quickest:?}");
    let mut series: Vec<&str> = metrics
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').unwrap().0)
        .collect();
    assert!(series.len() < 800, "{}", series.len());
    assert!(!metrics.contains("\nbroken"), "{metrics}");
    let all = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), all);
    let threads = metrics.lines().filter(|line| line.starts_with("diadem_machine_threads{"));
    let threads: u64 = threads.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(threads, made_up::THREADS * 1002);
}

#[test]
fn prometheus_own_checker_has_nothing_to_say() {
    if !tools::is_there("promtool") {
        return;
    }
    let mut named = made_up::disputed();
    named.machines[0].name = SCRIPT.into();
    named.machines[2].name = "back\\slash \"and\" ünicode\nand a line".into();
    let states = [
        made_up::empty(),
        made_up::running(),
        named,
        made_up::finished(),
        made_up::withheld(),
        made_up::huge(),
    ];
    for status in states {
        let metrics = metrics(status);
        let mut command = Command::new("promtool");
        let command = command.args(["check", "metrics"]).stdin(Stdio::piped());
        let mut checker = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        checker.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
        let outcome = checker.wait_with_output().unwrap();
        assert!(
            outcome.status.success() && outcome.stdout.is_empty() && outcome.stderr.is_empty(),
            "{outcome:?} {metrics}"
        );
    }
}

#[test]
fn page_is_ready_while_run_is_healthy_but_always_live() {
    let troubled = made_up::disputed();
    let trouble = troubled.trouble.clone();
    let auditing = RunStatus { phase: Phase::Auditing, ..made_up::running() };
    for (status, code) in [
        (made_up::empty(), 200),
        (made_up::running(), 200),
        (auditing, 200),
        (made_up::finished(), 200),
        (troubled, 503),
        (made_up::withheld(), 503),
    ] {
        let site = Site::open(status);
        let reply = site.get("/readyz", &[]);
        assert_eq!(reply.code, code, "{reply:?}");
        assert!(reply.body.lines().count() == 1 && !reply.body.contains(&trouble), "{reply:?}");
        assert_eq!(site.get("/healthz", &[]).code, 200);
    }
}

//! `diadem count`, uninterrupted, and what it prints.

use std::time::{Duration, Instant};

use crate::harness::{Folder, in_time, published, until};

#[test]
fn counts_from_1_to_16_are_exact_with_their_classes() {
    let folder = Folder::new();
    for n in 1..=16u8 {
        let answer = folder.run(&format!("count {n} --json")).json();
        let known = queens::known::totals(queens::Board::new(n).unwrap()).unwrap();
        assert_eq!(answer["n"], n);
        assert_eq!(answer["total"], known.solutions().to_string(), "n={n}");
        assert_eq!(answer["fundamental"], known.fundamental().to_string(), "n={n}");
        for (key, value) in [("a", known.a), ("p", known.p), ("r", known.r)] {
            assert_eq!(answer[key], value.to_string(), "n={n} {key}");
        }
        assert_eq!(answer["known"], "agrees");
        assert!(answer["threads"].as_u64().unwrap() >= 1);
        assert!(
            !answer["kernel"].as_str().unwrap().is_empty() && !answer["isa"].as_str().unwrap().is_empty()
        );
        assert!(
            answer["seconds"].is_number() && answer["cpu_seconds"].is_number() && answer["units"].is_number()
        );
    }
}

#[test]
fn finished_run_answers_again_without_counting() {
    let folder = Folder::new();
    let first = folder.run("count 14 --json").json();
    let records = folder.counts("diadem-14");
    let again = folder.run("count 14 --json").json();
    assert_eq!(first, again);
    assert_eq!(folder.counts("diadem-14"), records);
}

#[test]
fn a_count_in_memory_leaves_no_files() {
    let folder = Folder::new();
    let answer = folder.run("count 12 --in-memory --threads 1 --json").json();
    assert_eq!(answer["total"], published(12));
    assert_eq!(answer["threads"], 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn interrupted_count_stops_within_2_s_and_resumes() {
    let folder = Folder::new();
    let running = folder.start("count 18 --isa portable --threads 1 --quiet", "log");
    until("something is on record", || folder.counts("diadem-18") > 0);
    let asked = Instant::now();
    running.terminate();
    let outcome = running.end();
    in_time(Duration::from_secs(2), asked);
    assert_eq!(outcome.code, Some(143));
    assert!(
        outcome.stderr.contains("resume with: diadem count 18 --isa portable --threads 1 --quiet\n"),
        "{outcome:?}"
    );
    let before = folder.counts("diadem-18");
    let running = folder.start("count 18 --isa portable --threads 1 --quiet", "log");
    until("more is on record", || folder.counts("diadem-18") > before);
    running.terminate();
    running.end();
    let ledger = folder.ledger("diadem-18");
    let mut units: Vec<&str> = ledger
        .lines()
        .filter(|line| line.contains("\"kind\":\"count\""))
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    let counted = units.len();
    units.sort_unstable();
    units.dedup();
    assert_eq!(units.len(), counted, "no unit was counted a second time");
}

#[test]
fn text_answer_has_total_and_classes() {
    let outcome = Folder::new().run("count 13");
    for words in
        ["Q(13) = 73712", "agrees with the published value", "A = 9197, P = 32, R = 4", "9233 up to symmetry"]
    {
        assert!(outcome.stdout.contains(words), "{outcome:?}");
    }
}

#[test]
fn counting_16_takes_less_than_100_megabytes() {
    let folder = Folder::new();
    let mut running = folder.start("count 16 --isa portable --quiet", "log");
    let mut peak = 0;
    until("the count ends", || {
        peak = peak.max(running.peak_kib().unwrap_or(0));
        running.has_ended()
    });
    assert!(peak > 0 && peak < 100_000, "{peak} KiB");
}

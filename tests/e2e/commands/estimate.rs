//! `diadem estimate` and `diadem bench`: predictions for boards with unknown totals.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Folder, in_time, published, until};

fn number(object: &Value, key: &str) -> f64 {
    object[key].as_f64().unwrap_or_else(|| panic!("{key} of {object}"))
}

#[test]
fn estimates_of_known_boards_are_within_their_errors() {
    let folder = Folder::new();
    for n in [4, 9, 14, 18, 23] {
        let estimate = folder.run(&format!("estimate {n} --seconds 4 --seed {n} --json")).json();
        let truth: f64 = published(n).parse().unwrap();
        let error = number(&estimate, "standard_error");
        // Five standard errors: once in two million.
        assert!((number(&estimate, "estimate") - truth).abs() <= 5.0 * error + 1e-9 * truth, "{estimate}");
        assert!(error <= 0.5 * truth && number(&estimate, "low") <= number(&estimate, "high"), "{estimate}");
        assert!(number(&estimate, "units") >= 1.0 && estimate["core_seconds"].is_object(), "{estimate}");
    }
    let none = folder.run("estimate 3 --seconds 0.1 --json").json();
    assert_eq!((number(&none, "estimate"), number(&none, "high")), (0.0, 0.0));
}

#[test]
fn estimate_gives_time_and_cost_on_named_machines() {
    let folder = Folder::new();
    let estimate =
        folder.run("estimate 17 --seconds 2 --machines 2x3 --watts 100 --price 0.5EUR --json").json();
    let on = &estimate["machines"];
    let work = estimate["core_seconds"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_f64)
        .fold(f64::MAX, f64::min);
    assert!((number(on, "days") * 86_400.0 * 6.0 / work - 1.0).abs() < 1e-6, "{estimate}");
    let (work, errors) = (&estimate["core_seconds"], &estimate["core_seconds_relative_error"]);
    let kernels = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        kernels(work),
        kernels(errors),
        "each kernel has an error, or is said to have none that is known"
    );
    let fastest = kernels(work).into_iter().min_by(|a, b| number(work, a).total_cmp(&number(work, b)));
    let error = number(errors, &fastest.unwrap());
    assert!(error > 0.0 && error < 1.0 && (number(on, "relative_error") - error).abs() < 1e-12, "{estimate}");
    assert!(
        (number(on, "kilowatt_hours") / (number(on, "days") * 24.0 * 0.2) - 1.0).abs() < 1e-6,
        "{estimate}"
    );
    assert!((number(on, "cost") / number(on, "kilowatt_hours") - 0.5).abs() < 1e-6, "{estimate}");
    assert_eq!((&on["currency"], &on["kinds"][0]["cores"]), (&"EUR".into(), &3.into()), "{estimate}");
    assert_eq!((&estimate["double_check"], number(&estimate, "work_factor")), (&"none".into(), 1.0));
    let reference = number(&estimate, "reference_core_seconds") / number(&estimate, "reference_cores");
    let fastest = work.as_object().unwrap().values().filter_map(Value::as_f64).fold(f64::MAX, f64::min);
    assert!((reference / fastest - 1.0).abs() < 1e-6, "{estimate}");
    folder.run("estimate 17 --machines 5").refused(&["\"5\"", "50x64"]);
    folder.run("estimate 27 --machines 4xRTX").refused(&["\"4xRTX\"", "measured cards: H200"]);
    folder.run("estimate 17 --machines 4xH200").refused(&["no H200 was measured at n = 17", "20 to 28"]);
    folder.run("estimate 17 --machines 2x3 --watts 5 --price 0.5").refused(&["its currency", "0.25EUR"]);
    folder.run("estimate 17 --watts 5").refused(&["--machines"]);
    folder.run("estimate 0").refused(&["from 1 to 1000"]);
    folder.run("estimate 17 --machines 2x3 --watts -1").refused(&["\"-1\" is not a number from 0"]);
    let none = folder.run("bench --n 2,3 --seconds 1");
    assert!(none.code == Some(0) && none.stderr.lines().count() == 2, "{none:?}");
    assert!(
        none.stderr.contains("n = 2 is left out") && !none.stderr.contains("increase --seconds"),
        "{none:?}"
    );
}

#[test]
fn checks_and_cards_are_part_of_the_plan() {
    let folder = Folder::new();
    let machines = "--machines 1x2 --machines 4xH200 --watts 100 --watts 700 --price 0.5EUR";
    let estimate =
        folder.run(&format!("estimate 22 --seconds 2 --double-check all {machines} --json")).json();
    // Each unit twice, and some checks by the slower method.
    let factor = number(&estimate, "work_factor");
    assert!(factor > 2.0 && factor < 8.0, "{estimate}");
    let on = &estimate["machines"];
    assert_eq!(on["kinds"][1], serde_json::json!({ "machines": 4, "card": "H200" }), "{estimate}");
    // Without the cores, four cards take a quarter of the minute that docs/gpu.md has.
    let seconds = number(on, "days") * 86_400.0 / factor;
    assert!(seconds > 10.0 && seconds < 15.5, "{estimate}");
    let power = number(on, "kilowatt_hours") * 3600.0 / (number(on, "days") * 86_400.0);
    assert!((power - 2.9).abs() < 1e-6, "{estimate}");
    let text = folder.run(&format!("estimate 22 --seconds 2 --double-check all {machines}")).stdout;
    for part in
        ["work: about ", "with --double-check all: about ", "± ", "on 1 x 2 cores and 4 x H200: about "]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains(" EUR") && text.contains("a core here is worth about "), "{text}");
}

#[test]
fn boards_that_no_kernel_counts_are_extrapolated() {
    let folder = Folder::new();
    let text = folder.run("estimate 1000").stdout;
    assert!(text.starts_with("Q(1000) is about 1.") && text.contains("e2158"), "{text}");
    let estimate = folder.run("estimate 33 --json").json();
    assert!((number(&estimate, "estimate") / 6.5e23 - 1.0).abs() < 0.05, "{estimate}");
}

#[test]
fn bench_at_record_size_keeps_time_and_shows_error() {
    let folder = Folder::new();
    let begun = Instant::now();
    let lines = folder.run("bench --n 27 --method meet --threads 1 --seconds 4 --json").stdout;
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!rows.is_empty(), "{lines}");
    for row in rows {
        assert!(number(&row, "pieces") > 0.0 && !row["whole"].as_bool().unwrap(), "{row}");
        assert!(number(&row, "ns_per_solution") > 0.0 && number(&row, "whole_board_seconds") > 1e6, "{row}");
    }
}

#[test]
fn the_largest_boards_keep_to_their_time_as_well() {
    let folder = Folder::new();
    for n in [30, 32] {
        let begun = Instant::now();
        let estimate = folder.run(&format!("estimate {n} --seconds 2 --threads 1 --json")).json();
        assert!(begun.elapsed().as_secs() < 40, "n = {n}: {:?}", begun.elapsed());
        let work = estimate["core_seconds"].as_object().unwrap();
        assert!(work.keys().any(|kernel| kernel.starts_with("meet")), "{estimate}");
    }
    // The draws stand for the whole board.
    let begun = Instant::now();
    let bench = folder.run("bench --n 30 --method meet --threads 1 --seconds 8 --json");
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let best: Value = serde_json::from_str(bench.stdout.lines().next().unwrap()).unwrap();
    let solutions = number(&best, "whole_board_seconds") / number(&best, "ns_per_solution") * 8e9;
    assert!((0.3..3.0).contains(&(solutions / 3.37e20)), "{solutions}: {best}");
}

#[test]
fn interrupted_estimate_ends_at_once() {
    let folder = Folder::new();
    // The plan of the largest board takes seconds; a small board has an estimate at once.
    let started = folder.start("estimate 32 --threads 1", "early.log");
    until("it heeds signals", || started.heeds(Signal::INT));
    let begun = Instant::now();
    started.interrupt();
    let early = started.end();
    in_time(Duration::from_secs(1), begun);
    assert!(early.code == Some(130) && early.stdout.is_empty(), "{early:?}");
    assert_eq!(early.stderr, "diadem: interrupted before anything was measured\n");
    for (json, said) in
        [("", "interrupted: this is what was measured until then"), (" --json", "\"interrupted\":true")]
    {
        let started = folder.start(&format!("estimate 12 --threads 1 --seconds 1000{json}"), "late.log");
        until("it counts", || started.heeds(Signal::INT) && started.ticks() > 30);
        started.interrupt();
        let late = started.end();
        assert!(late.code == Some(130) && late.stdout.contains(said), "{late:?}");
        assert!(!late.stdout.contains("it takes longer"), "{late:?}");
    }
}

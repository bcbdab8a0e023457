//! Studies of known distributions, with the same result on every machine.

use atlas::report;
use atlas::study::{Lengths, StudySpec};

/// Lengths that are the quantiles of a distribution.
fn quantiles(runs: u32, quantile: impl Fn(f64) -> f64) -> Lengths {
    let mut found: Vec<u64> =
        (1..=runs).map(|i| quantile((f64::from(i) - 0.5) / f64::from(runs)) as u64).collect();
    found.sort_unstable();
    Lengths { found, broken_off: 0 }
}

#[test]
fn restarts_are_geometric_and_known_tails_are_found() {
    // Equally likely lengths from 1 to 1000: within 250 with chance 1/4, so four attempts; three of them cost 250 each,
    // the last one 125.5 in the mean.
    let even = quantiles(1_000, |share| 1.0 + 1_000.0 * share);
    assert!((even.chance(250).value - 0.25).abs() < 1e-9);
    assert!((even.expected_attempts(250).value - 4.0).abs() < 1e-9);
    assert!((even.expected_with_restarts(250) - (3.0 * 250.0 + 125.5)).abs() < 1e-9);
    // Pareto distributions have the index that they are named by.
    for index in [0.7, 1.2, 2.0] {
        let tail = quantiles(10_000, |share| 100.0 * share.powf(-1.0 / index)).tail().unwrap();
        assert!((tail.index - index).abs() < 2.0 * tail.error, "{index}: {tail:?}");
    }
    // Fresh runs take as many attempts as the law predicts, within chance.
    let spec = StudySpec { sizes: 12..=30, runs: 400, seed: 5, limit: None };
    let (mut squares, mut count) = (0.0, 0.0);
    for study in spec.studies().unwrap() {
        for restarts in [study.asked, study.best] {
            let (law, found) = (restarts.expected_attempts, restarts.attempts);
            let errors = law.error.unwrap().hypot(found.error.unwrap());
            let off = (found.value - law.value) / errors;
            assert!(off.abs() < 4.5, "n = {}: {restarts:?}", study.n);
            (squares, count) = (squares + off * off, count + 1.0);
        }
    }
    assert!(
        (0.4..2.5).contains(&(squares / count)),
        "neither too far off nor too close: {}",
        squares / count
    );
}

#[test]
fn the_tables_of_a_seed_are_these_on_every_machine() {
    let spec = StudySpec { sizes: 20..=20, runs: 300, seed: 9, limit: None };
    let study = spec.studies().unwrap().next().unwrap();
    assert_eq!(
        [
            report::lengths_row(&study),
            report::restarts_row(20, &study.asked),
            report::restarts_row(20, &study.best),
            report::tail_row(&study),
        ],
        [
            " 20     199635 |   24     53    122     318    1340     17687     374.4    66.8",
            " 20 |   100  0.440 |    2.27  0.15     2.27  0.09 |   179.5    179.6    9.7",
            " 20 |    81  0.383 |    2.61  0.19     2.49  0.11 |   176.7    164.6    8.9",
            " 20 |  2.28 |      739   1.31  0.24",
        ]
    );
}

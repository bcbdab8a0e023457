//! What follows from the positions that were counted: one line of the table.
//!
//! Ratios of sums (time to solutions, time to nodes), each position taken as often as it stands for others, so units
//! need not be alike; the error is the standard error of that ratio.

use std::time::Duration;

use queens::kernel::KernelName;
use queens::{Board, Plan, known};
use serde_json::json;

use super::measurement::{Measurement, Sample};
use crate::output::span;

/// One line of the table.
pub struct Row {
    board: Board,
    kernel: KernelName,
    threads: usize,
    positions: usize,
    /// Those of them that are only a piece of their unit.
    pieces: usize,
    is_whole: bool,
    /// Nanoseconds for a solution, of all threads together, and its relative standard error.
    solution: f64,
    error: f64,
    nodes_per_solution: f64,
    ns_per_node: f64,
    /// Seconds of all threads together for the whole board.
    board_seconds: f64,
    /// Seconds of a unit, on average.
    unit_seconds: f64,
    /// The relative standard deviation of time over expected work, units weighted by that work; of whole units only.
    estimate: Option<f64>,
}

/// Sums over the samples, each taken as often as it stands for others.
struct Sums<'a>(&'a [Sample]);

impl Sums<'_> {
    fn of(&self, value: impl Fn(&Sample) -> f64) -> f64 {
        self.0.iter().map(|sample| sample.draw.factor * value(sample)).sum()
    }

    /// The relative standard error of the ratio of two such sums.
    fn error(&self, above: impl Fn(&Sample) -> f64, below: impl Fn(&Sample) -> f64) -> f64 {
        let k = self.0.len() as f64;
        let ratio = self.of(&above) / self.of(&below);
        let residual = |s: &Sample| s.draw.factor * (above(s) - ratio * below(s));
        let squares: f64 = self.0.iter().map(|sample| residual(sample).powi(2)).sum();
        (squares * k / (k - 1.0)).sqrt() / self.of(above)
    }
}

impl Row {
    /// The heading of all lines.
    pub const HEAD: &str = " n kernel          threads  counted   ns/sol   +- %  nodes/sol  ns/node    whole board     a unit  est. %";

    /// What the measurement says. Nothing if nothing was counted, or nothing found.
    pub fn of(plan: &Plan, kernel: KernelName, threads: usize, measurement: &Measurement) -> Option<Self> {
        let Measurement { samples, is_whole } = measurement;
        let sums = Sums(samples);
        let time = |sample: &Sample| sample.nanoseconds;
        let solutions = |sample: &Sample| sample.count.completions as f64;
        let found = sums.of(solutions);
        if found <= 0.0 {
            return None;
        }
        let nodes = sums.of(|sample| sample.count.nodes as f64);
        let together = threads as f64;
        let solution = sums.of(time) / found / together;
        let whole = sums.of(time) / samples.len() as f64 / 1e9;
        let known =
            known::totals(plan.board()).map(|totals| solution * totals.solutions() as f64 / 8.0 / 1e9);
        Some(Self {
            board: plan.board(),
            kernel,
            threads,
            positions: samples.len(),
            pieces: samples.iter().filter(|sample| sample.draw.depth > 0).count(),
            is_whole: *is_whole,
            solution,
            error: if *is_whole { 0.0 } else { sums.error(time, solutions) },
            nodes_per_solution: nodes / found,
            ns_per_node: sums.of(time) / nodes / together,
            board_seconds: known.unwrap_or(whole / together),
            unit_seconds: whole / plan.units() as f64,
            estimate: spread(plan, samples),
        })
    }

    /// As a line of the table. A star marks a board that was not counted whole.
    pub fn text(&self) -> String {
        let counted = format!("{}{}", self.positions, if self.is_whole { "" } else { "*" });
        let board = Duration::try_from_secs_f64(self.board_seconds).map_or_else(|_| "-".into(), span);
        format!(
            "{:>2} {:<16} {:>6} {counted:>8} {:>8.2} {:>6} {:>10.1} {:>8.3} {board:>14} {:>8.2e} s {:>6}",
            self.board.n(),
            self.kernel.to_string(),
            self.threads,
            self.solution,
            self.known_error().map_or_else(|| "-".into(), |error| format!("{:.1}", 100.0 * error)),
            self.nodes_per_solution,
            self.ns_per_node,
            self.unit_seconds,
            self.estimate.map_or_else(|| "-".into(), |spread| format!("{:.1}", 100.0 * spread)),
        )
    }

    /// As one JSON object.
    pub fn json(&self) -> serde_json::Value {
        json!({
            "n": self.board.n(),
            "kernel": self.kernel.method.to_string(),
            "isa": self.kernel.isa.to_string(),
            "threads": self.threads,
            "units": self.positions,
            "pieces": self.pieces,
            "whole": self.is_whole,
            "ns_per_solution": self.solution,
            "relative_error": self.known_error(),
            "nodes_per_solution": self.nodes_per_solution,
            "ns_per_node": self.ns_per_node,
            "mean_unit_seconds": self.unit_seconds,
            "estimate_spread": self.estimate,
            "whole_board_seconds": self.board_seconds,
        })
    }

    /// The error, unless there is none to be told: of a single position nobody knows how far others differ.
    fn known_error(&self) -> Option<f64> {
        self.error.is_finite().then_some(self.error)
    }
}

/// By how much the time of units departs from what the plan expects of them. Pieces say nothing of that.
fn spread(plan: &Plan, samples: &[Sample]) -> Option<f64> {
    if samples.len() < 2 || samples.iter().any(|sample| sample.draw.depth > 0) {
        return None;
    }
    // Drawn by expected work (or not drawn at all): taken as often as they stand for others, and by their work.
    let expected = |sample: &Sample| plan.weight(sample.draw.unit) as f64;
    let sums = Sums(samples);
    let work = sums.of(expected);
    let rate = sums.of(|sample| sample.nanoseconds) / work;
    let squares = sums.of(|sample| {
        let expected = expected(sample);
        expected * (sample.nanoseconds / expected / rate - 1.0).powi(2)
    });
    Some((squares / work).sqrt())
}

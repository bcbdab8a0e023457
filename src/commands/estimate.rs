//! `diadem estimate`: how many solutions a board has, and what it takes to count them, before anybody counts.
//!
//! Positions are drawn at random and counted exactly (see [`measurement`](crate::measurement)). A family is
//! drawn by its expected work, then the queens of line after line by their expected completions, until the
//! kernel can count the rest in milliseconds. Each count, times the number of positions that it stands for,
//! is an unbiased estimate of Q(n) (Knuth 1975). The spread over the draws gives the error. It is small
//! because each draw ends early: the kernel counts millions of solutions at once, which is new here.

mod campaign;
mod count_estimate;
mod rounded;
mod sampled;

use std::process::ExitCode;
use std::sync::Arc;

use queens::extrapolation::extrapolate;
use queens::kernel::{Isa, Method};
use queens::{Board, known};
use serde_json::{Map, Value, json};
use tracing::Level;

use crate::args::WrongCommand;
use crate::args::{Cards, EstimateArgs};
use crate::commands::bench::{report_failure, report_nothing_found};
use crate::host::memory::{default_lists, fitting_threads};
use crate::log::{self, say};
use crate::measurement::speed::{Candidate, Counter, KernelSpeed, candidates};
use crate::output::{on_stdout, print};
use crate::signals::Interruption;
use crate::worker_group;
use campaign::Campaign;
use count_estimate::CountEstimate;
use sampled::sample;

/// The number of solutions of a board as it is known, or else as the published ones let expect it.
pub fn in_advance(board: Board) -> Option<String> {
    let published = known::totals(board).map(|totals| totals.solutions().to_string());
    published.or_else(|| {
        Some(format!("about {}", CountEstimate::from(extrapolate(board.n().into())?).text(1.0, 3)))
    })
}

pub fn run(args: &EstimateArgs) -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    let opinion = extrapolate(args.n).map(CountEstimate::from);
    let Some(board) = u8::try_from(args.n).ok().and_then(|n| Board::new(n).ok()) else {
        beyond(args, opinion.as_ref())?;
        return Ok(ExitCode::SUCCESS);
    };
    campaign::check(board, args)?;
    let interruption = Interruption::listen()?;
    let (threads, seed, seconds) = (fitting_threads(args.threads) as usize, args.seed, args.seconds / 2.0);
    let wished = args.cards.clone();
    let Some(kinds) = interruption.unless_raised(move |_| kinds(board, &wished, threads)) else {
        say(format_args!("diadem: interrupted before anything was measured"));
        return Ok(interruption.exit_code().unwrap_or(ExitCode::SUCCESS));
    };
    let kinds = kinds?;
    let plan = Arc::clone(&kinds[0][0].plan);
    let drawn_from = Arc::clone(&plan);
    let drawn = interruption.unless_raised(move |raised| sample(&drawn_from, seconds, threads, seed, raised));
    let (estimate, draws) = drawn.transpose()?.unwrap_or_default();
    let speeds = speeds(&interruption, kinds, seconds, seed);
    let is_interrupted = interruption.exit_code().is_some();
    let campaign = Campaign::new(&plan, estimate.as_ref().or(opinion.as_ref()), &speeds, args);
    let text = if args.json {
        let mut object = Map::from_iter([("n".into(), json!(args.n))]);
        object.insert("interrupted".into(), json!(is_interrupted));
        object.append(&mut json_of(estimate.as_ref()));
        object.insert("draws".into(), json!(draws));
        object.insert("extrapolation".into(), opinion.map_or(Value::Null, |opinion| opinion.json().into()));
        object.insert("units".into(), json!(campaign.units));
        object.append(&mut campaign.work_json());
        object.append(&mut campaign.reference_json());
        object.insert("double_check".into(), json!(args.double_check.to_string()));
        object.insert("work_factor".into(), json!(campaign.factor));
        object.insert("ledger_bytes".into(), json!(campaign.ledger_bytes));
        object.insert("coordinator_bytes".into(), json!(campaign.coordinator_bytes));
        object.insert("machines".into(), campaign.machines_json());
        Value::from(object).to_string()
    } else {
        let mut lines = Vec::new();
        let mut why = "it takes longer";
        if is_interrupted {
            lines.push("interrupted: this is what was measured until then".to_owned());
            why = "it was interrupted";
        }
        if let Some(estimate) = &estimate {
            lines.push(sentence(args.n, estimate, &format!("{draws} positions drawn at random")));
            lines.extend(known::totals(board).map(|known| departure(estimate, known.solutions() as f64)));
        } else {
            lines.push(format!("too few positions were drawn to estimate Q({board}), {draws}: {why}"));
        }
        lines.extend(opinion.map(|opinion| extrapolated(&opinion)));
        lines.extend(campaign.lines(why));
        on_stdout(&lines.join("\n")).into_owned()
    };
    print(&text)?;
    Ok(interruption.exit_code().unwrap_or(ExitCode::SUCCESS))
}

/// Measures all in that time, each kind in an equal share of it.
fn speeds(
    interruption: &Interruption,
    kinds: Vec<Vec<Candidate>>,
    seconds: f64,
    seed: u64,
) -> Vec<KernelSpeed> {
    let seconds_of_kind = seconds / kinds.len() as f64;
    let mut speeds = Vec::new();
    for candidate in kinds.into_iter().flatten() {
        if interruption.exit_code().is_some() {
            break;
        }
        let measured = candidate.clone();
        match interruption.unless_raised(move |raised| measured.measure(seconds_of_kind, seed, raised)) {
            Some(Err(error)) => report_failure(&candidate, &error),
            Some(Ok(Some(speed))) => speeds.push(speed),
            _ if interruption.exit_code().is_none() => report_nothing_found(&candidate),
            _ => {}
        }
    }
    speeds
}

/// The candidates to measure, by kind: the processor with this number of threads, and the requested cards.
fn kinds(board: Board, wished: &Cards, threads: usize) -> anyhow::Result<Vec<Vec<Candidate>>> {
    let cards = worker_group::cards(wished)?;
    worker_group::warn_if_no_card(wished, cards.iter());
    let lists = default_lists(board, threads as u32);
    let processor = Counter::of_processor(&Isa::available());
    let mut cores = candidates(board, &Method::ALL, &processor, 1, lists, None)?;
    // Cores that all count are slower than one that counts alone, and a count keeps all of them busy.
    cores.iter_mut().for_each(|candidate| candidate.threads = threads);
    let mut kinds = vec![cores];
    if !cards.is_empty() {
        let cards: Vec<_> = cards.into_iter().map(Counter::Card).collect();
        kinds.push(candidates(board, &Method::ALL, &cards, 1, lists, None)?);
    }
    Ok(kinds)
}

/// The estimate; null values if it is missing.
fn json_of(estimate: Option<&CountEstimate>) -> Map<String, Value> {
    let fields = ["estimate", "standard_error", "relative_error", "low", "high"];
    estimate.map_or_else(
        || fields.map(|field| (field.to_owned(), Value::Null)).into_iter().collect(),
        CountEstimate::json,
    )
}

/// Prints the extrapolation for a board that no kernel counts.
fn beyond(args: &EstimateArgs, opinion: Option<&CountEstimate>) -> anyhow::Result<()> {
    if !args.machines.is_empty() {
        return Err(WrongCommand::MachinesForNothing.into());
    }
    let Some(opinion) = opinion else { return Ok(()) };
    if !args.json {
        return print(&on_stdout(&sentence(args.n, opinion, "extrapolated from the published values")));
    }
    let mut object = Map::from_iter([("n".into(), json!(args.n))]);
    object.append(&mut opinion.json());
    print(&Value::from(object).to_string())
}

fn sentence(n: u16, estimate: &CountEstimate, how: &str) -> String {
    format!(
        "Q({n}) is about {}, standard error {:.2} %: from {} to {} with 95 % confidence ({how})",
        estimate.text(1.0, 4),
        100.0 * estimate.error,
        estimate.text(estimate.low(), 4),
        estimate.text(estimate.high(), 4),
    )
}

fn departure(estimate: &CountEstimate, known: f64) -> String {
    if known == 0.0 {
        return "published: 0".into();
    }
    format!(
        "published: {known:.6e}; the estimate is off by {:+.2} %",
        100.0 * (estimate.value() / known - 1.0)
    )
}

fn extrapolated(opinion: &CountEstimate) -> String {
    format!(
        "extrapolated from the published values: {}, standard error {:.2} %",
        opinion.text(1.0, 4),
        100.0 * opinion.error
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_beyond_floats_is_printed() {
        let estimate = extrapolate(1000).map(CountEstimate::from).unwrap();
        assert!(estimate.text(1.0, 2).ends_with("e2158"), "{}", estimate.text(1.0, 2));
        assert!(estimate.json()["estimate"].is_string());
    }

    #[test]
    fn estimate_with_large_error_has_low_bound_zero() {
        let estimate = CountEstimate { ln: Some(1000.0), error: 0.6, quantile: 2.0 };
        assert!(sentence(9, &estimate, "").contains(": from 0 to "), "{}", sentence(9, &estimate, ""));
        assert_eq!(estimate.json()["low"], "0");
    }
}

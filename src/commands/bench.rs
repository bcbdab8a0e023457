//! `diadem bench`: how fast the kernels count on this machine, and how long a whole board would take.
//!
//! Each line of the table is one kernel on some threads or on a graphics card. It counts random units, or
//! parts of units, until its share of the time is up; see [`speed`](crate::measurement::speed).

use std::process::ExitCode;
use std::time::Duration;

use queens::kernel::{Isa, KernelError, Method};
use queens::known;
use serde_json::json;
use tracing::Level;

use crate::args::WrongCommand;
use crate::args::{BenchArgs, Cards};
use crate::host::memory::{default_lists, fitting_threads};
use crate::log::{self, say};
use crate::measurement::speed::{Candidate, Counter, KernelSpeed, candidates};
use crate::output::{print, sentence, span};
use crate::signals::Interruption;
use crate::{settings, worker_group};

pub fn run(args: &BenchArgs) -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    let interruption = Interruption::listen()?;
    let methods = args.method.0.map_or(Method::ALL.to_vec(), |method| vec![method]);
    let isas = match args.isa.0 {
        Some(isa) if !isa.is_available() => return Err(KernelError::Unavailable(isa).into()),
        Some(isa) => vec![isa],
        None => Isa::available(),
    };
    let wished = wished_cards(args)?;
    let cards = worker_group::cards(&wished)?;
    worker_group::warn_if_no_card(&wished, cards.iter());
    let (counters, threads) = if cards.is_empty() {
        (Counter::of_processor(&isas), fitting_threads(args.threads) as usize)
    } else {
        (cards.into_iter().map(Counter::Card).collect(), 1)
    };
    if !args.json {
        print(HEAD)?;
    }
    let mut code = ExitCode::SUCCESS;
    for &n in &args.n {
        if known::totals(n).is_some_and(|totals| totals.solutions() == 0) {
            say(format_args!("diadem: n = {n} is left out: it has no solutions to time"));
            continue;
        }
        let (methods, counters, scheme) = (methods.clone(), counters.clone(), args.split.scheme());
        // All lines have the lists that each thread of a count with all threads gets.
        let lists = args.memory.lists().unwrap_or_else(|| default_lists(n, threads as u32));
        // Large boards are cut into many units first.
        let all =
            interruption.unless_raised(move |_| candidates(n, &methods, &counters, threads, lists, scheme));
        for candidate in all.transpose()?.unwrap_or_default() {
            if let Some(code) = interruption.exit_code() {
                return Ok(code);
            }
            let speed = match candidate.measure(args.seconds, args.seed, interruption.raised()) {
                Ok(speed) => speed,
                Err(error) => {
                    report_failure(&candidate, &error);
                    code = ExitCode::FAILURE;
                    continue;
                }
            };
            let is_without = speed.is_none();
            if let Some(speed) = speed {
                print(&if args.json { json(&speed).to_string() } else { line(&speed) })?;
            }
            if let Some(code) = interruption.exit_code() {
                return Ok(code);
            }
            if is_without {
                report_nothing_found(&candidate);
            }
        }
        if let Some(code) = interruption.exit_code() {
            return Ok(code);
        }
    }
    Ok(code)
}

/// Says why there is no line of that kernel.
pub fn report_nothing_found(candidate: &Candidate) {
    say(format_args!("diadem: {candidate}: no solution was found in that time; increase --seconds"));
}

/// Reports why a kernel has no line; the other kernels are measured.
pub fn report_failure(candidate: &Candidate, error: &anyhow::Error) {
    say(format_args!("diadem: {candidate} was not measured: {}", sentence(error)));
}

/// The cards to measure. Typed options decide between cards and processor, because settings for either may be
/// meant for other commands.
fn wished_cards(args: &BenchArgs) -> anyhow::Result<Cards> {
    let none = Cards::These(Vec::new());
    if args.cards == none {
        return Ok(none);
    }
    let of_processor = ["isa", "threads"].into_iter().find(|option| settings::is_typed(option));
    match of_processor {
        None => Ok(args.cards.clone()),
        Some(option) if settings::is_typed("gpu") => Err(WrongCommand::CardsAndProcessor(option).into()),
        Some(_) => Ok(none),
    }
}

/// The heading of all lines.
const HEAD: &str = " n kernel          threads  counted   ns/sol   +- %  nodes/sol  ns/node    whole board     a unit  est. %";

/// A line of the table. A star marks a board that was not counted whole.
fn line(speed: &KernelSpeed) -> String {
    let counted = format!("{}{}", speed.positions, if speed.is_whole { "" } else { "*" });
    let board = Duration::try_from_secs_f64(speed.board_seconds).map_or_else(|_| "-".into(), span);
    let percent =
        |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{:.1}", 100.0 * value));
    // A board may have a solution and no node.
    let per_node =
        if speed.ns_per_node.is_finite() { format!("{:.3}", speed.ns_per_node) } else { "-".into() };
    format!(
        "{:>2} {:<16} {:>6} {counted:>8} {:>8.2} {:>6} {:>10.1} {per_node:>8} {board:>14} {:>8.2e} s {:>6}",
        speed.board.n(),
        name(speed),
        speed.threads,
        speed.ns_per_solution,
        percent(speed.error),
        speed.nodes_per_solution,
        speed.unit_seconds,
        percent(speed.estimate),
    )
}

/// The name of a line: a kernel of the processor, or a method on a card.
fn name(speed: &KernelSpeed) -> String {
    speed
        .card
        .map_or_else(|| speed.kernel.to_string(), |number| format!("{}/gpu{number}", speed.kernel.method))
}

fn json(speed: &KernelSpeed) -> serde_json::Value {
    json!({
        "n": speed.board.n(),
        "kernel": speed.kernel.method.to_string(),
        "isa": speed.kernel.isa.to_string(),
        "card": speed.card,
        "threads": speed.threads,
        "units": speed.positions,
        "pieces": speed.pieces,
        "whole": speed.is_whole,
        "ns_per_solution": speed.ns_per_solution,
        "relative_error": speed.error,
        "nodes_per_solution": speed.nodes_per_solution,
        "ns_per_node": speed.ns_per_node,
        "mean_unit_seconds": speed.unit_seconds,
        "estimate_spread": speed.estimate,
        "whole_board_seconds": speed.board_seconds,
    })
}

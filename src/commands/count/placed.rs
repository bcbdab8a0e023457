//! `diadem count --placed`: how many solutions contain given queens.
//!
//! Each list of queens is a position for a kernel. Of a long file each thread counts one list at a time. Few lists are divided among the
//! threads, by the squares of the next queens.

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use queens::Position;
use queens::kernel::meet::with_next_queen;
use queens::kernel::{Count, Kernel, Method, Stop};
use queens::plan::PlanSpec;
use rayon::prelude::*;
use serde_json::json;
use tracing::Level;

use crate::args::{PlacedCount, PlacedQueens};
use crate::progress::ProgressLine;
use crate::signals::Interruption;
use crate::stdout::stdout;
use crate::{host, log};

/// The parts of a list for each thread. They take unequal times.
const PARTS: usize = 16;

/// Positions with fewer free rows are not divided.
const LEAST_ROWS: usize = 12;

/// The lists that are counted before the next results are printed, for each thread.
const AT_A_TIME: usize = 16;

/// The columns of CSV.
const HEAD: &str = "queens,completions,nodes,seconds";

pub fn run(asked: PlacedCount) -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    let interruption = Interruption::listen()?;
    host::be_nice(asked.nice)?;
    let counted = interruption.unless_raised(move |_| count(&asked)).transpose()?;
    Ok(interruption.exit_code().filter(|_| counted.is_none()).unwrap_or(ExitCode::SUCCESS))
}

fn count(asked: &PlacedCount) -> anyhow::Result<()> {
    let lists = asked.lists()?;
    let kernel = asked.kernel.kernel(&PlanSpec::for_kernel(asked.board, Method::best(asked.board)))?;
    let threads = asked.kernel.threads as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let mut line = asked.shows_progress.then(ProgressLine::new);
    if !asked.json {
        writeln!(stdout(), "{HEAD}")?;
    }
    let divides = lists.len() < threads * AT_A_TIME;
    let mut done = 0;
    for some in lists.chunks(if divides { 1 } else { threads * AT_A_TIME }) {
        let of_list = |list: &PlacedQueens| {
            let parts =
                if divides { divided(&list.position, threads * PARTS) } else { vec![list.position.clone()] };
            PlacedResult::of(&*kernel, &parts)
        };
        let results: Vec<PlacedResult> = pool.install(|| some.par_iter().map(of_list).collect());
        let mut out = stdout();
        for (list, result) in some.iter().zip(results) {
            writeln!(
                out,
                "{}",
                if asked.json { result.json(&list.written) } else { result.csv(&list.written) }
            )?;
        }
        out.flush()?;
        done += some.len();
        if let Some(line) = &mut line {
            line.show(|| format!("{done} of {} lists counted", lists.len()));
        }
    }
    Ok(())
}

/// At least so many positions that have the same completions together, unless the position is small.
fn divided(position: &Position, wanted: usize) -> Vec<Position> {
    let is_large = |part: &Position| usize::from(part.board().n()) - part.queens().len() > LEAST_ROWS;
    let mut parts = vec![position.clone()];
    parts.retain(Position::is_consistent);
    while parts.len() < wanted && !parts.is_empty() && parts.iter().all(is_large) {
        parts = parts.iter().flat_map(with_next_queen).collect();
        parts.retain(Position::is_consistent);
    }
    parts
}

/// The count of a list.
#[derive(Clone, Copy, Debug, Default)]
struct PlacedResult {
    completions: u128,
    nodes: u128,
    /// Elapsed while all its parts were counted, of all threads together.
    seconds: f64,
}

impl PlacedResult {
    /// The sum over the parts.
    fn of(kernel: &dyn Kernel, parts: &[Position]) -> Self {
        let stop = Stop::new();
        let of_part = |part: &Position| {
            let begun = Instant::now();
            let Count { completions, nodes } = kernel.count(part, &stop).unwrap_or_default();
            let seconds = begun.elapsed().as_secs_f64();
            Self { completions: completions.into(), nodes: nodes.into(), seconds }
        };
        parts.par_iter().map(of_part).reduce(Self::default, Self::plus)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            completions: self.completions + other.completions,
            nodes: self.nodes + other.nodes,
            seconds: self.seconds + other.seconds,
        }
    }

    fn csv(&self, queens: &str) -> String {
        let Self { completions, nodes, seconds } = self;
        let queens = queens.replace(',', " ");
        format!("{queens},{completions},{nodes},{seconds:.3}")
    }

    fn json(&self, queens: &str) -> String {
        let Self { completions, nodes, seconds } = self;
        let (completions, nodes) = (completions.to_string(), nodes.to_string());
        json!({ "queens": queens, "completions": completions, "nodes": nodes, "seconds": seconds })
            .to_string()
    }
}

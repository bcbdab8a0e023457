//! The recount of the constellations that a plan counts together with others.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use domain::counted;
use queens::kernel::{Kernel, KernelName};
use queens::plan::{PlanSpec, Scheme};
use queens::{Board, Constellation, Position, SymmetryClass};
use rand::random;
use records::export::ConstellationRows;
use tracing::Level;

use crate::args::KernelChoice;
use crate::completions::{CompletionCounter, best_method};
use crate::host::memory::{default_lists, fitting_kernel};
use crate::log::{self, say};
use crate::measurement::speed::{Counter, candidates};
use crate::output::span;
use crate::signals::Interruption;

/// The largest board whose constellations are counted within seconds.
const LARGEST_IN_SECONDS: u8 = 16;

/// The seconds in which a larger board is measured.
const SECONDS: f64 = 2.0;

/// Counts again what the plan of the run counts together. If interrupted, returns the exit code.
pub fn recount(
    rows: ConstellationRows,
    choice: KernelChoice,
) -> anyhow::Result<Result<ConstellationRows, ExitCode>> {
    if rows.to_recount().len() == 0 {
        return Ok(Ok(rows));
    }
    log::start(Level::WARN);
    let interruption = Interruption::listen()?;
    let recounted = interruption.unless_raised(move |raised| recounted(rows, choice, raised)).transpose()?;
    Ok(recounted.ok_or_else(|| {
        say(format_args!("diadem: stopped; no table is written"));
        interruption.exit_code().unwrap_or(ExitCode::FAILURE)
    }))
}

fn recounted(
    mut rows: ConstellationRows,
    choice: KernelChoice,
    raised: &AtomicBool,
) -> anyhow::Result<ConstellationRows> {
    let board = rows.board();
    let choice = fitting_kernel(choice, board, 0);
    let kernel = choice.kernel(&PlanSpec::for_kernel(board, best_method(board)))?;
    let constellations: Vec<Constellation> = rows.to_recount().collect();
    announce(board, constellations.len(), &*kernel, choice.threads, raised)?;
    let counter = CompletionCounter { kernel: &*kernel, threads: choice.threads, shows_progress: true };
    let positions = constellations.iter().map(|x| Position::of_constellation(board, *x));
    counter.count(positions, constellations.len(), |completions| Ok(rows.add(completions)?))?;
    let not_compared = match rows.other_families() {
        0 => String::new(),
        others => format!("; not compared: {} with other constellations", families(others)),
    };
    say(format_args!(
        "diadem: {} counted again; compared with the ledger: {}, each sum is the same{not_compared}",
        counted(constellations.len() as u64, "constellation"),
        families(rows.compared_families()),
    ));
    Ok(rows)
}

fn families(number: u64) -> String {
    if number == 1 { "1 family".to_owned() } else { format!("{number} families") }
}

/// Says how long the recount will take.
fn announce(
    board: Board,
    constellations: usize,
    kernel: &dyn Kernel,
    threads: u32,
    raised: &AtomicBool,
) -> anyhow::Result<()> {
    let time = if board.n() <= LARGEST_IN_SECONDS {
        "seconds".to_owned()
    } else {
        let whole = seconds_of_board(board, kernel.name(), threads, raised)?;
        let asymmetric = |class| class == SymmetryClass::Asymmetric;
        let all = Constellation::orbits(board).filter(|orbit| asymmetric(orbit.class)).count();
        let time = whole.map(|whole| whole * constellations as f64 / all as f64);
        let time = time.and_then(|time| Duration::try_from_secs_f64(time).ok());
        time.map_or_else(|| "an unknown time".to_owned(), |time| format!("about {}", span(time)))
    };
    say(format_args!(
        "diadem: the plan counts constellations together; counting {constellations} of them again takes {time} \
         with {}, kernel {}",
        counted(threads, "thread"),
        kernel.name(),
    ));
    Ok(())
}

/// The measured time to count all constellations one by one.
fn seconds_of_board(
    board: Board,
    kernel: KernelName,
    threads: u32,
    raised: &AtomicBool,
) -> anyhow::Result<Option<f64>> {
    let counter = Counter::of_processor(&[kernel.isa]);
    // With this grain each constellation is a unit.
    let scheme = Some(Scheme::Constellations { grain: u64::MAX });
    let lists = default_lists(board, threads);
    let mut candidates = candidates(board, &[kernel.method], &counter, 1, lists, scheme)?;
    let Some(candidate) = candidates.first_mut() else { return Ok(None) };
    candidate.threads = threads as usize;
    let speed = candidate.measure(SECONDS, random(), raised)?;
    Ok(speed.map(|speed| speed.board_seconds))
}

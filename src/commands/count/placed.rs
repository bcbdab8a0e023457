//! `diadem count --placed`: how many solutions contain given queens.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use domain::counted;
use queens::plan::PlanSpec;
use queens::{Board, Position};
use records::regular_file;
use serde_json::json;
use tracing::Level;

use crate::args::{NO_QUEENS, PlacedCount, PlacedSource, read_queens};
use crate::completions::{CompletionCounter, best_method};
use crate::host;
use crate::host::memory::fitting_kernel;
use crate::log::{self, say};
use crate::output::{listing, span};
use crate::signals::Interruption;
use crate::stdout::stdout;

/// The longest file of lists, in bytes.
const LONGEST: u64 = 64 << 20;

pub fn run(asked: PlacedCount) -> anyhow::Result<ExitCode> {
    log::start(Level::WARN);
    let interruption = Interruption::listen()?;
    host::be_nice(asked.nice)?;
    if let Some(counted) = interruption.unless_raised(move |_| count(&asked)) {
        return listing(counted).map(|()| ExitCode::SUCCESS);
    }
    say(format_args!("diadem: stopped; the printed results are complete"));
    Ok(interruption.exit_code().unwrap_or(ExitCode::FAILURE))
}

fn count(asked: &PlacedCount) -> anyhow::Result<()> {
    let lists = match &asked.queens {
        PlacedSource::List(queens) => vec![queens.clone()],
        PlacedSource::File(path) => read(asked.board, path)?,
    };
    let choice = fitting_kernel(asked.kernel, asked.board, 0);
    let kernel = choice.kernel(&PlanSpec::for_kernel(asked.board, best_method(asked.board)))?;
    let counter =
        CompletionCounter { kernel: &*kernel, threads: choice.threads, shows_progress: asked.shows_progress };
    let mut out = stdout();
    if !asked.json {
        writeln!(out, "queens,completions")?;
    }
    let (begun, mut sum) = (Instant::now(), 0);
    let mut rows = lists.iter().map(written);
    counter.count(lists.iter().cloned(), lists.len(), |completions| {
        let queens = rows.next().unwrap_or_default();
        sum += completions;
        if asked.json {
            writeln!(out, "{}", json!({ "queens": queens, "completions": completions.to_string() }))?;
        } else {
            writeln!(out, "{queens},{completions}")?;
        }
        Ok(())
    })?;
    if asked.shows_progress {
        say(format_args!(
            "{sum} completions of {} in {} with {}, kernel {}",
            counted(lists.len() as u64, "list"),
            span(begun.elapsed()),
            counted(choice.threads, "thread"),
            kernel.name()
        ));
    }
    Ok(())
}

/// The lists of queens in the file.
fn read(board: Board, path: &Path) -> anyhow::Result<Vec<Position>> {
    let name = if path == Path::new("-") { "stdin".into() } else { path.display().to_string() };
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().take(LONGEST + 1).read_to_end(&mut bytes).context("cannot read stdin")?;
        if bytes.len() as u64 > LONGEST {
            bail!("stdin has more than {LONGEST} bytes, the most for such a file");
        }
        bytes
    } else {
        if !path.exists() {
            bail!("{name} is neither a file nor a list of squares such as 1:5,2:3");
        }
        regular_file::read_or_stream(path, LONGEST).with_context(|| format!("cannot read {name}"))?
    };
    let text = String::from_utf8(bytes).with_context(|| format!("{name} is no text"))?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let lists = lines.filter(|(_, list)| !list.is_empty() && !list.starts_with('#'));
    let of_line =
        |(number, list): (usize, &str)| read_queens(board, list).with_context(|| format!("{name}:{number}"));
    let lists: Vec<Position> = lists.map(of_line).collect::<anyhow::Result<_>>()?;
    if lists.is_empty() {
        bail!("{name} has no list of queens: write squares such as 1:5,2:3 on a line, or {NO_QUEENS}");
    }
    Ok(lists)
}

/// The queens as they are read, with spaces between them: commas would separate columns.
fn written(position: &Position) -> String {
    let queens = position.queens().iter().map(|queen| format!("{}:{}", queen.col + 1, queen.row + 1));
    let queens = queens.collect::<Vec<_>>().join(" ");
    if queens.is_empty() { NO_QUEENS.to_owned() } else { queens }
}

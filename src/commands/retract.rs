//! `diadem retract`: takes counts back that the operator does not believe.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use dashboard::words;
use domain::{Copies, Takeback, TakenBack, counted, quoted};
use records::run_directory::{RunDirectory, RunDirectoryError};
use records::store::{Notice, StoreError};
use records::{Extent, RetractError, Retracted};

use super::steer::ask;
use crate::args::{RetractArgs, RetractIn, WrongCommand};
use crate::command_line::keys_option;
use crate::log::say;
use crate::output::{self, print, warn_missing_replicas};

pub fn run(args: &RetractArgs) -> anyhow::Result<ExitCode> {
    let takeback =
        |dry_run| Takeback { target: args.target.target(args.readmit), reason: args.reason.clone(), dry_run };
    let may_be_many = args.target.is_somebody() || args.target.names_several_units();
    if args.dry_run || may_be_many && !args.readmit && !args.yes {
        let foreseen = made(args, &takeback(true))?;
        let extent = extent_in_words(args, &foreseen);
        if args.dry_run {
            print(&format!(
                "with --dry-run nothing is changed; {extent}\n{}",
                way_back(args, &foreseen.run)
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        if foreseen.units > 1 && !is_agreed(&extent)? {
            print("nothing is changed")?;
            return Ok(ExitCode::FAILURE);
        }
    }
    let made = made(args, &takeback(false))?;
    output::notices(&made.notices);
    warn_missing_replicas(made.copies);
    let way_back = way_back(args, &made.run);
    let Made { run, units, effort, how, .. } = made;
    if args.readmit {
        let units = "units that were taken back are counted again";
        print(&format!("believed again in {run} from now on; {units}\n{way_back}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let are = if units == 1 { "is" } else { "are" };
    // A machine that is not believed cannot count, and may be the only connected machine.
    let but = if args.target.is_somebody() {
        ", but not by machines that are not believed, until they are readmitted"
    } else {
        ""
    };
    print(&format!(
        "{} {are} open again in {run}, {effort}; {how}{but}\n{way_back}",
        counted(units, "unit")
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// A retraction that was made, or would be.
struct Made {
    /// Where.
    run: String,
    units: u64,
    effort: Effort,
    copies: Copies,
    notices: Vec<Notice>,
    /// How the units are counted again.
    how: &'static str,
}

fn made(args: &RetractArgs, takeback: &Takeback) -> anyhow::Result<Made> {
    match args.place() {
        RetractIn::Directory(path) => {
            let Retracted { extent: Extent { units, share }, notices } = retract_offline(&path, takeback)?;
            let directory = RunDirectory::open(&path)?;
            let work = directory.run().shard.work_of(directory.plan()) as f64 / 1e9;
            let (run, how) = (path.display().to_string(), "resume the run to count again");
            Ok(Made { run, units, effort: Effort { share, work }, copies: Copies::default(), notices, how })
        }
        RetractIn::Served(addresses) => {
            let asked = ask(&addresses, args.keys.as_deref(), async |remote| {
                let work = remote.status().await?.work.total;
                Ok((work, remote.retract(takeback.clone()).await?))
            });
            let (run, (work, TakenBack { units, share, copies })) = asked?;
            let effort = Effort { share, work };
            Ok(Made { run, units, effort, copies, notices: Vec::new(), how: "its workers count again" })
        }
    }
}

/// Takes back in the run directory.
fn retract_offline(run: &Path, takeback: &Takeback) -> anyhow::Result<Retracted> {
    records::retract(run, takeback).map_err(|error| match error {
        RetractError::Store(StoreError::Directory(RunDirectoryError::InUse { path, pid })) => anyhow!(
            "{} is in use by process {pid}; if that is its coordinator, use its URL in place of the \
             directory, as in diadem retract --coordinator http://127.0.0.1:7227",
            path.display()
        ),
        error => error.into(),
    })
}

/// The effect of the command, before it is made.
fn extent_in_words(args: &RetractArgs, foreseen: &Made) -> String {
    let Made { run, units, effort, .. } = foreseen;
    if args.readmit {
        return format!(
            "the command has {} believed again in {run}; units that were taken back are counted again",
            args.target.target(true)
        );
    }
    let lends = if args.target.is_somebody() { ", and nothing more is lent to it" } else { "" };
    format!("the command takes back {} in {run}, {effort}{lends}", counted(*units, "unit"))
}

/// The work that is done again.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// As a share of the run's work, from 0 to 1.
    share: f64,
    /// The run's work, in seconds of one reference core.
    work: f64,
}

impl Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { share, work } = self;
        let hours = words::core_hours(share * work);
        write!(f, "{:.1} % of the work of the run (about {hours} core-hours)", 100.0 * share)
    }
}

/// How the command is undone. A count that was taken back does not stand again by a command: it would be a count that nobody has
/// confirmed since somebody doubted it.
fn way_back(args: &RetractArgs, run: &str) -> String {
    let Some(whom) = args.target.somebody() else {
        return "to undo, do nothing: each unit is counted again, and a count that was right comes back; the ledger \
                keeps both"
            .to_owned();
    };
    let keys = keys_option(args.keys.as_deref());
    let readmit = if args.readmit { "" } else { " --readmit" };
    format!("to undo: diadem retract {}{keys} {whom}{readmit} --reason TEXT", quoted(run))
}

/// Whether the user agrees, on a terminal.
///
/// # Errors
/// There is no terminal to ask on.
fn is_agreed(extent: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(WrongCommand::Unconfirmed(extent.to_owned()).into());
    }
    say(format_args!("{extent}\ncontinue? (y/N)"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

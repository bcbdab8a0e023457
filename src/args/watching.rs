//! The arguments of the commands that show where a run stands: status, top.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::value::{ValueError, path, time, whole};

/// The coordinator of the request.
#[derive(Debug, Args)]
pub struct ObserverArgs {
    /// Coordinator URL.
    ///
    /// Of several, the coordinator of the highest term is used. @FILE stands for the addresses in a file.
    #[arg(long, value_name = "URL", value_delimiter = ',', default_value = "http://127.0.0.1:7227")]
    pub coordinator: Vec<String>,
    /// Folder with ca.pem and status.token.
    ///
    /// join.token will do in place of status.token.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
}

/// Show the progress of a run, or of shards.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem status --coordinator http://127.0.0.1:7227
  diadem status --coordinator https://10.0.0.7:7227 --keys keys/status
  diadem status --wait && diadem verify diadem-20
      wait for the end of the run, then verify it
  diadem status shard-*
      the shares of a board, from their run directories
  diadem status --machine ada/rack-3
      what one machine did, and what it holds

Environment: DIADEM_STATUS_TOKEN stands for status.token.")]
pub struct StatusArgs {
    /// Run directories to read without a coordinator.
    ///
    /// The shares of one board are shown together.
    #[arg(value_name = "DIR", value_parser = path(directory), conflicts_with_all = ["coordinator", "keys", "wait"])]
    pub runs: Vec<PathBuf>,
    #[command(flatten)]
    pub observer: ObserverArgs,
    /// Only what this machine did, as NAME or OWNER/NAME.
    ///
    /// NAME alone means the machines of that name of all owners.
    #[arg(long, value_name = "MACHINE", conflicts_with_all = ["wait", "families"])]
    pub machine: Option<String>,
    /// Only what this worker did, as NAME or OWNER/NAME.
    #[arg(long, value_name = "WORKER", conflicts_with_all = ["wait", "families", "machine"])]
    pub worker: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print the totals of each family, too.
    ///
    /// Of run directories only; JSON always has them.
    #[arg(long, requires = "runs")]
    pub families: bool,
    /// Wait for the end of the run.
    ///
    /// Prints only warnings until then, and the status at the end.
    #[arg(long)]
    pub wait: bool,
    /// With --wait, time until giving up.
    ///
    /// How long the coordinator may not answer, as in 90s, 10m, 2h.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time, requires = "wait")]
    pub give_up_after: Duration,
}

/// Explain a unit: position, holder, counts, why it is open.
///
/// A running coordinator also knows who holds the unit and what it waits for. A run directory has its records only.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem unit 17 --coordinator https://10.0.0.7:7227 --keys keys/status
  diadem unit 17 --run ./diadem-20
      from a run directory, without a coordinator

The units of a machine are in: diadem status --machine NAME

Environment: DIADEM_STATUS_TOKEN stands for status.token.")]
pub struct UnitArgs {
    /// Number of the unit, from 0.
    #[arg(value_name = "N", value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub unit: u64,
    /// Run directory to read without a coordinator.
    #[arg(long, value_name = "DIR", value_parser = path(directory), conflicts_with_all = ["coordinator", "keys"])]
    pub run: Option<PathBuf>,
    #[command(flatten)]
    pub observer: ObserverArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// A run directory, and not the address of a coordinator.
fn directory(path: &Path) -> Result<(), ValueError> {
    let is_address =
        path.to_str().is_some_and(|text| text.starts_with("http://") || text.starts_with("https://"));
    if is_address {
        return Err(ValueError::of_path(
            path,
            "a run directory: use --coordinator URL for a run that is served",
        ));
    }
    Ok(())
}

/// Watch a run in the terminal: machines, workers, families, events.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem top
  diadem top --coordinator https://10.0.0.7:7227 --keys keys/status

Keys: q quits, ? shows the others.

Environment: DIADEM_STATUS_TOKEN stands for status.token.")]
pub struct TopArgs {
    #[command(flatten)]
    pub observer: ObserverArgs,
}

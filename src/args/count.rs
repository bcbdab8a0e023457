//! The arguments of `diadem count`.

use std::path::PathBuf;

use clap::Args;
use queens::Board;
use queens::kernel::KernelError;
use queens::plan::Scheme;
use records::DoubleCheck;
use records::shard::Shard;

use super::gpu::GpuArgs;
use super::kernel::{KernelArgs, KernelChoice};
use super::limits::LimitsArgs;
use super::loss::LossArgs;
use super::placed::{PlacedCount, PlacedSource};
use super::plan::SplitArgs;
use super::value::{CHECKS, choice, name};
use super::wrong_command::WrongCommand;

/// Count a board on this machine.
///
/// The run is kept in a run directory, by default ./diadem-N. The same command resumes an interrupted run,
/// and prints the answer of a finished run at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem count 16                      count with all cores, in ./diadem-16
  diadem count 18 --threads 4          leave some cores alone
  diadem count 14 --in-memory --json   no files; one JSON object on stdout
  diadem count 20 --shard 3/401
      the third of 401 shares, for a batch engine; then: diadem merge
  diadem count 16 --placed 1:5,2:3     solutions with queens on these squares")]
pub struct CountArgs {
    /// Board size, 1 to 32.
    #[arg(value_name = "N")]
    n: Board,
    /// Run directory [default: ./diadem-N].
    #[arg(long, value_name = "DIR", conflicts_with = "in_memory")]
    run: Option<PathBuf>,
    /// Keep nothing on disk.
    ///
    /// An interrupted count is lost.
    #[arg(long, conflicts_with = "accept_loss")]
    in_memory: bool,
    /// Count only share I of K.
    ///
    /// Shares are numbered from 1. Each has a run directory of its own; diadem merge joins them.
    #[arg(long, value_name = "I/K", conflicts_with = "in_memory")]
    shard: Option<Shard>,
    /// Like --shard, with I from 0 to K-1.
    ///
    /// For batch engines that number their tasks from 0: 2/401 is the third of 401 shares.
    #[arg(long, value_name = "I/K", value_parser = Shard::from_zero, conflicts_with_all = ["in_memory", "shard"])]
    shard_from_zero: Option<Shard>,
    /// Count the solutions with these queens.
    ///
    /// LIST has their squares as column:row, from 1, such as 1:5,2:3; none stands for no queens. FILE has a list on each line; - reads
    /// stdin. Empty lines and lines that begin with # are skipped. The result is CSV: the queens, and the solutions that contain them.
    #[arg(long, value_name = "LIST|FILE", conflicts_with_all = NOT_WITH_PLACED)]
    placed: Option<PathBuf>,
    #[command(flatten)]
    split: SplitArgs,
    #[command(flatten)]
    kernel: KernelArgs,
    #[command(flatten)]
    gpu: GpuArgs,
    /// Checks: none, 0.5%, all [default: 1%].
    ///
    /// A check counts a unit a second time, in another way and if possible on another machine. A share
    /// such as 0.5% is drawn at random. The value is recorded in the ledger: a resumed run keeps it, and
    /// it may be raised but not lowered.
    #[arg(long, value_name = "POLICY", value_parser = choice::<DoubleCheck>(CHECKS), hide_possible_values = true)]
    double_check: Option<DoubleCheck>,
    /// Machine name [default: host name].
    ///
    /// Checks and quarantine go by it. Set it in a container, whose host name changes.
    #[arg(long, value_name = "NAME", value_parser = name)]
    machine: Option<String>,
    #[command(flatten)]
    limits: LimitsArgs,
    #[command(flatten)]
    loss: LossArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Show no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// Options of a run, which the count of given queens is not.
const NOT_WITH_PLACED: [&str; 12] = [
    "run",
    "in_memory",
    "shard",
    "shard_from_zero",
    "families",
    "centre",
    "cards",
    "double_check",
    "machine",
    "until",
    "duration",
    "accept_loss",
];

/// What is counted.
#[derive(Debug)]
pub enum CountTask {
    /// A board.
    Board(LocalCount),
    /// The completions of given queens.
    Placed(PlacedCount),
}

/// A count on this machine.
#[derive(Debug)]
pub struct LocalCount {
    pub board: Board,
    pub storage: Storage,
    pub kernel: KernelChoice,
    pub gpu: GpuArgs,
    /// How a new run is split, unless the method decides.
    pub scheme: Option<Scheme>,
    pub double_check: Option<DoubleCheck>,
    /// The machine's name, unless it is the host name.
    pub machine: Option<String>,
    pub limits: LimitsArgs,
    /// Whether the run resumes although acknowledged records are missing.
    pub accepts_loss: bool,
    pub json: bool,
    pub shows_progress: bool,
}

/// The place of the counts of a local run.
#[derive(Debug)]
pub enum Storage {
    /// Nowhere but in memory; it counts the whole board.
    Memory,
    /// In the run directory of a share of the board.
    Directory { path: PathBuf, shard: Shard },
}

impl TryFrom<CountArgs> for CountTask {
    type Error = anyhow::Error;
    fn try_from(mut args: CountArgs) -> anyhow::Result<Self> {
        let Some(named) = args.placed.take() else { return Ok(Self::Board(args.try_into()?)) };
        let queens = PlacedSource::read(args.n, named);
        Ok(Self::Placed(PlacedCount {
            board: args.n,
            queens: queens.map_err(|error| WrongCommand::Refused(error.to_string()))?,
            kernel: args.kernel.try_into()?,
            nice: args.limits.nice,
            json: args.json,
            shows_progress: !args.quiet && !args.json,
        }))
    }
}

impl TryFrom<CountArgs> for LocalCount {
    type Error = KernelError;
    fn try_from(args: CountArgs) -> Result<Self, KernelError> {
        let storage = if args.in_memory {
            Storage::Memory
        } else {
            let shard = args.shard.or(args.shard_from_zero);
            let path = args.run.unwrap_or_else(|| default_directory(args.n, shard));
            Storage::Directory { path, shard: shard.unwrap_or_default() }
        };
        Ok(Self {
            board: args.n,
            storage,
            kernel: args.kernel.try_into()?,
            gpu: args.gpu,
            scheme: args.split.scheme(),
            double_check: args.double_check,
            machine: args.machine,
            limits: args.limits,
            accepts_loss: args.loss.accept_loss,
            json: args.json,
            shows_progress: !args.quiet && !args.json,
        })
    }
}

fn default_directory(board: Board, shard: Option<Shard>) -> PathBuf {
    let share = shard
        .filter(|shard| !shard.is_whole())
        .map(|shard| format!("-{}", shard.to_string().replace([' ', '/'], "-")));
    PathBuf::from(format!("diadem-{board}{}", share.unwrap_or_default()))
}

impl LocalCount {
    /// The share of the plan that is counted.
    pub fn shard(&self) -> Shard {
        match &self.storage {
            Storage::Memory => Shard::default(),
            Storage::Directory { shard, .. } => *shard,
        }
    }
}

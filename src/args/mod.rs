//! The arguments, as clap reads them, parsed into domain values: nothing further in sees a string.

mod keys;
mod records;
mod single;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};
use coordinator::DoubleCheck;
use coordinator::shard::Shard;
use queens::Board;
use queens::kernel::{Isa, Kernel, KernelError, KernelName, Meet, Method, kernel};
use queens::plan::{PlanSpec, Scheme};

pub use keys::{KeysArgs, KeysCommand, host};
pub use records::{ExportArgs, MergeArgs, Sample, VerifyArgs};
pub use single::{
    ConstellationPictureArgs, FamiliesArgs, OutArgs, PictureArgs, RingsArgs, SolutionsArgs, StudyArgs,
    Subject, TreePictureArgs,
};

/// Counts the ways to place n queens on an n x n board so that none attacks another: on one machine or on hundreds,
/// for as long as it takes.
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 110,
    after_help = "\
Examples:
  diadem count 16                                    count on this machine
  diadem coordinator --n 20 --run ./diadem-20        or hand the work out ...
  diadem worker --coordinator http://127.0.0.1:7227  ... to as many workers as there are
  diadem status --coordinator http://127.0.0.1:7227  see how far it is"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Count(CountArgs),
    Coordinator(CoordinatorArgs),
    Worker(WorkerArgs),
    Status(StatusArgs),
    Keys(KeysArgs),
    Constellations(ConstellationsArgs),
    Verify(VerifyArgs),
    Export(ExportArgs),
    Merge(MergeArgs),
    Bench(BenchArgs),
    Solutions(SolutionsArgs),
    Families(FamiliesArgs),
    Rings(RingsArgs),
    Study(StudyArgs),
    Picture(PictureArgs),
}

/// Counts a board on this machine.
///
/// The run is kept in a run directory, ./diadem-N unless told otherwise. Interrupted, the same command goes on;
/// finished, it answers at once.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem count 16                      count with all cores, in ./diadem-16
  diadem count 18 --threads 4          leave some cores alone
  diadem count 14 --in-memory --json   no files; one JSON object on stdout
  diadem count 20 --shard 3/400        the third of 400 shares, for a batch engine; then: diadem merge")]
pub struct CountArgs {
    /// The board size, 1 to 32.
    #[arg(value_name = "N")]
    pub n: Board,
    /// The run directory [default: ./diadem-N].
    #[arg(long, value_name = "DIR", conflicts_with = "in_memory")]
    pub run: Option<PathBuf>,
    /// Keep nothing on disk: an interrupted count is lost.
    #[arg(long)]
    pub in_memory: bool,
    /// Count only share I of K, 1 <= I <= K, into a run directory of its own.
    #[arg(long, value_name = "I/K", conflicts_with = "in_memory")]
    pub shard: Option<Shard>,
    /// Plan a new run by families, split by that many outer rows, the squares of the last in groups, and the sides of
    /// so many rows more.
    #[arg(long, value_name = "ROWS,GROUP,SIDES")]
    pub families: Option<FamilySplit>,
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Which counts are made a second time, in another way and if possible on another machine: none, a share drawn at
    /// random as in 0.5%, all.
    #[arg(long, value_name = "POLICY", default_value_t)]
    pub double_check: DoubleCheck,
    /// Print one JSON object on stdout and nothing else.
    #[arg(long)]
    pub json: bool,
    /// Show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What counts, and on how many threads.
#[derive(Debug, Parser)]
pub struct KernelArgs {
    /// How many units to count at a time [default: one for each core].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=4096))]
    threads: Option<u32>,
    /// The method of counting: auto, meet, search. A new run is planned for it; auto chooses by the board, and goes on
    /// with what a run was planned for.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = auto::<Method>)]
    kernel: Auto<Method>,
    /// The instruction set: auto, avx512, avx2, portable; one that this machine lacks is refused.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = auto::<Isa>)]
    isa: Auto<Isa>,
    /// The memory that each thread of the kernel meet may use for its lists, in MiB; with less it counts more slowly
    /// [default: 48].
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(4..=65536))]
    memory: Option<u32>,
}

/// How many units a machine counts at a time where nothing else is said.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

impl KernelArgs {
    /// The number of threads.
    pub fn threads(&self) -> u32 {
        self.threads.unwrap_or_else(cores)
    }

    /// The kernel that was asked for, or the one that suits the plan.
    pub fn kernel(&self, plan: &PlanSpec) -> Result<Arc<dyn Kernel>, KernelError> {
        let kernel = kernel(self.kernel.0.unwrap_or(plan.method()), self.isa.0)?;
        let KernelName { method, isa } = kernel.name();
        Ok(match self.memory {
            Some(mib) if method == Method::Meet => Arc::new(Meet::with_memory(isa, (mib as usize) << 20)?),
            _ => kernel,
        })
    }

    /// Whether the machine has the instruction set that was asked for.
    pub fn check(&self) -> Result<(), KernelError> {
        kernel(Method::Search, self.isa.0).map(|_| ())
    }

    /// The plan of a new run.
    pub fn plan(&self, n: Board, split: Option<FamilySplit>) -> PlanSpec {
        new_plan(n, self.kernel.0, split)
    }
}

/// The plan of a new run: split by families as told, or as suits the method.
pub fn new_plan(n: Board, method: Option<Method>, split: Option<FamilySplit>) -> PlanSpec {
    let plan = PlanSpec::for_kernel(n, method.unwrap_or(Method::best(n)));
    match split {
        Some(FamilySplit { rows, group, sides }) => {
            PlanSpec { scheme: Scheme::Families { rows, group, sides }, ..plan }
        }
        None => plan,
    }
}

/// How a new run's families are split: ROWS,GROUP,SIDES.
#[derive(Clone, Copy, Debug)]
pub struct FamilySplit {
    rows: u8,
    group: u8,
    sides: u8,
}

impl FromStr for FamilySplit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u8>, _> = text.split(',').map(str::parse).collect();
        match numbers.as_deref() {
            Ok([rows, group, sides]) => Ok(Self { rows: *rows, group: *group, sides: *sides }),
            _ => Err(format!("\"{text}\" is not ROWS,GROUP,SIDES, three small numbers such as 1,1,2")),
        }
    }
}

/// A choice that may be left to the program.
#[derive(Clone, Copy, Debug)]
pub struct Auto<T>(pub Option<T>);

fn auto<T: FromStr>(text: &str) -> Result<Auto<T>, T::Err> {
    if text == "auto" { Ok(Auto(None)) } else { text.parse().map(|choice| Auto(Some(choice))) }
}

/// Serves a run to workers until all is counted, and prints the answer.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem coordinator --n 20 --run ./diadem-20   begin a run
  diadem coordinator --run ./diadem-20          go on with it
  diadem coordinator --run ./diadem-20 --listen 0.0.0.0:7227 --keys keys/coordinator   for other machines too

Environment: DIADEM_JOIN_TOKEN and DIADEM_STATUS_TOKEN stand for join.token and status.token.")]
pub struct CoordinatorArgs {
    /// The board size, 1 to 32; needed only to begin a run.
    #[arg(long, value_name = "N")]
    pub n: Option<Board>,
    /// The run directory.
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
    /// The method that a new run is planned for: auto, meet, search.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = auto::<Method>)]
    pub kernel: Auto<Method>,
    /// Plan a new run by families, split as with count.
    #[arg(long, value_name = "ROWS,GROUP,SIDES")]
    pub families: Option<FamilySplit>,
    /// Which counts are made a second time, in another way and if possible on another machine: none, a share drawn at
    /// random as in 0.5%, all.
    #[arg(long, value_name = "POLICY", default_value_t)]
    pub double_check: DoubleCheck,
    /// Where to listen for workers.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7227")]
    pub listen: std::net::SocketAddr,
    /// Speak TLS, and let those in who have a token or a certificate: a folder as diadem keys init makes it, with
    /// server.pem, server.key, join.token and, if wished, status.token and ca.pem (for client certificates).
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    /// Listen also where others can connect, without TLS: whoever can reach the port can take part.
    #[arg(long, conflicts_with = "keys")]
    pub insecure: bool,
    /// Go on answering status requests after the count is complete.
    #[arg(long)]
    pub stay: bool,
    /// Print the answer as one JSON object on stdout and nothing else there.
    #[arg(long)]
    pub json: bool,
}

/// Counts units for a coordinator until it says that all is counted.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem worker --coordinator http://127.0.0.1:7227
  diadem worker --coordinator https://10.0.0.7:7227 --keys keys/worker
  diadem worker --coordinator http://127.0.0.1:7227 --threads 8 --name rack-3 --give-up-after 10m

Environment: DIADEM_JOIN_TOKEN stands for join.token.")]
pub struct WorkerArgs {
    /// The coordinator's address.
    #[arg(long, value_name = "URL")]
    pub coordinator: String,
    /// Know the coordinator, and be known: a folder with ca.pem and join.token, or client.pem and client.key.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// What to be called in status and ledger [default: host name and process number].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The machine's name: counts are checked on another machine than the one that made them [default: host name].
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Leave when the coordinator has not answered for this long, as in 90s, 10m, 2h [default: wait].
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub give_up_after: Option<Duration>,
}

/// Shows how far a coordinator's run is.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem status --coordinator http://127.0.0.1:7227
  diadem status --coordinator https://10.0.0.7:7227 --keys keys/status

Environment: DIADEM_STATUS_TOKEN stands for status.token.")]
pub struct StatusArgs {
    /// The coordinator's address.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7227")]
    pub coordinator: String,
    /// Know the coordinator, and be known: a folder with ca.pem and status.token or join.token.
    #[arg(long, value_name = "DIR")]
    pub keys: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Lists the boundary constellations of a board up to symmetry, or carries them to other programs and back.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem constellations 8          how many there are, by symmetry class
  diadem constellations 8 --list   each with the columns of its top and bottom queen, the rows of left and right
  diadem constellations 12 --export .   two binary files: constellations-12-asymmetric.pp and -symmetric.pp
  diadem constellations 12 --import constellations-12-symmetric.pp   check such a file
  diadem constellations 12 --count constellations-12-asymmetric.pp constellations-12-symmetric.pp")]
pub struct ConstellationsArgs {
    /// The board size, 1 to 32; for files 4 to 30.
    #[arg(value_name = "N")]
    pub n: Board,
    /// How to print them.
    #[command(flatten)]
    pub form: ConstellationsForm,
    /// What --count counts with.
    #[command(flatten)]
    pub kernel: KernelArgs,
}

#[derive(Debug, Parser)]
#[group(multiple = false)]
pub struct ConstellationsForm {
    /// One a line.
    #[arg(long)]
    pub list: bool,
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
    /// Write the asymmetric and the symmetric ones into two binary files.
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Check such a file: every orbit once, the class right.
    #[arg(long, value_name = "FILE")]
    pub import: Option<PathBuf>,
    /// Count the solutions from such a file, or from both of a board, on this machine.
    #[arg(long, value_name = "FILE", num_args = 1..=2)]
    pub count: Vec<PathBuf>,
}

/// Measures how fast this machine counts.
///
/// Units are drawn at random and counted for some seconds; a number of units without a star is the whole board. ns/sol
/// is the time for a fundamental solution, one eighth of all, so that boards and programs compare; "a unit" is the time
/// of the middle one of the units, "est. %" how far units depart from the plan's estimate.
#[derive(Debug, Parser)]
#[command(after_help = "\
Examples:
  diadem bench                             all kernels at n = 16, 18 and 20
  diadem bench --n 22,24 --kernel search --isa avx512 --seconds 60")]
pub struct BenchArgs {
    /// The board sizes, separated by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "16,18,20")]
    pub n: Vec<Board>,
    /// The method of counting [default: each].
    #[arg(long = "kernel", value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Method>)]
    pub method: Auto<Method>,
    /// The instruction set [default: each that the machine has].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Isa>)]
    pub isa: Auto<Isa>,
    /// How long to count for each line, in seconds.
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = seconds)]
    pub seconds: f64,
    /// What the units are drawn by.
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object for each line.
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "the time must be from 0.01 to 86400 seconds".into())
}

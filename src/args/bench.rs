//! The arguments of `diadem bench`.

use clap::Args;
use queens::Board;
use queens::kernel::{Isa, Method};

use super::gpu::Cards;
use super::kernel::MemoryArgs;
use super::plan::SplitArgs;
use super::value::{Auto, ISAS, METHODS, ThreadsArgs, auto, seconds, whole};

/// Measure how fast this machine counts.
///
/// Units are drawn at random and counted. Of a long unit only a part is counted: random passes by the method
/// meet, otherwise a piece of the unit. A number without a star is from the whole board. "ns/sol" is the time
/// for a fundamental solution, one eighth of all, with its standard error; so boards and programs compare. "a
/// unit" is the mean time of a unit. "est. %" is how far units depart from the plan's estimate.
///
/// The last line uses --threads threads, all other lines one thread. Its result holds for an idle machine: at most as
/// many threads as there are cores count at the same time.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem bench                             all methods at n = 16, 18 and 20
  diadem bench --n 28 --seconds 60         all methods at record size
  diadem bench --n 24 --gpu all            the same on graphics cards
  diadem bench --n 27 --method meet --isa avx512 --threads 1 \\
     --seconds 300 --json")]
pub struct BenchArgs {
    /// Board sizes.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "16,18,20")]
    pub n: Vec<Board>,
    /// Method: meet, search [default: each].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Method>(METHODS), hide_possible_values = true)]
    pub method: Auto<Method>,
    /// Instruction set [default: each available].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Isa>(ISAS), hide_possible_values = true)]
    pub isa: Auto<Isa>,
    /// Graphics cards: all, or 0,2.
    ///
    /// They are measured in place of the processor: none, all, or some by their numbers, which diadem
    /// gpus lists. Times are elapsed times, with two counts at once where halves meet.
    #[arg(long = "gpu", value_name = "CARDS", default_value = "none")]
    pub cards: Cards,
    #[command(flatten)]
    pub threads: ThreadsArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    #[command(flatten)]
    pub split: SplitArgs,
    /// Seconds for each board.
    ///
    /// Half of them go to the fastest kernel. A kernel whose result is too uncertain is measured for
    /// longer.
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = seconds, allow_negative_numbers = true)]
    pub seconds: f64,
    /// Seed of the drawn units.
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub seed: u64,
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
}

//! The arguments of `diadem bench`.

use clap::Args;
use queens::Board;
use queens::kernel::{Isa, Method};

use super::gpu::Cards;
use super::plan::SplitArgs;
use super::value::{Auto, ISAS, METHODS, ThreadsArgs, auto, seconds, whole};

/// Measures how fast this machine counts.
///
/// Units are drawn at random and counted. Of one that takes long only a part is: some of its passes at random by the method
/// meet, a piece of it row by row or on a card. A number without a star is the whole board. ns/sol is the time for a fundamental solution, one eighth of all, so that boards and programs compare, with its
/// standard error; "a unit" is the time of a unit on average, "est. %" how far units depart from the plan's estimate.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem bench                             all methods at n = 16, 18 and 20
  diadem bench --n 28 --seconds 60         all methods at record size
  diadem bench --n 24 --gpu all            the same on graphics cards
  diadem bench --n 27 --method meet --isa avx512 --threads 1 \\
     --seconds 300 --json")]
pub struct BenchArgs {
    /// The board sizes, separated by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "16,18,20")]
    pub n: Vec<Board>,
    /// The method of counting [default: each].
    #[arg(long, visible_alias = "kernel", value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Method>(METHODS), hide_possible_values = true)]
    pub method: Auto<Method>,
    /// The instruction set [default: each that the machine has].
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, value_parser = auto::<Isa>(ISAS), hide_possible_values = true)]
    pub isa: Auto<Isa>,
    /// Measure graphics cards in place of the processor: none, all, or some by their numbers as in 0,2 (diadem gpus lists
    /// them). Times are those that pass, with two counts at a time where halves meet.
    #[arg(long = "gpu", value_name = "CARDS", default_value = "none")]
    pub cards: Cards,
    /// All other lines are for one thread, the last one for as many as are said here, if it is more than one; it is told what they
    /// come to where nothing else runs, and no more of them than there are cores count at a time.
    #[command(flatten)]
    pub threads: ThreadsArgs,
    #[command(flatten)]
    pub split: SplitArgs,
    /// How long to count for each board, in seconds: the fastest kernel has half of it. One of which that
    /// tells nothing is measured for longer.
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = seconds, allow_negative_numbers = true)]
    pub seconds: f64,
    /// What the units are drawn by.
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub seed: u64,
    /// Print one JSON object for each line.
    #[arg(long)]
    pub json: bool,
}

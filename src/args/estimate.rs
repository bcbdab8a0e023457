//! The arguments of `diadem estimate`.

use std::str::FromStr;

use clap::Args;

use super::gpu::Cards;
use super::value::{ThreadsArgs, ValueError, seconds, whole};

/// Estimate a board's solutions and the time to count them.
///
/// Half of the time goes to counting random pieces of the board, the other half to measuring how fast this
/// machine counts units. Boards beyond 32 are extrapolated from the published numbers; nothing is counted for
/// them, and options for counting have no effect.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  diadem estimate 28
  diadem estimate 28 --gpu all
  diadem estimate 27 --machines 50x64 --watts 400 --price 0.25
      days, energy and cost on fifty machines of 64 cores")]
pub struct EstimateArgs {
    /// Board size, 1 to 1000.
    #[arg(value_name = "N", value_parser = whole::<u16>(1..=1000))]
    pub n: u16,
    /// Seconds to count.
    ///
    /// A kernel whose result is too uncertain is measured for longer.
    #[arg(long, value_name = "S", default_value_t = 60.0, value_parser = seconds, allow_negative_numbers = true)]
    pub seconds: f64,
    /// Seed of the drawn pieces.
    #[arg(long, value_name = "SEED", default_value_t = 1, value_parser = whole(0..=u64::MAX), allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub threads: ThreadsArgs,
    /// Graphics cards: all, or 0,2.
    ///
    /// They are measured, too: none, all, or some by their numbers, which diadem gpus lists.
    #[arg(long = "gpu", value_name = "CARDS", default_value = "none")]
    pub cards: Cards,
    /// Machines and cores of each, as in 50x64.
    ///
    /// The cores are like those of this machine.
    #[arg(long, value_name = "MACHINESxCORES")]
    pub machines: Option<Fleet>,
    /// Power of each machine in watts.
    #[arg(long, value_name = "W", requires = "machines", value_parser = amount, allow_negative_numbers = true)]
    pub watts: Option<f64>,
    /// Price of a kilowatt-hour.
    #[arg(long, value_name = "PRICE", requires = "watts", value_parser = amount, allow_negative_numbers = true)]
    pub price: Option<f64>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Machines of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// How many.
    pub count: u32,
    /// The cores of each.
    pub cores: u32,
}

impl FromStr for Fleet {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let wanted = || ValueError::new(text, "machines and the cores of each, such as 50x64");
        let (count, cores) = text.split_once('x').ok_or_else(wanted)?;
        let number =
            |text: &str| text.parse().ok().filter(|n| (1..=1_000_000).contains(n)).ok_or_else(wanted);
        Ok(Self { count: number(count)?, cores: number(cores)? })
    }
}

fn amount(text: &str) -> Result<f64, ValueError> {
    let amount = text.parse().ok().filter(|amount| (0.0..=1e9).contains(amount));
    amount.ok_or_else(|| ValueError::new(text, "a number from 0 to 1000000000"))
}

//! The arguments of `diadem estimate`.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use domain::is_name;
use records::DoubleCheck;

use super::gpu::Cards;
use super::measured_card::{MEASURED, MeasuredCard};
use super::value::{CHECKS, ThreadsArgs, ValueError, choice, seconds, whole};

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
  diadem estimate 27 --machines 50x64 --watts 400 --price 0.25EUR
      days, energy and cost on fifty machines of 64 cores
  diadem estimate 28 --double-check all --machines 50x64 --machines 4xH200
      with all checks, on processors and cards together")]
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
    /// Checks to include: none, 1%, all [default: none].
    ///
    /// As of a coordinator. Some of the checks use the other method, which takes longer.
    #[arg(long, value_name = "POLICY", default_value = "none", hide_default_value = true, value_parser = choice::<DoubleCheck>(CHECKS), hide_possible_values = true)]
    pub double_check: DoubleCheck,
    /// Machines, as 50x64 or 4xH200; may be repeated.
    ///
    /// 50x64 are fifty machines of 64 cores like those of this machine. 4xH200 are four cards that were measured before.
    #[arg(long, value_name = "MACHINES")]
    pub machines: Vec<Fleet>,
    /// Power of each machine or card in watts.
    ///
    /// Once for all, or once for each --machines.
    #[arg(long, value_name = "W", requires = "machines", value_parser = amount, allow_negative_numbers = true)]
    pub watts: Vec<f64>,
    /// Price of a kilowatt-hour, as in 0.25EUR.
    #[arg(long, value_name = "PRICE", requires = "watts", allow_negative_numbers = true)]
    pub price: Option<Price>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Machines of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fleet {
    /// How many.
    pub count: u32,
    /// What each has.
    pub each: Equipment,
}

/// What a machine counts with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Equipment {
    /// So many cores.
    Cores(u32),
    /// A graphics card.
    Card(&'static MeasuredCard),
}

impl FromStr for Fleet {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let wanted = || {
            let cards: Vec<_> = MEASURED.iter().map(|card| card.name).collect();
            let cards = cards.join(", ");
            let what = "COUNTxCORES or COUNTxCARD, such as 50x64 or 4xH200; measured cards: ";
            let what = format!("{what}{cards}");
            ValueError::new(text, what)
        };
        let (count, each) = text.split_once('x').ok_or_else(wanted)?;
        let number = |text: &str| text.parse().ok().filter(|n| (1..=1_000_000).contains(n));
        let each = number(each).map(Equipment::Cores);
        let each = each.or_else(|| MeasuredCard::named(text.split_once('x')?.1).map(Equipment::Card));
        Ok(Self { count: number(count).ok_or_else(wanted)?, each: each.ok_or_else(wanted)? })
    }
}

impl fmt::Display for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.each {
            Equipment::Cores(cores) => write!(f, "{} x {cores} cores", self.count),
            Equipment::Card(card) => write!(f, "{} x {}", self.count, card.name),
        }
    }
}

/// A price in a currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// How much.
    pub amount: f64,
    /// Of what: EUR.
    pub currency: String,
}

impl FromStr for Price {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let wanted = || ValueError::new(text, "a price with its currency, such as 0.25EUR");
        let number = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let currency = text[number.len()..].trim();
        let is_currency = !currency.is_empty() && currency.chars().count() <= 8 && is_name(currency);
        let price = amount(number).ok().filter(|_| is_currency);
        price.map(|amount| Self { amount, currency: currency.to_owned() }).ok_or_else(wanted)
    }
}

fn amount(text: &str) -> Result<f64, ValueError> {
    let amount = text.parse().ok().filter(|amount| (0.0..=1e9).contains(amount));
    amount.ok_or_else(|| ValueError::new(text, "a number from 0 to 1000000000"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_cores_or_a_measured_card() {
        let shown = |text: &str| text.parse::<Fleet>().map(|fleet| fleet.to_string());
        assert_eq!(shown("50x64").unwrap(), "50 x 64 cores");
        assert_eq!(shown("4xh200").unwrap(), "4 x H200");
        for text in ["5", "0x64", "4xRTX", "x64", "4xH200x2"] {
            let error = shown(text).unwrap_err().to_string();
            assert!(error.contains("measured cards: H200") && error.contains(text), "{error}");
        }
    }

    #[test]
    fn price_needs_its_currency() {
        let price = |text: &str| text.parse::<Price>().map(|price| (price.amount, price.currency));
        assert_eq!(price("0.3EUR").unwrap(), (0.3, "EUR".into()));
        assert_eq!(price("25 ct").unwrap(), (25.0, "ct".into()));
        for text in ["0.3", "EUR", "", "-1EUR", "0.3 a very long name"] {
            assert!(price(text).is_err(), "{text}");
        }
    }
}

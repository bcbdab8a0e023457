//! The arguments that select graphics cards.

use std::str::FromStr;

use clap::Args;

use super::value::ValueError;

/// Which graphics cards count.
#[derive(Clone, Debug, Args)]
pub struct GpuArgs {
    /// Graphics cards: all, or 0,2.
    ///
    /// none, all, or some by their numbers, which diadem gpus lists. The processor counts, too, if
    /// --threads is given.
    #[arg(long = "gpu", value_name = "CARDS", default_value = "none")]
    pub cards: Cards,
}

/// List graphics cards, and why a card is not used.
///
/// Each that can be used counts a known board by both methods. A processor is listed too where a driver for one is installed (PoCL).
#[derive(Debug, Args)]
pub struct GpusArgs {
    /// Print one JSON object per card.
    #[arg(long)]
    pub json: bool,
}

/// A choice of graphics cards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cards {
    /// All that can be used.
    All,
    /// These numbers.
    These(Vec<usize>),
}

impl FromStr for Cards {
    type Err = ValueError;
    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text {
            "none" => Ok(Self::These(Vec::new())),
            "all" => Ok(Self::All),
            _ => {
                let numbers = text.split(',').map(|number| number.trim().parse().ok());
                let numbers: Option<Vec<usize>> = numbers.collect();
                numbers.map(Self::These).ok_or_else(|| {
                    ValueError::new(text, "a choice of graphics cards: none, all, or numbers such as 0,2")
                })
            }
        }
    }
}

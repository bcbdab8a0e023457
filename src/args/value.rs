//! Values that several arguments have, and what is said of a text that is none of them.

use std::str::FromStr;

use clap::Args;
use thiserror::Error;

/// A text that is no value of its argument.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{text}\" is not {wanted}")]
pub struct ValueError {
    text: String,
    wanted: &'static str,
}

impl ValueError {
    /// The text, and what would be right.
    pub fn new(text: &str, wanted: &'static str) -> Self {
        Self { text: text.to_owned(), wanted }
    }
}

/// A choice that may be left to the program.
#[derive(Clone, Copy, Debug)]
pub struct Auto<T>(pub Option<T>);

/// The choice of that name, or the program's.
pub fn auto<T: FromStr>(text: &str) -> Result<Auto<T>, T::Err> {
    if text == "auto" { Ok(Auto(None)) } else { text.parse().map(|choice| Auto(Some(choice))) }
}

/// How much is counted at a time.
#[derive(Clone, Copy, Debug, Args)]
pub struct ThreadsArgs {
    /// How many units to count at a time [default: one for each core].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
}

impl ThreadsArgs {
    /// The number of threads.
    pub fn count(self) -> u32 {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get() as u32))
    }
}

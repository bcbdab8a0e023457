//! Values that several arguments share, and the errors for other texts.

use std::borrow::Cow;
use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Args, Command};
use domain::{is_name, split_card};
use thiserror::Error;

/// A text that is no value of its argument.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{text}\" is not {wanted}")]
pub struct ValueError {
    text: String,
    wanted: Cow<'static, str>,
}

impl ValueError {
    /// The text, and what would be right.
    pub fn new(text: &str, wanted: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.to_owned(), wanted: wanted.into() }
    }

    /// The path, and what would be right.
    pub fn of_path(path: &Path, wanted: impl Into<Cow<'static, str>>) -> Self {
        Self::new(&path.to_string_lossy(), wanted)
    }
}

/// The owner and the name of a machine that is written `NAME` or `OWNER/NAME`; a card's name is
/// `HOST/nvidia/gpu0`, or `HOST/gpu0`.
pub fn machine(text: &str) -> (String, String) {
    let (before, card) = split_card(text);
    let (owner, name) = before.split_once('/').unwrap_or(("", before));
    (owner.to_owned(), format!("{name}{card}"))
}

/// The name of a worker or a machine.
pub fn name(text: &str) -> Result<String, ValueError> {
    let name = Some(text).filter(|text| is_name(text)).map(str::to_owned);
    name.ok_or_else(|| ValueError::new(text, "a name: 1 to 200 bytes of plain text"))
}

/// Reads a path that suits; it need not be UTF-8.
pub fn path(suits: fn(&Path) -> Result<(), ValueError>) -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(move |path| suits(&path).map(|()| path))
}

/// A choice that may be left to the program.
#[derive(Clone, Copy, Debug)]
pub struct Auto<T>(pub Option<T>);

/// Reads the choice of that name, or the program's; shells complete these names.
pub fn auto<T: FromStr>(names: &'static [&'static str]) -> NameParser<Auto<T>, T::Err> {
    let read = |text: &str| match text {
        "auto" => Ok(Auto(None)),
        name => name.parse().map(|choice| Auto(Some(choice))),
    };
    NameParser { names, read }
}

/// Reads the choice of that name; shells complete these names.
pub fn choice<T: FromStr>(names: &'static [&'static str]) -> NameParser<T, T::Err> {
    NameParser { names, read: T::from_str }
}

/// Values of the option `--method`.
pub const METHODS: &[&str] = &["auto", "meet", "search"];

/// Values of the option `--isa`.
pub const ISAS: &[&str] = &["auto", "avx512", "avx2", "neon", "portable"];

/// Values of the option `--by`.
pub const GROUPS: &[&str] = &["unit", "family", "constellation"];

/// Values of the option `--double-check`, with examples of shares.
pub const CHECKS: &[&str] = &["none", "1%", "5%", "all"];

/// Reads one of several names.
#[derive(Clone)]
pub struct NameParser<T, E> {
    names: &'static [&'static str],
    read: fn(&str) -> Result<T, E>,
}

impl<T, E> TypedValueParser for NameParser<T, E>
where
    T: Clone + Send + Sync + 'static,
    E: Error + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        self.read.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(PossibleValue::new)))
    }
}

/// Reads a whole number within these bounds.
pub fn whole<T>(bounds: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, ValueError> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let (least, most) = (bounds.start(), bounds.end());
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number.ok_or_else(|| ValueError::new(text, format!("a whole number from {least} to {most}")))
    }
}

/// A time to measure for, in seconds.
pub fn seconds(text: &str) -> Result<f64, ValueError> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| ValueError::new(text, "a time from 0.01 to 86400 seconds"))
}

/// Ten years, the longest time that may be given; longer times would overflow clocks.
const LONGEST: Duration = Duration::from_hours(10 * 365 * 24);

/// A time as in 90s, 10m, 2h.
pub fn time(text: &str) -> Result<Duration, ValueError> {
    let time = humantime::parse_duration(text).ok().filter(|time| *time <= LONGEST);
    time.ok_or_else(|| ValueError::new(text, "a time such as 90s, 10m or 2h, of at most ten years"))
}

/// How much is counted at a time.
#[derive(Clone, Copy, Debug, Args)]
pub struct ThreadsArgs {
    /// Threads [default: one per core].
    ///
    /// Each counts one unit at a time.
    #[arg(long, value_name = "K", value_parser = threads)]
    threads: Option<u32>,
}

impl ThreadsArgs {
    /// The number of threads, if given.
    pub fn asked(self) -> Option<u32> {
        self.threads
    }

    /// The number of threads.
    pub fn count(self) -> u32 {
        self.threads.unwrap_or_else(cores)
    }
}

/// The most threads on any machine. The time that idle threads spend looking for work grows with the square
/// of their number.
const MOST_THREADS: u32 = 256;

/// The most threads for each core, on machines with more cores than a quarter of [`MOST_THREADS`].
const MOST_ON_A_CORE: u32 = 4;

/// How many threads can count at a time here: by the processor, and what is granted of it.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

fn threads(text: &str) -> Result<u32, ThreadsError> {
    let most = MOST_THREADS.max(MOST_ON_A_CORE * cores());
    let threads = text.parse().ok().filter(|threads| (1..=most).contains(threads));
    threads.ok_or_else(|| ThreadsError { text: text.to_owned(), most })
}

/// A number of threads that nothing would be gained by.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("\"{text}\" is not a number of threads from 1 to {most}")]
pub struct ThreadsError {
    text: String,
    most: u32,
}

#[cfg(test)]
mod tests {
    use queens::kernel::{Isa, Method};
    use records::DoubleCheck;
    use records::export::By;

    use super::*;

    #[test]
    fn shell_completions_list_all_names() {
        let all = |names: Vec<String>| [vec!["auto".to_owned()], names].concat();
        let mut methods = all(Method::ALL.iter().map(ToString::to_string).collect());
        let mut isas = all(Isa::ALL.iter().map(ToString::to_string).collect());
        let mut groups = By::ALL.iter().map(ToString::to_string).collect();
        for (there, said) in [(&mut methods, METHODS), (&mut isas, ISAS), (&mut groups, GROUPS)] {
            there.sort_unstable();
            let mut said = said.to_vec();
            said.sort_unstable();
            assert_eq!(*there, said);
        }
        assert!(CHECKS.iter().all(|check| check.parse::<DoubleCheck>().is_ok()));
    }
}

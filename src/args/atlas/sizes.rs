//! Ranges of numbers in one argument: board sizes, pages.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::args::value::ValueError;

/// `8..30` or `8`; both ends included.
pub fn sizes(text: &str) -> Result<RangeInclusive<u8>, ValueError> {
    range(text, "a board size such as 8, or a range of them such as 8..30")
}

/// `1..10` or `3`; both ends included.
pub fn pages(text: &str) -> Result<RangeInclusive<usize>, ValueError> {
    range(text, "a page such as 3, or a range of them such as 1..10")
}

fn range<T: FromStr + PartialOrd + Default + Copy>(
    text: &str,
    wanted: &'static str,
) -> Result<RangeInclusive<T>, ValueError> {
    let number = |text: &str| text.trim().parse::<T>().ok().filter(|n| *n > T::default());
    let (first, last) = text.split_once("..").map_or((text, text), |(a, b)| (a, b.trim_start_matches('=')));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(ValueError::new(text, wanted)),
    }
}

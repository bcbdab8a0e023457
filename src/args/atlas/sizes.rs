//! Several board sizes in one argument.

use std::ops::RangeInclusive;

use crate::args::value::ValueError;

/// `8..30` or `8`; both ends included.
pub fn sizes(text: &str) -> Result<RangeInclusive<u8>, ValueError> {
    let number = |text: &str| text.trim().parse::<u8>().ok().filter(|n| *n > 0);
    let (first, last) = text.split_once("..").map_or((text, text), |(a, b)| (a, b.trim_start_matches('=')));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(ValueError::new(text, "a board size such as 8, or a range of them such as 8..30")),
    }
}

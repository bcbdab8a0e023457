//! Ranges of numbers in one argument: board sizes, pages.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::args::value::ValueError;

/// `8..12` or `8`; both ends included, and within these bounds.
pub fn sizes(bounds: RangeInclusive<u8>) -> impl Fn(&str) -> Result<RangeInclusive<u8>, ValueError> + Clone {
    move |text| {
        let (least, most) = (bounds.start(), bounds.end());
        let wanted =
            format!("a board size from {least} to {most}, such as 8, or a range of them, such as 8..12");
        range(text, &bounds, wanted)
    }
}

/// `1..10` or `3`; both ends included.
pub fn pages(text: &str) -> Result<RangeInclusive<usize>, ValueError> {
    range(text, &(1..=usize::MAX), "a page such as 3, or a range of them such as 1..10")
}

fn range<T: FromStr + PartialOrd>(
    text: &str,
    bounds: &RangeInclusive<T>,
    wanted: impl Into<Cow<'static, str>>,
) -> Result<RangeInclusive<T>, ValueError> {
    let number = |text: &str| text.trim().parse::<T>().ok().filter(|n| bounds.contains(n));
    let (first, last) = text.split_once("..").map_or((text, text), |(a, b)| (a, b.trim_start_matches('=')));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(ValueError::new(text, wanted)),
    }
}

//! Ranges of units, as typed. A constellation with symmetry has hundreds of units, so a command that listed
//! them one by one would not fit a line of the log.

use std::fmt;
use std::str::FromStr;

use queens::UnitId;

use super::value::{ValueError, whole};

/// No more are named at once.
const MOST: u64 = 100_000;

/// A range of units with a step: `5`, `100-403`, or `100-403/3` for every third.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitSpan {
    first: u64,
    last: u64,
    step: u64,
}

impl UnitSpan {
    /// The units in the fewest spans of these steps.
    pub fn of(units: &[UnitId], step: u64) -> Vec<Self> {
        let spans = units.chunk_by(|unit, next| unit.0 + step == next.0);
        spans.map(|span| Self { first: span[0].0, last: span[span.len() - 1].0, step }).collect()
    }

    /// Each of them.
    pub fn units(self) -> impl Iterator<Item = UnitId> {
        (self.first..=self.last).step_by(self.step as usize).map(UnitId)
    }
}

impl fmt::Display for UnitSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { first, last, .. } if first == last => write!(f, "{first}"),
            Self { first, last, step: 1 } => write!(f, "{first}-{last}"),
            Self { first, last, step } => write!(f, "{first}-{last}/{step}"),
        }
    }
}

impl FromStr for UnitSpan {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let Some((first, rest)) = text.split_once('-').filter(|(first, _)| !first.is_empty()) else {
            let unit = whole(0..=u64::MAX)(text)?;
            return Ok(Self { first: unit, last: unit, step: 1 });
        };
        let (last, step) = rest.split_once('/').unwrap_or((rest, "1"));
        let numbers = (first.parse(), last.parse(), step.parse());
        let span = match numbers {
            (Ok(first), Ok(last), Ok(step)) => Some(Self { first, last, step }),
            _ => None,
        };
        let can_be = |span: &Self| {
            span.first <= span.last && span.step > 0 && (span.last - span.first) / span.step < MOST
        };
        span.filter(can_be).ok_or_else(|| {
            let wanted = format!("a unit, or a range of up to {MOST} units as in 100-403 or 100-403/3");
            ValueError::new(text, wanted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_named_in_few_words_and_read_again() {
        let named = |units: &[u64], step| {
            let units: Vec<UnitId> = units.iter().copied().map(UnitId).collect();
            let spans = UnitSpan::of(&units, step);
            let text: Vec<String> = spans.iter().map(ToString::to_string).collect();
            let read = text.iter().flat_map(|span| span.parse::<UnitSpan>().unwrap().units());
            assert_eq!(read.collect::<Vec<_>>(), units);
            text.join(" ")
        };
        assert_eq!(named(&[], 1), "");
        assert_eq!(named(&[7], 1), "7");
        assert_eq!(named(&[5, 100, 101, 102, 104], 1), "5 100-102 104");
        assert_eq!(named(&[1, 4, 7, 13], 3), "1-7/3 13");
        // As many as a constellation of n = 28 has, with the largest numbers that a plan has.
        let many: Vec<u64> = (19_000_000..19_000_704).collect();
        assert_eq!(named(&many, 1), "19000000-19000703");
    }

    #[test]
    fn invalid_or_oversized_unit_span_is_rejected() {
        for wrong in ["7-3", "1-", "-1", "1-5/0", "1-5/", "1-5/x", "0-100000", "0-18446744073709551615"] {
            assert!(wrong.parse::<UnitSpan>().is_err(), "{wrong}");
        }
        assert_eq!("0-99999".parse::<UnitSpan>().unwrap().units().count(), 100_000);
        assert_eq!("1-6/3".parse::<UnitSpan>().unwrap().units().collect::<Vec<_>>(), [UnitId(1), UnitId(4)]);
    }
}

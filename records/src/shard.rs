//! A fixed share of a plan, for runs under a batch engine with no coordinator.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use queens::{Plan, UnitId};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Share `index` of `of`: every `of`-th unit, so that heavy and light units are spread evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawShard")]
pub struct Shard {
    /// From 1 to `of`.
    index: u64,
    of: u64,
}

/// A share as it is read, which may be none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawShard {
    index: u64,
    of: u64,
}

impl TryFrom<RawShard> for Shard {
    type Error = ShardError;
    fn try_from(RawShard { index, of }: RawShard) -> Result<Self, ShardError> {
        if 1 <= index && index <= of && of <= MAX_SHARDS {
            Ok(Self { index, of })
        } else {
            Err(ShardError::FromOne(format!("{index}/{of}")))
        }
    }
}

/// Number of units of a shard that are sampled to estimate its work.
const SAMPLE: u64 = 512;

/// Multiples of it lie evenly, as fractions of 2^64.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// A run is cut into no more shares.
const MAX_SHARDS: u64 = 1_000_000;

/// A share that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShardError {
    /// Shards numbered from 1.
    #[error("a shard is written I/K with 1 <= I <= K <= {MAX_SHARDS}, as in 3/401, not {0:?}")]
    FromOne(String),
    /// Shards numbered from 0.
    #[error("a shard numbered from 0 is written I/K with 0 <= I < K <= {MAX_SHARDS}, as in 2/401, not {0:?}")]
    FromZero(String),
}

impl Default for Shard {
    fn default() -> Self {
        Self { index: 1, of: 1 }
    }
}

impl Shard {
    /// The share as an engine writes it that numbers its tasks from 0: `2/401` is the third of 401.
    ///
    /// # Errors
    /// The text has another form, or the shard does not exist.
    pub fn from_zero(text: &str) -> Result<Self, ShardError> {
        let share = index_and_number(text)
            .and_then(|(index, of)| Some(RawShard { index: index.checked_add(1)?, of }));
        share.and_then(|share| share.try_into().ok()).ok_or_else(|| ShardError::FromZero(text.to_owned()))
    }

    /// Its number, from 1 on.
    pub fn index(self) -> u64 {
        self.index
    }

    /// The number of shards.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Whether it is the whole plan.
    pub fn is_whole(&self) -> bool {
        self.of == 1
    }

    /// The expected work of its units, in nanoseconds of one core. Each unit counts with the average of its part of the
    /// plan.
    pub fn work_of(self, plan: &Plan) -> u128 {
        let ranges = plan.unit_ranges().map(|range| range.units).filter(|units| !units.is_empty());
        let own = |units: &Range<u64>| self.size(units.end) - self.size(units.start);
        ranges.map(|units| u128::from(plan.mean_weight(UnitId(units.start))) * u128::from(own(&units))).sum()
    }

    /// The expected time of the shard's units relative to the average of their parts of the plan, estimated from a
    /// sample. Units by the sides of outer rows come in powers of two for each position. So if `of` is even, all units
    /// of a shard have some sides in common.
    pub fn relative_work(self, plan: &Plan) -> f64 {
        let size = self.size(plan.units());
        let count = if self.is_whole() { 0 } else { size.min(SAMPLE) };
        // One of each of as many equal stretches, at places that have nothing to do with how units are numbered.
        let place = |k: u64| u128::from(k) << 64 | u128::from(k.wrapping_mul(GOLDEN_RATIO));
        let unit = |k: u64| {
            ((place(k) * u128::from(size) / u128::from(count)) >> 64) as u64 * self.of + self.index - 1
        };
        let weights =
            (0..count).map(unit).map(UnitId).map(|unit| (plan.weight_alone(unit), plan.mean_weight(unit)));
        let [own, mean] = weights
            .fold([0.0, 0.0], |[own, mean], (weight, of_part)| [own + weight as f64, mean + of_part as f64]);
        if mean > 0.0 { own / mean } else { 1.0 }
    }

    /// The bytes that identify the shard in a run's hash: index and number of shards, 8 bytes each, the lowest first.
    pub fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.of) << 64 | u128::from(self.index)).to_le_bytes()
    }

    /// As it is written in arguments: `3/401`, or `1/1` for the whole plan.
    pub fn fraction(self) -> String {
        format!("{}/{}", self.index, self.of)
    }

    /// Whether the unit belongs to it.
    pub fn contains(self, unit: UnitId) -> bool {
        unit.0 % self.of == self.index - 1
    }

    /// The units of the shard among the units 0 to `units - 1`.
    pub fn units(self, units: u64) -> impl Iterator<Item = UnitId> {
        (self.index - 1..units).step_by(self.of as usize).map(UnitId)
    }

    /// The same in words: `units 0 to 759`, or `units 1 to 757 in steps of 3`.
    pub fn units_in_words(self, units: u64) -> String {
        let Some(more) = self.size(units).checked_sub(1) else { return "no units".to_owned() };
        let (first, steps) = (
            self.index - 1,
            if self.is_whole() { String::new() } else { format!(" in steps of {}", self.of) },
        );
        format!("units {first} to {}{steps}", first + more * self.of)
    }

    /// How many of the units 0 to `units - 1` belong to it.
    pub fn size(self, units: u64) -> u64 {
        (units + self.of - self.index) / self.of
    }
}

impl FromStr for Shard {
    type Err = ShardError;
    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (index, of) = index_and_number(text).ok_or_else(|| ShardError::FromOne(text.to_owned()))?;
        RawShard { index, of }.try_into()
    }
}

fn index_and_number(text: &str) -> Option<(u64, u64)> {
    let (index, of) = text.split_once('/')?;
    Some((index.parse().ok()?, of.parse().ok()?))
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_whole() {
            f.write_str("the whole plan")
        } else {
            write!(f, "shard {}/{}", self.index, self.of)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queens::{Board, PlanSpec};

    #[test]
    fn shards_part_the_plan() {
        for of in 1..=7u64 {
            for units in 0..30u64 {
                let shards: Vec<Shard> = (1..=of).map(|i| format!("{i}/{of}").parse().unwrap()).collect();
                for unit in (0..units).map(UnitId) {
                    assert_eq!(shards.iter().filter(|s| s.contains(unit)).count(), 1);
                }
                for shard in shards {
                    let counted = (0..units).filter(|u| shard.contains(UnitId(*u))).count() as u64;
                    assert_eq!(shard.size(units), counted);
                    assert!(shard.units(units).all(|unit| shard.contains(unit)));
                    assert_eq!(shard.units(units).count() as u64, counted);
                }
            }
        }
    }

    #[test]
    fn shards_sum_to_plan_and_samples_estimate_their_work() {
        let plan = Plan::derive(PlanSpec::families(Board::new(20).unwrap())).unwrap();
        for of in [1, 7, 8] {
            let shards: Vec<Shard> = (1..=of).map(|i| format!("{i}/{of}").parse().unwrap()).collect();
            assert_eq!(shards.iter().map(|shard| shard.work_of(&plan)).sum::<u128>(), plan.total_weight());
            for shard in shards {
                let weights = shard.units(plan.units()).map(|unit| u128::from(plan.weight(unit)));
                let ratio = weights.sum::<u128>() as f64 / shard.work_of(&plan) as f64;
                let told = shard.relative_work(&plan);
                assert!((told / ratio - 1.0).abs() < 0.03, "{shard}: {told} for {ratio}");
                // An even number of shares costs more time than an odd number (docs/engines.md).
                assert!(of == 8 || (ratio - 1.0).abs() < 0.02, "{shard}: {ratio}");
            }
        }
    }

    #[test]
    fn shard_units_are_described_by_first_last_and_step() {
        let told = |shard: &str, units| shard.parse::<Shard>().unwrap().units_in_words(units);
        assert_eq!(told("1/1", 760), "units 0 to 759");
        assert_eq!(told("2/3", 760), "units 1 to 757 in steps of 3");
        assert_eq!(told("3/3", 3), "units 2 to 2 in steps of 3");
        assert_eq!(told("4/5", 3), "no units");
    }

    #[test]
    fn shards_from_zero_equal_shards_from_one() {
        for index in 0..400 {
            let shard = Shard::from_zero(&format!("{index}/400")).unwrap();
            assert_eq!(shard, format!("{}/400", index + 1).parse().unwrap());
        }
    }

    #[test]
    fn shards_that_cannot_be_are_refused() {
        for text in ["0/3", "4/3", "3", "a/b", "1/0", "", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        for text in ["3/3", "-1/3", "3", "a/b", "0/0", "", "18446744073709551615/18446744073709551615"] {
            assert!(Shard::from_zero(text).is_err(), "{text}");
        }
        for json in [r#"{"index":0,"of":3}"#, r#"{"index":4,"of":3}"#, r#"{"index":0,"of":0}"#] {
            assert!(serde_json::from_str::<Shard>(json).is_err(), "{json}");
        }
    }
}

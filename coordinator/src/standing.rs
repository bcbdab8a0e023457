//! What the records of a ledger add up to.
//!
//! The same fold serves the running coordinator, the resumption from a checkpoint and the audit, so that none of them
//! can understand a record differently.

use std::collections::BTreeMap;

use queens::{Plan, Tally, UnitId};
use serde::{Deserialize, Serialize};

use crate::bitmap::Bitmap;
use crate::ledger::{Record, UnitRecord};
use crate::shard::Shard;

/// The units on record, their counts and sums.
#[derive(Clone, Debug)]
pub struct Standing {
    done: Bitmap,
    counts: Counts,
    sums: Sums,
}

/// The sums of the records: small, and part of the checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// The partial totals.
    pub tally: Tally,
    /// Processor time of all records in microseconds.
    pub cpu_us: u64,
    /// Expected work of the units on record, in search nodes.
    pub work: u128,
    /// Counts that were confirmed by another worker.
    pub checks: u64,
    /// Counts that contradicted a standing one.
    pub conflicts: u64,
    /// Units without a standing count because workers disagree, with all counts reported for them.
    pub disputed: BTreeMap<UnitId, Vec<u64>>,
}

/// The standing counts, as far as they have been read since the process began.
#[derive(Clone, Debug)]
struct Counts(Vec<u64>);

/// No unit has this many completions.
const UNKNOWN: u64 = u64::MAX;

impl Standing {
    /// Nothing on record.
    pub fn new(plan: &Plan) -> Self {
        let sums = Sums {
            tally: Tally::new(plan),
            cpu_us: 0,
            work: 0,
            checks: 0,
            conflicts: 0,
            disputed: BTreeMap::new(),
        };
        Self::restored(plan, Bitmap::new(plan.units()), sums)
    }

    /// As a checkpoint kept it: which units are done, but not what was counted in each.
    pub fn restored(plan: &Plan, done: Bitmap, sums: Sums) -> Self {
        Self { done, counts: Counts(vec![UNKNOWN; plan.units() as usize]), sums }
    }

    /// Whether the unit has a standing count.
    pub fn is_done(&self, unit: UnitId) -> bool {
        self.done.contains(unit.0)
    }

    /// How many units have one.
    pub fn done(&self) -> u64 {
        self.done.len()
    }

    /// The unit's standing count, where it has one and it has been read.
    pub fn count(&self, unit: UnitId) -> Option<u64> {
        let count = self.counts.0[unit.0 as usize];
        (self.is_done(unit) && count != UNKNOWN).then_some(count)
    }

    /// The sums.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// The set of units on record, for the checkpoint.
    pub fn bitmap(&mut self) -> &mut Bitmap {
        &mut self.done
    }

    /// The first unit of the shard without a standing count.
    pub fn first_missing(&self, shard: Shard) -> Option<UnitId> {
        (0..self.counts.0.len() as u64).map(UnitId).find(|unit| shard.contains(*unit) && !self.is_done(*unit))
    }

    /// Marks a unit as counted without adding it up: for comparisons.
    pub(crate) fn learn_count(&mut self, unit: UnitId, count: u64) {
        self.done.insert(unit.0);
        self.counts.0[unit.0 as usize] = count;
    }

    /// Takes over counts that another standing of the same run has read.
    pub fn learn_counts(&mut self, other: &Standing) {
        for (known, learnt) in self.counts.0.iter_mut().zip(&other.counts.0) {
            if *known == UNKNOWN {
                *known = *learnt;
            }
        }
    }

    /// Adds one record; an error says why it cannot stand where it does.
    pub fn apply(&mut self, plan: &Plan, shard: Shard, record: &Record) -> Result<(), String> {
        let unit = match record {
            Record::Count(r) | Record::Check(r) | Record::Conflict(r) => r.unit,
            Record::Retract { unit, .. } => *unit,
            Record::Mark(_) => return Ok(()),
        };
        if unit.0 >= plan.units() || !shard.contains(unit) {
            return Err(format!("unit {unit} is not in the run"));
        }
        if let Record::Count(r) | Record::Check(r) | Record::Conflict(r) = record {
            self.sums.cpu_us = self.sums.cpu_us.saturating_add(r.cpu_us);
        }
        match record {
            Record::Count(r) => self.stand(plan, r),
            Record::Check(r) => {
                self.expect_standing(unit, r.count)?;
                self.sums.checks += 1;
                Ok(())
            }
            Record::Conflict(r) => {
                self.sums.conflicts += 1;
                self.sums.disputed.entry(unit).or_default().push(r.count);
                Ok(())
            }
            Record::Retract { count, .. } => self.retract(plan, unit, *count),
            Record::Mark(_) => Ok(()),
        }
    }

    fn stand(&mut self, plan: &Plan, UnitRecord { unit, count, .. }: &UnitRecord) -> Result<(), String> {
        if !self.done.insert(unit.0) {
            return Err(format!("unit {unit} is counted a second time"));
        }
        self.counts.0[unit.0 as usize] = *count;
        self.sums.disputed.remove(unit);
        self.sums.work += u128::from(plan.weight(*unit));
        self.sums.tally.add(plan.summand(*unit), *count).map_err(|error| error.to_string())
    }

    fn retract(&mut self, plan: &Plan, unit: UnitId, count: u64) -> Result<(), String> {
        self.expect_standing(unit, count)?;
        self.done.remove(unit.0);
        self.counts.0[unit.0 as usize] = UNKNOWN;
        self.sums.disputed.entry(unit).or_default().push(count);
        self.sums.work -= u128::from(plan.weight(unit));
        self.sums.tally.remove(plan.summand(unit), count).map_err(|error| error.to_string())
    }

    fn expect_standing(&self, unit: UnitId, count: u64) -> Result<(), String> {
        match self.count(unit) {
            Some(standing) if standing != count => {
                Err(format!("unit {unit} stands at {standing}, which this record calls {count}"))
            }
            _ if self.is_done(unit) => Ok(()),
            _ => Err(format!("unit {unit} has no standing count")),
        }
    }
}

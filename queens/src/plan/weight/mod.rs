//! The expected time of units, for the sizes of leases and the time left.
//!
//! No unit of a plan and no order of units depends on this work. So it may change with every release, and may
//! use logarithms, whose last bits differ between machines. Work is in nanoseconds of one core with AVX-512
//! (docs/performance.md, "Units, and how long they take", has the measurements).
//!
//! [`model`] tells it of one position by its [`features`], and where a unit is one of several by the sides of outer rows,
//! [`sides`] what share of that it has. Here are the samples that tell it of parts, and the blocks in which units are looked at.

mod features;
mod model;
mod sides;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::plan::part::Part;
use crate::plan::spec::PlanSpec;

use model::Model;

/// The number of sampled units of a part, and of the whole plan apart from two units of each part, for the average
/// time.
const SAMPLE: u64 = 32;
const SAMPLE_OF_PLAN: u64 = 20_000;

/// The number of units of a part whose weights are computed together. A block takes a few milliseconds, a
/// tolerable wait for a lease, and hardly longer for each unit than the whole part.
const BLOCK: u64 = 128;

/// Multiples of it lie evenly, as fractions of 2^64.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// Nanoseconds of the units of a block.
type BlockOfUnits = OnceLock<Box<[f32]>>;

/// The work of the units of a plan.
#[derive(Clone, Debug)]
pub struct WorkOfUnits {
    model: Model,
    /// For each part the mean over its units.
    means: Vec<f64>,
    /// For each part the work of its units, block by block, computed when first used.
    units: Vec<Box<[BlockOfUnits]>>,
}

impl WorkOfUnits {
    /// The weights of a plan of that specification with these parts.
    pub fn new(PlanSpec { n, scheme, .. }: PlanSpec, parts: &[Part]) -> Self {
        let model = Model::new(n, scheme);
        let most = (SAMPLE_OF_PLAN / (parts.len() as u64).max(1)).clamp(2, SAMPLE);
        let means = (0..).zip(parts).map(|(number, part)| mean(&model, number, part, most)).collect();
        let units = parts.iter().map(|part| blocks(&model, part)).collect();
        Self { model, means, units }
    }

    /// Nanoseconds of all units of the part of that number. If all units are taken to be alike, this is the
    /// time of a unit, at least 1, times their number; otherwise about the sum of their times.
    pub fn of_part(&self, number: usize, part: &Part) -> u128 {
        u128::from(self.of_unit_on_average(number)) * u128::from(part.units())
    }

    /// Nanoseconds of a unit of the part of that number on average, at least 1.
    pub fn of_unit_on_average(&self, number: usize) -> u64 {
        at_least_one(self.means[number])
    }

    /// Nanoseconds of the unit with that index in the part of that number, at least 1.
    pub fn of_unit(&self, number: usize, part: &Part, index: u64) -> u64 {
        if self.model.is_coarse(part) {
            return self.of_unit_on_average(number);
        }
        let (block, within) = (index / BLOCK, (index % BLOCK) as usize);
        let of_block = || {
            let indices: Vec<u64> = (block * BLOCK..part.units()).take(BLOCK as usize).collect();
            self.model.of_units(part, &indices).iter().map(|work| *work as f32).collect()
        };
        at_least_one(self.units[number][block as usize].get_or_init(of_block)[within].into())
    }

    /// The same, without a look at other units.
    pub fn of_unit_alone(&self, number: usize, part: &Part, index: u64) -> u64 {
        if self.model.is_coarse(part) {
            return self.of_unit_on_average(number);
        }
        at_least_one((self.model.of_units(part, &[index])[0] as f32).into())
    }
}

/// Room for what units take, where they are looked at one by one.
fn blocks(model: &Model, part: &Part) -> Box<[BlockOfUnits]> {
    let blocks = if model.is_coarse(part) { 0 } else { part.units().div_ceil(BLOCK) };
    (0..blocks).map(|_| OnceLock::new()).collect()
}

/// The mean over the units of the part of that number, of which at most so many are looked at.
fn mean(model: &Model, number: u64, part: &Part, most: u64) -> f64 {
    if let Some(roughly) = model.roughly(part) {
        return roughly;
    }
    let count = most.min(part.units());
    // One of each of as many equal stretches, at places that have nothing to do with how units are numbered, and are others
    // in each part.
    let within = |k: u64| u128::from((number * SAMPLE + k + 1).wrapping_mul(GOLDEN_RATIO));
    let place = |k: u64| (u128::from(k) << 64 | within(k)) * u128::from(part.units()) / u128::from(count);
    let indices: Vec<u64> = (0..count).map(|k| (place(k) >> 64) as u64).collect();
    model.of_units(part, &indices).iter().sum::<f64>() / count as f64
}

fn at_least_one(nanoseconds: f64) -> u64 {
    (nanoseconds as u64).max(1)
}

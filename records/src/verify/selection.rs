//! Which units of a run are counted again.

use queens::UnitId;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::index;

use crate::run_directory::RunDirectory;

/// How many units are counted again with another kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleSize {
    /// This many units, or all if there are fewer.
    Units(u64),
    /// Every one.
    All,
}

/// The units that are counted again.
#[derive(Debug)]
pub struct Selection {
    /// All that have a symmetric count.
    pub symmetric: Vec<UnitId>,
    /// Some of the units that count completions.
    pub sample: Vec<UnitId>,
    /// How many of these there are.
    pub of: u64,
}

impl Selection {
    /// The units of the run's share of its plan; the sample follows from the seed.
    pub fn of(directory: &RunDirectory, size: SampleSize, seed: u64) -> Self {
        let (plan, shard) = (directory.plan(), directory.run().shard);
        let (mut symmetric, mut completions) = (Vec::new(), Vec::new());
        for range in plan.unit_ranges() {
            let counts = if range.summand.is_symmetric_count() { &mut symmetric } else { &mut completions };
            counts.extend(range.units.map(UnitId).filter(|unit| shard.contains(*unit)));
        }
        let of = completions.len() as u64;
        let sample = match size {
            SampleSize::Units(units) if units < of => {
                let random = &mut StdRng::seed_from_u64(seed);
                let chosen = index::sample(random, completions.len(), units as usize);
                chosen.into_iter().map(|at| completions[at]).collect()
            }
            SampleSize::Units(_) | SampleSize::All => completions,
        };
        Self { symmetric, sample, of }
    }
}

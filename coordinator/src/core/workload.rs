//! The work of a run: its plan, its shard of the plan, and the expected work of its units.

use std::sync::Arc;

use domain::Variant;
use queens::kernel::{Isa, KernelName, Method};
use queens::{Plan, Summand, UnitId};
use records::shard::Shard;
use records::standing::Standing;

/// The name of the second algorithm for symmetric counts in records.
pub const ORBITS: &str = "orbits";

/// The part of a plan that a run counts. Work is in nanoseconds of one core.
#[derive(Debug)]
pub struct Workload {
    plan: Arc<Plan>,
    shard: Shard,
    total: u128,
    /// The factor from work in the plan to expected work in this shard.
    scale: f64,
    mean_unit: f64,
    symmetric_counts: Vec<UnitId>,
}

impl Workload {
    /// The workload of a shard of the plan.
    pub fn new(plan: Arc<Plan>, shard: Shard) -> Self {
        let total = shard.work_of(&plan);
        let scale = shard.relative_work(&plan);
        let mean_unit = total as f64 * scale / shard.size(plan.units()).max(1) as f64;
        let symmetric = plan.unit_ranges().filter(|range| range.summand.is_symmetric_count());
        let symmetric_counts = symmetric.flat_map(|range| range.units.map(UnitId));
        let symmetric_counts = symmetric_counts.filter(|unit| shard.contains(*unit)).collect();
        Self { plan, shard, total, scale, mean_unit, symmetric_counts }
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The shard of the plan.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// The number of units to be counted.
    pub fn units(&self) -> u64 {
        self.shard.size(self.plan.units())
    }

    /// True if the unit belongs to the plan and the shard.
    pub fn contains(&self, unit: UnitId) -> bool {
        unit.0 < self.plan.units() && self.shard.contains(unit)
    }

    /// The work of a unit.
    pub fn weight(&self, unit: UnitId) -> u64 {
        self.plan.weight(unit)
    }

    /// The mean work of a unit.
    pub fn mean_unit(&self) -> f64 {
        self.mean_unit
    }

    /// The work of all units according to the plan.
    pub fn total(&self) -> u128 {
        self.total
    }

    /// Converts work according to the plan into the expected work of this shard.
    pub fn scaled(&self, work: u128) -> f64 {
        work as f64 * self.scale
    }

    /// The work of the units without a standing count.
    pub fn left(&self, standing: &Standing) -> f64 {
        self.scaled(self.total.saturating_sub(standing.sums().work))
    }

    /// The work of the symmetric counts without a standing count.
    pub fn symmetric_left(&self, standing: &Standing) -> f64 {
        let open = self.symmetric_counts.iter().filter(|unit| !standing.is_done(**unit));
        open.map(|unit| self.plan.mean_weight(*unit) as f64).sum()
    }

    /// True if the unit counts completions that a rotation leaves unchanged.
    pub fn is_symmetric_count(&self, unit: UnitId) -> bool {
        self.plan.summand(unit).is_symmetric_count()
    }

    /// The symmetric constellation of the unit; none if its constellations have no symmetry.
    pub fn symmetric_constellation(&self, unit: UnitId) -> Option<u32> {
        match self.plan.summand(unit) {
            Summand::Symmetric(constellation, _) => Some(constellation),
            Summand::Asymmetric => None,
        }
    }

    /// All units of a symmetric constellation.
    pub fn units_of_constellation(&self, constellation: u32) -> Vec<UnitId> {
        let is_of_it = |summand| matches!(summand, Summand::Symmetric(of, _) if of == constellation);
        let ranges = self.plan.unit_ranges().filter(|range| is_of_it(range.summand));
        ranges.flat_map(|range| range.units).map(UnitId).filter(|unit| self.contains(*unit)).collect()
    }

    /// True if this variant of the unit needs a kernel of the other method.
    pub fn wants_other_kernel(&self, unit: UnitId, variant: Variant) -> bool {
        variant.wants_other_kernel(self.plan.summand(unit))
    }

    /// The kernel name in a record of this variant, counted by a worker with kernel `own`. A worker with an external
    /// program makes symmetric counts itself.
    pub fn kernel_label(&self, unit: UnitId, variant: Variant, own: KernelName) -> String {
        if variant.other_kernel && self.is_symmetric_count(unit) {
            return ORBITS.to_owned();
        }
        if own.is_external() && self.is_symmetric_count(unit) {
            return KernelName { method: Method::Search, isa: Isa::Portable }.to_string();
        }
        variant.kernel(own).to_string()
    }

    /// True if the plan cuts its units for halves that meet.
    pub fn is_for_meet(&self) -> bool {
        self.plan.spec().method() == Method::Meet
    }
}

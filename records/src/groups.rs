//! Sums of a run by family and by constellation: in this form counts of different plans compare.

use std::collections::BTreeMap;

use queens::plan::{Border, Family, UnitRange};
use queens::{Constellation, Measure, Plan, Summand, SymmetryClass, UnitId};

use crate::shard::Shard;
use crate::standing::Standing;

/// The sums over the units of a group. They are wider than the counts, and independent of the tally behind the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSums {
    /// Units of the run that belong to it.
    pub units: u64,
    /// Units of the group that have a count.
    pub counted: u64,
    /// Completions of its constellations without symmetry.
    pub asymmetric: u128,
    /// Completions of solutions that only the half turn leaves unchanged.
    pub point: u128,
    /// Completions of solutions that the quarter turn leaves unchanged.
    pub rotational: u128,
    /// The completion of the one that everything fixes, on the 1 x 1 board.
    pub full: u128,
    /// Completions that the half turn fixes.
    pub half_turn: u128,
    /// Completions that the quarter turn fixes.
    pub quarter_turn: u128,
}

impl GroupSums {
    /// The solutions that the group stands for: each constellation with all its images. The symmetric counts do not
    /// come into it.
    pub fn solutions(&self) -> u128 {
        8 * self.asymmetric + 4 * self.point + 2 * self.rotational + self.full
    }

    fn add(&mut self, class: SymmetryClass, measure: Measure, count: u64) {
        let sum = match (measure, class) {
            (Measure::HalfTurn, _) => &mut self.half_turn,
            (Measure::QuarterTurn, _) => &mut self.quarter_turn,
            (Measure::Completions, SymmetryClass::Asymmetric) => &mut self.asymmetric,
            (Measure::Completions, SymmetryClass::Point) => &mut self.point,
            (Measure::Completions, SymmetryClass::Rotational) => &mut self.rotational,
            (Measure::Completions, SymmetryClass::Full) => &mut self.full,
        };
        *sum += u128::from(count);
    }
}

/// The sums by family. Both schemes have them.
pub fn by_family(plan: &Plan, shard: Shard, standing: &Standing) -> BTreeMap<Family, GroupSums> {
    let mut groups = BTreeMap::new();
    for range in plan.unit_ranges() {
        let group = groups.entry(range.border.family(plan.board())).or_default();
        add_range(group, plan, &range, shard, standing);
    }
    groups
}

/// The sums of the constellations that the plan counts one by one.
pub fn by_constellation(
    plan: &Plan,
    shard: Shard,
    standing: &Standing,
) -> BTreeMap<Constellation, GroupSums> {
    let mut groups = BTreeMap::new();
    for range in plan.unit_ranges() {
        if let Border::Constellation(constellation) = range.border {
            add_range(groups.entry(constellation).or_default(), plan, &range, shard, standing);
        }
    }
    groups
}

fn add_range(group: &mut GroupSums, plan: &Plan, range: &UnitRange, shard: Shard, standing: &Standing) {
    let class = class_of(plan, range);
    let measure = measure_of(range.summand);
    for unit in range.units.clone().map(UnitId).filter(|unit| shard.contains(*unit)) {
        group.units += 1;
        if let Some(count) = standing.count(unit) {
            group.counted += 1;
            group.add(class, measure, count);
        }
    }
}

/// The symmetry of the range's constellation, or of all of them.
pub fn class_of(plan: &Plan, range: &UnitRange) -> SymmetryClass {
    match range.border {
        Border::Constellation(constellation) => constellation.class(plan.board()),
        Border::Family(_) => SymmetryClass::Asymmetric,
    }
}

/// The quantity that is counted.
pub fn measure_of(summand: Summand) -> Measure {
    match summand {
        Summand::Asymmetric => Measure::Completions,
        Summand::Symmetric(_, measure) => measure,
    }
}

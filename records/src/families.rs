//! How far each family is: the constellations that share the queens in the first and the last row.

use std::collections::BTreeMap;
use std::ops::Range;

use domain::FamilyStatus;
use queens::plan::Family;
use queens::{Plan, Totals};

use crate::shard::Shard;
use crate::standing::Standing;

/// How far one family is, and its partial totals.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyProgress {
    /// Its queens and units.
    pub family: FamilyStatus,
    /// A, P and R so far; none while counts contradict each other.
    pub totals: Option<Totals>,
}

/// The families of a run, and which units are theirs.
#[derive(Debug)]
pub struct Families {
    /// Each with its units in the run's share of the plan, by top and bottom queen.
    list: Vec<(Family, u64)>,
    /// All units of the plan, ascending, with the place of their family in the list.
    ranges: Vec<(Range<u64>, usize)>,
}

impl Families {
    /// The families of a share of a plan.
    pub fn new(plan: &Plan, shard: Shard) -> Self {
        let families: Vec<_> = plan.families().collect();
        let mut units: BTreeMap<Family, u64> = BTreeMap::new();
        for (family, range) in &families {
            *units.entry(*family).or_default() += shard.size(range.end) - shard.size(range.start);
        }
        units.retain(|_, units| *units > 0);
        let list: Vec<_> = units.into_iter().collect();
        let place = |family: &Family| list.binary_search_by_key(family, |(family, _)| *family).ok();
        let ranges =
            families.into_iter().filter_map(|(family, range)| Some((range, place(&family)?))).collect();
        Self { list, ranges }
    }

    /// How far each family is and its partial totals, by top and bottom queen.
    pub fn progress(&self, plan: &Plan, standing: &Standing) -> Vec<FamilyProgress> {
        let sums = standing.sums().tally.families();
        let totals = |family: &FamilyStatus| {
            let family = Family { top: family.top, bottom: family.bottom };
            let index = plan.family_list().binary_search(&family).expect("the plan has the family");
            sums[index].totals().ok()
        };
        let families = self.status(standing).into_iter();
        families.map(|family| FamilyProgress { totals: totals(&family), family }).collect()
    }

    /// The progress of each family, by top and bottom queen.
    pub fn status(&self, standing: &Standing) -> Vec<FamilyStatus> {
        let mut done = vec![0; self.list.len()];
        for (range, place) in &self.ranges {
            done[*place] += standing.done_within(range.clone());
        }
        let families = self.list.iter().zip(done);
        let status = |((family, units), done): (&(Family, u64), u64)| FamilyStatus {
            top: family.top,
            bottom: family.bottom,
            units: *units,
            done,
        };
        families.map(status).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queens::{Board, PlanSpec, UnitId};

    #[test]
    fn families_of_all_shards_cover_each_unit_once() {
        let board = Board::new(10).unwrap();
        for spec in [PlanSpec::new(board), PlanSpec::families(board)] {
            let plan = Plan::derive(spec).unwrap();
            let family_of =
                |unit: UnitId| plan.families().find(|(_, units)| units.contains(&unit.0)).unwrap().0;
            let mut whole = BTreeMap::new();
            for shard in ["1/3", "2/3", "3/3"].map(|shard| shard.parse::<Shard>().unwrap()) {
                let families = Families::new(&plan, shard);
                let mut standing = Standing::new(&plan);
                for unit in shard.units(plan.units()).take(7) {
                    standing.adopt_count(unit, 0);
                }
                for FamilyStatus { top, bottom, units, done } in families.status(&standing) {
                    let is_own = |unit: &UnitId| family_of(*unit) == Family { top, bottom };
                    assert_eq!(done, shard.units(plan.units()).take(7).filter(is_own).count() as u64);
                    *whole.entry((top, bottom)).or_insert(0) += units;
                }
            }
            let all = Families::new(&plan, Shard::default()).status(&Standing::new(&plan));
            let all: BTreeMap<_, _> = all.iter().map(|f| ((f.top, f.bottom), f.units)).collect();
            assert_eq!(whole, all);
            assert_eq!(all.values().sum::<u64>(), plan.units());
        }
    }
}

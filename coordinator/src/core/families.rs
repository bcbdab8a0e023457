//! How far each family is: the constellations that share the queens in the first and the last row.

use std::collections::BTreeMap;
use std::ops::Range;

use proto::FamilyStatus;
use queens::Plan;
use queens::plan::Family;

use crate::shard::Shard;
use crate::standing::Standing;

/// The families of a run, and which units are theirs.
#[derive(Debug)]
pub struct Families {
    /// Each with its units in the run's share of the plan, by top and bottom queen.
    list: Vec<(Family, u64)>,
    /// All units of the plan, ascending, with the place of their family in the list.
    ranges: Vec<(Range<u64>, usize)>,
}

impl Families {
    /// Those of a share of a plan.
    pub fn new(plan: &Plan, shard: Shard) -> Self {
        let mut units: BTreeMap<Family, u64> = BTreeMap::new();
        for (family, range) in plan.families() {
            *units.entry(family).or_default() += shard.size(range.end) - shard.size(range.start);
        }
        units.retain(|_, units| *units > 0);
        let list: Vec<_> = units.into_iter().collect();
        let place = |family: &Family| list.binary_search_by_key(family, |(family, _)| *family).ok();
        let ranges = plan.families().filter_map(|(family, range)| Some((range, place(&family)?))).collect();
        Self { list, ranges }
    }

    /// How far each of them is, by top and bottom queen.
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

//! Plans: the numbered list of units of a run, the same on every machine.
//!
//! A plan is given by its [`PlanSpec`] and by nothing else. So both ends of a wire derive it, and only unit
//! numbers and a fingerprint travel. It keeps one `Part` for each constellation or family (and symmetric
//! count). A unit is derived from its number alone, by a search in the parts and a short walk within one.

mod border;
mod canonical;
mod constellations;
mod families;
mod fingerprint;
mod geometry;
mod part;
mod partition;
mod parts;
mod sampling;
mod spec;
mod weight;

use std::collections::BTreeSet;
use std::fmt;
use std::iter;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::kernel::{Count, Kernel, Stop};
use crate::orbit_search::count_fixed_again;
use crate::position::Position;
use crate::summand::{Measure, Summand};
use crate::symmetric::{Turn, count_fixed};
use crate::symmetry::SymmetryClass;
pub use border::{Border, Family};
pub use fingerprint::Fingerprint;
use part::{Part, Split};
pub use partition::{NoPartition, Partition};
pub use sampling::{Draw, Sampler, Step};
pub use spec::{PlanError, PlanSpec, Scheme};
use weight::WorkOfUnits;

/// The number of a unit in its plan, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitId(pub u64);

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One numbered piece of the plan, the work that is lent and counted at a time.
///
/// ```
/// use queens::kernel::{Method, Stop, kernel};
/// use queens::{Board, Plan, PlanSpec, UnitId};
///
/// let plan = Plan::derive(PlanSpec::families(Board::new(10)?))?;
/// let unit = plan.unit(UnitId(plan.units() - 1));
/// let [meet, search] = [kernel(Method::Meet, None)?, kernel(Method::Search, None)?];
/// let count = unit.count(&*meet, &Stop::new()).unwrap().completions;
/// assert_eq!(unit.mirrored().count(&*search, &Stop::new()).unwrap().completions, count);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its number.
    pub id: UnitId,
    /// The position to complete.
    pub position: Position,
    /// Which sum its count belongs to.
    pub summand: Summand,
}

impl Unit {
    /// The unit mirrored left to right: other bits all the way, the same count, and for each method the same nodes.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self { position: self.position.mirrored(), ..*self }
    }

    /// Counts the unit: completions by the kernel, symmetric counts by their own search. `None` if stopped.
    pub fn count(&self, kernel: &dyn Kernel, stop: &Stop) -> Option<Count> {
        match self.summand {
            Summand::Asymmetric | Summand::Symmetric(_, Measure::Completions) => {
                kernel.count_unit(self.id.0, &self.position, stop)
            }
            Summand::Symmetric(_, Measure::HalfTurn) => count_fixed(&self.position, Turn::Half, stop),
            Summand::Symmetric(_, Measure::QuarterTurn) => count_fixed(&self.position, Turn::Quarter, stop),
        }
    }

    /// Counts the unit in another way than [`count`](Self::count), with a kernel of the other method.
    /// Symmetric counts use the second algorithm, whose nodes cannot be compared. `None` if stopped.
    pub fn count_otherwise(&self, other: &dyn Kernel, stop: &Stop) -> Option<Count> {
        let again = |turn| {
            let completions = count_fixed_again(&self.position, turn, stop)?;
            Some(Count { completions, nodes: 0 })
        };
        match self.summand {
            Summand::Asymmetric | Summand::Symmetric(_, Measure::Completions) => {
                other.count_unit(self.id.0, &self.position, stop)
            }
            Summand::Symmetric(_, Measure::HalfTurn) => again(Turn::Half),
            Summand::Symmetric(_, Measure::QuarterTurn) => again(Turn::Quarter),
        }
    }
}

/// Units with consecutive numbers that have border and summand in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitRange {
    /// Their border queens.
    pub border: Border,
    /// Which sum their counts belong to.
    pub summand: Summand,
    /// Their numbers.
    pub units: Range<u64>,
}

/// A plan, derived from its specification. Memory grows with the constellations, not with the units.
///
/// ```
/// use queens::{Board, Plan, PlanSpec, UnitId};
///
/// let plan = Plan::derive(PlanSpec::new(Board::new(8)?))?;
/// assert_eq!(plan.units(), 90);
/// let again = Plan::derive(plan.spec())?;
/// assert_eq!(again.fingerprint(), plan.fingerprint());
/// assert_eq!(again.unit(UnitId(89)), plan.unit(UnitId(89)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    spec: PlanSpec,
    fingerprint: Fingerprint,
    parts: Vec<Part>,
    /// The number of each part's first unit, and at the end the number of units.
    firsts: Vec<u64>,
    symmetric: Vec<SymmetricMember>,
    /// All families, ascending, and the index of each part's family among them.
    families: Vec<Family>,
    family_of_part: Vec<u32>,
    work: WorkOfUnits,
}

/// A constellation that has a symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymmetricMember {
    /// Its symmetry class.
    pub class: SymmetryClass,
    /// The number of its units: completions and symmetric counts.
    pub units: u64,
    /// The index of its family in [`Plan::family_list`].
    pub family: usize,
}

impl Plan {
    /// Derives the plan. Takes milliseconds for n = 16, about a second for n = 28.
    ///
    /// # Errors
    /// If the specification has a version that this release does not know, parameters that give no plan, or too many
    /// units.
    pub fn derive(spec: PlanSpec) -> Result<Self, PlanError> {
        spec.check()?;
        let parts = match spec.scheme {
            Scheme::Constellations { grain } => constellations::parts(spec.n, grain, spec::MOST_UNITS),
            Scheme::Families { rows, group, sides } => {
                let split = Split::Outer { rows: rows.into(), group: group.into(), sides: sides.into() };
                families::parts(spec.n, split, None, spec::MOST_UNITS)
            }
            Scheme::Centre { columns, group, grain } => {
                let split = Split::Centre { columns: columns.into(), group: group.into(), sides: 0 };
                families::parts(spec.n, split, grain, spec::MOST_UNITS)
            }
        };
        let (parts, classes) = parts.ok_or_else(|| spec.too_many_units())?.in_order();
        let mut firsts = vec![0];
        let of_parts: Vec<Family> = parts.iter().map(|part| part.border().family(spec.n)).collect();
        let families: Vec<Family> = of_parts.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let index = |family: &Family| families.binary_search(family).expect("the list has every family");
        let family_of_part: Vec<u32> = of_parts.iter().map(|family| index(family) as u32).collect();
        let empty = |class| SymmetricMember { class, units: 0, family: 0 };
        let mut symmetric: Vec<_> = classes.into_iter().map(empty).collect();
        for (part, family) in parts.iter().zip(&family_of_part) {
            firsts.push(firsts[firsts.len() - 1] + part.units());
            if let Summand::Symmetric(member, _) = part.summand() {
                let member = &mut symmetric[member as usize];
                *member = SymmetricMember {
                    units: member.units + part.units(),
                    family: *family as usize,
                    ..*member
                };
            }
        }
        let fingerprint = Fingerprint::of(&spec, &parts);
        let work = WorkOfUnits::new(spec, &parts);
        Ok(Self { spec, fingerprint, parts, firsts, symmetric, families, family_of_part, work })
    }

    /// The specification of the plan.
    pub fn spec(&self) -> PlanSpec {
        self.spec
    }

    /// The board.
    pub fn board(&self) -> Board {
        self.spec.n
    }

    /// The hash of the plan: of its specification, of all its parts, and of positions of their units, of four where a part has
    /// more than 16.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The number of units.
    pub fn units(&self) -> u64 {
        self.firsts[self.parts.len()]
    }

    /// The unit of that number.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn unit(&self, id: UnitId) -> Unit {
        let (part, index) = self.part_of(id);
        Unit { id, position: part.position_of_unit(index), summand: part.summand() }
    }

    /// Which sum the unit's count belongs to.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn summand(&self, id: UnitId) -> Summand {
        self.part_of(id).0.summand()
    }

    /// The unit's expected work, in nanoseconds of one core with AVX-512; at least 1. It may change with every release.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn weight(&self, id: UnitId) -> u64 {
        let (number, index) = self.place_of(id);
        self.work.of_unit(number, &self.parts[number], index)
    }

    /// Like [`weight`](Self::weight), for a few units only: `weight` computes all units of a part at once.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn weight_alone(&self, id: UnitId) -> u64 {
        let (number, index) = self.place_of(id);
        self.work.of_unit_alone(number, &self.parts[number], index)
    }

    /// The mean weight of the units of its part, at least 1, without computing any of them. Over all units it
    /// adds up to [`total_weight`](Self::total_weight).
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn mean_weight(&self, id: UnitId) -> u64 {
        self.work.of_unit_on_average(self.place_of(id).0)
    }

    /// The expected work of the whole plan, in nanoseconds of one core with AVX-512: about what its units add up to.
    pub fn total_weight(&self) -> u128 {
        self.parts.iter().enumerate().map(|(number, part)| self.work.of_part(number, part)).sum()
    }

    /// The ranges of units that have border and summand in common, in the order of their numbers: together they are all units.
    pub fn unit_ranges(&self) -> impl Iterator<Item = UnitRange> + '_ {
        self.parts.iter().zip(self.firsts.windows(2)).map(|(part, firsts)| UnitRange {
            border: part.border(),
            summand: part.summand(),
            units: firsts[0]..firsts[1],
        })
    }

    /// The families of the units, in the order of their numbers: together the ranges are all units, and a family that is
    /// split has several.
    ///
    /// ```
    /// use queens::{Board, Plan, PlanSpec};
    ///
    /// let plan = Plan::derive(PlanSpec::new(Board::new(8)?))?;
    /// assert_eq!(plan.families().map(|(_, units)| units.end - units.start).sum::<u64>(), plan.units());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn families(&self) -> impl Iterator<Item = (Family, Range<u64>)> + '_ {
        let board = self.board();
        let mut ranges =
            self.unit_ranges().map(move |range| (range.border.family(board), range.units)).peekable();
        iter::from_fn(move || {
            let (family, mut units) = ranges.next()?;
            while let Some((_, more)) = ranges.next_if(|(next, _)| *next == family) {
                units.end = more.end;
            }
            Some((family, units))
        })
    }

    /// The families of the plan, each once, ascending by top and bottom queen.
    pub fn family_list(&self) -> &[Family] {
        &self.families
    }

    /// The index of the unit's family in [`family_list`](Self::family_list), and which of its sums the unit's count belongs to.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn family_and_summand(&self, id: UnitId) -> (usize, Summand) {
        let number = self.place_of(id).0;
        (self.family_of_part[number] as usize, self.parts[number].summand())
    }

    /// The number of symmetric counts: they are the first units of every plan.
    pub fn symmetric_counts(&self) -> u64 {
        let fixed = self.parts.iter().take_while(|part| part.summand().is_symmetric_count());
        self.firsts[fixed.count()]
    }

    /// The constellations that have a symmetry, in the order of their numbers.
    pub fn symmetric_members(&self) -> &[SymmetricMember] {
        &self.symmetric
    }

    fn part_of(&self, id: UnitId) -> (&Part, u64) {
        let (number, index) = self.place_of(id);
        (&self.parts[number], index)
    }

    /// The number of its part, and its index there.
    fn place_of(&self, id: UnitId) -> (usize, u64) {
        assert!(id.0 < self.units(), "the plan has {} units, no unit {id}", self.units());
        let number = self.firsts.partition_point(|first| *first <= id.0) - 1;
        (number, id.0 - self.firsts[number])
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

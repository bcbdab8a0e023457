//! Equations that the counts of a complete run must satisfy, checked apart from the tally.
//!
//! - *Solutions by families.* A constellation of an orbit of eight, four or two stands for so many times its
//!   completions, whatever p and r are: summed over the families, that is Q = 8A + 4P + 2R.
//! - *Reflected fours.* In a solution that the quarter turn fixes, the queens come in fours around the centre. The
//!   reflection of one four occupies the same rows, columns and diagonals, so each four can be reflected by itself and
//!   another solution results. With the border queens placed, floor(n / 4) - 1 fours are left: the r of every
//!   constellation is a multiple of 2 to that power.
//!
//! That T, p and r of each constellation with symmetry fit each other is the tally's own condition for having totals.

use std::collections::BTreeMap;

use queens::plan::Border;
use queens::{Constellation, Measure, Plan, Summand, Totals, UnitId};
use thiserror::Error;

use crate::groups::{GroupSums, by_family};
use crate::shard::Shard;
use crate::standing::Standing;

/// The identities that hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identities {
    /// Families whose solutions were added up to Q.
    pub families: u64,
    /// Constellations whose r is a multiple of `power`.
    pub rotational: u64,
    /// The power of two.
    pub power: u64,
}

/// An equation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// The two ways of adding up differ.
    #[error("the families stand for {families} solutions, but 8A + 4P + 2R is {totals}")]
    Solutions {
        /// By families.
        families: u128,
        /// By classes.
        totals: u128,
    },
    /// A symmetric count that cannot be.
    #[error("unit {unit}: {count} solutions that the quarter turn fixes are no multiple of {power}")]
    Reflections {
        /// The unit.
        unit: UnitId,
        /// Its count.
        count: u64,
        /// The required divisor.
        power: u64,
    },
}

/// Checks the counts of a complete run.
///
/// # Errors
/// One of the equations does not hold.
pub fn check(plan: &Plan, standing: &Standing, totals: &Totals) -> Result<Identities, Violation> {
    let families = by_family(plan, Shard::default(), standing);
    let solutions = families.values().map(GroupSums::solutions).sum();
    if solutions != totals.solutions() {
        return Err(Violation::Solutions { families: solutions, totals: totals.solutions() });
    }
    let power = 1 << (plan.board().n() / 4).saturating_sub(1);
    let rotational = rotational_counts(plan, standing);
    if let Some((unit, count)) = rotational.values().find(|(_, count)| !count.is_multiple_of(power)) {
        return Err(Violation::Reflections { unit: *unit, count: *count, power });
    }
    Ok(Identities { families: families.len() as u64, rotational: rotational.len() as u64, power })
}

/// The units of the quarter turn and their counts. Each is one unit.
fn rotational_counts(plan: &Plan, standing: &Standing) -> BTreeMap<Constellation, (UnitId, u64)> {
    let mut counts = BTreeMap::new();
    for range in plan.unit_ranges() {
        if let (Border::Constellation(constellation), Summand::Symmetric(_, Measure::QuarterTurn)) =
            (range.border, range.summand)
        {
            let unit = UnitId(range.units.start);
            counts.extend(standing.count(unit).map(|count| (constellation, (unit, count))));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use queens::kernel::Stop;
    use queens::symmetric::{Turn, count_fixed};
    use queens::{Board, PlanSpec, Position, SymmetryClass};

    #[test]
    fn quarter_turn_counts_have_reflection_factor() {
        for n in [4, 5, 8, 9, 12, 13, 16, 17, 20] {
            let board = Board::new(n).unwrap();
            let orbits = Constellation::orbits(board);
            for orbit in orbits.filter(|orbit| orbit.class == SymmetryClass::Rotational) {
                let position = Position::of_constellation(board, orbit.representative);
                let count = count_fixed(&position, Turn::Quarter, &Stop::new()).unwrap().completions;
                assert!(count.is_multiple_of(1 << (n / 4 - 1)), "n={n} {orbit:?}: {count}");
            }
        }
    }

    #[test]
    fn counts_that_cannot_be_are_found() {
        let plan = Plan::derive(PlanSpec::new(Board::new(12).unwrap())).unwrap();
        let mut standing = Standing::new(&plan);
        let quarter = |range: &queens::plan::UnitRange| {
            matches!(range.summand, Summand::Symmetric(_, Measure::QuarterTurn))
        };
        let unit = UnitId(plan.unit_ranges().find(quarter).unwrap().units.start);
        standing.adopt_count(unit, 3);
        let violation = Violation::Reflections { unit, count: 3, power: 4 };
        assert_eq!(check(&plan, &standing, &Totals::default()), Err(violation));
        let totals = Totals { a: 1, ..Totals::default() };
        let violation = Violation::Solutions { families: 0, totals: 8 };
        assert_eq!(check(&plan, &standing, &totals), Err(violation));
    }
}

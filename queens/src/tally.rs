//! From the counts of units to the totals A, P, R, by class, without a look at single solutions.
//!
//! Let T be the completions of a constellation. Let h of them be fixed by the half turn and r by the quarter
//! turn. Then p = h - r are fixed by the half turn alone.
//!
//! - No symmetry: its completions are T orbits of class A.
//! - Class point (r = 0): the h fixed ones are orbits of class P; the others pair up, (T - p) / 2 of class A.
//! - Class rotational: r of class R, p / 2 of class P, (T - p - r) / 4 of class A.
//!
//! A constellation with symmetry joins the totals when all its units have been counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::known::Symmetric;
use crate::plan::{Plan, UnitId};
use crate::summand::{Measure, Summand};
use crate::symmetry::SymmetryClass;

/// The orbits of solutions by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Orbits of eight: solutions without symmetry.
    pub a: u128,
    /// Orbits of four: solutions fixed by the half turn alone.
    pub p: u128,
    /// Orbits of two: solutions fixed by the quarter turn.
    pub r: u128,
    /// Orbits of one: 1 for n = 1, else 0.
    pub full: u128,
}

impl Totals {
    /// All solutions, Q = 8A + 4P + 2R (and 1 for n = 1).
    pub fn solutions(&self) -> u128 {
        8 * self.a + 4 * self.p + 2 * self.r + self.full
    }

    /// The solutions up to symmetry, A + P + R (and 1 for n = 1).
    pub fn fundamental(&self) -> u128 {
        self.a + self.p + self.r + self.full
    }

    /// Both together.
    fn plus(self, other: Self) -> Result<Self, TallyError> {
        let sum = |one: u128, other| one.checked_add(other).ok_or(TallyError::Overflow);
        Ok(Self {
            a: sum(self.a, other.a)?,
            p: sum(self.p, other.p)?,
            r: sum(self.r, other.r)?,
            full: sum(self.full, other.full)?,
        })
    }
}

/// The sums of one constellation that has a symmetry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SymmetricSums {
    class: SymmetryClass,
    /// Units of the constellation that have not been counted yet.
    open: u64,
    completions: u128,
    half_turn: u128,
    quarter_turn: u128,
}

/// The sums of one family: the constellations that share top and bottom queen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilySums {
    /// Completions of the constellations without symmetry.
    asymmetric: u128,
    /// The constellations with symmetry, by their numbers in the plan.
    symmetric: BTreeMap<u32, SymmetricSums>,
}

/// The partial totals of a run, by family.
///
/// ```
/// use queens::kernel::{Method, Stop, kernel};
/// use queens::{Board, Plan, PlanSpec, Tally, UnitId};
///
/// let plan = Plan::derive(PlanSpec::new(Board::new(8)?))?;
/// let kernel = kernel(Method::Search, None)?;
/// let mut tally = Tally::new(&plan);
/// for unit in (0..plan.units()).map(UnitId) {
///     let count = plan.unit(unit).count(&*kernel, &Stop::new()).unwrap();
///     tally.add(&plan, unit, count.completions)?;
/// }
/// let totals = tally.totals()?;
/// assert_eq!((totals.a, totals.p, totals.r), (11, 1, 0));
/// assert_eq!(totals.solutions(), 8 * 11 + 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// One for each family, in the order of [`Plan::family_list`].
    families: Vec<FamilySums>,
    /// The index of the family of each constellation with symmetry.
    family_of_member: Vec<usize>,
}

/// Sums that cannot be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TallyError {
    /// A sum left 128 bits, or fell below zero.
    #[error("a sum does not fit 128 bits or is negative")]
    Overflow,
    /// A unit that the plan does not have.
    #[error("more units were counted for symmetric constellation {0} than the plan has")]
    Surplus(u32),
    /// T, p and r of a constellation contradict each other.
    #[error(
        "the counts of symmetric constellation {member} cannot be right: {completions} completions, \
         {half_turn} fixed by the half turn, {quarter_turn} by the quarter turn"
    )]
    Contradiction {
        /// The constellation's number among those with symmetry.
        member: u32,
        /// T.
        completions: u128,
        /// p + r.
        half_turn: u128,
        /// r.
        quarter_turn: u128,
    },
}

impl Tally {
    /// The tally of a run without counts.
    pub fn new(plan: &Plan) -> Self {
        let mut families = vec![FamilySums::default(); plan.family_list().len()];
        for (number, member) in (0..).zip(plan.symmetric_members()) {
            let sums = SymmetricSums {
                class: member.class,
                open: member.units,
                completions: 0,
                half_turn: 0,
                quarter_turn: 0,
            };
            families[member.family].symmetric.insert(number, sums);
        }
        let family_of_member = plan.symmetric_members().iter().map(|member| member.family).collect();
        Self { families, family_of_member }
    }

    /// The tally of a run whose families have these sums, in the order of [`Plan::family_list`]; none if they are not sums of
    /// this plan.
    pub fn restored(plan: &Plan, families: Vec<FamilySums>) -> Option<Self> {
        let empty = Self::new(plan);
        let fits = |empty: &FamilySums, kept: &FamilySums| {
            empty.symmetric.len() == kept.symmetric.len()
                && empty.symmetric.iter().zip(&kept.symmetric).all(
                    |((number, empty), (kept_number, kept))| {
                        number == kept_number && empty.class == kept.class && kept.open <= empty.open
                    },
                )
        };
        let is_of_plan = empty.families.len() == families.len()
            && empty.families.iter().zip(&families).all(|(empty, kept)| fits(empty, kept));
        is_of_plan.then_some(Self { families, ..empty })
    }

    /// The sums of each family, in the order of [`Plan::family_list`].
    pub fn families(&self) -> &[FamilySums] {
        &self.families
    }

    /// Adds the count of one unit of the plan.
    ///
    /// # Errors
    /// If the sum overflows, or the plan has no such unit that has not been counted.
    pub fn add(&mut self, plan: &Plan, unit: UnitId, count: u64) -> Result<(), TallyError> {
        let Sum { total, open, member } = self.sum_of(plan, unit)?;
        if let Some(open) = open {
            *open = open.checked_sub(1).ok_or(TallyError::Surplus(member))?;
        }
        *total = total.checked_add(u128::from(count)).ok_or(TallyError::Overflow)?;
        Ok(())
    }

    /// Takes back the count of one unit that was added before.
    ///
    /// # Errors
    /// If the sum would become negative, or the plan has no such constellation.
    pub fn remove(&mut self, plan: &Plan, unit: UnitId, count: u64) -> Result<(), TallyError> {
        let Sum { total, open, .. } = self.sum_of(plan, unit)?;
        if let Some(open) = open {
            *open += 1;
        }
        *total = total.checked_sub(u128::from(count)).ok_or(TallyError::Overflow)?;
        Ok(())
    }

    fn sum_of(&mut self, plan: &Plan, unit: UnitId) -> Result<Sum<'_>, TallyError> {
        let (family, summand) = plan.family_and_summand(unit);
        let family = &mut self.families[family];
        let Summand::Symmetric(member, measure) = summand else {
            return Ok(Sum { total: &mut family.asymmetric, open: None, member: 0 });
        };
        let sums = family.symmetric.get_mut(&member).ok_or(TallyError::Surplus(member))?;
        let total = match measure {
            Measure::Completions => &mut sums.completions,
            Measure::HalfTurn => &mut sums.half_turn,
            Measure::QuarterTurn => &mut sums.quarter_turn,
        };
        Ok(Sum { total, open: Some(&mut sums.open), member })
    }

    fn member(&self, member: u32) -> Option<&SymmetricSums> {
        self.families[*self.family_of_member.get(member as usize)?].symmetric.get(&member)
    }

    /// The constellations, by number among those with symmetry, whose counts are all there and contradict each other.
    pub fn contradicted(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.family_of_member.len() as u32).filter(|member| self.is_contradicted(*member))
    }

    /// Whether the counts of that constellation are all there.
    pub fn is_complete(&self, member: u32) -> bool {
        self.member(member).is_some_and(|sums| sums.open == 0)
    }

    /// Whether they are, and contradict each other.
    pub fn is_contradicted(&self, member: u32) -> bool {
        self.member(member).is_some_and(|sums| sums.open == 0 && sums.totals().is_none())
    }

    /// P and R from the symmetric counts alone, all of which must be counted. None if these contradict each other.
    pub fn symmetric(&self) -> Option<Symmetric> {
        let mut sums = self.families.iter().flat_map(|family| family.symmetric.values());
        sums.try_fold(Symmetric { p: 0, r: 0 }, |total, sums| {
            let Symmetric { p, r } = sums.symmetric()?;
            Some(Symmetric { p: total.p.checked_add(p)?, r: total.r.checked_add(r)? })
        })
    }

    /// The totals so far: constellations without symmetry as far as counted, the others where complete.
    ///
    /// # Errors
    /// If the counts of a constellation with symmetry contradict each other, or a sum overflows.
    pub fn totals(&self) -> Result<Totals, TallyError> {
        self.families.iter().try_fold(Totals::default(), |totals, family| totals.plus(family.totals()?))
    }
}

/// The sum that a unit's count belongs to.
struct Sum<'a> {
    total: &'a mut u128,
    /// The open units of its constellation, if that has a symmetry.
    open: Option<&'a mut u64>,
    /// The constellation's number among those with symmetry.
    member: u32,
}

impl FamilySums {
    /// The totals of this family so far: constellations without symmetry as far as counted, the others where complete.
    ///
    /// # Errors
    /// If the counts of a constellation with symmetry contradict each other, or a sum overflows.
    pub fn totals(&self) -> Result<Totals, TallyError> {
        let asymmetric = Totals { a: self.asymmetric, ..Totals::default() };
        let complete = self.symmetric.iter().filter(|(_, sums)| sums.open == 0);
        complete.into_iter().try_fold(asymmetric, |totals, (member, sums)| {
            totals.plus(sums.totals().ok_or(TallyError::Contradiction {
                member: *member,
                completions: sums.completions,
                half_turn: sums.half_turn,
                quarter_turn: sums.quarter_turn,
            })?)
        })
    }

    /// T: all completions counted so far, of constellations with symmetry and without.
    pub fn completions(&self) -> u128 {
        self.symmetric.values().fold(self.asymmetric, |sum, sums| sum.saturating_add(sums.completions))
    }
}

impl SymmetricSums {
    /// The constellation's share of the totals, or nothing if its counts contradict each other.
    fn totals(&self) -> Option<Totals> {
        let unfixed = self.completions.checked_sub(self.half_turn)?;
        let Symmetric { p, r } = self.symmetric()?;
        Some(match self.class {
            SymmetryClass::Point => Totals { a: share(unfixed, 2)?, p, r, full: 0 },
            SymmetryClass::Rotational => Totals { a: share(unfixed, 4)?, p, r, full: 0 },
            SymmetryClass::Full => Totals { full: self.completions, ..Totals::default() },
            SymmetryClass::Asymmetric => return None,
        })
    }

    /// The constellation's share of P and R, or nothing if its symmetric counts contradict each other.
    fn symmetric(&self) -> Option<Symmetric> {
        let point = self.half_turn.checked_sub(self.quarter_turn)?;
        match self.class {
            SymmetryClass::Point if self.quarter_turn == 0 => Some(Symmetric { p: point, r: 0 }),
            SymmetryClass::Rotational => Some(Symmetric { p: share(point, 2)?, r: self.quarter_turn }),
            SymmetryClass::Full => Some(Symmetric { p: 0, r: 0 }),
            SymmetryClass::Point | SymmetryClass::Asymmetric => None,
        }
    }
}

/// The whole divided by a number that must divide it.
fn share(whole: u128, parts: u128) -> Option<u128> {
    whole.is_multiple_of(parts).then_some(whole / parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(class: SymmetryClass, completions: u128, half_turn: u128, quarter_turn: u128) -> Option<Totals> {
        SymmetricSums { class, open: 0, completions, half_turn, quarter_turn }.totals()
    }

    #[test]
    fn class_totals_follow_from_completions_and_symmetry() {
        let totals = |a, p, r| Some(Totals { a, p, r, full: 0 });
        assert_eq!(sums(SymmetryClass::Point, 10, 4, 0), totals(3, 4, 0));
        assert_eq!(sums(SymmetryClass::Rotational, 15, 7, 3), totals(2, 2, 3));
        assert_eq!(sums(SymmetryClass::Full, 1, 0, 0).map(|t| t.solutions()), Some(1));
    }

    #[test]
    fn counts_that_contradict_each_other_give_no_totals() {
        assert_eq!(sums(SymmetryClass::Point, 3, 4, 0), None, "more fixed than there are");
        assert_eq!(sums(SymmetryClass::Point, 5, 2, 0), None, "an odd rest");
        assert_eq!(sums(SymmetryClass::Rotational, 14, 7, 3), None, "a rest not in fours");
        assert_eq!(sums(SymmetryClass::Rotational, 16, 4, 3), None, "an odd p");
    }
}

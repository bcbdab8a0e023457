//! That a plan is a partition: it counts each solution of the board once.
//!
//! A solution has eight different images, or four or two if a turn fixes it. A unit counts those of its completions that
//! belong to its measure: all, or those that a turn fixes. The orbit of its constellation tells for how many images each
//! of them stands.
//!
//! ```text
//! for each measure that the solution belongs to:
//!     no image of the solution is in two units
//!     images in units, each times the orbit of its unit's constellation = number of images
//! ```
//!
//! The check looks at the positions of units as kernels get them. It does not assume how a plan is cut.

use std::collections::HashMap;

use thiserror::Error;

use crate::class::{Class, Classified};
use crate::plan::part::Part;
use crate::plan::{Plan, UnitId};
use crate::solution::Solution;
use crate::summand::{Measure, Summand};
use crate::symmetric::Turn;
use crate::symmetry::SymmetryClass;

/// A solution that a plan does not count once.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoPartition {
    /// An image is in two units.
    #[error(
        "the plan counts the solution {solution} twice, in units {first} and {second}; please report this"
    )]
    Twice {
        /// The image.
        solution: Solution,
        /// A unit.
        first: UnitId,
        /// Another unit.
        second: UnitId,
    },
    /// The units do not stand for as many images as there are.
    #[error(
        "the plan counts {counted} of the {images} images of the solution {solution}; please report this"
    )]
    Miscounted {
        /// The solution.
        solution: Solution,
        /// How many images it has.
        images: u64,
        /// For how many of them its units stand.
        counted: u64,
    },
}

impl Classified for NoPartition {
    fn class(&self) -> Class {
        Class::Unsound
    }
}

/// Finds the units of a plan in which a solution is.
///
/// ```
/// use queens::plan::Partition;
/// use queens::{Board, Plan, PlanSpec, Solution};
///
/// let board = Board::new(10)?;
/// let plan = Plan::derive(PlanSpec::families(board))?;
/// let partition = Partition::new(&plan);
/// for solution in Solution::of_orbits(board) {
///     partition.expect_once(&solution)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Partition<'a> {
    plan: &'a Plan,
    /// The numbers of the parts by the column of the queen in their top row and of that in their bottom row.
    parts: HashMap<[Option<u8>; 2], Vec<usize>>,
}

impl<'a> Partition<'a> {
    /// Of this plan.
    pub fn new(plan: &'a Plan) -> Self {
        let mut parts: HashMap<_, Vec<usize>> = HashMap::new();
        for (number, part) in plan.parts.iter().enumerate() {
            parts.entry(top_and_bottom(part)).or_default().push(number);
        }
        Self { plan, parts }
    }

    /// The units of that measure whose positions the solution completes, with their summands, ascending.
    fn units(&self, solution: &Solution, measure: Measure) -> Vec<(UnitId, Summand)> {
        let mut columns = solution.queens().map(|queen| Some(queen.col));
        let top = columns.next().flatten();
        let bottom = columns.last().flatten().or(top);
        // A part without a queen in one of these rows would fit any solution.
        let keys = [[top, bottom], [top, None], [None, bottom], [None, None]];
        let mut parts: Vec<usize> =
            keys.iter().filter_map(|key| self.parts.get(key)).flatten().copied().collect();
        parts.sort_unstable();
        let of_part = |number: usize| {
            let (part, first) = (&self.plan.parts[number], self.plan.firsts[number]);
            let is_of_measure = measure_of(part.summand()) == measure;
            let units = if is_of_measure { part.units_completed_by(solution) } else { Vec::new() };
            units.into_iter().map(move |index| (UnitId(first + index), part.summand()))
        };
        parts.into_iter().flat_map(of_part).collect()
    }

    /// Expects that the plan counts the solution with its images once.
    ///
    /// # Errors
    /// It is counted twice, or not at all.
    pub fn expect_once(&self, solution: &Solution) -> Result<(), NoPartition> {
        let images = solution.images();
        for measure in self.measures(solution) {
            let mut counted = 0;
            for image in &images {
                match self.units(image, measure)[..] {
                    [] => {}
                    [(_, summand)] => counted += self.orbit(image, summand),
                    [(first, _), (second, _), ..] => {
                        return Err(NoPartition::Twice { solution: image.clone(), first, second });
                    }
                }
            }
            let images = images.len() as u64;
            if counted != images {
                return Err(NoPartition::Miscounted { solution: solution.clone(), images, counted });
            }
        }
        Ok(())
    }

    /// The measures by which the plan counts the solution.
    fn measures(&self, solution: &Solution) -> Vec<Measure> {
        let is_single = self.plan.board().n() == 1;
        let turns = [(Turn::Half, Measure::HalfTurn), (Turn::Quarter, Measure::QuarterTurn)];
        let fixed = turns.into_iter().filter(|(turn, _)| !is_single && solution.is_fixed_by(*turn));
        std::iter::once(Measure::Completions).chain(fixed.map(|(_, measure)| measure)).collect()
    }

    /// For how many images of the solution a completion with this summand stands: none if the completions of its
    /// constellation are counted by another summand.
    fn orbit(&self, solution: &Solution, summand: Summand) -> u64 {
        let Summand::Symmetric(member, measure) = summand else {
            return SymmetryClass::Asymmetric.orbit_size().into();
        };
        let is_of_member =
            |(_, other): &(UnitId, Summand)| matches!(other, Summand::Symmetric(of, _) if *of == member);
        let completions = self.units(solution, Measure::Completions);
        if measure != Measure::Completions && !completions.iter().all(is_of_member) {
            return 0;
        }
        self.plan.symmetric[member as usize].class.orbit_size().into()
    }
}

fn measure_of(summand: Summand) -> Measure {
    match summand {
        Summand::Asymmetric => Measure::Completions,
        Summand::Symmetric(_, measure) => measure,
    }
}

/// The columns of the part's queens in the top row and in the bottom row.
fn top_and_bottom(part: &Part) -> [Option<u8>; 2] {
    let (queens, last) = (part.position().queens(), part.position().board().last());
    [0, last].map(|row| queens.iter().find(|queen| queen.row == row).map(|queen| queen.col))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::board::Board;
    use crate::plan::{PlanSpec, Scheme};

    fn plans(n: u8) -> Vec<Plan> {
        let by = |scheme| PlanSpec { scheme, ..PlanSpec::new(Board::new(n).unwrap()) };
        let centre = |columns, group, grain| by(Scheme::Centre { columns, group, grain });
        let board = Board::new(n).unwrap();
        let specs = [
            PlanSpec::new(board),
            by(Scheme::Constellations { grain: 50 }),
            PlanSpec::families(board),
            by(Scheme::Families { rows: 2, group: 3, sides: 2 }),
            centre(0, 1, Some(10)),
            centre(2, 1, Some(40)),
            centre(3, 4, None),
        ];
        specs.map(|spec| Plan::derive(spec).unwrap()).into()
    }

    fn check(plan: &Plan, solutions: &[Solution]) -> Result<(), NoPartition> {
        let partition = Partition::new(plan);
        solutions.iter().try_for_each(|solution| partition.expect_once(solution))
    }

    #[test]
    fn every_plan_counts_each_solution_once() {
        for n in [1, 4, 5, 7, 8, 9, 10] {
            let solutions = Solution::of_orbits(Board::new(n).unwrap());
            plans(n).iter().for_each(|plan| assert_eq!(check(plan, &solutions), Ok(()), "{:?}", plan.spec()));
        }
    }

    #[test]
    fn plans_of_n_12_count_all_1787_orbits_once() {
        let solutions = Solution::of_orbits(Board::new(12).unwrap());
        assert_eq!(solutions.len(), 1787);
        for plan in [0, 2, 5].map(|at| plans(12).swap_remove(at)) {
            assert_eq!(check(&plan, &solutions), Ok(()), "{:?}", plan.spec());
        }
    }

    #[test]
    fn default_plans_count_random_solutions_once() {
        let mut state = 1u64;
        let mut places = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            state ^ state >> 29
        };
        for n in [20, 22, 24, 26, 28] {
            let board = Board::new(n).unwrap();
            let turns = [None, None, None, Some(Turn::Half), Some(Turn::Half), Some(Turn::Quarter)];
            let solutions: Vec<_> = turns
                .into_iter()
                .cycle()
                .take(30)
                .filter_map(|turn| Solution::random(board, turn, &mut places))
                .collect();
            for spec in [PlanSpec::families(board), PlanSpec::for_cards(board, crate::kernel::Method::Meet)] {
                assert_eq!(check(&Plan::derive(spec).unwrap(), &solutions), Ok(()), "{spec:?}");
            }
        }
    }

    /// The plan with each unit a part of its own, the unit `at` so many times.
    fn with_unit_times(plan: &Plan, at: u64, times: usize) -> Plan {
        let mut changed = Plan { parts: Vec::new(), firsts: vec![0], ..plan.clone() };
        for unit in (0..plan.units()).map(|id| plan.unit(UnitId(id))) {
            for _ in 0..if unit.id.0 == at { times } else { 1 } {
                changed.parts.push(Part::whole(unit.position.clone(), unit.summand, 1.0));
                changed.firsts.push(changed.parts.len() as u64);
            }
        }
        changed
    }

    #[test]
    fn plan_with_unit_dropped_or_doubled_is_no_partition() {
        let solutions = Solution::of_orbits(Board::new(8).unwrap());
        for plan in plans(8) {
            let partition = Partition::new(&plan);
            let mut filled = BTreeSet::new();
            for image in solutions.iter().flat_map(Solution::images) {
                for measure in partition.measures(&image) {
                    filled.extend(partition.units(&image, measure).into_iter().map(|(unit, _)| unit));
                }
            }
            assert!(filled.len() > 5 && check(&with_unit_times(&plan, 0, 1), &solutions).is_ok());
            for UnitId(unit) in filled {
                let dropped = check(&with_unit_times(&plan, unit, 0), &solutions).unwrap_err();
                assert!(matches!(dropped, NoPartition::Miscounted { .. }), "{dropped}");
                let doubled = check(&with_unit_times(&plan, unit, 2), &solutions).unwrap_err();
                assert!(matches!(doubled, NoPartition::Twice { .. }), "{doubled}");
                assert_eq!(doubled.class(), Class::Unsound);
            }
        }
    }

    #[test]
    fn unit_in_wrong_sum_is_no_partition() {
        let solutions = Solution::of_orbits(Board::new(8).unwrap());
        for plan in plans(8) {
            let symmetric = |summand| matches!(summand, Summand::Symmetric(_, Measure::Completions));
            let mut changed = with_unit_times(&plan, 0, 1);
            for part in &mut changed.parts {
                if symmetric(part.summand()) {
                    *part = Part::whole(part.position().clone(), Summand::Asymmetric, 1.0);
                }
            }
            let wrong = check(&changed, &solutions).unwrap_err();
            assert!(matches!(wrong, NoPartition::Miscounted { .. }), "{wrong}");
        }
    }
}

//! Positions drawn at random from a plan: what its units are like, told without counting all of them.
//!
//! A unit of a large board takes minutes, so a drawn position can be narrowed, line by line. How many positions one
//! stands for is known exactly (the inverse of the chance with which it was drawn), so that sums over the draws, each
//! times this factor, are without bias: of the completions, of the nodes, or of the time that it takes to count them
//! (Horvitz and Thompson 1952; for search trees Knuth, "Estimating the efficiency of backtrack programs", 1975).

use crate::plan::geometry::{central_columns, count_leaves, empty_rows, leaves};
use crate::plan::part::Part;
use crate::plan::{Plan, Scheme, UnitId};
use crate::position::Position;
use crate::summand::{Measure, Summand};

/// A position drawn from a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// The unit that it is, or is a piece of.
    pub unit: UnitId,
    /// What is to be completed.
    pub position: Position,
    /// For how many positions it stands: the inverse of the chance with which it was drawn.
    pub factor: f64,
    /// For how many solutions of the board each completion stands: 8 without symmetry, else 4 or 2.
    pub images: u8,
    /// By how many lines it is narrower than its unit.
    pub depth: usize,
}

/// Draws positions from a plan.
///
/// ```
/// use queens::{Board, Plan, PlanSpec};
/// use queens::plan::Sampler;
///
/// let plan = Plan::derive(PlanSpec::families(Board::new(20)?))?;
/// let sampler = Sampler::new(&plan);
/// let draw = sampler.draw(1 << 63, &mut |_| 0);
/// assert!(draw.factor > 1.0 && draw.unit.0 < plan.units());
/// let piece = sampler.narrow(draw.clone(), &mut |_| 0).unwrap();
/// assert!(piece.factor > draw.factor && piece.position.queens().len() > draw.position.queens().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sampler<'a> {
    plan: &'a Plan,
    /// For each part that can be drawn, its number and the sum of the chances up to it.
    chances: Vec<(usize, u64)>,
}

/// Chances are whole numbers that add up to about so much: floats have them exactly.
const RESOLUTION: f64 = (1u64 << 50) as f64;

impl<'a> Sampler<'a> {
    /// Draws from the units that have completions to count, each with a chance in proportion to its part's expected work.
    pub fn new(plan: &'a Plan) -> Self {
        let has_completions = |part: &Part| {
            !matches!(part.summand(), Summand::Symmetric(_, Measure::HalfTurn | Measure::QuarterTurn))
        };
        let parts =
            || plan.parts.iter().enumerate().filter(|(_, part)| has_completions(part) && part.units() > 0);
        let work = |part: &Part| part.unit_weight() as f64 * part.units() as f64;
        let total: f64 = parts().map(|(_, part)| work(part)).sum();
        let mut sum = 0;
        let chances = parts()
            .map(|(number, part)| {
                sum += ((work(part) / total * RESOLUTION) as u64).max(1);
                (number, sum)
            })
            .collect();
        Self { plan, chances }
    }

    /// The expected work of all units that can be drawn.
    pub fn expected_work(&self) -> f64 {
        let work = |part: &Part| part.unit_weight() as f64 * part.units() as f64;
        self.chances.iter().map(|(part, _)| work(&self.plan.parts[*part])).sum()
    }

    /// Their numbers, ascending.
    pub fn unit_ids(&self) -> impl Iterator<Item = UnitId> + '_ {
        let firsts = &self.plan.firsts;
        self.chances.iter().flat_map(|(part, _)| firsts[*part]..firsts[part + 1]).map(UnitId)
    }

    /// The unit at that place of all, as a fraction of 2^64: places drawn uniformly draw units by their parts' expected work.
    /// `below(k)` draws one of 0..k. There must be a unit to draw.
    pub fn draw(&self, place: u64, below: &mut dyn FnMut(u64) -> u64) -> Draw {
        let total = self.chances.last().expect("every board has a constellation").1;
        let place = ((u128::from(place) * u128::from(total)) >> 64) as u64;
        let at = self.chances.partition_point(|(_, sum)| *sum <= place);
        let (part, sum) = self.chances[at];
        let chance = sum - at.checked_sub(1).map_or(0, |before| self.chances[before].1);
        let units = self.plan.parts[part].units();
        let unit = UnitId(self.plan.firsts[part] + below(units));
        Draw { factor: total as f64 / chance as f64 * units as f64, ..self.whole(unit) }
    }

    /// A unit as if it were drawn alone: it stands for itself.
    pub fn whole(&self, unit: UnitId) -> Draw {
        let of = self.plan.unit(unit);
        let images = match of.summand {
            Summand::Asymmetric => 8,
            Summand::Symmetric(member, _) => self.plan.symmetric[member as usize].0.orbit_size(),
        };
        Draw { unit, position: of.position, factor: 1.0, images, depth: 0 }
    }

    /// One of the positions that the next line splits it into, drawn with `below`: the next row from the top where the plan
    /// is for the row-by-row search, else the next central column. Nothing if there is none: the position has no completions,
    /// or no line is left.
    pub fn narrow(&self, draw: Draw, below: &mut dyn FnMut(u64) -> u64) -> Option<Draw> {
        let (board, queens) = (self.plan.board(), draw.position.queens());
        let mut lines = match self.plan.spec().scheme {
            Scheme::Constellations { .. } => empty_rows(board, queens),
            Scheme::Families { .. } | Scheme::Centre { .. } => central_columns(board, queens, 1),
        };
        lines.truncate(1);
        let squares = if lines.is_empty() { 0 } else { count_leaves(&lines, 1, u64::MAX)? };
        let mut pieces = leaves(&draw.position, &lines, 1, 0..squares);
        pieces.retain(Position::is_consistent);
        if pieces.is_empty() {
            return None;
        }
        let factor = draw.factor * pieces.len() as f64;
        let position = pieces.swap_remove(below(pieces.len() as u64) as usize);
        Some(Draw { position, factor, depth: draw.depth + 1, ..draw })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::kernel::{Method, Stop, kernel};
    use crate::plan::PlanSpec;

    /// All that can be drawn, with chances that add up to one.
    fn all(sampler: &Sampler, draw: Draw) -> Vec<Draw> {
        let mut children = Vec::new();
        let mut width = 1;
        while (children.len() as u64) < width {
            let next = children.len() as u64;
            let child = sampler.narrow(draw.clone(), &mut |k| {
                width = k;
                next
            });
            let Some(child) = child else { break };
            children.push(child);
        }
        children
    }

    #[test]
    fn pieces_of_units_have_their_units_completions_and_stand_for_all_of_them() {
        let kernel = kernel(Method::Search, None).unwrap();
        let completions = |draw: &Draw| kernel.count(&draw.position, &Stop::new()).unwrap().completions;
        let board = Board::new(10).unwrap();
        let centre =
            PlanSpec { scheme: Scheme::Centre { columns: 2, group: 3 }, ..PlanSpec::families(board) };
        for spec in [PlanSpec::new(board), PlanSpec::families(board), centre] {
            let plan = Plan::derive(spec).unwrap();
            let sampler = Sampler::new(&plan);
            for id in sampler.unit_ids() {
                let unit = sampler.whole(id);
                let children = all(&sampler, unit.clone());
                assert!(
                    children.iter().all(|child| child.factor as usize == children.len() && child.depth == 1)
                );
                let grandchildren: Vec<Draw> =
                    children.iter().flat_map(|child| all(&sampler, child.clone())).collect();
                for pieces in [children, grandchildren] {
                    assert_eq!(pieces.iter().map(completions).sum::<u64>(), completions(&unit), "{unit:?}");
                }
            }
        }
    }

    #[test]
    fn what_draws_stand_for_adds_up_to_the_board() {
        let kernel = kernel(Method::Search, None).unwrap();
        let board = Board::new(11).unwrap();
        for spec in [PlanSpec::new(board), PlanSpec::families(board)] {
            let plan = Plan::derive(spec).unwrap();
            let sampler = Sampler::new(&plan);
            // Places evenly over all, and of each part's units one after the other.
            let places = 20_000u64;
            let mut next = 0u64;
            let mut sum = 0.0;
            for k in 0..places {
                let draw = sampler.draw(u64::MAX / places * k, &mut |units| {
                    next = next.wrapping_add(0x9E37_79B9_7F4A_7C15);
                    next % units
                });
                let found = kernel.count(&draw.position, &Stop::new()).unwrap().completions;
                sum += draw.factor * f64::from(draw.images) * found as f64 / places as f64;
            }
            assert!((sum / 2680.0 - 1.0).abs() < 0.05, "{sum} by {spec:?}");
        }
    }

    #[test]
    fn nothing_is_left_to_narrow_where_all_queens_are_placed() {
        let plan = Plan::derive(PlanSpec::families(Board::new(6).unwrap())).unwrap();
        let sampler = Sampler::new(&plan);
        for id in sampler.unit_ids() {
            let mut draw = Some(sampler.whole(id));
            let mut steps = 0;
            while let Some(narrower) = draw.and_then(|draw| sampler.narrow(draw, &mut |k| k - 1)) {
                draw = Some(narrower);
                steps += 1;
            }
            assert!(steps <= 6, "unit {id}");
        }
    }
}

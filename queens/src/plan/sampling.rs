//! Random positions of a plan: they show the properties of its units without counting all of them.
//!
//! A unit of a large board takes minutes, so a drawn position can be narrowed, line by line. A draw has a
//! known factor, the inverse of its probability: the number of positions that it stands for. So sums over the
//! draws, each times its factor, are unbiased. That holds for completions, for nodes, and for the time to
//! count them (Horvitz and Thompson 1952; for search trees Knuth, "Estimating the efficiency of backtrack
//! programs", 1975).

use crate::bits::{scaled, set_bits};
use crate::estimate::Estimate;
use crate::plan::geometry::{central_columns, empty_rows, left_of_cut, outer_rows};
use crate::plan::part::Part;
use crate::plan::{Plan, Scheme, UnitId};
use crate::position::Position;
use crate::squares::Squares;
use crate::summand::Summand;
use crate::symmetry::SymmetryClass;

/// The number of rows whose sides are fixed in a step.
const ROWS_IN_STEP: usize = 3;

/// A position drawn from a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// The position to complete.
    pub position: Position,
    /// For how many positions it stands: the inverse of the chance with which it was drawn.
    pub factor: f64,
    /// For how many solutions of the board each completion stands: 8 without symmetry, else 4 or 2.
    pub images: u8,
    /// The unit that it is, if it is one.
    pub unit: Option<UnitId>,
    /// The number of lines by which it is narrower than the first draw.
    pub depth: usize,
}

/// How a position is split for a narrower one to be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// By the queens of the next line: the next row from the top if the plan is for the row-by-row search,
    /// else the next central column. Chances are in proportion to the expected completions.
    Queens,
    /// By the sides of the cut on which the queens of outer rows fall, as kernels of the method meet split
    /// their work. The pieces together take about as long as the whole.
    Sides,
}

/// Draws positions from a plan. Randomness comes from the caller, as places: fractions of 2^64.
///
/// ```
/// use queens::{Board, Plan, PlanSpec};
/// use queens::plan::{Sampler, Step};
///
/// let plan = Plan::derive(PlanSpec::families(Board::new(20)?))?;
/// let sampler = Sampler::new(&plan);
/// let draw = sampler.draw_unit(1 << 63, 0);
/// assert!(draw.factor > 1.0 && draw.unit.unwrap().0 < plan.units());
/// let piece = sampler.narrow(&draw, Step::Queens, 0).unwrap();
/// assert!(piece.factor > draw.factor && piece.position.queens().len() > draw.position.queens().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sampler<'a> {
    plan: &'a Plan,
    estimate: Estimate,
    /// The numbers of the parts that can be drawn, and their chances.
    parts: Vec<usize>,
    chances: Chances,
}

impl<'a> Sampler<'a> {
    /// Draws from what has completions to count.
    pub fn new(plan: &'a Plan) -> Self {
        let all = plan.parts.iter().enumerate();
        let parts: Vec<usize> = all
            .filter(|(_, part)| !part.summand().is_symmetric_count() && part.units() > 0)
            .map(|(number, _)| number)
            .collect();
        let chances = Chances::new(parts.iter().map(|part| expected_work(&plan.parts[*part])));
        Self { plan, estimate: Estimate::new(plan.board()), parts, chances }
    }

    /// Whether there is nothing to draw: the board has no solutions.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The expected work of all that can be drawn.
    pub fn expected_work(&self) -> f64 {
        self.parts.iter().map(|part| expected_work(&self.plan.parts[*part])).sum()
    }

    /// The numbers of the units that can be drawn, ascending.
    pub fn unit_ids(&self) -> impl Iterator<Item = UnitId> + '_ {
        let firsts = &self.plan.firsts;
        self.parts.iter().flat_map(|part| firsts[*part]..firsts[part + 1]).map(UnitId)
    }

    /// A unit: the part by the first place, with a chance in proportion to its expected work, the unit by the second.
    pub fn draw_unit(&self, place: u64, within: u64) -> Draw {
        let (at, factor) = self.chances.draw(place);
        let part = self.parts[at];
        let units = self.plan.parts[part].units();
        let unit = UnitId(self.plan.firsts[part] + scaled(within, units));
        Draw { factor: factor * units as f64, ..self.unit(unit) }
    }

    /// A whole constellation or family, with a chance in proportion to its expected work.
    pub fn draw_part(&self, place: u64) -> Draw {
        let (at, factor) = self.chances.draw(place);
        let part = &self.plan.parts[self.parts[at]];
        let images = self.images(part.summand());
        Draw { position: part.position().clone(), factor, images, unit: None, depth: 0 }
    }

    /// A unit as if there were no other: it stands for itself.
    pub fn unit(&self, id: UnitId) -> Draw {
        let unit = self.plan.unit(id);
        Draw {
            images: self.images(unit.summand),
            position: unit.position,
            factor: 1.0,
            unit: Some(id),
            depth: 0,
        }
    }

    /// A position from a further split of the drawn position. `None` if the position has no completions, or
    /// cannot be split further.
    pub fn narrow(&self, draw: &Draw, step: Step, place: u64) -> Option<Draw> {
        let mut pieces = match step {
            Step::Queens => self.by_queens(&draw.position),
            Step::Sides => by_sides(&draw.position),
        };
        if pieces.is_empty() {
            return None;
        }
        let (at, factor) = Chances::new(pieces.iter().map(|(_, chance)| *chance)).draw(place);
        let (position, _) = pieces.swap_remove(at);
        Some(Draw {
            position,
            factor: draw.factor * factor,
            unit: None,
            depth: draw.depth + 1,
            images: draw.images,
        })
    }

    /// The positions with a queen in the next line, each with its expected completions.
    fn by_queens(&self, position: &Position) -> Vec<(Position, f64)> {
        let (board, queens) = (self.plan.board(), position.queens());
        let lines = match self.plan.spec().scheme {
            Scheme::Constellations { .. } => empty_rows(board, queens),
            Scheme::Families { .. } | Scheme::Centre { .. } => central_columns(board, queens, 1),
        };
        let Some(line) = lines.first() else { return Vec::new() };
        let pieces = set_bits(line.open).map(|square| line.within(position.clone(), 1 << square));
        let expected = |piece: &Position| self.estimate.completions(&empty_rows(board, piece.queens()));
        pieces.filter(Position::is_consistent).map(|piece| (piece.clone(), expected(&piece))).collect()
    }

    fn images(&self, summand: Summand) -> u8 {
        match summand {
            Summand::Asymmetric => SymmetryClass::Asymmetric.orbit_size(),
            Summand::Symmetric(member, _) => self.plan.symmetric[member as usize].class.orbit_size(),
        }
    }
}

/// The positions with the queens of the next outer rows on either side of the cut, for rows open on both
/// sides. Each has the number of ways to put these queens on open squares.
fn by_sides(position: &Position) -> Vec<(Position, f64)> {
    let squares = Squares::of(position);
    let left = left_of_cut(position);
    let rows = outer_rows(position.board(), position.queens(), usize::MAX);
    let open = |row: u8, side: u32| f64::from((squares.open_columns(row) & side).count_ones());
    let both = rows.iter().map(|row| row.index).filter(|row| open(*row, left) * open(*row, !left) > 0.0);
    let mut pieces = vec![(position.clone(), 1.0)];
    for row in both.take(ROWS_IN_STEP) {
        let on = |side: u32| {
            move |(piece, ways): &(Position, f64)| {
                (piece.clone().with_row_within(row, side), ways * open(row, side))
            }
        };
        pieces = pieces.iter().map(on(left)).chain(pieces.iter().map(on(!left))).collect();
    }
    if pieces.len() == 1 { Vec::new() } else { pieces }
}

fn expected_work(part: &Part) -> f64 {
    part.unit_weight() as f64 * part.units() as f64
}

/// Chances as exact whole numbers: their sums from the first on.
#[derive(Debug)]
struct Chances(Vec<u64>);

impl Chances {
    /// About what all chances add up to.
    const ALL: f64 = (1u64 << 50) as f64;

    /// In proportion to these weights: at least one, and each with a chance.
    fn new(weights: impl Iterator<Item = f64> + Clone) -> Self {
        let total: f64 = weights.clone().sum();
        let mut sum = 0;
        let sums = weights.map(|weight| {
            sum += ((weight / total * Self::ALL) as u64).max(1);
            sum
        });
        Self(sums.collect())
    }

    /// The index drawn by a place, and the inverse of its chance.
    fn draw(&self, place: u64) -> (usize, f64) {
        let total = self.0[self.0.len() - 1];
        let place = scaled(place, total);
        let at = self.0.partition_point(|sum| *sum <= place);
        let before = at.checked_sub(1).map_or(0, |before| self.0[before]);
        (at, total as f64 / (self.0[at] - before) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::kernel::{Method, Stop, kernel};
    use crate::plan::PlanSpec;

    /// Multiples of the golden ratio, which lie evenly over all places.
    fn places(count: u64) -> impl Iterator<Item = u64> {
        (1..=count).map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn plans(board: Board) -> [Plan; 3] {
        let centre = PlanSpec {
            scheme: Scheme::Centre { columns: 2, group: 3, grain: Some(1) },
            ..PlanSpec::families(board)
        };
        [PlanSpec::new(board), PlanSpec::families(board), centre].map(|spec| Plan::derive(spec).unwrap())
    }

    fn completions(draw: &Draw) -> f64 {
        let kernel = kernel(Method::Search, None).unwrap();
        kernel.count(&draw.position, &Stop::new()).unwrap().completions as f64
    }

    #[test]
    fn narrowed_draws_estimate_the_whole_without_bias() {
        for plan in plans(Board::new(11).unwrap()) {
            let sampler = Sampler::new(&plan);
            for whole in places(20).map(|place| sampler.draw_part(place)) {
                let expected = whole.factor * completions(&whole);
                for step in [Step::Queens, Step::Sides] {
                    let mut sums = [0.0; 2];
                    for place in places(4000) {
                        let piece = sampler.narrow(&whole, step, place);
                        let again = place.rotate_left(20);
                        let narrower = piece.as_ref().and_then(|piece| sampler.narrow(piece, step, again));
                        for (sum, draw) in sums.iter_mut().zip([piece, narrower]) {
                            *sum += draw.map_or(0.0, |draw| draw.factor * completions(&draw)) / 4000.0;
                        }
                    }
                    assert!(
                        (sums[0] - expected).abs() <= 0.03 * expected,
                        "{sums:?} for {expected} by {step:?}"
                    );
                    assert!(
                        (sums[1] - expected).abs() <= 0.15 * expected,
                        "{sums:?} for {expected} by {step:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn draw_factors_add_up_to_the_board() {
        for plan in plans(Board::new(11).unwrap()) {
            let sampler = Sampler::new(&plan);
            let mut sums = [0.0; 2];
            for place in places(20_000) {
                let draws = [sampler.draw_unit(place, place.rotate_left(20)), sampler.draw_part(place)];
                for (sum, draw) in sums.iter_mut().zip(draws) {
                    *sum += draw.factor * f64::from(draw.images) * completions(&draw) / 20_000.0;
                }
            }
            for sum in sums {
                assert!((sum / 2680.0 - 1.0).abs() < 0.05, "{sums:?} by {:?}", plan.spec());
            }
        }
    }

    #[test]
    fn narrowing_ends_when_all_queens_are_placed() {
        let plan = Plan::derive(PlanSpec::families(Board::new(6).unwrap())).unwrap();
        let sampler = Sampler::new(&plan);
        for id in sampler.unit_ids() {
            let mut draw = sampler.unit(id);
            while let Some(narrower) = sampler.narrow(&draw, Step::Queens, u64::MAX) {
                draw = narrower;
            }
            assert!(draw.depth <= 6, "unit {id}");
        }
    }
}

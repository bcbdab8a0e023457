//! How long units take: what leases are sized by, and the time left told by.
//!
//! Nothing of a plan follows from it, neither what its units are nor their order, so it may change with every release,
//! and uses logarithms, whose last bits differ between machines. Work is in nanoseconds of one core with AVX-512
//! (docs/performance.md, "How long a unit takes", has the measurements).
//!
//! Where units place central columns, [`features`](super::features) of their positions tell how long halves that meet take,
//! of which each of the units by [`sides`](super::sides) has its share.
//! Elsewhere five features tell how long a position's kernel takes: how many completions the mean-field
//! [estimate](super::estimate) expects row by row, how many column by column, how many squares are open, for the row-by-row
//! search the nodes that it expects, or for halves that meet the number of allowed boundary pairs, and the weight by which the
//! plan orders its parts: what is left of a run are parts with small ones. The logarithm of the time is linear in them (the
//! open squares as they are). Small boards are left alone: finding this out would take longer than it is worth.

use std::sync::OnceLock;

use crate::board::Board;
use crate::plan::estimate::Estimate;
use crate::plan::features::{FEATURES, features};
use crate::plan::geometry::{empty_columns, empty_rows};
use crate::plan::part::Part;
use crate::plan::sides::shares;
use crate::plan::spec::{PlanSpec, Scheme};
use crate::position::Position;
use crate::squares::Squares;
use crate::summand::{Measure, Summand};

/// From these boards on units are looked at one by one, for the row-by-row search and for halves that meet.
const LOOKED_AT: [u8; 2] = [20, 18];

/// So many units of a part tell how long all of them take on average, and so many of the whole plan, but for two of each
/// part.
const SAMPLE: u64 = 32;
const SAMPLE_OF_PLAN: u64 = 20_000;

/// So many units of a part are looked at together when one of them is asked for: it takes a few milliseconds, for which whoever
/// lends them can be kept waiting, and hardly longer for each than if all of the part were.
const BLOCK: u64 = 128;

/// Multiples of it lie evenly, as fractions of 2^64.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// Nanoseconds of a unit as the coefficients of its features tell them.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    /// The logarithm for n = 0, and what each row of the board adds.
    base: [f64; 2],
    /// Of the logarithm of the expected completions row by row and column by column.
    completions: [f64; 2],
    /// Of the number of open squares.
    open: f64,
    /// Of the logarithm of the expected nodes, or of the number of boundary pairs.
    last: f64,
    /// Of the logarithm of the weight by which the plan orders the position's part.
    part: f64,
}

/// Fitted to random units of n = 20 and 21.
const SEARCH: Coefficients = Coefficients {
    base: [6.7521, -0.831],
    completions: [0.5139, 1.2213],
    open: -0.0964,
    last: 1.1372,
    part: 0.0,
};

/// The logarithm for n = 0, what each row of the board adds, and the coefficients of the features. Fitted to random units of
/// n = 24 to 28.
const CENTRE: ([f64; 2], [f64; FEATURES]) =
    ([1.675, -0.104], [0.8839, 0.6046, -0.3448, -0.0597, 0.0625, 0.1075]);

/// Fitted to random units of n = 22 to 25 by central columns and of n = 20 and 21 by outer rows and sides.
const FAMILIES: Coefficients = Coefficients {
    base: [-1.1557, 0.5615],
    completions: [0.1463, -0.8234],
    open: 0.0808,
    last: 0.1159,
    part: 0.0,
};

/// Fitted to all units of n = 18, 19 and 20 by families.
const SMALL_FAMILIES: Coefficients = Coefficients {
    base: [8.6416, -0.0535],
    completions: [-0.7929, -0.2031],
    open: 0.0898,
    last: 0.0602,
    part: 0.3717,
};

/// The last board for which these are better.
const LAST_SMALL: u8 = 21;

/// Nanoseconds of a node that the estimate expects, and of a completion, on small boards: roughly, also for symmetric counts.
const SMALL: [f64; 2] = [1.0, 15.0];

/// Nanoseconds of a count of what the half turn fixes, by the root of the position's expected nodes or completions; one of
/// what the quarter turn fixes takes next to nothing.
const HALF_TURN: [f64; 2] = [65.0, 265.0];
const QUARTER_TURN: f64 = 0.02;

/// Nanoseconds of a position with a line without open squares.
const NOTHING: f64 = 1000.0;

/// Nanoseconds of the units of a block.
type BlockOfUnits = OnceLock<Box<[f32]>>;

/// The work of the units of a plan.
#[derive(Clone, Debug)]
pub struct WorkOfUnits {
    scheme: Scheme,
    n: Board,
    estimate: Estimate,
    /// For each part the mean over its units.
    means: Vec<f64>,
    /// For each part the work of its units, block by block, once it was asked for.
    units: Vec<Box<[BlockOfUnits]>>,
}

impl WorkOfUnits {
    /// Of a plan of that specification with these parts.
    pub fn new(PlanSpec { n, scheme, .. }: PlanSpec, parts: &[Part]) -> Self {
        let mut work = Self { scheme, n, estimate: Estimate::new(n), means: Vec::new(), units: Vec::new() };
        let of_plan = SAMPLE_OF_PLAN / (parts.len() as u64).max(1);
        work.means = (0..).zip(parts).map(|(number, part)| work.mean(number, part, of_plan)).collect();
        work.units = parts.iter().map(|part| work.blocks(part)).collect();
        work
    }

    /// Nanoseconds of all units of the part of that number: those of a unit, at least 1, as often as there are units where
    /// all are taken to be alike, else about what they add up to.
    pub fn of_part(&self, number: usize, part: &Part) -> u128 {
        u128::from(at_least_one(self.means[number])) * u128::from(part.units())
    }

    /// Nanoseconds of the unit with that index in the part of that number, at least 1.
    pub fn of_unit(&self, number: usize, part: &Part, index: u64) -> u64 {
        if self.is_coarse(part) {
            return at_least_one(self.means[number]);
        }
        let (block, within) = (index / BLOCK, (index % BLOCK) as usize);
        let of_block = || {
            let indices: Vec<u64> = (block * BLOCK..part.units()).take(BLOCK as usize).collect();
            self.of_units(part, &indices).iter().map(|work| *work as f32).collect()
        };
        at_least_one(self.units[number][block as usize].get_or_init(of_block)[within].into())
    }

    /// The same, without a look at other units.
    pub fn of_unit_alone(&self, number: usize, part: &Part, index: u64) -> u64 {
        if self.is_coarse(part) {
            return at_least_one(self.means[number]);
        }
        at_least_one((self.of_units(part, &[index])[0] as f32).into())
    }

    /// Whether all units of the part are taken to be alike.
    fn is_coarse(&self, part: &Part) -> bool {
        part.units() == 1 || !self.looks_at_units() || part.summand().is_symmetric_count()
    }

    fn looks_at_units(&self) -> bool {
        self.n.n() >= LOOKED_AT[usize::from(!self.is_for_search())]
    }

    fn is_for_search(&self) -> bool {
        matches!(self.scheme, Scheme::Constellations { .. })
    }

    /// Room for what units take, where they are looked at one by one.
    fn blocks(&self, part: &Part) -> Box<[BlockOfUnits]> {
        let blocks = if self.is_coarse(part) { 0 } else { part.units().div_ceil(BLOCK) };
        (0..blocks).map(|_| OnceLock::new()).collect()
    }

    /// The mean over the units of the part of that number, of which at most `sample` are looked at, but for two.
    fn mean(&self, number: u64, part: &Part, sample: u64) -> f64 {
        let by_method = |of: [f64; 2]| of[usize::from(!self.is_for_search())];
        let rough = part.unit_weight() as f64;
        match part.summand() {
            _ if !self.looks_at_units() || part.units() == 0 => rough * by_method(SMALL),
            Summand::Symmetric(_, Measure::HalfTurn) => rough * by_method(HALF_TURN),
            Summand::Symmetric(_, Measure::QuarterTurn) => rough * by_method(HALF_TURN) * QUARTER_TURN,
            _ => {
                let count = sample.clamp(2, SAMPLE).min(part.units());
                // One of each of as many equal stretches, at places that have nothing to do with how units are
                // numbered, and are others in each part.
                let within = |k: u64| u128::from((number * SAMPLE + k + 1).wrapping_mul(GOLDEN_RATIO));
                let place =
                    |k: u64| (u128::from(k) << 64 | within(k)) * u128::from(part.units()) / u128::from(count);
                let indices: Vec<u64> = (0..count).map(|k| (place(k) >> 64) as u64).collect();
                self.of_units(part, &indices).iter().sum::<f64>() / count as f64
            }
        }
    }

    /// Of the units with these indices, which ascend.
    fn of_units(&self, part: &Part, indices: &[u64]) -> Vec<f64> {
        let of = match self.scheme {
            Scheme::Centre { .. } => return self.by_centre(part, indices),
            Scheme::Constellations { .. } => SEARCH,
            Scheme::Families { .. } if self.n.n() <= LAST_SMALL => SMALL_FAMILIES,
            Scheme::Families { .. } => FAMILIES,
        };
        part.positions_of_units(indices).iter().map(|position| self.of_position(of, part, position)).collect()
    }

    /// The same of units by central columns: of what each leaf takes their shares.
    fn by_centre(&self, part: &Part, indices: &[u64]) -> Vec<f64> {
        let sides = part.sides();
        let by_leaf: Vec<&[u64]> = indices.chunk_by(|a, b| a >> sides == b >> sides).collect();
        let leaves: Vec<u64> = by_leaf.iter().map(|units| units[0] >> sides).collect();
        let mut works = Vec::with_capacity(indices.len());
        for (leaf, units) in part.positions_of_leaves(&leaves).iter().zip(by_leaf) {
            let (work, shares) = (self.of_leaf(leaf), shares(leaf, sides));
            works.extend(units.iter().map(|unit| work * shares[(unit & ((1 << sides) - 1)) as usize]));
        }
        works
    }

    fn of_position(&self, of: Coefficients, part: &Part, position: &Position) -> f64 {
        let (board, queens) = (self.n, position.queens());
        let [rows, columns] = [empty_rows(board, queens), empty_columns(board, queens)];
        let squares = Squares::of(position);
        let open: u32 = squares.rows().map(|row| squares.open_columns(row).count_ones()).sum();
        let last = if self.is_for_search() {
            self.estimate.nodes(&rows)
        } else {
            position.boundary().map_or(1, |pairs| pairs.iter().count()) as f64
        };
        let [by_rows, by_columns] = [rows, columns].map(|lines| self.estimate.completions(&lines));
        if by_rows * by_columns == 0.0 {
            return NOTHING;
        }
        let logs = of.base[0]
            + of.base[1] * f64::from(board.n())
            + of.completions[0] * by_rows.ln()
            + of.completions[1] * by_columns.ln()
            + of.open * f64::from(open)
            + of.last * last.ln()
            + of.part * (part.unit_weight() as f64).ln();
        logs.exp()
    }

    fn of_leaf(&self, leaf: &Position) -> f64 {
        let Some(features) = features(&self.estimate, leaf) else { return NOTHING };
        let ([base, of_row], of) = CENTRE;
        let products = features.iter().zip(of).map(|(feature, of)| feature * of);
        (base + of_row * f64::from(self.n.n()) + products.sum::<f64>()).exp()
    }
}

fn at_least_one(nanoseconds: f64) -> u64 {
    (nanoseconds as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, UnitId};

    fn plan(spec: PlanSpec) -> Plan {
        Plan::derive(spec).unwrap()
    }

    fn board(n: u8) -> Board {
        Board::new(n).unwrap()
    }

    #[test]
    fn units_add_up_to_about_the_whole_and_exactly_on_small_boards() {
        let sum = |plan: &Plan| (0..plan.units()).map(|id| u128::from(plan.weight(UnitId(id)))).sum::<u128>();
        for n in [1, 2, 4, 9, 16, 17] {
            for spec in [PlanSpec::new(board(n)), PlanSpec::families(board(n))] {
                let plan = plan(spec);
                assert_eq!(sum(&plan), plan.total_weight(), "{spec:?}");
            }
        }
        for n in [19, 20, 24] {
            for spec in [PlanSpec::new(board(n)), PlanSpec::families(board(n))] {
                let plan = plan(spec);
                let ratio = sum(&plan) as f64 / plan.total_weight() as f64;
                assert!((ratio - 1.0).abs() < 0.02, "{ratio} by {spec:?}");
            }
        }
    }

    #[test]
    fn symmetric_counts_weigh_what_they_take() {
        for spec in [PlanSpec::new(board(28)), PlanSpec::families(board(28))] {
            let plan = plan(spec);
            let half_turns: Vec<u64> = (0..200).filter(|id| is_half_turn(&plan, *id)).collect();
            let mean =
                half_turns.iter().map(|id| plan.weight(UnitId(*id))).sum::<u64>() / half_turns.len() as u64;
            // Measured: 0.8 to 2.8 s, 2 s on average.
            assert!((1_500_000_000..2_500_000_000).contains(&mean), "{mean} by {spec:?}");
        }
    }

    #[test]
    fn units_at_record_size_weigh_about_what_they_take() {
        type Seconds<'a> = &'a [(u64, f64)];
        // Random units and the seconds that they take, told from some of their passes (docs/performance.md).
        let centre = |columns, group, grain| Scheme::Centre { columns, group, grain };
        let seconds: [(u8, Scheme, Seconds<'_>); 4] = [
            (
                26,
                centre(2, 1, None),
                &[(17_836, 575.0), (37_099, 399.0), (48_057, 314.0), (26_118, 570.0), (23_317, 568.0)],
            ),
            // These were counted whole.
            (26, centre(2, 1, Some(2_581_259_546)), &[(133_167, 71.3), (328_524, 30.1)]),
            (
                27,
                centre(3, 1, None),
                &[(378_392, 321.9), (779_366, 310.0), (556_662, 352.4), (224_414, 381.7), (1_318_675, 77.0)],
            ),
            (
                28,
                centre(4, 4, None),
                &[(2_146_302, 663.0), (5_706_438, 581.2), (1_295_551, 658.3), (7_486_083, 272.0)],
            ),
        ];
        for (n, scheme, units) in seconds {
            let plan = plan(PlanSpec { scheme, ..PlanSpec::families(board(n)) });
            for &(unit, taken) in units {
                let weight = plan.weight_alone(UnitId(unit)) as f64 / 1e9;
                assert!(
                    (0.75..1.35).contains(&(weight / taken)),
                    "n = {n}, unit {unit}: {weight} s for {taken} s"
                );
            }
            let board_seconds = plan.total_weight() as f64 / 1e9;
            let measured = [3.08e7, 3.33e8, 4.03e9][usize::from(n - 26)];
            assert!((board_seconds / measured - 1.0).abs() < 0.15, "n = {n}: {board_seconds} s");
        }
    }

    fn is_half_turn(plan: &Plan, id: u64) -> bool {
        matches!(plan.summand(UnitId(id)), Summand::Symmetric(_, Measure::HalfTurn))
    }

    #[test]
    fn a_unit_has_one_weight_whichever_was_asked_for_first() {
        let [a, b] = [(); 2].map(|()| plan(PlanSpec::families(board(24))));
        let ids: Vec<u64> = (0..a.units()).step_by(37).collect();
        let forwards: Vec<u64> = ids.iter().map(|id| a.weight(UnitId(*id))).collect();
        let mut backwards: Vec<u64> = ids.iter().rev().map(|id| b.weight(UnitId(*id))).collect();
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert!(ids.iter().map(|id| a.weight_alone(UnitId(*id))).eq(forwards.iter().copied()));
        assert!(forwards.iter().any(|weight| *weight != forwards[0]));
    }
}

//! The expected time of a kernel for a position, from its features.
//!
//! For units with central columns, the [`features`](super::features) of a position predict the time of the
//! method meet. Each of the units by [`sides`](super::sides) has its share of that time. Elsewhere five
//! features predict the time of a position's kernel:
//!
//! - the completions that the mean-field [estimate](crate::estimate) expects row by row,
//! - the completions that it expects column by column,
//! - the number of open squares,
//! - the expected nodes for the row-by-row search, or the number of allowed boundary pairs for the method
//!   meet,
//! - the weight by which the plan orders its parts: the last units of a run have small weights.
//!
//! The logarithm of the time is linear in them (the open squares as they are). Small boards have no model:
//! finding this out would take longer than it is worth.

use crate::board::Board;
use crate::estimate::Estimate;
use crate::plan::geometry::{empty_columns, empty_rows};
use crate::plan::part::Part;
use crate::plan::spec::Scheme;
use crate::position::Position;
use crate::squares::Squares;
use crate::summand::{Measure, Summand};

use super::features::{FEATURES, features};
use super::sides::shares;

/// From these boards on units are looked at one by one, for the row-by-row search and for halves that meet.
const LOOKED_AT: [u8; 2] = [20, 18];

/// The coefficients of the features, for nanoseconds of a unit.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    /// The logarithm for n = 0, and what each row of the board adds.
    base: [f64; 2],
    /// For the logarithm of the expected completions row by row and column by column.
    completions: [f64; 2],
    /// For the number of open squares.
    open: f64,
    /// For the logarithm of the expected nodes, or of the number of boundary pairs.
    last: f64,
    /// For the logarithm of the weight by which the plan orders the position's part.
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

/// Fitted to all units of n = 18, 19 and 20 by families. The base was fitted again later, to units of n = 18
/// to 21 of the present size.
const SMALL_FAMILIES: Coefficients = Coefficients {
    base: [1.0816, 0.3665],
    completions: [-0.7929, -0.2031],
    open: 0.0898,
    last: 0.0602,
    part: 0.3717,
};

/// The last board for which these are better.
const LAST_SMALL: u8 = 21;

/// Nanoseconds of a node that the estimate expects, and of a completion, on small boards: roughly, also for symmetric counts.
const SMALL: [f64; 2] = [1.0, 15.0];

/// Nanoseconds of a half-turn count, for the root of the position's expected nodes or completions. A
/// quarter-turn count takes next to nothing.
const HALF_TURN: [f64; 2] = [65.0, 265.0];
const QUARTER_TURN: f64 = 0.02;

/// Nanoseconds of a position with a line without open squares.
const NOTHING: f64 = 1000.0;

/// How long positions of a plan take.
#[derive(Clone, Debug)]
pub struct Model {
    n: Board,
    scheme: Scheme,
    estimate: Estimate,
}

impl Model {
    /// Of plans of that board by that scheme.
    pub fn new(n: Board, scheme: Scheme) -> Self {
        Self { n, scheme, estimate: Estimate::new(n) }
    }

    /// Whether all units of the part are taken to be alike.
    pub fn is_coarse(&self, part: &Part) -> bool {
        part.units() == 1 || !self.looks_at_units() || part.summand().is_symmetric_count()
    }

    /// Nanoseconds of each unit of the part by its weight in the plan, if the model uses nothing else.
    pub fn roughly(&self, part: &Part) -> Option<f64> {
        let by_method = |of: [f64; 2]| of[usize::from(!self.is_for_search())];
        let of_weight = match part.summand() {
            _ if !self.looks_at_units() || part.units() == 0 => by_method(SMALL),
            Summand::Symmetric(_, Measure::HalfTurn) => by_method(HALF_TURN),
            Summand::Symmetric(_, Measure::QuarterTurn) => by_method(HALF_TURN) * QUARTER_TURN,
            _ => return None,
        };
        Some(part.unit_weight() as f64 * of_weight)
    }

    fn looks_at_units(&self) -> bool {
        self.n.n() >= LOOKED_AT[usize::from(!self.is_for_search())]
    }

    fn is_for_search(&self) -> bool {
        matches!(self.scheme, Scheme::Constellations { .. })
    }

    /// Nanoseconds of the units with these indices, which ascend.
    pub fn of_units(&self, part: &Part, indices: &[u64]) -> Vec<f64> {
        let of = match self.scheme {
            Scheme::Centre { .. } => return self.by_centre(part, indices),
            Scheme::Constellations { .. } => SEARCH,
            Scheme::Families { .. } if self.n.n() <= LAST_SMALL => SMALL_FAMILIES,
            Scheme::Families { .. } => FAMILIES,
        };
        part.positions_of_units(indices).iter().map(|position| self.of_position(of, part, position)).collect()
    }

    /// The nanoseconds of units by central columns: their shares of the time of each leaf.
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

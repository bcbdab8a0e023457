//! A part of a plan: one position, split into units by the queens of further rows or central columns, and by sides.
//!
//! ```text
//! units(part): every way to place queens in the first `depth - 1` empty rows,
//!              and for each the open squares of the next row in groups of `group`
//! ```
//!
//! The groups make units of nearly any size; a row alone would multiply their number by ten and more. Rows
//! are taken from the top, or from the outer ones inward; columns from the middle outward. Then the sides of
//! the queens of further outer rows can be fixed. That cuts units finer where one row or column more would
//! cost more. [`geometry`](super::geometry) defines the order of all this.

use crate::plan::border::Border;
use crate::plan::geometry::{
    EmptyLines, central_columns, count_leaves, empty_rows, leaves, leaves_with, outer_rows, with_sides,
};
use crate::position::Position;
use crate::solution::Solution;
use crate::summand::Summand;

/// A position and how it is split.
#[derive(Clone, Debug)]
pub struct Part {
    position: Position,
    summand: Summand,
    split: Split,
    units: u64,
    unit_weight: u64,
}

/// Into which units a position is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// It is one unit.
    Whole,
    /// By the queens of the first `depth` empty rows, the last one in groups of `group` squares; `depth` >= 1.
    Rows {
        /// How many rows.
        depth: usize,
        /// The squares of the last of them that go into one unit.
        group: u32,
    },
    /// By the queens of outer rows, from the top and the bottom in turn, and the sides of others.
    Outer {
        /// How many further outer rows are split by.
        rows: usize,
        /// The squares of the last of them that go into one unit.
        group: u32,
        /// For how many rows more it is fixed on which side of the cut their queens fall.
        sides: u32,
    },
    /// By the queens of central columns, from the middle to the left and the right in turn, and the sides of outer rows.
    Centre {
        /// How many columns are split by.
        columns: usize,
        /// The squares of the last of them that go into one unit.
        group: u32,
        /// For how many rows it is fixed on which side of the cut their queens fall.
        sides: u32,
    },
}

/// The most squares that go into one unit: those of a row of the largest board.
pub const MOST_IN_GROUP: u32 = 32;

/// The most rows for which sides are fixed.
pub const MOST_SIDES: u32 = 12;

/// A split applied to one position, which may have fewer lines than the split has.
struct Division {
    lines: EmptyLines,
    /// The squares of the last line that go into one unit.
    group: u32,
    /// For how many rows besides the sides are fixed.
    sides: u32,
}

impl Split {
    fn divide(self, position: &Position) -> Division {
        let (board, queens) = (position.board(), position.queens());
        let empty = usize::from(board.n()) - queens.len();
        match self {
            Split::Whole => Division { lines: EmptyLines::new(), group: 1, sides: 0 },
            Split::Rows { depth, group } => {
                let lines = empty_rows(board, queens).into_iter().take(depth).collect();
                Division { lines, group, sides: 0 }
            }
            Split::Outer { rows, group, sides } => {
                let rows = rows.min(empty);
                let sides = sides.min((empty - rows) as u32);
                Division { lines: outer_rows(board, queens, rows), group, sides }
            }
            Split::Centre { columns, group, sides } => {
                let lines = central_columns(board, queens, columns);
                let sides = sides.min((empty - lines.len()) as u32);
                Division { lines, group, sides }
            }
        }
    }
}

impl Part {
    /// A part that is one unit of that expected work, in nodes.
    pub fn whole(position: Position, summand: Summand, weight: f64) -> Self {
        Self::new(position, summand, weight, Split::Whole, 1)
    }

    /// A part of that expected work, in nodes, split into at least `pieces` units if it has enough rows, and into
    /// none if no queen fits. `None` if that makes more than `most` units.
    pub fn split_into(
        position: Position,
        summand: Summand,
        weight: f64,
        pieces: u64,
        most: u64,
    ) -> Option<Self> {
        if pieces <= 1 {
            return Some(Self::whole(position, summand, weight));
        }
        let rows = empty_rows(position.board(), position.queens());
        let mut split = Split::Whole;
        for depth in 1..rows.len() {
            let leaves = count_leaves(&rows[..depth], 1, most.saturating_mul(MOST_IN_GROUP.into()))?;
            let group = (leaves / pieces).clamp(1, MOST_IN_GROUP.into()) as u32;
            split = Split::Rows { depth, group };
            if leaves >= pieces || leaves == 0 {
                break;
            }
        }
        Self::split(position, summand, weight, split, most)
    }

    /// A part of that expected work, in nodes, split in that way as far as it has lines for it. `None` if that makes
    /// more than `most` units.
    pub fn split(position: Position, summand: Summand, weight: f64, split: Split, most: u64) -> Option<Self> {
        let Division { lines, group, sides } = split.divide(&position);
        let units = count_leaves(&lines, group, most >> sides)? << sides;
        Some(Self::new(position, summand, weight, split, units))
    }

    /// The part, which is split by central columns and has the expected work `weight`, with the sides of
    /// `sides` rows fixed, or of as many as possible.
    pub fn cut_by_sides(self, weight: f64, sides: u32) -> Self {
        let Split::Centre { columns, group, .. } = self.split else { return self };
        let split = Split::Centre { columns, group, sides };
        let units = self.units << split.divide(&self.position).sides;
        Self::new(self.position, self.summand, weight, split, units)
    }

    fn new(position: Position, summand: Summand, weight: f64, split: Split, units: u64) -> Self {
        let unit_weight = ((weight / units.max(1) as f64) as u64).max(1);
        Self { position, summand, split, units, unit_weight }
    }

    /// The number of units.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// The expected work of one unit in nodes, at least 1.
    pub fn unit_weight(&self) -> u64 {
        self.unit_weight
    }

    /// Which sum the counts belong to.
    pub fn summand(&self) -> Summand {
        self.summand
    }

    /// The position that is split.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The border queens of all its units.
    pub fn border(&self) -> Border {
        Border::of(&self.position)
    }

    /// For how many rows its units fix the sides: a leaf of the walk is as many consecutive units as there are ways to.
    pub fn sides(&self) -> u32 {
        self.split.divide(&self.position).sides
    }

    /// The positions of the leaves with these indices, ascending and each 0 <= index < `units() >> sides()`, one for each.
    pub fn positions_of_leaves(&self, indices: &[u64]) -> Vec<Position> {
        let Division { lines, group, .. } = self.split.divide(&self.position);
        leaves(&self.position, &lines, group, indices.iter().copied())
    }

    /// The positions of the units with these indices, ascending and each 0 <= index < `units()`, one for each.
    pub fn positions_of_units(&self, indices: &[u64]) -> Vec<Position> {
        let Division { lines, group, sides } = self.split.divide(&self.position);
        let leaves = leaves(&self.position, &lines, group, indices.iter().map(|index| index >> sides));
        let left = indices.iter().map(|index| index & ((1 << sides) - 1));
        leaves.into_iter().zip(left).map(|(leaf, left)| with_sides(leaf, sides, left)).collect()
    }

    /// The indices of the units whose positions the solution completes. It looks at every unit whose queens the solution
    /// has, so it finds more than one where units overlap.
    pub fn units_completed_by(&self, solution: &Solution) -> Vec<u64> {
        if !self.position.is_completed_by(solution) {
            return Vec::new();
        }
        let Division { lines, group, sides } = self.split.divide(&self.position);
        let near = leaves_with(&lines, group, solution);
        let leaves = leaves(&self.position, &lines, group, near.iter().copied());
        let completed = near.iter().zip(leaves).filter(|(_, leaf)| leaf.is_completed_by(solution));
        let units = completed.flat_map(|(index, leaf)| {
            let units = (0..1 << sides).map(move |left| (index << sides | left, left, leaf.clone()));
            units.map(move |(unit, left, leaf)| (unit, with_sides(leaf, sides, left)))
        });
        let is_completed = |(unit, position): (u64, Position)| {
            (unit < self.units && position.is_completed_by(solution)).then_some(unit)
        };
        units.filter_map(is_completed).collect()
    }

    /// The position of the unit with that index, 0 <= index < `units()`.
    pub fn position_of_unit(&self, index: u64) -> Position {
        self.positions_of_units(&[index]).pop().expect("the part has the unit")
    }
}

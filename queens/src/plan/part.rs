//! A part of a plan: one position, split into units by the queens of its first empty rows.
//!
//! ```text
//! units(part): every way to place queens in the first `depth - 1` empty rows,
//!              and for each the open squares of the next row in groups of `group`
//! ```
//!
//! The groups make units of nearly any size: a row alone would multiply their number by ten and more. Rows are taken
//! from the top, or from the outer ones inward; then the sides on which the queens of further rows fall can be fixed,
//! which cuts units finer where one row more would cost more. [`geometry`](super::geometry) says in which order all this
//! is numbered.

use crate::plan::border::Border;
use crate::plan::geometry::{EmptyRows, count_leaves, empty_rows, leaves, outer_rows, with_sides};
use crate::position::Position;
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
    /// By the queens of outer rows and the sides of others.
    Outer(OuterSplit),
}

/// A split by the queens of outer rows, from the top and the bottom in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OuterSplit {
    /// How many further outer rows are split by.
    pub rows: usize,
    /// The squares of the last of them that go into one unit.
    pub group: u32,
    /// For how many rows more it is fixed on which side of the cut their queens fall.
    pub sides: u32,
}

/// The most squares that go into one unit: those of a row of the largest board.
pub const MOST_IN_GROUP: u32 = 32;

impl OuterSplit {
    /// As much of the split as a position with so many empty rows has rows for.
    fn within(self, empty: usize) -> Self {
        let rows = self.rows.min(empty);
        Self { rows, sides: self.sides.min((empty - rows) as u32), ..self }
    }
}

impl Part {
    /// A part that is one unit of that expected work, in nodes.
    pub fn whole(position: Position, summand: Summand, weight: f64) -> Self {
        Self::new(position, summand, weight, Split::Whole, 1)
    }

    /// A part of that expected work, in nodes, split into at least `pieces` units where it has enough rows, and into
    /// none where nothing fits. Nothing if that makes more than `most`.
    pub fn split(position: Position, summand: Summand, weight: f64, pieces: u64, most: u64) -> Option<Self> {
        if pieces <= 1 {
            return Some(Self::whole(position, summand, weight));
        }
        let rows = empty_rows(position.board(), position.queens());
        let mut split = Split::Whole;
        let mut units = 1;
        for depth in 1..rows.len() {
            let leaves = count_leaves(&rows[..depth], 1, most.saturating_mul(MOST_IN_GROUP.into()))?;
            let group = (leaves / pieces).clamp(1, MOST_IN_GROUP.into()) as u32;
            units = count_leaves(&rows[..depth], group, most)?;
            split = Split::Rows { depth, group };
            if leaves >= pieces || leaves == 0 {
                break;
            }
        }
        Some(Self::new(position, summand, weight, split, units))
    }

    /// A part of that expected work, in nodes, split by outer rows as far as it has rows. Nothing if that makes more
    /// than `most` units.
    pub fn split_outer(
        position: Position,
        summand: Summand,
        weight: f64,
        split: OuterSplit,
        most: u64,
    ) -> Option<Self> {
        let (rows, sides) = split_rows(&position, split);
        let units = count_leaves(&rows, split.group, most >> sides)? << sides;
        Some(Self::new(position, summand, weight, Split::Outer(split), units))
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

    /// What is split.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// How it is split; outer rows as told, also where it has fewer.
    pub fn how(&self) -> Split {
        self.split
    }

    /// The border queens of all its units.
    pub fn border(&self) -> Border {
        Border::of(&self.position)
    }

    /// The positions of the units with these indices, ascending and each 0 <= index < `units()`, one for each.
    pub fn positions_of_units(&self, indices: &[u64]) -> Vec<Position> {
        let (position, all) = (&self.position, indices.iter().copied());
        match self.split {
            Split::Whole => all.map(|_| position.clone()).collect(),
            Split::Rows { depth, group } => {
                let rows = empty_rows(position.board(), position.queens());
                leaves(position, &rows[..depth], group, all)
            }
            Split::Outer(split) => {
                let (rows, sides) = split_rows(position, split);
                let leaves = leaves(position, &rows, split.group, all.map(|index| index >> sides));
                let left = indices.iter().map(|index| index & ((1 << sides) - 1));
                leaves.into_iter().zip(left).map(|(leaf, left)| with_sides(leaf, sides, left)).collect()
            }
        }
    }

    /// The position of the unit with that index, 0 <= index < `units()`.
    pub fn position_of_unit(&self, index: u64) -> Position {
        self.positions_of_units(&[index]).pop().expect("the part has the unit")
    }
}

/// The rows that the position is split by, and the number of further rows whose sides are fixed.
fn split_rows(position: &Position, split: OuterSplit) -> (EmptyRows, u32) {
    let (board, queens) = (position.board(), position.queens());
    let OuterSplit { rows, sides, .. } = split.within(usize::from(board.n()) - queens.len());
    (outer_rows(board, queens, rows), sides)
}

//! A part of a plan: one position, split into units by the queens of its first free rows.
//!
//! ```text
//! units(part): every way to place queens in the first `depth - 1` free rows,
//!              and for each the free squares of the next row in groups of `group`
//! ```
//!
//! The groups make units of nearly any size: a row alone would multiply their number by ten and more. Rows are taken
//! from the top, or from the outer ones inward; then the sides on which the queens of further rows fall can be fixed,
//! which cuts units finer where one row more would cost more.

use crate::bits::set_bits;
use crate::board::Square;
use crate::kernel::meet::{left_columns, next_outer_row};
use crate::plan::border::Border;
use crate::position::{BoundaryPairs, Position};
use crate::rows::{FreeRow, FreeRows, free_rows};
use crate::summand::{Measure, Summand};

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
enum Split {
    /// It is one unit.
    Whole,
    /// By the queens of the first `depth` free rows, the last one in groups of `group` squares; `depth` >= 1.
    Rows { depth: usize, group: u32 },
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

impl Part {
    /// A part that is one unit of that expected work, in nodes.
    pub fn whole(position: Position, summand: Summand, weight: f64) -> Self {
        Self { position, summand, split: Split::Whole, units: 1, unit_weight: at_least_one(weight) }
    }

    /// A part of that expected work, in nodes, split into at least `pieces` units where it has enough rows, and into
    /// none where nothing fits.
    pub fn split(position: Position, summand: Summand, weight: f64, pieces: u64) -> Self {
        if pieces <= 1 {
            return Self::whole(position, summand, weight);
        }
        let rows = rows_of(&position);
        let mut split = Split::Whole;
        let mut units = 1;
        for depth in 1..rows.len() {
            let leaves = count_units(&rows, depth, 1);
            let group = (leaves / pieces).clamp(1, 32) as u32;
            units = count_units(&rows, depth, group);
            split = Split::Rows { depth, group };
            if leaves >= pieces || leaves == 0 {
                break;
            }
        }
        let unit_weight = at_least_one(weight / units.max(1) as f64);
        Self { position, summand, split, units, unit_weight }
    }

    /// A part of that expected work, in nodes, split by outer rows.
    pub fn split_outer(position: Position, summand: Summand, weight: f64, split: OuterSplit) -> Self {
        let rows = outer_rows(&position, split.rows);
        let leaves = if rows.is_empty() { 1 } else { count_units(&rows, rows.len(), split.group) };
        let units = leaves << split.sides;
        let unit_weight = at_least_one(weight / units.max(1) as f64);
        Self { position, summand, split: Split::Outer(split), units, unit_weight }
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

    /// The border queens of all its units.
    pub fn border(&self) -> Border {
        Border::of(&self.position)
    }

    /// The position of the unit with that index, 0 <= index < `units()`.
    pub fn position_of_unit(&self, index: u64) -> Position {
        match self.split {
            Split::Whole => self.position.clone(),
            Split::Rows { depth, group } => {
                with_queens(&self.position, &rows_of(&self.position)[..depth], group, index)
            }
            Split::Outer(OuterSplit { rows, group, sides }) => {
                let rows = outer_rows(&self.position, rows);
                let leaf = with_queens(&self.position, &rows, group, index >> sides);
                with_sides(leaf, sides, index & ((1 << sides) - 1))
            }
        }
    }

    /// Feeds everything that makes the part what it is to the plan's fingerprint.
    pub fn hash_into(&self, hash: &mut blake3::Hasher) {
        let (member, measure) = match self.summand {
            Summand::Asymmetric => (u32::MAX, 0),
            Summand::Symmetric(member, Measure::Completions) => (member, 1),
            Summand::Symmetric(member, Measure::HalfTurn) => (member, 2),
            Summand::Symmetric(member, Measure::QuarterTurn) => (member, 3),
        };
        let (depth, group, sides) = match self.split {
            Split::Whole => (0, 0, 0),
            Split::Rows { depth, group } => (depth as u8, group as u8, 0),
            Split::Outer(OuterSplit { rows, group, sides }) => (rows as u8, group as u8, sides as u8),
        };
        let mut bytes = member.to_le_bytes().to_vec();
        bytes.extend([measure, depth, group, self.position.queens().len() as u8]);
        if let Split::Outer(_) = self.split {
            bytes.push(sides);
        }
        bytes.extend(self.units.to_le_bytes());
        bytes.extend(self.position.queens().iter().flat_map(|queen| [queen.row, queen.col]));
        let pairs = self.position.boundary().into_iter().flat_map(BoundaryPairs::iter);
        bytes.extend(pairs.flat_map(|(left, right)| [left, right]));
        hash.update(&bytes);
    }
}

fn at_least_one(weight: f64) -> u64 {
    (weight as u64).max(1)
}

/// The free rows of a part's position, whose queens do not attack each other and which allows every boundary pair.
fn rows_of(position: &Position) -> FreeRows {
    free_rows(position).next().unwrap_or_default()
}

/// The next `count` outer rows of the position (fewer if there are no more), as the placed queens restrict them.
fn outer_rows(position: &Position, count: usize) -> Vec<FreeRow> {
    let rows = rows_of(&position.clone().without_boundary());
    let mut order = Vec::new();
    let mut taken = position.clone();
    while order.len() < count.min(rows.len()) {
        let row = next_outer_row(&taken).expect("there are rows left");
        taken = taken.with_queen(Square::new(row, 0));
        order.extend(rows.iter().find(|free| free.row == row));
    }
    order
}

/// The position with the queens of the leaf of that index, in the walk through `rows` with groups of `group`.
fn with_queens(position: &Position, rows: &[FreeRow], group: u32, index: u64) -> Position {
    let mut unit = position.clone();
    let mut left = index;
    if rows.is_empty() {
        return unit;
    }
    walk(rows, &mut Vec::new(), &mut |queens, free| {
        let here = u64::from(free.count_ones().div_ceil(group));
        if left >= here {
            left -= here;
            return true;
        }
        for queen in queens {
            unit = unit.clone().with_queen(*queen);
        }
        let row = rows[rows.len() - 1].row;
        let squares = squares_of_group(free, left as u32, group);
        unit = unit.clone().with_row_within(row, squares);
        if squares.is_power_of_two() {
            unit = unit.clone().with_queen(Square::new(row, squares.trailing_zeros() as u8));
        }
        false
    });
    unit
}

/// The position with the queens of the next `count` outer rows on the left of the cut where `left` has a one.
fn with_sides(position: Position, count: u32, left: u64) -> Position {
    let columns = left_columns(&position);
    let rows = outer_rows(&position, count as usize);
    rows.iter().enumerate().fold(position, |position, (i, free)| {
        let within = if left >> i & 1 == 1 { columns } else { !columns };
        position.with_row_within(free.row, within)
    })
}

fn count_units(rows: &[FreeRow], depth: usize, group: u32) -> u64 {
    let mut units = 0;
    walk(&rows[..depth], &mut Vec::new(), &mut |_, free| {
        units += u64::from(free.count_ones().div_ceil(group));
        true
    });
    units
}

/// Calls `visit` for every way to place queens in all `rows` but the last, with the free squares of the last, in
/// ascending order, until it returns false. Returns whether it never did.
fn walk(rows: &[FreeRow], queens: &mut Vec<Square>, visit: &mut impl FnMut(&[Square], u32) -> bool) -> bool {
    let FreeRow { row, blocked } = rows[queens.len()];
    let free = queens.iter().fold(!blocked, |free, q| {
        let distance = u32::from(row.abs_diff(q.row));
        let column = 1u64 << q.col;
        free & !((column | column << distance | column >> distance) as u32)
    });
    if queens.len() + 1 == rows.len() {
        return visit(queens, free);
    }
    for col in set_bits(free) {
        queens.push(Square::new(row, col));
        if !walk(rows, queens, visit) {
            return false;
        }
        queens.pop();
    }
    true
}

/// The squares of `free` in the group of that index, groups of `group` from the lowest column on.
fn squares_of_group(free: u32, index: u32, group: u32) -> u32 {
    let mut rest = free;
    for _ in 0..index * group {
        rest &= rest - 1;
    }
    let mut after = rest;
    for _ in 0..group {
        after &= after.saturating_sub(1);
    }
    rest & !after
}

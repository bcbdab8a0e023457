//! A part of a plan: one position, split into units by the queens of its first free rows.
//!
//! ```text
//! units(part): every way to place queens in the first `depth - 1` free rows,
//!              and for each the free squares of the next row in groups of `group`
//! ```
//!
//! The groups make units of nearly any size: a row alone would multiply their number by ten and more.

use crate::board::Square;
use crate::position::Position;
use crate::rows::{FreeRow, free_rows};
use crate::tally::{Measure, Summand};

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

    /// The position of the unit with that index, 0 <= index < `units()`.
    pub fn position_of_unit(&self, index: u64) -> Position {
        let Split::Rows { depth, group } = self.split else { return self.position.clone() };
        let rows = rows_of(&self.position);
        let mut unit = self.position.clone();
        let mut left = index;
        walk(&rows[..depth], &mut Vec::new(), &mut |queens, free| {
            let here = u64::from(free.count_ones().div_ceil(group));
            if left >= here {
                left -= here;
                return true;
            }
            for queen in queens {
                unit = unit.clone().with_queen(*queen);
            }
            let row = rows[depth - 1].row;
            let squares = squares_of_group(free, left as u32, group);
            unit = unit.clone().with_row_within(row, squares);
            if squares.is_power_of_two() {
                unit = unit.clone().with_queen(Square::new(row, squares.trailing_zeros() as u8));
            }
            false
        });
        unit
    }

    /// Feeds everything that makes the part what it is to the plan's fingerprint.
    pub fn hash_into(&self, hash: &mut blake3::Hasher) {
        let (member, measure) = match self.summand {
            Summand::Asymmetric => (u32::MAX, 0),
            Summand::Symmetric(member, Measure::Completions) => (member, 1),
            Summand::Symmetric(member, Measure::HalfTurn) => (member, 2),
            Summand::Symmetric(member, Measure::QuarterTurn) => (member, 3),
        };
        let (depth, group) = match self.split {
            Split::Whole => (0, 0),
            Split::Rows { depth, group } => (depth as u8, group as u8),
        };
        hash.update(&member.to_le_bytes());
        hash.update(&[measure, depth, group, self.position.queens().len() as u8]);
        hash.update(&self.units.to_le_bytes());
        for queen in self.position.queens() {
            hash.update(&[queen.row, queen.col]);
        }
    }
}

fn at_least_one(weight: f64) -> u64 {
    (weight as u64).max(1)
}

/// The free rows of a part's position, whose queens do not attack each other and which allows every boundary pair.
fn rows_of(position: &Position) -> Vec<FreeRow> {
    free_rows(position).pop().unwrap_or_default()
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
    let FreeRow { row, blocked, .. } = rows[queens.len()];
    let mut free = queens.iter().fold(!blocked, |free, q| {
        let distance = u32::from(row - q.row);
        let column = 1u64 << q.col;
        free & !((column | column << distance | column >> distance) as u32)
    });
    if queens.len() + 1 == rows.len() {
        return visit(queens, free);
    }
    while free != 0 {
        queens.push(Square::new(row, free.trailing_zeros() as u8));
        free &= free - 1;
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

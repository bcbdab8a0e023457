//! The geometry of plans: in which order rows and columns are split, which of their squares go together, and where boards are cut.
//!
//! This file defines what a unit number means. Runs last for months, so nothing in it may change with a
//! release, not even to follow a faster kernel, although the kernels use some of it too. Another order of
//! rows or another cut needs a new plan version; this version stays for the runs that have it. `golden.rs`
//! and the fingerprint detect a forgotten version.

use arrayvec::ArrayVec;

use crate::bits::set_bits;
use crate::board::{Board, Square};
use crate::estimate::Line;
use crate::position::Position;
use crate::solution::Solution;

/// Whether a line is a row or a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Its squares are numbered by columns.
    Row,
    /// Its squares are numbered by rows.
    Column,
}

/// A row or a column without a queen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyLine {
    /// Which of the two it is.
    pub axis: Axis,
    /// Its index on the board.
    pub index: u8,
    /// Its squares that no queen attacks, one bit each.
    pub open: u32,
}

impl EmptyLine {
    /// The line with the squares that none of these queens attacks.
    fn new(board: Board, axis: Axis, index: u8, queens: &[Square]) -> Self {
        let line = Self { axis, index, open: board.full() };
        Self { open: line.unattacked(queens), ..line }
    }

    /// The open squares of the line that none of these queens attacks.
    fn unattacked(self, queens: &[Square]) -> u32 {
        let attacked = |queen: &Square| match self.axis {
            Axis::Row => queen.attacked_columns(self.index),
            Axis::Column => queen.transposed().attacked_columns(self.index),
        };
        queens.iter().fold(self.open, |open, queen| open & !attacked(queen))
    }

    /// Its square of that number.
    fn square(self, number: u8) -> Square {
        match self.axis {
            Axis::Row => Square::new(self.index, number),
            Axis::Column => Square::new(number, self.index),
        }
    }

    /// The position with the line's queen on one of these squares; the queen is placed if there is only one
    /// square.
    pub fn within(self, position: Position, squares: u32) -> Position {
        let position = match self.axis {
            Axis::Row => position.with_row_within(self.index, squares),
            Axis::Column => position.with_column_within(self.index, squares),
        };
        if !squares.is_power_of_two() {
            return position;
        }
        position.with_queen(self.square(squares.trailing_zeros() as u8))
    }
}

impl Line for EmptyLine {
    fn index(&self) -> u8 {
        self.index
    }

    fn open(&self) -> u32 {
        self.open
    }
}

/// Lines without a queen: as many as the board has rows at most.
pub type EmptyLines = ArrayVec<EmptyLine, { Board::LARGEST.n() as usize }>;

/// The rows without one of these queens, from top to bottom.
pub fn empty_rows(board: Board, queens: &[Square]) -> EmptyLines {
    let is_empty = |row: &u8| queens.iter().all(|queen| queen.row != *row);
    board.lines().filter(is_empty).map(|row| EmptyLine::new(board, Axis::Row, row, queens)).collect()
}

/// The columns without one of these queens, from left to right.
pub fn empty_columns(board: Board, queens: &[Square]) -> EmptyLines {
    let is_empty = |col: &u8| queens.iter().all(|queen| queen.col != *col);
    board.lines().filter(is_empty).map(|col| EmptyLine::new(board, Axis::Column, col, queens)).collect()
}

/// Columns without one of these queens, `count` of them or as many as there are, the nearest to the middle first, the left
/// one of two that are as near.
pub fn central_columns(board: Board, queens: &[Square], count: usize) -> EmptyLines {
    let mut columns = empty_columns(board, queens);
    columns.sort_unstable_by_key(|column| ((2 * column.index).abs_diff(board.last()), column.index));
    columns.truncate(count);
    columns
}

/// Rows without one of these queens, at most `count` of them, from the outer ones inward. Next is the topmost
/// or the lowest row, whichever is nearer to its border; the topmost if both are as near.
pub fn outer_rows(board: Board, queens: &[Square], count: usize) -> EmptyLines {
    let mut inner = empty_rows(board, queens);
    let mut outer = EmptyLines::new();
    while outer.len() < count
        && let (Some(top), Some(bottom)) = (inner.first(), inner.last())
    {
        let next = if top.index <= board.last() - bottom.index { 0 } else { inner.len() - 1 };
        outer.push(inner.remove(next));
    }
    outer
}

/// The number of units that `lines` are split into. For each way to place queens in all lines but the last
/// there is one unit for each group of `group` squares of the last line. Without lines there is one unit.
/// `None` if there are more than `most`.
pub fn count_leaves(lines: &[EmptyLine], group: u32, most: u64) -> Option<u64> {
    if lines.is_empty() {
        return Some(1);
    }
    let mut leaves = 0;
    let within = walk(lines, &mut ArrayVec::new(), &mut |_, open| {
        leaves += groups(open, group);
        leaves <= most
    });
    within.then_some(leaves)
}

/// The position with what the leaf of each of these indices adds to it, in the walk through `lines` with groups of `group`.
/// The indices ascend.
pub fn leaves(
    position: &Position,
    lines: &[EmptyLine],
    group: u32,
    indices: impl Iterator<Item = u64>,
) -> Vec<Position> {
    let Some(last) = lines.last() else { return indices.map(|_| position.clone()).collect() };
    let mut found = Vec::new();
    let mut indices = indices.peekable();
    let mut first = 0;
    walk(lines, &mut ArrayVec::new(), &mut |queens, open| {
        let behind = first + groups(open, group);
        while let Some(index) = indices.next_if(|index| *index < behind) {
            let leaf = queens.iter().fold(position.clone(), |leaf, queen| leaf.with_queen(*queen));
            let squares = squares_of_group(open, (index - first) as u32, group);
            found.push(last.within(leaf, squares));
        }
        first = behind;
        indices.peek().is_some()
    });
    found
}

/// The indices, ascending, of the leaves of the walk whose queens are all in the solution, the last line's aside.
pub fn leaves_with(lines: &[EmptyLine], group: u32, solution: &Solution) -> Vec<u64> {
    if lines.is_empty() {
        return vec![0];
    }
    let (mut found, mut first) = (Vec::new(), 0);
    walk(lines, &mut ArrayVec::new(), &mut |queens, open| {
        let behind = first + groups(open, group);
        if queens.iter().all(|queen| solution.has(*queen)) {
            found.extend(first..behind);
        }
        first = behind;
        true
    });
    found
}

/// Calls `visit` for every way to place queens in all `lines` but the last, in ascending order of their
/// squares, until it returns false. Passes the remaining squares of the last line. Returns whether `visit`
/// never returned false.
fn walk(
    lines: &[EmptyLine],
    queens: &mut ArrayVec<Square, 32>,
    visit: &mut impl FnMut(&[Square], u32) -> bool,
) -> bool {
    let line = lines[queens.len()];
    let open = line.unattacked(queens);
    if queens.len() + 1 == lines.len() {
        return visit(queens, open);
    }
    set_bits(open).all(|number| {
        queens.push(line.square(number));
        let goes_on = walk(lines, queens, visit);
        queens.pop();
        goes_on
    })
}

/// The number of groups of `group` squares; the last group may be smaller.
fn groups(open: u32, group: u32) -> u64 {
    open.count_ones().div_ceil(group).into()
}

/// The squares of `open` in the group of that index, groups of `group` from the lowest number on.
fn squares_of_group(open: u32, index: u32, group: u32) -> u32 {
    let (before, size) = ((index * group) as usize, group as usize);
    set_bits(open).skip(before).take(size).fold(0, |squares, col| squares | 1 << col)
}

/// The position with the queens of the next `count` outer rows on fixed sides of the cut: left where `left`
/// has a one, right where it has a zero. Bit 0 is the first row.
pub fn with_sides(position: Position, count: u32, left: u64) -> Position {
    if count == 0 {
        return position;
    }
    let columns = left_of_cut(&position);
    let rows = outer_rows(position.board(), position.queens(), count as usize);
    rows.iter().enumerate().fold(position, |position, (i, row)| {
        let within = if left >> i & 1 == 1 { columns } else { !columns };
        position.with_row_within(row.index, within)
    })
}

/// The columns left of the cut, one bit each: half of the columns without a queen. If their number is odd,
/// the middle column is left if the queens, by row and column, come after those of the mirror image. So the
/// cut of the mirror image is the mirror image of the cut.
pub fn left_of_cut(position: &Position) -> u32 {
    let (board, queens) = (position.board(), position.queens());
    let empty = queens.iter().fold(board.full(), |empty, queen| empty & !(1 << queen.col));
    let in_order = |column: &dyn Fn(&Square) -> u8| {
        let mut queens: Vec<_> = queens.iter().map(|queen| (queen.row, column(queen))).collect();
        queens.sort_unstable();
        queens
    };
    let is_left_heavy = in_order(&|queen| queen.col) > in_order(&|queen| board.last() - queen.col);
    let half = empty.count_ones().midpoint(is_left_heavy.into());
    set_bits(empty).take(half as usize).fold(0, |columns, col| columns | 1 << col)
}

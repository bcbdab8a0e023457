//! The geometry of plans: in which order rows are split, which of their squares go together, and where boards are cut.
//!
//! What a unit number means follows from this file, and runs last for months, so nothing in it changes with a release,
//! nor follows what kernels find fast, though some of it is theirs as well. Whoever wants another order of rows or
//! another cut begins a new plan version and keeps this one for the runs that have it; `golden.rs` and the fingerprint
//! tell when that was forgotten.

use arrayvec::ArrayVec;

use crate::bits::set_bits;
use crate::board::{Board, Square};
use crate::position::Position;

/// A row without a queen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyRow {
    /// Its index on the board.
    pub row: u8,
    /// Its columns that no queen attacks, one bit each.
    pub open: u32,
}

/// Rows without a queen: as many as the board has rows at most.
pub type EmptyRows = ArrayVec<EmptyRow, { Board::LARGEST.n() as usize }>;

/// The rows without one of these queens, from top to bottom.
pub fn empty_rows(board: Board, queens: &[Square]) -> EmptyRows {
    let is_empty = |row: &u8| queens.iter().all(|queen| queen.row != *row);
    let empty = |row| EmptyRow { row, open: unattacked(board.full(), row, queens) };
    board.lines().filter(is_empty).map(empty).collect()
}

/// Those of the columns of `row` that none of these queens attacks.
fn unattacked(columns: u32, row: u8, queens: &[Square]) -> u32 {
    queens.iter().fold(columns, |open, queen| open & !queen.attacked_columns(row))
}

/// Rows without one of these queens, `count` of them or as many as there are, from the outer ones inward: next is the
/// topmost or the lowest, whichever is nearer to its border, the topmost where both are as near.
pub fn outer_rows(board: Board, queens: &[Square], count: usize) -> EmptyRows {
    let mut inner = empty_rows(board, queens);
    let mut outer = EmptyRows::new();
    while outer.len() < count
        && let (Some(top), Some(bottom)) = (inner.first(), inner.last())
    {
        let next = if top.row <= board.last() - bottom.row { 0 } else { inner.len() - 1 };
        outer.push(inner.remove(next));
    }
    outer
}

/// The number of units that `rows` are split into: for each way to place queens in all of them but the last, one for each
/// group of `group` squares of the last; one in all where there are no rows. Nothing if there are more than `most`.
pub fn count_leaves(rows: &[EmptyRow], group: u32, most: u64) -> Option<u64> {
    if rows.is_empty() {
        return Some(1);
    }
    let mut leaves = 0;
    let within = walk(rows, &mut ArrayVec::new(), &mut |_, open| {
        leaves += groups(open, group);
        leaves <= most
    });
    within.then_some(leaves)
}

/// The position with what the leaf of each of these indices adds to it, in the walk through `rows` with groups of `group`.
/// The indices ascend.
pub fn leaves(
    position: &Position,
    rows: &[EmptyRow],
    group: u32,
    indices: impl Iterator<Item = u64>,
) -> Vec<Position> {
    let Some(last) = rows.last() else { return indices.map(|_| position.clone()).collect() };
    let mut found = Vec::new();
    let mut indices = indices.peekable();
    let mut first = 0;
    walk(rows, &mut ArrayVec::new(), &mut |queens, open| {
        let behind = first + groups(open, group);
        while let Some(index) = indices.next_if(|index| *index < behind) {
            let leaf = queens.iter().fold(position.clone(), |leaf, queen| leaf.with_queen(*queen));
            let squares = squares_of_group(open, (index - first) as u32, group);
            let leaf = leaf.with_row_within(last.row, squares);
            let single =
                squares.is_power_of_two().then(|| Square::new(last.row, squares.trailing_zeros() as u8));
            found.push(single.into_iter().fold(leaf, Position::with_queen));
        }
        first = behind;
        indices.peek().is_some()
    });
    found
}

/// Calls `visit` for every way to place queens in all `rows` but the last, in ascending order of their columns, with the
/// squares that are left in the last, until it returns false. Returns whether it never did.
fn walk(
    rows: &[EmptyRow],
    queens: &mut ArrayVec<Square, 32>,
    visit: &mut impl FnMut(&[Square], u32) -> bool,
) -> bool {
    let EmptyRow { row, open } = rows[queens.len()];
    let open = unattacked(open, row, queens);
    if queens.len() + 1 == rows.len() {
        return visit(queens, open);
    }
    set_bits(open).all(|col| {
        queens.push(Square::new(row, col));
        let goes_on = walk(rows, queens, visit);
        queens.pop();
        goes_on
    })
}

/// The number of groups of `group` squares, the last of which may be smaller.
fn groups(open: u32, group: u32) -> u64 {
    open.count_ones().div_ceil(group).into()
}

/// The squares of `open` in the group of that index, groups of `group` from the lowest column on.
fn squares_of_group(open: u32, index: u32, group: u32) -> u32 {
    let (before, size) = ((index * group) as usize, group as usize);
    set_bits(open).skip(before).take(size).fold(0, |squares, col| squares | 1 << col)
}

/// The position with the queens of the next `count` outer rows left of the cut where `left` has a one, bit 0 for the first
/// row, and right of it where it has a zero.
pub fn with_sides(position: Position, count: u32, left: u64) -> Position {
    let columns = left_of_cut(&position);
    let rows = outer_rows(position.board(), position.queens(), count as usize);
    rows.iter().enumerate().fold(position, |position, (i, empty)| {
        let within = if left >> i & 1 == 1 { columns } else { !columns };
        position.with_row_within(empty.row, within)
    })
}

/// The columns left of the cut, one bit each, of those without a queen: half of them. Of an odd number the middle one is
/// left where the queens, by row and column, come after those of the mirror image, which is so cut at the mirror image of
/// the cut.
fn left_of_cut(position: &Position) -> u32 {
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

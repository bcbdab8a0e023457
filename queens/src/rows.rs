//! A position as the row-by-row search sees it: the rows without a placed queen, from top to bottom, and what the
//! placed queens forbid in each.

use crate::board::{Board, Square};
use crate::position::Position;

/// One row without a placed queen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeRow {
    /// The row's index on the board.
    pub row: u8,
    /// The columns where no queen may stand: attacked by placed queens, not allowed, or off the board.
    pub blocked: u32,
    /// How many rows further down the next row without a placed queen is; 0 for the last one.
    pub step: u8,
}

/// The free rows of the position, once for every allowed pair of boundary queens (once in all where the position
/// allows every pair). A position whose queens attack each other, and a pair that does not fit, yields nothing.
pub fn free_rows(position: &Position) -> Vec<Vec<FreeRow>> {
    let board = position.board();
    let Some(pairs) = position.boundary() else {
        return rows_around(position).into_iter().collect();
    };
    pairs
        .iter()
        .filter(|(left, right)| *left < board.n() && *right < board.n())
        .filter_map(|(left, right)| {
            let left = Square::new(left, 0);
            let right = Square::new(right, board.last());
            rows_around(&position.clone().with_queen(left).with_queen(right))
        })
        .collect()
}

fn rows_around(position: &Position) -> Option<Vec<FreeRow>> {
    if !position.is_consistent() {
        return None;
    }
    let board = position.board();
    let is_free = |row: &u8| position.queens().iter().all(|q| q.row != *row);
    let mut rows: Vec<FreeRow> = board
        .lines()
        .filter(is_free)
        .map(|row| {
            let attacked = position.queens().iter().fold(0, |seen, q| seen | attacks_on(board, *q, row));
            FreeRow { row, blocked: attacked | !position.squares(row) | !board.full(), step: 0 }
        })
        .collect();
    for i in 1..rows.len() {
        rows[i - 1].step = rows[i].row - rows[i - 1].row;
    }
    Some(rows)
}

/// The columns of `row` that the queen attacks, one bit each.
pub(crate) fn attacks_on(board: Board, queen: Square, row: u8) -> u32 {
    let distance = u32::from(queen.row.abs_diff(row));
    let column = 1u64 << queen.col;
    ((column | column << distance | column >> distance) as u32) & board.full()
}

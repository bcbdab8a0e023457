//! A position as the row-by-row search sees it: the rows without a placed queen, from top to bottom, and what the
//! placed queens forbid in each.

use arrayvec::ArrayVec;

use crate::board::{Board, Square};
use crate::estimate::Line;
use crate::position::Position;

/// One row without a placed queen, or another line that is searched as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FreeRow {
    /// The row's index on the board.
    pub row: u8,
    /// The columns where no queen may stand: attacked by placed queens, not allowed, or off the board.
    pub blocked: u32,
}

impl Line for FreeRow {
    fn index(&self) -> u8 {
        self.row
    }

    fn open(&self) -> u32 {
        !self.blocked
    }
}

/// Free rows from top to bottom: as many as the board has rows at most.
pub type FreeRows = ArrayVec<FreeRow, { Board::LARGEST.n() as usize }>;

/// The free rows of the position, once for every allowed pair of boundary queens (once in all where the position
/// allows every pair). A position whose queens attack each other, and a pair that does not fit, yields nothing.
pub fn free_rows(position: &Position) -> impl Iterator<Item = FreeRows> {
    let board = position.board();
    let around = move |position: &Position| {
        let squares = |row| position.squares(row);
        position.is_consistent().then(|| rows_around(board, position.queens(), squares))
    };
    let whole = if position.boundary().is_none() { around(position) } else { None };
    let each = position.boundary().into_iter().flat_map(move |pairs| {
        let bare = position.clone().without_boundary();
        let on_board = pairs.iter().filter(move |(left, right)| *left < board.n() && *right < board.n());
        on_board.filter_map(move |(left, right)| {
            let (left, right) = (Square::new(left, 0), Square::new(right, board.last()));
            around(&bare.clone().with_queen(left).with_queen(right))
        })
    });
    whole.into_iter().chain(each)
}

/// The rows without one of these queens, which leave their queens these squares.
fn rows_around(board: Board, queens: &[Square], squares: impl Fn(u8) -> u32) -> FreeRows {
    let is_free = |row: &u8| queens.iter().all(|q| q.row != *row);
    let free_row = |row| {
        let attacked = queens.iter().fold(0, |attacked, queen| attacked | queen.attacked_columns(row));
        FreeRow { row, blocked: attacked | !squares(row) | !board.full() }
    };
    board.lines().filter(is_free).map(free_row).collect()
}

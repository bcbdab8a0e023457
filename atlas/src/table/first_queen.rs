//! The solutions of a board by the row of the queen in the first column: OEIS A059963.

use queens::Board;

use super::{AtlasTable, TableCell};
use crate::tree::{TreeTooLarge, solutions_by_first_queen};

/// One row for each row of the first queen, board after board.
///
/// # Errors
/// [`TreeTooLarge`] if one of the boards is.
pub fn first_queen(boards: impl DoubleEndedIterator<Item = Board>) -> Result<AtlasTable, TreeTooLarge> {
    let counts = |board: Board| solutions_by_first_queen(board).map(|counts| (board, counts));
    // The largest board first, because it may be too large.
    let counts = boards.rev().map(counts).collect::<Result<Vec<_>, _>>()?;
    let of_board = |(board, counts): (Board, Vec<u64>)| {
        (1..).zip(counts).map(move |(row, count)| [board.n().into(), row, count].map(TableCell::Number))
    };
    let rows = counts.into_iter().rev().flat_map(of_board).collect();
    Ok(AtlasTable::new([("n", "n"), ("row", "row"), ("solutions", "solutions")], rows))
}

//! The level sizes of the backtrack tree: how many partial solutions there are of each number of queens.

use queens::Board;

use super::{AtlasTable, TableCell};
use crate::tree::{TreeTooLarge, level_sizes};

/// One row for each number of queens, board after board.
///
/// # Errors
/// [`TreeTooLarge`] if one of the boards is.
pub fn levels(boards: impl Iterator<Item = Board>) -> Result<AtlasTable, TreeTooLarge> {
    let mut rows = Vec::new();
    let boards: Vec<Board> = boards.collect();
    // The largest board first, because it may be too large.
    let sizes = boards.iter().rev().map(|board| level_sizes(*board)).collect::<Result<Vec<_>, _>>()?;
    for (board, sizes) in boards.iter().zip(sizes.into_iter().rev()) {
        let cells = |(queens, size)| [board.n().into(), queens, size].map(TableCell::Number);
        rows.extend((0..).zip(sizes).map(cells));
    }
    Ok(AtlasTable::new([("n", "n"), ("queens", "queens"), ("partial_solutions", "partial solutions")], rows))
}

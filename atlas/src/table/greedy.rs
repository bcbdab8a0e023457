//! The greedy sequence beside the smallest solutions of the boards.

use queens::Board;

use super::{AtlasTable, TableCell};
use crate::greedy::greedy_rows;
use crate::setting::Setting;
use crate::solutions::Solutions;

/// One row for each board of n columns. The columns are
///
/// - n, and the row of the greedy sequence in column n;
/// - the smallest solution of n queens, which comes first in the list of solutions;
/// - in how many first columns it agrees with the greedy sequence.
pub fn greedy(boards: impl Iterator<Item = Board>) -> AtlasTable {
    let greedy: Vec<u32> = greedy_rows().take(usize::from(Board::LARGEST.n())).collect();
    let cells = |board: Board| {
        let smallest = Solutions::ascending(Setting::queens(board)).next();
        let agreeing = smallest.as_ref().map(|solution| {
            let pairs = solution.rows().iter().zip(&greedy);
            pairs.take_while(|(row, greedy)| u32::from(**row) + 1 == **greedy).count() as u64
        });
        let row = greedy[usize::from(board.n()) - 1];
        [
            TableCell::Number(board.n().into()),
            TableCell::Number(row.into()),
            agreeing.map_or(TableCell::Nothing, TableCell::Number),
            smallest.map_or(TableCell::Nothing, TableCell::Rows),
        ]
    };
    let columns = [
        ("n", "n"),
        ("greedy_row", "greedy row"),
        ("agreeing", "agreeing"),
        ("smallest", "smallest solution"),
    ];
    AtlasTable::new(columns, boards.map(cells).collect())
}

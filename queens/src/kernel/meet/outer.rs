//! From any position to cuts of the right size: the queens of outer rows or of central columns, and the sides of a few rows.
//!
//! A position is cut once it has at most [`free_rows_at_best`] rows without a queen. Until then, boards from
//! [`LEAST_WITH_CENTRE`] on get a queen in the middle empty column, or in a column beside it that has few
//! open squares. This queen belongs to neither half and restricts both, and the diagonals across the cut
//! become longer by one column. Smaller boards have few halves for a solution anyway; they get queens in the
//! outermost rows, from the top and from the bottom in turn. A position that is small enough may have too
//! many diagonals for a word. It is [narrowed] by sides if that suffices, else by another queen.

use crate::bits::set_bits;
use crate::board::Square;
use crate::kernel::contract::{Count, Stop};
use crate::kernel::meet::cut::{Cut, FEWEST_ROWS};
use crate::kernel::meet::narrowed::narrowed;
use crate::kernel::meet::uncut::Uncut;
use crate::kernel::scalar;
use crate::position::Position;
use crate::squares::Squares;

/// The fewest free rows that are worth a cut; below, the plain search is faster.
const WORTH_A_CUT: usize = 9;

/// The least board on which central columns are placed and not outer rows: measured.
const LEAST_WITH_CENTRE: u8 = 22;

/// How many rows without a queen a position on a board of that size should have when it is cut. More make fewer
/// halves a solution and more pairs; measured (docs/performance.md, "Two halves that meet").
pub fn free_rows_at_best(n: u8) -> u8 {
    match n {
        0..=17 => n.saturating_sub(2),
        18 => 16,
        19 => 17,
        20 => 18,
        21 => 19,
        22 => 20,
        23 => 21,
        _ => 22,
    }
}

/// The row whose queen is placed next: of the outermost rows without a queen the one nearer to its border.
pub fn next_outer_row(position: &Position) -> Option<u8> {
    let board = position.board();
    let is_free = |row: &u8| position.queens().iter().all(|q| q.row != *row);
    let top = board.lines().find(is_free)?;
    let bottom = board.lines().rev().find(is_free)?;
    Some(if top <= board.last() - bottom { top } else { bottom })
}

/// Counts the completions of a position: each of its cuts with `count_cut`, and positions that are too small for a cut
/// with a smaller kernel. All kernels make the same cuts, and so visit the same nodes. `None` if stopped.
pub fn count_by_cuts(
    position: &Position,
    stop: &Stop,
    count_cut: &mut dyn FnMut(&Cut) -> Option<Count>,
) -> Option<Count> {
    if stop.is_stopped() {
        return None;
    }
    if !position.is_consistent() {
        return Some(Count::default());
    }
    let free = usize::from(position.board().n()) - position.queens().len();
    if free < WORTH_A_CUT.max(FEWEST_ROWS) {
        return scalar::count(position, stop);
    }
    let parts = if free > usize::from(free_rows_at_best(position.board().n())) {
        with_next_queen(position)
    } else {
        match Cut::new(position) {
            Err(Uncut::Impossible) => Vec::new(),
            Err(Uncut::TooWide) => narrowed(position).map_or_else(|| with_next_queen(position), Vec::from),
            Err(Uncut::TooManyPairs) => by_left_boundary(position),
            Ok(cut) => return count_cut(&cut),
        }
    };
    parts.iter().try_fold(Count::default(), |sum, part| Some(sum.plus(count_by_cuts(part, stop, count_cut)?)))
}

/// The position with a queen on each square of the next line: its completions are those of all these together.
///
/// # Panics
/// The position has no row without a queen.
pub fn with_next_queen(position: &Position) -> Vec<Position> {
    let squares = Squares::of(position);
    let queens: Vec<Square> = if position.board().n() < LEAST_WITH_CENTRE {
        let row = next_outer_row(position).expect("a position to be cut has free rows");
        set_bits(squares.open_columns(row)).map(|col| Square::new(row, col)).collect()
    } else {
        let col = squares.next_central_column();
        set_bits(squares.open_rows(col)).map(|row| Square::new(row, col)).collect()
    };
    queens.into_iter().map(|queen| position.clone().with_queen(queen)).collect()
}

/// The position with one half of the left boundary queens and with the other. There are several, or there would be no bits.
fn by_left_boundary(position: &Position) -> Vec<Position> {
    let rows: Vec<u8> = set_bits(Squares::of(position).open_rows(0)).collect();
    let (some, others) = rows.split_at(rows.len() / 2);
    let without =
        |closed: &[u8]| closed.iter().fold(position.clone(), |part, row| part.with_row_within(*row, !1));
    vec![without(some), without(others)]
}

//! What of a position tells how long halves that meet take to count it.
//!
//! A position is looked at as the kernel cuts it: if it has too many rows without a queen, with queens in the middle of the
//! columns that the kernel places, for as many positions as there are such queens. Then tell, all as logarithms but for the last
//! two: how many completions the mean-field [estimate](super::estimate) expects row by row, and column by column; how many half
//! boards; how many pairs of boundary queens are allowed; whether the half turn maps top and bottom queen to each other, so that
//! the pairs need many bits; and how likely it is that the diagonals need more bits than a word has, so that the kernel places a
//! queen more.

use crate::bits::set_bits;
use crate::board::Square;
use crate::kernel::meet::{free_rows_at_best, keep_allowed};
use crate::plan::estimate::Estimate;
use crate::plan::geometry::{empty_columns, empty_rows};
use crate::position::Position;
use crate::squares::Squares;

/// How many they are.
pub const FEATURES: usize = 6;

/// Diagonals that never are too many for a word, and those that always are.
const FITTING: f64 = 61.0;
const TOO_MANY: f64 = 65.0;

/// The features of a position, and the logarithm of the number of positions that have about the same. Nothing if it has no
/// completions.
pub fn features(estimate: &Estimate, position: &Position) -> Option<([f64; FEATURES], f64)> {
    let (position, alike) = as_cut(position)?;
    let (board, queens) = (position.board(), position.queens());
    let mut squares = Squares::of(&position);
    let allowed = keep_allowed(&position, &mut squares).ok()?;
    let pairs: u32 = allowed.map_or(1, |rights| rights.iter().map(|rights| rights.count_ones()).sum());
    let halves = squares.halves();
    let rows = squares.rows().count();
    let half_boards: f64 = halves.iter().map(|columns| estimate.half_boards(&squares, columns, rows)).sum();
    let [by_rows, by_columns] = [empty_rows(board, queens), empty_columns(board, queens)];
    let logarithms =
        [estimate.completions(&by_rows), estimate.completions(&by_columns), half_boards, pairs.into()];
    if logarithms.contains(&0.0) {
        return None;
    }
    let [by_rows, by_columns, half_boards, pairs] = logarithms.map(f64::ln);
    let is_turned = queens.len() > 1 && queens[0].col + queens[1].col == board.last();
    let crowd = (f64::from(diagonals(&squares, &halves)) - FITTING) / (TOO_MANY - FITTING);
    let features =
        [by_rows, by_columns, half_boards, pairs, f64::from(u8::from(is_turned)), crowd.clamp(0.0, 1.0)];
    Some((features, alike))
}

/// One of the positions that the kernel cuts, and the logarithm of their number.
fn as_cut(position: &Position) -> Option<(Position, f64)> {
    let n = position.board().n();
    let mut cut = (position.clone(), 0.0);
    while usize::from(n) - cut.0.queens().len() > usize::from(free_rows_at_best(n)) {
        let squares = Squares::of(&cut.0);
        let col = squares.next_central_column();
        let open = squares.open_rows(col);
        let row = set_bits(open).nth(open.count_ones() as usize / 2)?;
        cut = (cut.0.with_queen(Square::new(row, col)), cut.1 + f64::from(open.count_ones()).ln());
    }
    Some(cut)
}

/// How many diagonals a word of the half that needs more of them tells apart: those that have open squares in both halves, and
/// those that have several of them in this one.
fn diagonals(squares: &Squares, halves: &[Vec<u8>; 2]) -> u32 {
    // For each half and kind, the diagonals with an open square, and those with several.
    let mut open = [[[0u64; 2]; 2]; 2];
    for (columns, open) in halves.iter().zip(&mut open) {
        for &col in columns {
            for row in set_bits(squares.open_rows(col)) {
                for (diagonal, [one, several]) in
                    [row + squares.n() - 1 - col, row + col].into_iter().zip(&mut *open)
                {
                    *several |= *one & 1 << diagonal;
                    *one |= 1 << diagonal;
                }
            }
        }
    }
    let [left, right] = open;
    let of_half = |half: [[u64; 2]; 2]| -> u32 {
        (0..2).map(|kind| (left[kind][0] & right[kind][0] | half[kind][1]).count_ones()).sum()
    };
    of_half(left).max(of_half(right))
}

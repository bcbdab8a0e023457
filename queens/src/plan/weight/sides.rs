//! The share of a position's work for each way to fix the sides of outer rows.
//!
//! The method meet makes halves for one row set after the other, and a row set fixes for each row on which
//! side of the cut its queen stands. So the work follows the number of remaining row sets, and the number of
//! open squares in those rows.

use crate::plan::geometry::{left_of_cut, outer_rows};
use crate::position::Position;
use crate::squares::Squares;

/// For each way to fix the sides of so many outer rows, numbered as in [`with_sides`](crate::plan::geometry::with_sides), its share
/// of the position's work. They add up to 1, or are all 0 where some row has no open square.
pub fn shares(position: &Position, sides: u32) -> Vec<f64> {
    let squares = Squares::of(position);
    let left = left_of_cut(position);
    let rows = outer_rows(position.board(), position.queens(), sides as usize);
    let columns = [left.count_ones(), squares.rows().count() as u32 - left.count_ones()];
    let ways: Vec<f64> = (0..1u64 << sides)
        .map(|fixed| {
            let mut free = columns.map(f64::from);
            let mut ways = 1.0;
            for (i, row) in rows.iter().enumerate() {
                let (side, within) = if fixed >> i & 1 == 1 { (0, left) } else { (1, !left) };
                // The places on that side that no earlier row has taken, and the squares.
                let open = (squares.open_columns(row.index) & within).count_ones();
                ways *= free[side] * f64::from(open) / f64::from(columns[side].max(1));
                free[side] -= 1.0;
            }
            ways
        })
        .collect();
    let all: f64 = ways.iter().sum();
    if all == 0.0 { ways } else { ways.iter().map(|ways| ways / all).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Board, Square};

    #[test]
    fn side_shares_add_up_to_1_and_follow_row_sets() {
        let board = Board::new(24).unwrap();
        let position =
            [(0, 3), (23, 9), (5, 11)].iter().fold(Position::empty(board), |position, (row, col)| {
                position.with_queen(Square::new(*row, *col))
            });
        assert_eq!(shares(&position, 0), [1.0]);
        for sides in 1..=8 {
            let shares = shares(&position, sides);
            assert_eq!(shares.len(), 1 << sides);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
            let [one_side, mixed] = [shares[0] + shares[shares.len() - 1], 2.0 * shares[0b01]];
            assert!(sides == 1 || one_side < mixed, "rows crowd on one side: {shares:?}");
        }
    }

    #[test]
    fn side_without_open_squares_has_no_share() {
        let position = Position::empty(Board::new(12).unwrap()).with_queen(Square::new(3, 5));
        let left = left_of_cut(&position);
        let only_right = position.clone().with_row_within(0, !left);
        assert_eq!(shares(&only_right, 1), [1.0, 0.0]);
        assert_eq!(shares(&position.with_row_within(0, 0), 1), [0.0, 0.0]);
    }
}

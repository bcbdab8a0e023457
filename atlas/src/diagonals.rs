//! How many pieces of a placement stand on each diagonal of its board.
//!
//! The plain n x n board has 2n - 1 rising and 2n - 1 falling diagonals. Where columns go around, each two of them that
//! complete each other are one, so that there are n of each kind.

use crate::placement::Placement;
use crate::setting::Surface;

/// The pieces on each diagonal, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagonalCounts {
    /// On the diagonals that rise to the right, from the upper left corner to the lower right one.
    pub rising: Vec<u8>,
    /// On those that fall to the right, from the lower left corner to the upper right one.
    pub falling: Vec<u8>,
}

impl DiagonalCounts {
    /// Counts the pieces of the placement.
    pub fn of(placement: &Placement, surface: Surface) -> Self {
        let n = usize::from(placement.n());
        let last = n - 1;
        let (count, start) = if surface == Surface::Plain { (2 * n - 1, last) } else { (n, n) };
        let mut counts = Self { rising: vec![0; count], falling: vec![0; count] };
        for (column, row) in placement.squares() {
            let (column, row) = (usize::from(column), usize::from(row));
            counts.rising[(start + column - row) % count] += 1;
            counts.falling[(column + row) % count] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conflict::Conflict;
    use crate::setting::{Piece, Setting};
    use crate::textbook::ListingMethod;
    use queens::Board;

    fn counts(rows: &str, surface: Surface) -> [Vec<u8>; 2] {
        let DiagonalCounts { rising, falling } = DiagonalCounts::of(&rows.parse().unwrap(), surface);
        [rising, falling]
    }

    #[test]
    fn classic_solution_has_15_and_15_counters() {
        // Column minus row is 0 -3 -5 -2 2 -1 5 4, column plus row 0 5 9 8 6 11 7 10 (from 0), written down by hand.
        let rising = vec![0, 0, 1, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 0];
        let falling = vec![1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0];
        assert_eq!(counts("15863724", Surface::Plain), [rising, falling]);
    }

    #[test]
    fn main_diagonal_is_in_the_middle_or_first() {
        assert_eq!(counts("123", Surface::Plain), [vec![0, 0, 3, 0, 0], vec![1, 0, 1, 0, 1]]);
        assert_eq!(counts("123", Surface::Torus), [vec![3, 0, 0], vec![1, 1, 1]]);
        assert_eq!(counts("321", Surface::Cylinder), [vec![1, 1, 1], vec![0, 0, 3]]);
        assert_eq!(counts("1", Surface::Plain), [vec![1], vec![1]]);
    }

    #[test]
    fn counters_above_1_mean_attacks_of_queens() {
        for surface in [Surface::Plain, Surface::Cylinder, Surface::Torus] {
            let board = Board::new(6).unwrap();
            let rooks = Setting { board, surface: Surface::Plain, piece: Piece::Rook };
            for placement in ListingMethod::Rows.solutions(rooks).unwrap() {
                let DiagonalCounts { rising, falling } = DiagonalCounts::of(&placement, surface);
                assert_eq!([&rising, &falling].map(|counts| counts.iter().sum::<u8>()), [6, 6]);
                let is_free = rising.iter().chain(&falling).all(|count| *count < 2);
                let conflicts = Conflict::all(&placement, surface, Piece::Queen);
                assert_eq!(is_free, conflicts.is_empty(), "{surface}: {placement}");
            }
        }
    }
}

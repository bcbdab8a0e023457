//! The backtrack tree of the row-by-row search: how many partial solutions there are of each number of rows.

use queens::{Board, Classified};
use thiserror::Error;

/// A board whose tree is too large to walk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the tree of n = {0} is too large to walk; n up to {LARGEST} would do", LARGEST = LARGEST)]
pub struct TreeTooLarge(pub Board);

impl Classified for TreeTooLarge {}

/// The largest board: a thousand million nodes.
pub const LARGEST: u8 = 16;

/// The number of ways to place queens on the first r rows so that none attacks another, for r = 0, 1, ..., n.
///
/// # Errors
/// [`TreeTooLarge`] beyond n = 16.
pub fn level_sizes(board: Board) -> Result<Vec<u64>, TreeTooLarge> {
    if board.n() > LARGEST {
        return Err(TreeTooLarge(board));
    }
    let mut sizes = vec![0; usize::from(board.n()) + 1];
    descend(board.full(), Attacked::default(), &mut sizes);
    Ok(sizes)
}

/// The number of solutions for each square of the first queen.
///
/// # Errors
/// [`TreeTooLarge`] beyond n = 16.
pub fn solutions_by_first_queen(board: Board) -> Result<Vec<u64>, TreeTooLarge> {
    if board.n() > LARGEST {
        return Err(TreeTooLarge(board));
    }
    let solutions = |queen: u8| {
        let mut sizes = vec![0; usize::from(board.n())];
        descend(board.full(), Attacked::default().below(1 << queen), &mut sizes);
        sizes[sizes.len() - 1]
    };
    // The other half of the squares mirrors this one.
    let half: Vec<u64> = (0..board.n().div_ceil(2)).map(solutions).collect();
    Ok((0..board.n()).map(|square| half[usize::from(square.min(board.last() - square))]).collect())
}

/// The squares of a row that the queens above attack.
#[derive(Clone, Copy, Default)]
struct Attacked {
    columns: u32,
    from_the_right: u32,
    from_the_left: u32,
}

impl Attacked {
    /// The squares attacked in the next row after a queen is placed in this one.
    fn below(self, queen: u32) -> Self {
        Self {
            columns: self.columns | queen,
            from_the_right: (self.from_the_right | queen) >> 1,
            from_the_left: (self.from_the_left | queen) << 1,
        }
    }
}

fn descend(full: u32, attacked: Attacked, sizes: &mut [u64]) {
    sizes[0] += 1;
    let mut free = full & !(attacked.columns | attacked.from_the_right | attacked.from_the_left);
    while free != 0 && sizes.len() > 1 {
        let queen = free & free.wrapping_neg();
        free &= free - 1;
        descend(full, attacked.below(queen), &mut sizes[1..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Setting;
    use crate::solutions::Solutions;

    #[test]
    fn the_tree_of_n_8_has_the_classic_level_sizes() {
        let sizes = level_sizes(Board::new(8).unwrap()).unwrap();
        assert_eq!(sizes, [1, 8, 42, 140, 344, 568, 550, 312, 92]);
    }

    #[test]
    fn the_last_level_is_the_number_of_solutions() {
        for n in 1..=11 {
            let board = Board::new(n).unwrap();
            let solutions = queens::known::totals(board).unwrap().solutions();
            assert_eq!(u128::from(*level_sizes(board).unwrap().last().unwrap()), solutions, "n={n}");
        }
    }

    #[test]
    fn counts_by_first_queen_match_a059963() {
        let rows: [&[u64]; 10] = [
            &[1],
            &[0, 0],
            &[0, 0, 0],
            &[0, 1, 1, 0],
            &[2, 2, 2, 2, 2],
            &[0, 1, 1, 1, 1, 0],
            &[4, 7, 6, 6, 6, 7, 4],
            &[4, 8, 16, 18, 18, 16, 8, 4],
            &[28, 30, 47, 44, 54, 44, 47, 30, 28],
            &[64, 48, 65, 93, 92, 92, 93, 65, 48, 64],
        ];
        for (n, counts) in (1..).zip(rows) {
            assert_eq!(solutions_by_first_queen(Board::new(n).unwrap()).unwrap(), counts, "n={n}");
        }
    }

    #[test]
    fn counts_by_first_queen_match_listed_solutions() {
        for n in 1..=9 {
            let board = Board::new(n).unwrap();
            let mut counts = vec![0; usize::from(n)];
            for solution in Solutions::ascending(Setting::queens(board)) {
                counts[usize::from(solution.row(0))] += 1;
            }
            assert_eq!(solutions_by_first_queen(board).unwrap(), counts, "n={n}");
        }
    }

    #[test]
    fn a_tree_too_large_is_refused() {
        let error = level_sizes(Board::new(17).unwrap()).unwrap_err().to_string();
        assert_eq!(error, "the tree of n = 17 is too large to walk; n up to 16 would do");
        assert!(solutions_by_first_queen(Board::new(17).unwrap()).is_err());
    }
}

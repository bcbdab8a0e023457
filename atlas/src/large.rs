//! Solutions of plain boards beyond n = 32, in ascending order, the smallest first.
//!
//! Rows are tried column by column, the lowest first. After each placement a second search checks whether the rest of the
//! board can be filled at all. It takes the column or row with the fewest free squares first. So the search gives a wrong
//! beginning up much sooner than plain backtracking. The first solution is OEIS A141843.

use std::cmp::Reverse;

use crate::placement::Placement;

/// The most columns, whose rows fit one word.
const COLUMNS: usize = u64::BITS as usize;

/// The squares that no queen attacks, by column and by row.
#[derive(Clone, Debug)]
struct FreeSquares {
    /// The columns without a queen.
    columns: u64,
    /// The rows without a queen.
    rows: u64,
    /// For each column without a queen, its free rows.
    rows_of: [u64; COLUMNS],
    /// For each row without a queen, its free columns.
    columns_of: [u64; COLUMNS],
}

/// A column begun: the free squares before its queen, and the rows untried.
#[derive(Clone, Debug)]
struct BegunColumn {
    free: Box<FreeSquares>,
    untried: u64,
}

/// All solutions of n queens on the plain board, ascending, found lazily.
#[derive(Clone, Debug)]
pub struct LargeSolutions {
    n: usize,
    begun: Vec<BegunColumn>,
    rows: Vec<u8>,
}

impl LargeSolutions {
    /// The largest board.
    pub const LARGEST: u8 = COLUMNS as u8;

    /// The solutions of the board of n columns, 1 to 64.
    ///
    /// # Panics
    /// If the board is larger or has no column.
    pub fn ascending(n: u8) -> Self {
        assert!((1..=Self::LARGEST).contains(&n), "a board of 1 to 64 columns");
        let free = Box::new(FreeSquares::all(n.into()));
        Self { n: n.into(), begun: vec![BegunColumn { untried: free.rows, free }], rows: Vec::new() }
    }
}

impl Iterator for LargeSolutions {
    type Item = Placement;

    fn next(&mut self) -> Option<Placement> {
        while let Some(column) = self.begun.len().checked_sub(1) {
            self.rows.truncate(column);
            let BegunColumn { free, untried } = &mut self.begun[column];
            if *untried == 0 {
                self.begun.pop();
                continue;
            }
            let row = untried.trailing_zeros() as usize;
            *untried &= *untried - 1;
            let mut free = free.clone();
            let all_free = free.place(column, row);
            self.rows.push(row as u8);
            if self.rows.len() == self.n {
                return Some(Placement::from_rows(self.rows.clone()));
            }
            if all_free && free.completes() {
                self.begun.push(BegunColumn { untried: free.rows_of[column + 1], free });
            }
        }
        None
    }
}

impl FreeSquares {
    fn all(n: usize) -> Self {
        let lines = u64::MAX >> (COLUMNS - n);
        Self { columns: lines, rows: lines, rows_of: [lines; COLUMNS], columns_of: [lines; COLUMNS] }
    }

    /// Places a queen. Returns whether every column and row without a queen still has a free square.
    fn place(&mut self, column: usize, row: usize) -> bool {
        self.columns &= !(1 << column);
        self.rows &= !(1 << row);
        remove_attacked(self.columns, &mut self.rows_of, (column, row))
            && remove_attacked(self.rows, &mut self.columns_of, (row, column))
    }

    /// Whether queens can be placed in all columns that have none.
    fn completes(&self) -> bool {
        let columns = lines(self.columns).map(|column| (column, self.rows_of[column], true));
        let rows = lines(self.rows).map(|row| (row, self.columns_of[row], false));
        // Among equals the last line: that halves the search.
        let fewest = columns.chain(rows).max_by_key(|(_, free, _)| Reverse(free.count_ones()));
        let Some((line, free, is_column)) = fewest else { return true };
        lines(free).any(|crossing| {
            let (column, row) = if is_column { (line, crossing) } else { (crossing, line) };
            let mut after = self.clone();
            after.place(column, row) && after.completes()
        })
    }
}

/// Removes the squares that a queen at `at` of line `line` attacks in these other lines. Returns whether each keeps a
/// square.
fn remove_attacked(others: u64, free: &mut [u64; COLUMNS], (line, at): (usize, usize)) -> bool {
    lines(others).fold(true, |all_free, other| {
        let (queen, distance) = (1u64 << at, other.abs_diff(line));
        free[other] &= !(queen | queen << distance | queen >> distance);
        all_free && free[other] != 0
    })
}

/// The lines of the set, ascending.
fn lines(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let line = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        line
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Backtracking, ColumnChoice};
    use crate::setting::Setting;
    use crate::solutions::Solutions;
    use queens::Board;

    #[test]
    fn large_search_lists_the_same_solutions() {
        for n in 1..=10 {
            let expected: Vec<_> = Solutions::ascending(Setting::queens(Board::new(n).unwrap())).collect();
            assert_eq!(LargeSolutions::ascending(n).collect::<Vec<_>>(), expected, "n={n}");
        }
    }

    #[test]
    fn first_solutions_match_smallest_first_backtracking() {
        for n in [17, 19, 21, 23, 25] {
            let mut search = Backtracking::new(n);
            search.run(&mut ColumnChoice::Smallest, u64::MAX).unwrap();
            let first = LargeSolutions::ascending(n).next().unwrap();
            assert_eq!(first.rows(), search.queens(), "n={n}");
        }
    }

    #[test]
    fn first_solution_of_33_matches_a141843() {
        let first = LargeSolutions::ascending(33).next().unwrap();
        let published = "1,3,5,2,4,9,11,13,15,6,8,25,27,33,31,23,28,26,29,32,30,16,18,12,10,17,";
        assert!(first.to_string().starts_with(published), "{first}");
        assert!(first.is_queens_solution());
    }

    #[test]
    fn largest_board_fits_its_words() {
        let mut free = FreeSquares::all(64);
        assert!(free.place(0, 0) && free.place(63, 62));
        assert_eq!((free.columns.count_ones(), free.rows.count_ones()), (62, 62));
        assert_eq!(free.rows_of[1] >> 1 & 1, 0);
        assert_eq!(free.rows_of[62] & (1 << 61 | 1 << 63 | 1 << 62), 0);
    }
}

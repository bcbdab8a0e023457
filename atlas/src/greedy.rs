//! The greedy sequence: queens on a board without end, which has a lower and a left edge only.
//!
//! Column by column a queen takes the lowest row that no queen before attacks: rows 1, 3, 5, 2, 4, 9 and so on, OEIS
//! A065188. Nothing is ever taken back. The smallest solutions of larger and larger boards begin in the same way.

use std::collections::HashSet;

/// The rows by column, from 1, without end.
pub fn greedy_rows() -> impl Iterator<Item = u32> {
    let (mut rows, mut rising, mut falling) = (HashSet::new(), HashSet::new(), HashSet::new());
    // All rows below this one are taken.
    let mut lowest = 1;
    (1..).map(move |column: u32| {
        let free = |row: &u32| {
            let (rise, fall) = (i64::from(*row) - i64::from(column), row + column);
            !rows.contains(row) && !rising.contains(&rise) && !falling.contains(&fall)
        };
        let row = (lowest..=u32::MAX).find(free).expect("a column without end has a free row");
        rows.insert(row);
        rising.insert(i64::from(row) - i64::from(column));
        falling.insert(row + column);
        while rows.contains(&lowest) {
            lowest += 1;
        }
        row
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_rows_match_a065188() {
        let published = [
            1, 3, 5, 2, 4, 9, 11, 13, 15, 6, 8, 19, 7, 22, 10, 25, 27, 29, 31, 12, 14, 35, 37, 39, 41, 16,
            18, 45, 17, 48, 20, 51, 53, 21, 56, 58, 60, 23, 63, 24, 66, 28, 26, 70, 72, 74, 76, 78, 30, 32,
        ];
        assert_eq!(greedy_rows().take(published.len()).collect::<Vec<_>>(), published);
    }

    #[test]
    fn greedy_rows_are_lowest_without_attack() {
        let rows: Vec<u32> = greedy_rows().take(300).collect();
        for column in 0..rows.len() {
            let is_free = |row: u32| {
                (0..column).all(|before| {
                    rows[before] != row && rows[before].abs_diff(row) as usize != column - before
                })
            };
            assert_eq!((1..=1000).find(|row| is_free(*row)), Some(rows[column]), "column {column}");
        }
    }
}

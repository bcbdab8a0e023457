//! The attacks that the solutions of a plain board have on the torus: OEIS A181499 to A181502.
//!
//! Queens that attack each other on the torus are joined. Joined queens form a component.

use queens::Board;

use super::totals::{CountTooLong, checked};
use super::{AtlasTable, TableCell};
use crate::placement::Placement;
use crate::setting::Setting;
use crate::solutions::Solutions;

/// The attacks of one solution on the torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TorusAttacks {
    /// Pairs of queens that attack each other.
    pairs: usize,
    /// Queens that another queen attacks.
    queens: usize,
    /// Components of at least two queens.
    components: usize,
    /// The number of queens of the largest component; 1 if no queen attacks another.
    largest: usize,
}

impl TorusAttacks {
    /// The attacks of a solution of the plain board. A diagonal of the torus is two of the plain board, so it has at most
    /// two queens, and no two queens share both diagonals.
    fn of(solution: &Placement) -> Self {
        let n = usize::from(solution.n());
        let mut component: Vec<usize> = (0..n).collect();
        let mut pairs = 0;
        let falling = |column: usize, row: usize| (column + row) % n;
        let rising = |column: usize, row: usize| (column + n - row) % n;
        for diagonal in [&falling as &dyn Fn(usize, usize) -> usize, &rising] {
            let mut first = vec![None; n];
            for (column, row) in solution.squares().map(|(column, row)| (column.into(), row.into())) {
                let Some(other) = first[diagonal(column, row)].replace(column) else { continue };
                pairs += 1;
                let (from, to): (usize, usize) = (component[other], component[column]);
                component.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
            }
        }
        let mut sizes = vec![0; n];
        component.iter().for_each(|of| sizes[*of] += 1);
        let joined = || sizes.iter().filter(|size| **size > 1);
        Self {
            pairs,
            queens: joined().sum(),
            components: joined().count(),
            largest: sizes.iter().copied().max().unwrap_or(1),
        }
    }
}

/// One row for each number k from 0 to n, board after board. Its columns are the numbers of solutions with
///
/// - k attacks on the torus (A181499),
/// - k attacked queens (A181500),
/// - k components (A181501),
/// - a largest component of k queens (A181502).
///
/// # Errors
/// [`CountTooLong`] beyond n = 16.
pub fn torus_attacks(boards: impl DoubleEndedIterator<Item = Board>) -> Result<AtlasTable, CountTooLong> {
    // The largest board first, because it may be too large.
    let counts = boards.rev().map(of_board).collect::<Result<Vec<_>, _>>()?;
    let rows = counts.into_iter().rev().flatten().collect();
    let columns = [
        ("n", "n"),
        ("k", "k"),
        ("attacks", "attacks"),
        ("attacked_queens", "attacked queens"),
        ("components", "components"),
        ("largest_component", "largest component"),
    ];
    Ok(AtlasTable::new(columns, rows))
}

fn of_board(board: Board) -> Result<Vec<[TableCell; 6]>, CountTooLong> {
    let board = checked(board)?;
    let mut counts = vec![[0u64; 4]; usize::from(board.n()) + 1];
    for solution in Solutions::ascending(Setting::queens(board)) {
        let TorusAttacks { pairs, queens, components, largest } = TorusAttacks::of(&solution);
        for (column, k) in [pairs, queens, components, largest].into_iter().enumerate() {
            counts[k][column] += 1;
        }
    }
    let cells = |(k, [pairs, queens, components, largest]): (u64, [u64; 4])| {
        [board.n().into(), k, pairs, queens, components, largest].map(TableCell::Number)
    };
    Ok((0..).zip(counts).map(cells).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conflict::Conflict;
    use crate::setting::{Piece, Surface};

    fn columns(n: u8) -> [Vec<u64>; 4] {
        let rows = torus_attacks([Board::new(n).unwrap()].into_iter()).unwrap().json();
        ["attacks", "attacked_queens", "components", "largest_component"]
            .map(|key| rows.as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).collect())
    }

    #[test]
    fn attack_counts_match_a181499_to_a181502() {
        let published: [(u8, [&[u64]; 4]); 5] = [
            (4, [&[0, 0, 2, 0, 0], &[0, 0, 0, 0, 2], &[0, 0, 2, 0, 0], &[0, 0, 2, 0, 0]]),
            (
                6,
                [
                    &[0, 0, 0, 4, 0, 0, 0],
                    &[0, 0, 0, 0, 4, 0, 0],
                    &[0, 4, 0, 0, 0, 0, 0],
                    &[0, 0, 0, 0, 4, 0, 0],
                ],
            ),
            (
                7,
                [
                    &[28, 0, 0, 8, 4, 0, 0, 0],
                    &[28, 0, 0, 0, 0, 0, 12, 0],
                    &[28, 0, 4, 8, 0, 0, 0, 0],
                    &[0, 28, 8, 4, 0, 0, 0, 0],
                ],
            ),
            (
                8,
                [
                    &[0, 0, 64, 0, 28, 0, 0, 0, 0],
                    &[0, 0, 0, 0, 64, 0, 28, 0, 0],
                    &[0, 0, 92, 0, 0, 0, 0, 0, 0],
                    &[0, 0, 64, 24, 4, 0, 0, 0, 0],
                ],
            ),
            (
                9,
                [
                    &[0, 0, 232, 0, 96, 24, 0, 0, 0, 0],
                    &[0, 0, 0, 0, 232, 8, 32, 48, 32, 0],
                    &[0, 8, 272, 56, 16, 0, 0, 0, 0, 0],
                    &[0, 0, 248, 80, 16, 8, 0, 0, 0, 0],
                ],
            ),
        ];
        for (n, expected) in published {
            assert_eq!(columns(n), expected.map(<[u64]>::to_vec), "n={n}");
        }
        assert!(torus_attacks([Board::new(17).unwrap()].into_iter()).is_err());
    }

    /// The queens that attacks join to this one, followed from queen to queen.
    fn joined(pairs: &[(u8, u8)], queen: u8) -> Vec<u8> {
        let mut reached = vec![queen];
        let mut at = 0;
        while let Some(&from) = reached.get(at) {
            for (a, b) in pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
                if a == from && !reached.contains(&b) {
                    reached.push(b);
                }
            }
            at += 1;
        }
        reached
    }

    #[test]
    fn attacks_of_each_solution_match_brute_force() {
        for n in 1..=9 {
            for solution in Solutions::ascending(Setting::queens(Board::new(n).unwrap())) {
                let conflicts = Conflict::all(&solution, Surface::Torus, Piece::Queen);
                let pairs: Vec<_> = conflicts.iter().map(|pair| (pair.left.0, pair.right.0)).collect();
                let components: Vec<_> = (0..n)
                    .map(|queen| joined(&pairs, queen))
                    .filter(|component| component.iter().min() == component.first())
                    .map(|component| component.len())
                    .collect();
                let large = || components.iter().filter(|size| **size > 1);
                let expected = TorusAttacks {
                    pairs: pairs.len(),
                    queens: large().sum(),
                    components: large().count(),
                    largest: *components.iter().max().unwrap(),
                };
                assert_eq!(TorusAttacks::of(&solution), expected, "{solution}");
            }
        }
    }
}

//! Restarts: random searches that are broken off after a number of placements. The length of a search without
//! a limit has a heavy tail, so giving up early finds a first solution of a large board soonest (Gomes,
//! Selman, Crato, Kautz, *Heavy-tailed phenomena in satisfiability and constraint satisfaction problems*, J.
//! Automated Reasoning 24, 2000).

use crate::placement::Placement;
use crate::search::{Backtracking, ColumnChoice};

/// A first solution, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The solution.
    pub solution: Placement,
    /// Placements over all attempts.
    pub placements: u64,
    /// Attempts, the successful one included.
    pub attempts: u64,
}

/// Searches at random, with a restart after every `limit` placements, until a solution is found. `None` if
/// the board has no solution: n = 2 and n = 3.
pub fn with_restarts(n: u8, choice: &mut ColumnChoice, limit: u64) -> Option<Found> {
    if n == 2 || n == 3 {
        return None;
    }
    let (mut placements, mut attempts) = (0, 0);
    loop {
        let mut search = Backtracking::new(n);
        let solution = search.run(choice, limit.max(u64::from(n)));
        placements += search.placements();
        attempts += 1;
        if let Some(solution) = solution {
            return Some(Found { solution, placements, attempts });
        }
    }
}

/// Solutions found one independently of the other, each by a search with restarts: for boards too large for a list.
/// Without end, and one may come twice; nothing for n = 2 and n = 3.
pub fn at_random(n: u8, seed: u64) -> impl Iterator<Item = Placement> {
    (0..).map_while(move |stream| {
        let found = with_restarts(n, &mut ColumnChoice::random(seed, stream), usual_limit(n));
        found.map(|found| found.solution)
    })
}

/// A limit that serves for a first solution of any n.
pub fn usual_limit(n: u8) -> u64 {
    5 * u64::from(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_find_a_solution_for_n_4_to_200() {
        for n in 4..=200 {
            let found = with_restarts(n, &mut ColumnChoice::random(1, u64::from(n)), usual_limit(n)).unwrap();
            assert!(found.solution.n() == n && found.solution.is_queens_solution(), "n={n}");
        }
    }

    #[test]
    fn restarts_find_no_solution_for_n_2_and_3() {
        for n in [2, 3] {
            assert_eq!(with_restarts(n, &mut ColumnChoice::Smallest, 10), None);
        }
    }
}

//! Min-conflicts: a search that repairs. Every row has a queen from the beginning, and attacked queens are moved until
//! none is attacked (Minton, Johnston, Philips, Laird, *Minimizing conflicts*, Artificial Intelligence 58, 1992).
//!
//! ```text
//! row by row: put a queen on one of the least attacked columns
//! repeat: no queen is attacked -> a solution
//!         choose an attacked queen; move it to one of the least attacked columns of its row
//! ```
//!
//! Among equals each is as likely as the others. Each queen put or moved is a placement. A search that has made too many
//! of them begins anew.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::placement::Placement;
use crate::restarts::Found;
use crate::search::random_numbers;

/// Searches with a new beginning after every `limit` placements, until a solution is found. `None` if the board has no
/// solution: n = 2 and n = 3.
pub fn min_conflicts(n: u8, (seed, stream): (u64, u64), limit: u64) -> Option<Found> {
    if n == 2 || n == 3 {
        return None;
    }
    let mut rng = random_numbers(seed, stream);
    let (mut placements, mut attempts) = (0, 0);
    loop {
        let mut repair = Repair::begin(n, &mut rng);
        while repair.placements < limit && repair.step(&mut rng) {}
        placements += repair.placements;
        attempts += 1;
        if repair.attacked_rows().is_empty() {
            return Some(Found { solution: repair.placement(), placements, attempts });
        }
    }
}

/// A queen in every row, and how many stand on each line.
struct Repair {
    /// The columns of the queens, by row.
    queens: Vec<usize>,
    columns: Vec<u16>,
    /// By column + row.
    falling: Vec<u16>,
    /// By column - row + n.
    rising: Vec<u16>,
    placements: u64,
}

impl Repair {
    /// Puts a queen into every row.
    fn begin(n: u8, rng: &mut ChaCha8Rng) -> Self {
        let n = usize::from(n);
        let lines = vec![0; 2 * n];
        let mut repair = Self {
            queens: Vec::new(),
            columns: vec![0; n],
            falling: lines.clone(),
            rising: lines,
            placements: 0,
        };
        for row in 0..n {
            let column = repair.least_attacked(row, rng);
            repair.queens.push(column);
            repair.put(row);
        }
        repair
    }

    /// Moves one attacked queen; false if there is none.
    fn step(&mut self, rng: &mut ChaCha8Rng) -> bool {
        let rows = self.attacked_rows();
        if rows.is_empty() {
            return false;
        }
        let row = rows[rng.random_range(0..rows.len())];
        self.lines(row, self.queens[row]).into_iter().for_each(|line| *line -= 1);
        self.queens[row] = self.least_attacked(row, rng);
        self.put(row);
        true
    }

    /// Counts the queen of the row on its lines.
    fn put(&mut self, row: usize) {
        self.lines(row, self.queens[row]).into_iter().for_each(|line| *line += 1);
        self.placements += 1;
    }

    /// The counters of the lines through that square.
    fn lines(&mut self, row: usize, column: usize) -> [&mut u16; 3] {
        let n = self.columns.len();
        [&mut self.columns[column], &mut self.falling[column + row], &mut self.rising[column + n - row]]
    }

    /// How many queens on the lines through that square there are, one on the square counted for each line.
    fn on_lines(&self, row: usize, column: usize) -> u16 {
        let n = self.columns.len();
        self.columns[column] + self.falling[column + row] + self.rising[column + n - row]
    }

    /// One of the columns of the row that fewest queens attack; the row itself has none on its lines.
    fn least_attacked(&self, row: usize, rng: &mut ChaCha8Rng) -> usize {
        let attackers = |column: &usize| self.on_lines(row, *column);
        let columns = 0..self.columns.len();
        let fewest = columns.clone().map(|column| attackers(&column)).min();
        let least: Vec<usize> = columns.filter(|column| Some(attackers(column)) == fewest).collect();
        least[rng.random_range(0..least.len())]
    }

    /// The rows whose queens are attacked: there are others on their lines.
    fn attacked_rows(&self) -> Vec<usize> {
        (0..self.queens.len()).filter(|row| self.on_lines(*row, self.queens[*row]) > 3).collect()
    }

    /// The placement, if no queen is attacked.
    fn placement(&self) -> Placement {
        let mut rows = vec![0; self.queens.len()];
        (0u8..).zip(&self.queens).for_each(|(row, column)| rows[*column] = row);
        Placement::from_rows(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restarts::usual_limit;
    use crate::study::Mean;

    #[test]
    fn min_conflicts_solves_n_4_to_200() {
        for n in 4..=200 {
            let found = min_conflicts(n, (1, u64::from(n)), usual_limit(n)).unwrap();
            assert!(found.solution.n() == n && found.solution.is_queens_solution(), "n={n}");
            assert!(found.placements >= found.attempts * u64::from(n), "n={n}: {found:?}");
        }
        assert!([2, 3].iter().all(|n| min_conflicts(*n, (1, 1), 10).is_none()));
    }

    #[test]
    fn moves_go_to_least_attacked_columns() {
        let mut rng = random_numbers(7, 0);
        for n in [6, 9, 20] {
            let mut repair = Repair::begin(n, &mut rng);
            for _ in 0..200 {
                let before = repair.queens.clone();
                let attackers = |row: usize, column: usize| {
                    let others = before.iter().enumerate().filter(|(other, _)| *other != row);
                    others.filter(|(r, c)| **c == column || c.abs_diff(column) == r.abs_diff(row)).count()
                };
                let attacked: Vec<_> =
                    (0..before.len()).filter(|row| attackers(*row, before[*row]) > 0).collect();
                assert_eq!(repair.attacked_rows(), attacked);
                if !repair.step(&mut rng) {
                    break;
                }
                let changed = (0..before.len()).find(|row| before[*row] != repair.queens[*row]);
                let Some(row) = changed else { continue };
                let fewest = (0..before.len()).map(|column| attackers(row, column)).min().unwrap();
                assert_eq!(attackers(row, repair.queens[row]), fewest);
                assert!(attacked.contains(&row));
            }
        }
    }

    #[test]
    fn half_of_the_first_placings_of_n_4_are_solutions() {
        // The first queen decides: columns 2 and 3 leave one free column in each row, 1 and 4 lead to an attack.
        let attempts: Vec<u64> =
            (0..4_000).map(|stream| min_conflicts(4, (1, stream), 4).unwrap().attempts).collect();
        let mean = Mean::of(&attempts);
        assert!((mean.value - 2.0).abs() < 4.0 * mean.error.unwrap(), "{mean:?}");
    }
}

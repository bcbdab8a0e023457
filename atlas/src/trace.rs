//! The search step by step, as one would do it by hand with paper and pencil.

use crate::columns::Columns;
use crate::placement::joined;
use crate::search::{Backtracking, ColumnChoice, SearchStep};

/// The steps of a search until its first solution, one line each; the last line is the outcome.
pub struct Trace {
    search: Backtracking,
    choice: ColumnChoice,
    finished: bool,
}

impl Trace {
    /// The trace of a search of the n x n board.
    pub fn new(n: u8, choice: ColumnChoice) -> Self {
        Self { search: Backtracking::new(n), choice, finished: false }
    }

    fn outcome(&self) -> Option<String> {
        let placements = self.search.placements();
        let separator = if self.search.queens().len() > 9 { "," } else { "" };
        self.search.solution().map(|solution| {
            let columns = joined(self.search.queens(), 1, separator);
            format!("a solution after {placements} placements: columns by row {columns}, rows by column {solution}")
        })
    }
}

impl Iterator for Trace {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.finished {
            return None;
        }
        if let Some(outcome) = self.outcome() {
            self.finished = true;
            return Some(outcome);
        }
        let deepest = self.search.untried().len();
        let (row, column) = match self.search.step(&mut self.choice) {
            SearchStep::Placed { row, column } => (usize::from(row), u16::from(column) + 1),
            SearchStep::Exhausted => {
                self.finished = true;
                return Some(format!(
                    "no row has anything untried after {} placements: no solution",
                    self.search.placements()
                ));
            }
        };
        let back = if row + 1 < deepest {
            format!("back to row {}: ", row + 1)
        } else {
            format!("row {}: ", row + 1)
        };
        let left = numbers(&self.search.untried()[row]);
        let next = match self.search.untried().get(row + 1) {
            Some(columns) => format!("row {} may take {}", row + 2, numbers(columns)),
            None => "every row has a queen".to_owned(),
        };
        Some(format!(
            "{:>4}. {back}a queen in column {column} ({left} left untried); {next}",
            self.search.placements()
        ))
    }
}

/// The columns, counted from 1, or a word for none.
fn numbers(columns: &Columns) -> String {
    if columns.is_empty() { "none".to_owned() } else { joined(&columns.iter().collect::<Vec<_>>(), 1, " ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_of_7_is_traced_step_by_step() {
        let lines: Vec<_> = Trace::new(7, ColumnChoice::Smallest).collect();
        assert_eq!(lines.len(), 10);
        assert_eq!(
            lines[0],
            "   1. row 1: a queen in column 1 (2 3 4 5 6 7 left untried); row 2 may take 3 4 5 6 7"
        );
        assert!(lines[8].ends_with("every row has a queen"));
        assert_eq!(lines[9], "a solution after 9 placements: columns by row 1357246, rows by column 1526374");
        let back = lines.iter().find(|line| line.contains("back to row")).unwrap();
        assert!(back.contains("back to row 4: a queen in column"), "{back}");
    }

    #[test]
    fn a_board_without_solution_ends_in_a_sentence() {
        let last = Trace::new(3, ColumnChoice::Smallest).last().unwrap();
        assert_eq!(last, "no row has anything untried after 5 placements: no solution");
    }
}

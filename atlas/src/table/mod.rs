//! Tables: rows of cells below named columns, as text for people, as CSV and JSON for programs. The text, the CSV and
//! the JSON of a table hold the same.

mod constellations;
mod first_queen;
mod greedy;
mod levels;
mod oeis;
mod solutions;
mod torus_attacks;
mod totals;

use serde_json::{Map, Value, json};

use crate::placement::Placement;

pub use constellations::constellations;
pub use first_queen::first_queen;
pub use greedy::greedy;
pub use levels::levels;
pub use oeis::Sequence;
pub use solutions::solutions;
pub use torus_attacks::torus_attacks;
pub use totals::{CountTooLong, TotalsRow, TotalsSource, totals};

/// A column: its name for programs, and what stands above it for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// As a field of CSV or JSON.
    pub key: &'static str,
    /// As a heading.
    pub title: &'static str,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableCell {
    /// A number that programs read as one.
    Number(u64),
    /// A count that may be larger than what programs can read as a number; text in JSON.
    Count(u128),
    /// A word.
    Word(String),
    /// The rows by column.
    Rows(Placement),
    /// No value: unknown, or not applicable.
    Nothing,
}

/// Rows of cells below named columns, as many in each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtlasTable {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<TableCell>>,
}

impl TableCell {
    /// As text; nothing is a dash.
    fn text(&self) -> String {
        match self {
            TableCell::Nothing => "-".to_owned(),
            cell => cell.field(),
        }
    }

    /// As a field of CSV; nothing is empty.
    fn field(&self) -> String {
        match self {
            TableCell::Number(number) => number.to_string(),
            TableCell::Count(count) => count.to_string(),
            TableCell::Word(word) => word.clone(),
            TableCell::Rows(placement) => placement.to_string(),
            TableCell::Nothing => String::new(),
        }
    }

    fn json(&self) -> Value {
        match self {
            TableCell::Number(number) => json!(number),
            TableCell::Count(count) => json!(count.to_string()),
            TableCell::Word(word) => json!(word),
            TableCell::Rows(placement) => json!(placement),
            TableCell::Nothing => Value::Null,
        }
    }

    fn is_word(&self) -> bool {
        matches!(self, TableCell::Word(_) | TableCell::Rows(_))
    }
}

impl AtlasTable {
    /// The table with these columns, given as names and headings.
    pub fn new<const C: usize>(
        columns: [(&'static str, &'static str); C],
        rows: Vec<[TableCell; C]>,
    ) -> Self {
        let column = |(key, title)| TableColumn { key, title };
        Self {
            columns: columns.into_iter().map(column).collect(),
            rows: rows.into_iter().map(Vec::from).collect(),
        }
    }

    /// The columns one below the other, two spaces between them: words begin, numbers end below each other.
    pub fn text(&self) -> String {
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(TableCell::text).collect()).collect();
        let headings = self.columns.iter().map(|column| column.title.to_owned()).collect();
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = cells.iter().map(|row| row[at].chars().count());
                cells.chain([self.columns[at].title.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let is_word = |at: usize| self.rows.iter().any(|row| row[at].is_word());
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
                if is_word(at) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        std::iter::once(&headings).chain(&cells).map(line).collect::<Vec<_>>().join("\n")
    }

    /// As CSV, the names of the columns first.
    ///
    /// # Errors
    /// An error of the CSV writer, which cannot occur in memory.
    pub fn csv(&self) -> Result<String, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(|column| column.key))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(TableCell::field))?;
        }
        let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// As a list of objects, one for each row.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<TableCell>| -> Map<String, Value> {
            self.columns.iter().zip(row).map(|(column, cell)| (column.key.to_owned(), cell.json())).collect()
        };
        self.rows.iter().map(object).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> AtlasTable {
        let rows = vec![
            [TableCell::Number(8), TableCell::Count(u128::MAX), TableCell::Word("a, b".to_owned())],
            [TableCell::Number(10), TableCell::Nothing, TableCell::Nothing],
        ];
        AtlasTable::new([("n", "n"), ("count", "counted"), ("word", "word")], rows)
    }

    #[test]
    fn numbers_end_and_words_begin_below_each_other() {
        let expected = [
            " n                                  counted  word",
            " 8  340282366920938463463374607431768211455  a, b",
            "10                                        -  -",
        ];
        assert_eq!(table().text().lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn programs_read_the_same_from_csv_and_json() {
        let csv = "n,count,word\n8,340282366920938463463374607431768211455,\"a, b\"\n10,,";
        assert_eq!(table().csv().unwrap(), csv);
        let json = r#"[{"count":"340282366920938463463374607431768211455","n":8,"word":"a, b"},{"count":null,"n":10,"word":null}]"#;
        assert_eq!(table().json(), serde_json::from_str::<Value>(json).unwrap());
    }
}

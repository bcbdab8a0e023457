//! The counts of a run as a table for publication, and the comparison of such a table with the ledger.
//!
//! ```text
//! # diadem export by family          {"diadem":"export","by":"family","n":16, ...}
//! # n 16                             {"top":0,"bottom":2, ...}
//! ...
//! top,bottom,units,counted,...       ...
//! 0,2,34,34,...                      {"blake3":"<64 hex digits>"}
//! # blake3 <64 hex digits>
//! ```
//!
//! The last line has the BLAKE3 hash of all earlier lines. A table does not depend on the workers, times or order of
//! the counts: every run of the same plan yields the same table, byte for byte.

mod comparison;
mod error;
mod form;
mod rows;
mod table;

use std::io::{BufRead, Write};

use queens::plan::{Border, Family};
use queens::{Constellation, Measure, Totals, UnitId};
use serde_json::{Value, json};

use crate::groups::{by_family, measure_of};
use crate::run_directory::RunDirectory;
use crate::standing::Standing;
use comparison::Comparison;
use table::{SUMS, Table, wide};

pub use error::ExportError;
pub use form::{By, ByError, TableFormat};
pub use rows::ConstellationRows;

/// The source of a table: a run whose standing counts are all known, as after an audit.
#[derive(Clone, Copy, Debug)]
pub struct TableSource<'a> {
    /// The run.
    pub directory: &'a RunDirectory,
    /// Its counts.
    pub standing: &'a Standing,
    /// Its totals.
    pub totals: Totals,
}

impl TableSource<'_> {
    /// The rows of a table by constellation: of the chosen constellations and families, or of all if none is chosen.
    ///
    /// # Errors
    /// As with [`ConstellationRows::new`].
    pub fn constellation_rows(&self, chosen: &[Border]) -> Result<ConstellationRows, ExportError> {
        ConstellationRows::new(self.directory.plan(), self.directory.run().shard, self.standing, chosen)
    }

    /// Writes the table and returns its digest.
    ///
    /// # Errors
    /// The plan counts constellations together and there is no recount of them, or `out` cannot be written.
    pub fn write(
        &self,
        format: TableFormat,
        by: By,
        out: &mut dyn Write,
    ) -> Result<blake3::Hash, ExportError> {
        let mut table = Table::new(format, out);
        match by {
            By::Unit => self.write_units(&mut table)?,
            By::Family => self.write_families(&mut table)?,
            By::Constellation if rows::bundles(self.directory.plan()) => {
                return Err(ExportError::NoConstellations);
            }
            By::Constellation => self.write_rows(&mut table, &self.constellation_rows(&[])?)?,
        }
        table.end()
    }

    /// Writes a table by constellation of these rows, and returns its digest.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_constellations(
        &self,
        format: TableFormat,
        rows: &ConstellationRows,
        out: &mut dyn Write,
    ) -> Result<blake3::Hash, ExportError> {
        let mut table = Table::new(format, out);
        self.write_rows(&mut table, rows)?;
        table.end()
    }

    /// Compares a table with the ledger. Returns its grouping and its digest.
    ///
    /// # Errors
    /// The table is not the one that the ledger gives, or cannot be read.
    pub fn compare(&self, table: &mut dyn BufRead) -> Result<(By, blake3::Hash), ExportError> {
        let mut comparison = Comparison::new(table)?;
        let (format, by) = table::kind_of(comparison.first_line()).ok_or(ExportError::NoTable)?;
        match self.write(format, by, &mut comparison) {
            Ok(digest) => comparison.end().map(|()| (by, digest)),
            Err(ExportError::Io(_)) => Err(comparison.failure()),
            Err(error) => Err(error),
        }
    }

    /// What the head of each table says.
    fn facts(&self) -> [(&'static str, Value); 9] {
        let (plan, shard) = (self.directory.plan(), self.directory.run().shard);
        [
            ("n", json!(plan.board().n())),
            ("plan", json!(plan.fingerprint().to_string())),
            ("part", json!(shard.to_string())),
            ("units", json!(shard.size(plan.units()))),
            ("counted", json!(self.standing.done())),
            ("solutions", wide(self.totals.solutions())),
            ("a", wide(self.totals.a)),
            ("p", wide(self.totals.p)),
            ("r", wide(self.totals.r)),
        ]
    }

    fn write_families(&self, table: &mut Table<'_>) -> Result<(), ExportError> {
        let (plan, shard) = (self.directory.plan(), self.directory.run().shard);
        table.head(By::Family, &self.facts())?;
        table.columns(&[&FAMILY[..], &SUMS].concat())?;
        for (Family { top, bottom }, sums) in by_family(plan, shard, self.standing) {
            table.values(&FAMILY, &[json!(top), json!(bottom)], Some(&sums))?;
        }
        Ok(())
    }

    fn write_rows(&self, table: &mut Table<'_>, rows: &ConstellationRows) -> Result<(), ExportError> {
        let (plan, shard) = (self.directory.plan(), self.directory.run().shard);
        let choice = rows.choice().map(|choice| ("only", json!(choice)));
        let facts: Vec<_> = self.facts().into_iter().chain(choice).collect();
        table.head(By::Constellation, &facts)?;
        table.columns(&[&CONSTELLATION[..], &SUMS].concat())?;
        for (Constellation { top, bottom, left, right }, sums) in rows.sums(plan, shard, self.standing) {
            let queens = [top, bottom, left, right].map(|place| json!(place));
            table.values(&CONSTELLATION, &queens, Some(&sums))?;
        }
        Ok(())
    }

    fn write_units(&self, table: &mut Table<'_>) -> Result<(), ExportError> {
        let (plan, shard) = (self.directory.plan(), self.directory.run().shard);
        table.head(By::Unit, &self.facts())?;
        table.columns(&UNIT)?;
        for range in plan.unit_ranges() {
            let [top, bottom, left, right] = match range.border {
                Border::Family(Family { top, bottom }) => [Some(top), Some(bottom), None, None],
                Border::Constellation(x) => [x.top, x.bottom, x.left, x.right].map(Some),
            };
            let measure = match measure_of(range.summand) {
                Measure::Completions => "completions",
                Measure::HalfTurn => "half_turn",
                Measure::QuarterTurn => "quarter_turn",
            };
            for unit in range.units.clone().map(UnitId).filter(|unit| shard.contains(*unit)) {
                let Some(count) = self.standing.count(unit) else { continue };
                let values = [
                    json!(unit.0),
                    json!(top),
                    json!(bottom),
                    json!(left),
                    json!(right),
                    json!(measure),
                    wide(count.into()),
                ];
                table.values(&UNIT, &values, None)?;
            }
        }
        Ok(())
    }
}

const UNIT: [&str; 7] = ["unit", "top", "bottom", "left", "right", "measure", "count"];
const FAMILY: [&str; 2] = ["top", "bottom"];
const CONSTELLATION: [&str; 4] = ["top", "bottom", "left", "right"];

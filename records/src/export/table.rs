//! The lines of a table, as CSV or as JSON objects, and their digest.

use std::io::Write;

use serde_json::{Map, Value, json};

use super::error::ExportError;
use super::form::{By, TableFormat};
use crate::groups::GroupSums;

const CSV_HEAD: &str = "# diadem export by ";

/// The columns of sums.
pub const SUMS: [&str; 8] =
    ["units", "counted", "asymmetric", "point", "rotational", "half_turn", "quarter_turn", "solutions"];

/// The kind of a table by its first line.
pub fn kind_of(first: &str) -> Option<(TableFormat, By)> {
    if let Some(by) = first.strip_prefix(CSV_HEAD) {
        return Some((TableFormat::Csv, by.parse().ok()?));
    }
    let head: Value = serde_json::from_str(first).ok()?;
    Some((TableFormat::JsonLines, head.get("by")?.as_str()?.parse().ok()?))
}

/// Numbers that may leave the 53 bits of other people's JSON are strings there.
pub fn wide(number: u128) -> Value {
    json!(number.to_string())
}

/// A value as CSV has it.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Writes lines and hashes them.
pub struct Table<'a> {
    format: TableFormat,
    out: &'a mut dyn Write,
    hash: blake3::Hasher,
}

impl<'a> Table<'a> {
    /// A table that is written there.
    pub fn new(format: TableFormat, out: &'a mut dyn Write) -> Self {
        Self { format, out, hash: blake3::Hasher::new() }
    }

    /// Writes the facts about the table.
    ///
    /// # Errors
    /// The table cannot be written, or differs from the file.
    pub fn head(&mut self, by: By, facts: &[(&str, Value)]) -> Result<(), ExportError> {
        match self.format {
            TableFormat::Csv => {
                self.line(&format!("{CSV_HEAD}{by}"))?;
                facts.iter().try_for_each(|(name, value)| self.line(&format!("# {name} {}", plain(value))))
            }
            TableFormat::JsonLines => {
                let named = [("diadem", json!("export")), ("by", json!(by.to_string()))];
                self.object(named.iter().chain(facts))
            }
        }
    }

    fn line(&mut self, line: &str) -> Result<(), ExportError> {
        let line = format!("{line}\n");
        self.hash.update(line.as_bytes());
        Ok(self.out.write_all(line.as_bytes())?)
    }

    fn object<'m>(&mut self, members: impl Iterator<Item = &'m (&'m str, Value)>) -> Result<(), ExportError> {
        let object: Map<String, Value> =
            members.map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.line(&Value::Object(object).to_string())
    }

    /// Names the columns, where they are named once.
    ///
    /// # Errors
    /// The table cannot be written, or differs from the file.
    pub fn columns(&mut self, names: &[&str]) -> Result<(), ExportError> {
        match self.format {
            TableFormat::Csv => self.line(&names.join(",")),
            TableFormat::JsonLines => Ok(()),
        }
    }

    /// A row of these values, and of sums.
    ///
    /// # Errors
    /// The table cannot be written, or differs from the file.
    pub fn values(
        &mut self,
        names: &[&str],
        values: &[Value],
        sums: Option<&GroupSums>,
    ) -> Result<(), ExportError> {
        let sums = sums.into_iter().flat_map(|sums| SUMS.into_iter().zip(columns_of(sums)));
        let members: Vec<(&str, Value)> =
            names.iter().copied().zip(values.iter().cloned()).chain(sums).collect();
        match self.format {
            TableFormat::Csv => {
                let values: Vec<String> = members.iter().map(|(_, value)| plain(value)).collect();
                self.line(&values.join(","))
            }
            TableFormat::JsonLines => self.object(members.iter()),
        }
    }

    /// Writes the digest of all lines so far, and returns it.
    ///
    /// # Errors
    /// The table cannot be written, or differs from the file.
    pub fn end(self) -> Result<blake3::Hash, ExportError> {
        let digest = self.hash.finalize();
        match self.format {
            TableFormat::Csv => writeln!(self.out, "# blake3 {digest}")?,
            TableFormat::JsonLines => writeln!(self.out, "{{\"blake3\":\"{digest}\"}}")?,
        }
        self.out.flush()?;
        Ok(digest)
    }
}

fn columns_of(sums: &GroupSums) -> [Value; 8] {
    let GroupSums { units, counted, asymmetric, point, rotational, full, half_turn, quarter_turn } = *sums;
    // The one constellation of the 1 x 1 board counts as rotational.
    let wides = [asymmetric, point, rotational + full, half_turn, quarter_turn, sums.solutions()].map(wide);
    let [asymmetric, point, rotational, half_turn, quarter_turn, solutions] = wides;
    [json!(units), json!(counted), asymmetric, point, rotational, half_turn, quarter_turn, solutions]
}

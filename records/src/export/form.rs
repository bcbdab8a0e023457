//! The grouping of a table, and its format.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A unit of the plan.
    Unit,
    /// The constellations that share top and bottom queen.
    Family,
    /// A boundary constellation.
    Constellation,
}

impl By {
    /// All of them.
    pub const ALL: [By; 3] = [By::Unit, By::Family, By::Constellation];
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            By::Unit => "unit",
            By::Family => "family",
            By::Constellation => "constellation",
        })
    }
}

/// A word for something of which there are no tables.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a table is by unit, family or constellation, not by \"{0}\"")]
pub struct ByError(String);

impl FromStr for By {
    type Err = ByError;
    fn from_str(text: &str) -> Result<Self, ByError> {
        let named = By::ALL.into_iter().find(|by| by.to_string() == text);
        named.ok_or_else(|| ByError(text.to_owned()))
    }
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Values separated by commas.
    Csv,
    /// A JSON object a line.
    JsonLines,
}

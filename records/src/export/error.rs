//! What can be wrong with a table.

use std::io;

use queens::{Class, Classified};
use thiserror::Error;

/// A table that cannot be written, or that is not the ledger's.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The plan's units span constellations.
    #[error(
        "this plan counts many constellations together: a table by constellation is not to be had, one by family is"
    )]
    NoConstellations,
    /// It cannot be written or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not begin as a table does.
    #[error("line 1: this is no table that diadem export has written")]
    NoTable,
    /// A line matches the ledger except for invisible characters at its end.
    #[error("line {0}: it is the ledger's but for its end, which was rewritten: a line feed alone ends it")]
    LineEnd(u64),
    /// A line differs from the ledger.
    #[error("line {line}: the table says {found:?}, the ledger {expected:?}")]
    Differs {
        /// From 1.
        line: u64,
        /// In the file; empty behind its end.
        found: String,
        /// By the ledger; empty behind its end.
        expected: String,
    },
}

impl Classified for ExportError {
    fn class(&self) -> Class {
        match self {
            Self::LineEnd(_) | Self::Differs { .. } => Class::Unsound,
            Self::NoConstellations | Self::Io(_) | Self::NoTable => Class::Failed,
        }
    }
}

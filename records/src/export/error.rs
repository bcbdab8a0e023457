//! What can be wrong with a table.

use std::io;

use queens::plan::{Border, Family};
use queens::{Board, Class, Classified, Constellation};
use thiserror::Error;

/// A table that cannot be written, or that is not the ledger's.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The plan's units span constellations, and they were not counted again.
    #[error(
        "this plan counts constellations together, so the ledger has no table by constellation: write it again with diadem export \
         --by constellation, which counts them again, and compare the files"
    )]
    NoConstellations,
    /// The board has no such constellation, or the plan no such family.
    #[error("n = {board} has no {}; diadem export --by family lists the families", named(*border))]
    NoSuchRow {
        /// The chosen one.
        border: Border,
        /// The board.
        board: Board,
    },
    /// The ledger cannot confirm single counts of a family yet.
    #[error(
        "{counted} of {units} units of the {} are counted in this run: choose other families with --only, or wait until all are \
         counted; join shards with diadem merge",
        named(Border::Family(*family))
    )]
    Uncounted {
        /// The family.
        family: Family,
        /// Its units with a count in this run.
        counted: u64,
        /// All its units.
        units: u64,
    },
    /// The constellations of a family do not add up.
    #[error(
        "{}: its constellations, counted one by one, have {found} completions together, but the ledger has {recorded}; \
         diadem verify --recount all finds the wrong unit",
        named(Border::Family(*family))
    )]
    Contradiction {
        /// The family.
        family: Family,
        /// The sum in the ledger.
        recorded: u128,
        /// The sum of the recount.
        found: u128,
    },
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
            Self::NoSuchRow { .. } => Class::Usage,
            Self::LineEnd(_) | Self::Differs { .. } | Self::Uncounted { .. } | Self::Contradiction { .. } => {
                Class::Unsound
            }
            Self::NoConstellations | Self::Io(_) | Self::NoTable => Class::Failed,
        }
    }
}

/// The constellation or family in words.
fn named(border: Border) -> String {
    match border {
        Border::Family(Family { top, bottom }) => format!("family with top {top}, bottom {bottom}"),
        Border::Constellation(Constellation { top, bottom, left, right }) => {
            format!("constellation with top {top}, bottom {bottom}, left {left}, right {right}")
        }
    }
}

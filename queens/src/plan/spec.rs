//! The specification of a plan, and which specifications are valid: board, scheme, parameters and version.

use crate::class::Classified;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::Board;
use crate::kernel::Method;
use crate::plan::constellations::{self, default_grain};
use crate::plan::part::{MOST_IN_GROUP, MOST_SIDES};

/// How the count of a board is cut into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "scheme", rename_all = "lowercase")]
pub enum Scheme {
    /// One boundary constellation of each orbit, split by the queens of further rows.
    Constellations {
        /// The size of a unit in expected search nodes.
        grain: u64,
    },
    /// The constellations that share top and bottom queen together, split by the queens of outer rows.
    Families {
        /// How many further outer rows are split by.
        rows: u8,
        /// The squares of the last of them that go into one unit.
        group: u8,
        /// For how many rows more it is fixed on which side of the cut their queens fall.
        sides: u8,
    },
    /// The same families, split by the queens of central columns.
    Centre {
        /// How many columns are split by.
        columns: u8,
        /// The squares of the last of them that go into one unit.
        group: u8,
        /// For units of about equal length. If a family's units have more expected completions than this,
        /// they are also cut by the sides of outer rows, by one row for each factor of four. Plans without a
        /// grain are split evenly.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grain: Option<u64>,
    },
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constellations { grain } => write!(f, "constellations of {grain} nodes"),
            Self::Families { rows, group, sides } => write!(f, "families {rows},{group},{sides}"),
            Self::Centre { columns, group, grain: None } => write!(f, "centre {columns},{group}"),
            Self::Centre { columns, group, grain: Some(grain) } => {
                write!(f, "centre {columns},{group},{grain}")
            }
        }
    }
}

/// All that a plan follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanSpec {
    /// The board.
    pub n: Board,
    /// The scheme with its parameters.
    #[serde(flatten)]
    pub scheme: Scheme,
    /// The version of the scheme's rules. A release keeps the versions that it knows, because runs last for months.
    pub version: u32,
}

/// The version of new plans.
pub const CURRENT_VERSION: u32 = 1;

/// Plans with more units are refused: a coordinator keeps some bytes for each. Plans of new runs have at most ten
/// million.
pub const MOST_UNITS: u64 = 20_000_000;

/// The most outer rows and central columns that a plan is split by.
const MOST_ROWS: u8 = 8;
const MOST_COLUMNS: u8 = 8;

/// A specification that gives no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The version of another build.
    #[error(
        "the plan has version {0}; this diadem knows version {CURRENT_VERSION} only: continue the run \
         with the build that began it, or count again in another directory"
    )]
    UnknownVersion(u32),
    /// A unit must have some work in it.
    #[error("the plan's grain must be at least 1, not 0")]
    NoGrain,
    /// A group must have a square in it, and splits have their limits.
    #[error(
        "cannot split by {rows} rows, groups of {group} and {sides} sides: at most {MOST_ROWS} rows, \
         groups of 1 to {MOST_IN_GROUP} squares and {MOST_SIDES} sides are possible"
    )]
    NoSplit {
        /// The requested outer rows.
        rows: u8,
        /// The squares in a group.
        group: u8,
        /// The sides.
        sides: u8,
    },
    /// Groups and columns have their limits there as well.
    #[error(
        "cannot split by {columns} columns and groups of {group}: at most {MOST_COLUMNS} central columns \
         and groups of 1 to {MOST_IN_GROUP} squares are possible"
    )]
    NoCentre {
        /// The requested columns.
        columns: u8,
        /// The squares in a group.
        group: u8,
    },
    /// More units than can be recorded.
    #[error("the plan would have more than {MOST_UNITS} units; split it less")]
    TooManyUnits,
    /// The same for constellations, which only the grain splits.
    #[error(
        "with grain {0} the plan would have more than {MOST_UNITS} units; begin a run with a larger grain"
    )]
    GrainTooSmall(u64),
}

impl Classified for PlanError {}

impl PlanSpec {
    /// The specification of a new run on that board, for the row-by-row search.
    pub fn new(n: Board) -> Self {
        Self { n, scheme: Scheme::Constellations { grain: default_grain(n) }, version: CURRENT_VERSION }
    }

    /// The specification of a new run on that board, for halves that meet.
    pub fn families(n: Board) -> Self {
        Self { n, scheme: scheme_by_families(n), version: CURRENT_VERSION }
    }

    /// The method whose kernels the plan suits best. Others count it too.
    pub fn method(&self) -> Method {
        match self.scheme {
            Scheme::Constellations { .. } => Method::Search,
            Scheme::Families { .. } | Scheme::Centre { .. } => Method::Meet,
        }
    }

    /// Refuses a specification whose version or parameters give no plan, and a plan so large that it must not even be derived.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        let Self { n, scheme, version } = *self;
        if version != CURRENT_VERSION {
            return Err(PlanError::UnknownVersion(version));
        }
        match scheme {
            Scheme::Constellations { grain: 0 } | Scheme::Centre { grain: Some(0), .. } => {
                Err(PlanError::NoGrain)
            }
            Scheme::Families { rows, group, sides }
                if rows > MOST_ROWS
                    || !(1..=MOST_IN_GROUP).contains(&group.into())
                    || u32::from(sides) > MOST_SIDES =>
            {
                Err(PlanError::NoSplit { rows, group, sides })
            }
            Scheme::Centre { columns, group, .. }
                if columns > MOST_COLUMNS || !(1..=MOST_IN_GROUP).contains(&group.into()) =>
            {
                Err(PlanError::NoCentre { columns, group })
            }
            Scheme::Constellations { grain } if constellations::exceeds(n, grain, MOST_UNITS) => {
                Err(self.too_many_units())
            }
            // Families that are split too far exceed the limit as they are derived, within a second or two.
            Scheme::Constellations { .. } | Scheme::Families { .. } | Scheme::Centre { .. } => Ok(()),
        }
    }

    /// Why a plan with more than [`MOST_UNITS`] is refused.
    pub(super) fn too_many_units(&self) -> PlanError {
        match self.scheme {
            Scheme::Constellations { grain } => PlanError::GrainTooSmall(grain),
            Scheme::Families { .. } | Scheme::Centre { .. } => PlanError::TooManyUnits,
        }
    }

    /// The specification of a new run on that board that suits a method.
    pub fn for_kernel(n: Board, method: Method) -> Self {
        match method {
            Method::Meet => Self::families(n),
            Method::Search => Self::new(n),
        }
    }

    /// The same for graphics cards, measured on one card: docs/gpu.md has the figures. Up to n = 21 units are
    /// larger, at least milliseconds of a card, because each unit has a fixed cost for host and card. From n
    /// = 21 to 25 the method meet places more queens than on a processor, of an outer row or of central
    /// columns: that gives more halves and fewer pairs.
    pub fn for_cards(n: Board, method: Method) -> Self {
        let planned = Self::for_kernel(n, method);
        let centre = |columns, grain| Scheme::Centre { columns, group: 1, grain: Some(grain) };
        let outer = |rows| Scheme::Families { rows, group: 1, sides: 0 };
        let scheme = match (method, n.n()) {
            (Method::Meet, 12..=20) | (Method::Search, 18..=21) => outer(0),
            (Method::Meet, 21) => outer(1),
            (Method::Meet, 22..=23) => centre(1, 1_000_000_000),
            (Method::Meet, 24) => centre(2, 1_000_000_000),
            (Method::Meet, 25) => centre(2, 4_000_000_000),
            _ => return planned,
        };
        Self { scheme, ..planned }
    }
}

/// The scheme by families for a board and its default parameters: whole columns, and from n = 16 on at least
/// some thousands of units. On one core with AVX-512 a unit takes at most seconds up to n = 23. It takes
/// about a minute on average at n = 24 to 27, six minutes at n = 28, and hours and more beyond.
/// docs/performance.md has the measurements.
fn scheme_by_families(board: Board) -> Scheme {
    let outer = |rows, group, sides| Scheme::Families { rows, group, sides };
    let centre = |columns, group, grain| Scheme::Centre { columns, group, grain };
    let even = |columns, grain| centre(columns, 1, Some(grain));
    match board.n() {
        0..=11 => outer(0, 1, 0),
        12..=15 => outer(0, 1, 2),
        16..=19 => outer(0, 1, 3),
        20 => outer(0, 1, 4),
        21..=22 => outer(0, 1, 5),
        23 => outer(0, 1, 6),
        24 => even(0, 1_000_000_000),
        25 => even(1, 2_000_000_000),
        26 => even(2, 2_600_000_000),
        27 => even(3, 5_300_000_000),
        28 => even(3, 31_000_000_000),
        29 => centre(4, 5, None),
        30 => centre(4, 6, None),
        31 => centre(4, 9, None),
        _ => centre(4, 11, None),
    }
}

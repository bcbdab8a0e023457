//! The reasons why runs cannot be merged, and their differences.

use std::path::PathBuf;

use queens::{Class, Classified, UnitId};
use thiserror::Error;

use crate::ledger::LedgerError;
use crate::run_directory::RunDirectoryError;
use crate::shard::Shard;
use crate::standing::RecordError;
use crate::store::StoreError;

/// Runs that cannot be joined.
#[derive(Debug, Error)]
pub enum MergeError {
    /// A directory is not usable.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// The directory for the result is not.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A ledger is damaged, or cannot be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// All parts together have more machines, kernels or completions than one run can have.
    #[error("the parts do not fit into one run: {0}")]
    Record(#[from] RecordError),
    /// A run has another plan.
    #[error("{} has {found}, but {} has {wanted}: only runs of one board and one plan can be joined", .path.display(), .first.display())]
    OtherPlan {
        /// The directory.
        path: PathBuf,
        /// Its board, if that differs, or else its plan and the plan's division into units.
        found: String,
        /// The directory that was named first.
        first: PathBuf,
        /// Its board or plan.
        wanted: String,
    },
    /// A run is named twice, or a copy of it.
    #[error("{} and {} are the same run, of {share}: name one of them", .one.display(), .other.display())]
    SameRun {
        /// The directory that was named first.
        one: PathBuf,
        /// The other run.
        other: PathBuf,
        /// The plan of both runs.
        share: Shard,
    },
    /// Runs differ in so many units that one of the runs must be wrong.
    #[error(
        "more than {most} units are in dispute: {first}; leave out the wrong run, or take its counts \
         back with diadem retract RUN --machine MACHINE --reason TEXT"
    )]
    Disputes {
        /// The maximum number of such units.
        most: usize,
        /// The first one in which runs differ.
        first: String,
    },
    /// A part is another one than when it was read first.
    #[error("the ledger of {} was changed while it was read; merge again", .0.display())]
    Rewritten(PathBuf),
    /// The directory for the result already holds a run.
    #[error("{} holds a run already; name a directory that does not", .0.display())]
    Occupied(PathBuf),
    /// The directory for the result is one of a run's own.
    #[error("{} would be in the run {}; name a directory outside of it", .out.display(), .run.display())]
    Within {
        /// The directory.
        out: PathBuf,
        /// The run.
        run: PathBuf,
    },
    /// The directory for the result is something else than a directory that can be renamed.
    #[error("{} is {what}, and the joint run cannot take its place: name a directory in it, as {}", .out.display(), .out.join("joint").display())]
    Irreplaceable {
        /// The directory.
        out: PathBuf,
        /// The kind of the existing file.
        what: &'static str,
    },
    /// The directory for the result is not empty.
    #[error("{} is not empty; name a directory that does not exist", .0.display())]
    NotEmpty(PathBuf),
}

impl Classified for MergeError {
    fn class(&self) -> Class {
        match self {
            Self::OtherPlan { .. }
            | Self::SameRun { .. }
            | Self::Occupied(_)
            | Self::Within { .. }
            | Self::Irreplaceable { .. }
            | Self::NotEmpty(_) => Class::Usage,
            Self::Ledger(_) | Self::Record(_) | Self::Disputes { .. } => Class::Unsound,
            Self::Directory(error) => error.class(),
            Self::Store(error) => error.class(),
            Self::Rewritten(_) => Class::Failed,
        }
    }
}

/// A unit that two runs have counted with different outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unit {unit}: {} has {found} by {by}, another run {standing} by {standing_by}", .path.display())]
pub struct Difference {
    /// The unit.
    pub unit: UnitId,
    /// One of the runs.
    pub path: PathBuf,
    /// Its count there,
    pub found: u64,
    /// and the machine that made it.
    pub by: String,
    /// The count of a run before,
    pub standing: u64,
    /// and the machine that made it.
    pub standing_by: String,
}

/// A part that does not believe whose counts are left out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{} does not believe {whom}", .path.display())]
pub struct Disbelief {
    /// The part.
    pub path: PathBuf,
    /// A machine, or an owner.
    pub whom: String,
    /// How many counts these have in all parts that are left out.
    pub left_out: u64,
}

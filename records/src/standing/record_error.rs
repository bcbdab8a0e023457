//! Why a record cannot stand where it does in its ledger.

use domain::Term;
use queens::{TallyError, UnitId};
use thiserror::Error;

use super::vote::{MAX_KERNELS, MAX_MACHINES};

/// A record that contradicts those before it, or that no run can have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecordError {
    /// It is about a unit of another shard, or of another plan.
    #[error("unit {0} is not in the run")]
    ForeignUnit(UnitId),
    /// Its count is more than [`MOST_COMPLETIONS`](super::MOST_COMPLETIONS).
    #[error("unit {unit} cannot have {count} completions")]
    Impossible {
        /// The unit.
        unit: UnitId,
        /// The count.
        count: u64,
    },
    /// The unit has a standing count already.
    #[error("unit {0} is counted a second time")]
    Repeated(UnitId),
    /// It speaks of a standing count where there is none.
    #[error("unit {0} has no standing count")]
    NotCounted(UnitId),
    /// It speaks of a standing count that is another.
    #[error("unit {unit} stands at {standing}, which this record calls {said}")]
    OtherCount {
        /// The unit.
        unit: UnitId,
        /// Its standing count.
        standing: u64,
        /// The value in the record.
        said: u64,
    },
    /// It takes back a count that stands, but not as it stands: by another, or counted otherwise.
    #[error("what is retracted of unit {0} is not the count that stands")]
    OtherVote(UnitId),
    /// It takes a count back because of a contradiction that there is not.
    #[error("unit {0} is taken back for a contradiction that there is not")]
    NotContradicted(UnitId),
    /// It checks a count that does not exist, or that is not the standing count.
    #[error("the check of unit {0} does not say whose count it confirms")]
    UnknownOrigin(UnitId),
    /// It retracts a confirmed count.
    #[error("unit {0} was counted twice independently and cannot be taken back")]
    Confirmed(UnitId),
    /// It takes a count back because of a quarantine that there is not.
    #[error("unit {0} is taken back from a machine that is not quarantined")]
    NotQuarantined(UnitId),
    /// It restores a contradicted or missing count.
    #[error("unit {0} is restored to a count that is not the only one believed")]
    Opposed(UnitId),
    /// It readmits a participant that is believed, or a machine whose owner is not.
    #[error("{0:?} is not quarantined, or its owner is expelled")]
    NotExpelled(String),
    /// It names a machine too many.
    #[error("{0:?} is one machine more than the {MAX_MACHINES} there can be")]
    TooManyMachines(String),
    /// It names a kernel too many.
    #[error("{0:?} is one kernel more than the {MAX_KERNELS} there can be")]
    TooManyKernels(String),
    /// It begins a term that is not younger than the one before.
    #[error("term {term} cannot follow term {last}")]
    TermNotHigher {
        /// As it says.
        term: u64,
        /// The last one on record.
        last: u64,
    },
    /// It begins a term that no process begins.
    #[error("term {0} is too high: they are below {end}", end = Term::END)]
    TermTooHigh(u64),
    /// The sums cannot be right with it.
    #[error(transparent)]
    Sums(#[from] TallyError),
}

//! The reason why a record is not valid at its place in the ledger.

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
    /// It refers to a standing count that does not exist.
    #[error("unit {0} has no standing count")]
    NotCounted(UnitId),
    /// It refers to another value than the standing count.
    #[error("unit {unit} stands at {standing}, which this record calls {said}")]
    OtherCount {
        /// The unit.
        unit: UnitId,
        /// Its standing count.
        standing: u64,
        /// The value in the record.
        said: u64,
    },
    /// It retracts the standing count with a wrong value, origin or way.
    #[error("what is retracted of unit {0} is not the count that stands")]
    OtherVote(UnitId),
    /// It retracts a count because of a contradiction that does not exist.
    #[error("unit {0} is taken back for a contradiction that there is not")]
    NotContradicted(UnitId),
    /// It checks a count that does not exist, or that is not the standing count.
    #[error("the check of unit {0} does not say whose count it confirms")]
    UnknownOrigin(UnitId),
    /// It retracts a confirmed count.
    #[error("unit {0} was counted twice independently and cannot be taken back")]
    Confirmed(UnitId),
    /// It retracts a count because of a quarantine that does not exist.
    #[error("unit {0} is taken back from a machine that is not quarantined")]
    NotQuarantined(UnitId),
    /// It restores a contradicted or missing count.
    #[error("unit {0} is restored to a count that is not the only one believed")]
    Opposed(UnitId),
    /// It readmits a participant that is believed, or a machine whose owner is not.
    #[error("{0:?} is not quarantined, or its owner is expelled")]
    NotExpelled(String),
    /// It exceeds the number of machines.
    #[error("{0:?} is one machine more than the {MAX_MACHINES} there can be")]
    TooManyMachines(String),
    /// It exceeds the number of kernels.
    #[error("{0:?} is one kernel more than the {MAX_KERNELS} there can be")]
    TooManyKernels(String),
    /// It draws units for own checks that the policy does not ask for.
    #[error("units are drawn for own checks, which the policy before does not name")]
    NoOwnChecks,
    /// It starts a term that is not higher than the term before.
    #[error("term {term} cannot follow term {last}")]
    TermNotHigher {
        /// As it says.
        term: u64,
        /// The last one on record.
        last: u64,
    },
    /// It starts a term beyond the maximum.
    #[error("term {0} is too high: they are below {end}", end = Term::END)]
    TermTooHigh(u64),
    /// The sums cannot be right with it.
    #[error(transparent)]
    Sums(#[from] TallyError),
}

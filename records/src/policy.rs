//! The permitted changes of a run's policy, at its start or while it is served: the checks can only increase, and the
//! number of followers is limited.

use queens::Classified;
use thiserror::Error;

use crate::double_check::{DoubleCheck, DoubleCheckError};

/// Maximum number of followers of a run.
pub const MOST_FOLLOWERS: usize = 16;

/// Why the policy is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// It is none.
    #[error(transparent)]
    NoPolicy(#[from] DoubleCheckError),
    /// A lower policy, which would make the answer seem better checked than it is.
    #[error(
        "this run checks {in_force}, which cannot be lowered to {asked}: leave out --double-check, ask \
         for more, or count in another run directory"
    )]
    Lowered {
        /// What holds.
        in_force: String,
        /// The requested policy.
        asked: String,
    },
    /// More followers than may be there.
    #[error("{0} followers cannot be waited for: at most {MOST_FOLLOWERS} may follow a run")]
    TooManyReplicas(u32),
    /// Own checks without an owner who makes them.
    #[error("own checks are made by the operator's machines: name their owner with --own NAME")]
    NoOperator,
    /// An owner of the operator's machines without own checks.
    #[error("{0:?} makes no own checks: add --own-checks 1%, for example")]
    NoOwnShare(String),
    /// The run has its answer, or the answer is withheld.
    #[error("the run has ended: start its coordinator again with another --double-check or --replicas")]
    HasEnded,
}

impl Classified for PolicyError {}

/// The requested policy, unless it is lower than the policy in force.
///
/// # Errors
/// It is less.
pub(crate) fn not_lowered(in_force: DoubleCheck, asked: DoubleCheck) -> Result<DoubleCheck, PolicyError> {
    if asked.strength() < in_force.strength() {
        return Err(PolicyError::Lowered { in_force: in_force.to_string(), asked: asked.to_string() });
    }
    Ok(asked)
}

/// The requested policy if it is higher than the policy in force.
///
/// # Errors
/// It is less than now, or no policy.
pub fn raised(in_force: DoubleCheck, asked: &str) -> Result<Option<DoubleCheck>, PolicyError> {
    let asked = not_lowered(in_force, asked.parse()?)?;
    Ok((asked.strength() > in_force.strength()).then_some(asked))
}

/// The number of followers that must have a record, if it is within the limit.
///
/// # Errors
/// They may not.
pub fn possible(replicas: u32) -> Result<u32, PolicyError> {
    if replicas as usize <= MOST_FOLLOWERS {
        Ok(replicas)
    } else {
        Err(PolicyError::TooManyReplicas(replicas))
    }
}

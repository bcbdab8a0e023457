//! What may be changed of the policy of a run that is there, with its start or while it is served: more can be checked than
//! before, not less, and as many followers waited for as there may be.

use queens::Classified;
use thiserror::Error;

use crate::double_check::{DoubleCheck, DoubleCheckError};

/// So many may follow a run at a time.
pub const MOST_FOLLOWERS: usize = 16;

/// Why the policy is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// It is none.
    #[error(transparent)]
    NoPolicy(#[from] DoubleCheckError),
    /// Whoever looks at the answer would think that more was checked than was.
    #[error(
        "this run checks {in_force}, and that may be raised only, not lowered to {asked}: leave --double-check out, ask for \
         more, or count in another run directory"
    )]
    Lowered {
        /// What holds.
        in_force: String,
        /// What was asked for.
        asked: String,
    },
    /// More followers than may be there.
    #[error("{0} followers cannot be waited for: at most {MOST_FOLLOWERS} may follow a run")]
    TooManyReplicas(u32),
    /// The answer is there, or withheld.
    #[error("the run has ended: start its coordinator again with another --double-check or --replicas")]
    HasEnded,
}

impl Classified for PolicyError {}

/// How counts are to be checked, if that is no less than now.
///
/// # Errors
/// It is less.
pub(crate) fn not_lowered(in_force: DoubleCheck, asked: DoubleCheck) -> Result<DoubleCheck, PolicyError> {
    if asked.strength() < in_force.strength() {
        return Err(PolicyError::Lowered { in_force: in_force.to_string(), asked: asked.to_string() });
    }
    Ok(asked)
}

/// How counts are to be checked, if that is more than now.
///
/// # Errors
/// It is less than now, or no policy.
pub fn raised(in_force: DoubleCheck, asked: &str) -> Result<Option<DoubleCheck>, PolicyError> {
    let asked = not_lowered(in_force, asked.parse()?)?;
    Ok((asked.strength() > in_force.strength()).then_some(asked))
}

/// The number of followers that must have a record, if so many may be there.
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

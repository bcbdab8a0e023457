//! What the operator changes of the policy while the run is served: how counts are checked, which may be raised only, and
//! how many followers must have a record, which may be lowered too. It stands in the ledger with the reason, and holds at
//! once.

use proto::{PolicyChange, PolicyInForce};
use thiserror::Error;
use tracing::warn;

use super::Keeper;
use super::ending::Stage;
use super::inbox::CallError;
use crate::double_check::{DoubleCheck, DoubleCheckError};
use crate::following::MOST_FOLLOWERS;
use crate::ledger::{Policy, Record, Replicas};

/// Why the policy is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// It is none.
    #[error(transparent)]
    NoPolicy(#[from] DoubleCheckError),
    /// Whoever looks at the answer would think that more was checked than was.
    #[error("this run checks {in_force}, and that may be raised only, not lowered to {asked}")]
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

impl Keeper {
    /// Puts the change on record and does as it says. What holds already is not recorded again.
    pub(super) fn change_policy(&mut self, change: &PolicyChange) -> Result<PolicyInForce, CallError> {
        if matches!(self.stage, Stage::Ended(_)) {
            return Err(PolicyError::HasEnded.into());
        }
        let raised = self.raised(change.double_check.as_deref())?;
        let replicas = self.other_replicas(change.replicas)?;
        let (at, reason) = (self.unix_time(), Some(change.reason.clone()));
        let policy = raised.map(|double_check| {
            let reason = reason.clone();
            Record::Policy(Policy { double_check, reason, at })
        });
        let on_disk = replicas.map(|replicas| Record::Replicas(Replicas { replicas, reason, at }));
        if policy.is_some() || on_disk.is_some() {
            let records: Vec<Record> = self.opening().into_iter().chain(policy).chain(on_disk).collect();
            self.record(&records)?;
            warn!(double_check = ?raised, replicas, reason = change.reason, "the operator changes the policy");
        }
        if let Some(replicas) = replicas {
            self.replicas.need(replicas);
        }
        Ok(PolicyInForce { double_check: self.core.policy().to_string(), replicas: self.replicas.count() })
    }

    /// How counts are to be checked, if that is more than now.
    fn raised(&self, asked: Option<&str>) -> Result<Option<DoubleCheck>, PolicyError> {
        let Some(asked) = asked else { return Ok(None) };
        let (asked, in_force) = (asked.parse::<DoubleCheck>()?, self.core.policy());
        if asked.strength() < in_force.strength() {
            return Err(PolicyError::Lowered { in_force: in_force.to_string(), asked: asked.to_string() });
        }
        Ok((asked.strength() > in_force.strength()).then_some(asked))
    }

    /// How many followers must have a record, if that is another number than now.
    fn other_replicas(&self, asked: Option<u32>) -> Result<Option<u32>, PolicyError> {
        match asked {
            Some(asked) if asked as usize > MOST_FOLLOWERS => Err(PolicyError::TooManyReplicas(asked)),
            asked => Ok(asked.filter(|asked| *asked != self.replicas.count())),
        }
    }
}

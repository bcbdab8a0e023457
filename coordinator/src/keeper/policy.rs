//! What the operator changes of the policy while the run is served: how counts are checked, which may be raised only, and
//! how many followers must have a record, which may be lowered too. It stands in the ledger with the reason, and holds at
//! once, though it is answered when as many followers as are needed from then on have it.

use domain::PolicyChange;
use records::DoubleCheck;
use records::ledger::{Policy, Record, Replicas};
use records::policy::{PolicyError, possible, raised};
use tracing::Level;

use super::Keeper;
use super::ending::Stage;
use super::inbox::CallError;
use crate::event::Event;

impl Keeper {
    /// Puts the change on record and does as it says. What holds already is not recorded again. Gives how counts are checked from now on.
    pub(super) fn change_policy(&mut self, change: &PolicyChange) -> Result<DoubleCheck, CallError> {
        // What is on its way first: whether it is checked was decided by the policy of before.
        self.commit();
        if matches!(self.stage, Stage::Ended(_)) {
            return Err(PolicyError::HasEnded.into());
        }
        let double_check = change.double_check.as_deref().map(|asked| raised(self.core.policy(), asked));
        let raised = double_check.transpose()?.flatten();
        let replicas = change.replicas.map(possible).transpose()?.filter(|k| *k != self.replicas.count());
        let (at, reason) = (self.unix_time(), Some(change.reason.clone()));
        let policy = raised.map(|double_check| {
            let reason = reason.clone();
            Record::Policy(Policy { double_check, reason, at })
        });
        let on_disk = replicas.map(|replicas| Record::Replicas(Replicas { replicas, reason, at }));
        if policy.is_some() || on_disk.is_some() {
            let records: Vec<Record> = self.opening().into_iter().chain(policy).chain(on_disk).collect();
            self.record(&records)?;
            let double_check = raised.map(|policy| format!("--double-check {policy}"));
            let replicas = replicas.map(|replicas| format!("--replicas {replicas}"));
            let options: Vec<_> = double_check.into_iter().chain(replicas).collect();
            let text = format!("the operator sets {}: {}", options.join(" "), change.reason);
            self.happened(Event::new(Level::WARN, "policy changed", text));
        }
        if let Some(replicas) = replicas {
            self.replicas.need(replicas);
        }
        Ok(self.core.policy())
    }
}

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
        let before = self.core.require_owners();
        let require_owners = change.require_owners.map_or(before, |owners| Some(owners).filter(|k| *k > 1));
        let is_changed = raised.is_some() || require_owners != before;
        let policy = is_changed.then(|| {
            let (double_check, reason) = (raised.unwrap_or(self.core.policy()), reason.clone());
            Record::Policy(Policy { double_check, require_owners, reason, at })
        });
        let on_disk = replicas.map(|replicas| Record::Replicas(Replicas { replicas, reason, at }));
        if policy.is_some() || on_disk.is_some() {
            let records: Vec<Record> = self.opening().into_iter().chain(policy).chain(on_disk).collect();
            self.record(&records)?;
            let double_check = raised.map(|policy| format!("--double-check {policy}"));
            let replicas = replicas.map(|replicas| format!("--replicas {replicas}"));
            let owners = change.require_owners.map(|owners| format!("--require-owners {owners}"));
            let options: Vec<_> = double_check.into_iter().chain(replicas).chain(owners).collect();
            let text = format!("the operator sets {}: {}", options.join(" "), change.reason);
            self.happened(Event::new(Level::WARN, "policy changed", text));
        }
        if let Some(replicas) = replicas {
            self.replicas.need(replicas);
        }
        Ok(self.core.policy())
    }
}

//! What the operator takes back while the run is served.

use std::sync::Arc;

use domain::{Takeback, Target};
use records::ledger::Record;
use records::shard::Shard;
use records::{NothingToRetract, retractions};
use tracing::Level;

use super::Keeper;
use super::ending::Stage;
use super::inbox::CallError;
use crate::event::Event;

impl Keeper {
    /// Puts on record what the operator takes back, and gives the number of counts that are taken back: of a machine or
    /// an owner in the rounds that follow.
    pub(super) fn retract(&mut self, takeback: &Takeback) -> Result<u64, CallError> {
        if matches!(self.stage, Stage::Ended(_)) {
            return Err(NothingToRetract::HasEnded.into());
        }
        // What is on its way first: it may be what is to be taken back.
        self.commit();
        let (plan, now) = (Arc::clone(self.core.plan()), self.unix_time());
        let mut records = retractions(&plan, Shard::default(), self.core.standing(), takeback, now)?;
        let units = records.iter().filter(|record| matches!(record, Record::Retract(_))).count() as u64;
        records.splice(0..0, self.opening());
        self.record(&records)?;
        let Takeback { target, reason, .. } = takeback;
        self.happened(match target {
            Target::Admission { .. } => {
                let text = format!("the operator believes {target} again: {reason}");
                Event::new(Level::WARN, "readmitted", text)
            }
            _ => Event::new(Level::WARN, "retracted", format!("the operator takes back {target}: {reason}")),
        });
        Ok(units + self.core.standing().unbelieved())
    }
}

//! Machines that were wrong: their workers are struck off, and what nobody has confirmed is counted again.

use proto::WorkerId;
use queens::UnitId;

use super::Core;
use super::recorded::Recording;
use crate::ledger::Record;
use crate::standing::UnitMark;

impl Core {
    /// Strikes off the workers of machines that are quarantined: they are refused when they register again.
    pub(super) fn expel(&mut self) {
        let quarantined = self.standing.sums().machines.quarantined().count();
        if quarantined == self.quarantined {
            return;
        }
        self.quarantined = quarantined;
        self.believed = 0;
        let expelled: Vec<WorkerId> = self.workers.on_machines(|machine| self.is_quarantined(machine));
        for worker in expelled {
            self.workers.remove(worker);
            self.leases.end_all_of(worker).into_iter().for_each(|unit| self.reopen(unit));
        }
    }

    /// Takes back up to `most` counts of quarantined machines that no other machine has confirmed. The records are to
    /// be written like those of [`judge`](Self::judge). What is not known yet is taken back once it is.
    pub fn take_back(&mut self, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = Vec::new();
        if self.standing.unbelieved() == 0 {
            return records;
        }
        while self.believed < self.plan.units() && records.len() < most {
            let unit = UnitId(self.believed);
            self.believed += 1;
            let Some(vote) = self.standing.vote(unit) else { continue };
            let is_believed = !self.standing.sums().machines.get(vote.origin.machine).is_quarantined();
            if is_believed || self.standing.is(UnitMark::Independent, unit) {
                continue;
            }
            if self.recording.contains_key(&unit) {
                // What is on its way may confirm it or take it back; look at it again.
                self.believed -= 1;
                break;
            }
            let retraction = self.retraction(unit, &vote, true, unix_time);
            self.recording.insert(unit, Recording::of(&retraction));
            records.push(Record::Retract(retraction));
        }
        records
    }
}

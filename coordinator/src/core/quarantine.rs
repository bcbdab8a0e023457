//! Machines and owners that were wrong: their workers are struck off, what nobody has confirmed is counted again, and what
//! only they have contradicted stands again.

use std::collections::BTreeSet;

use domain::WorkerId;
use queens::UnitId;
use records::ledger::{Record, Restoration, Retraction};
use records::standing::Vote;

use super::Core;
use super::recorded::Recording;

impl Core {
    /// Strikes off the workers of machines that are quarantined: they are refused when they register again.
    pub(super) fn expel(&mut self) {
        let trust_changes = self.standing.sums().machines.trust_changes();
        if trust_changes == self.trust_changes {
            return;
        }
        self.trust_changes = trust_changes;
        self.believed = 0;
        let expelled: Vec<WorkerId> = self.workers.on_machines(|machine| self.is_quarantined(machine));
        for worker in expelled {
            self.workers.remove(worker);
            self.leases.end_all_of(worker).into_iter().for_each(|unit| self.reopen(unit));
        }
        // Who may decide has changed.
        let disputed: Vec<UnitId> = self.standing.sums().disputed.keys().copied().collect();
        disputed
            .into_iter()
            .filter(|unit| !self.is_taken(*unit))
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|unit| self.reopen(unit));
        self.may_restore = true;
    }

    /// Up to `most` records that follow from those that are there: counts of quarantined machines that nobody else has
    /// confirmed are taken back, counts that only quarantined machines have contradicted stand again, and constellations
    /// whose counts contradict each other are disputed. The records are to be written like those of
    /// [`judge`](Self::judge). What is not known yet is taken back once it is.
    pub fn take_back(&mut self, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = self.retractions(unix_time, most);
        if self.may_restore && records.len() < most {
            records.extend(self.restorations(unix_time, most - records.len()));
        }
        if records.len() < most {
            records.extend(self.contradictions(unix_time));
        }
        records
    }

    fn retractions(&mut self, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = Vec::new();
        let is_anybody_struck = self.standing.sums().machines.trust_changes() > 0;
        if !is_anybody_struck || self.believed == self.plan.units() {
            return records;
        }
        if self.standing.unbelieved() == 0 {
            self.believed = self.plan.units();
            return records;
        }
        while self.believed < self.plan.units() && records.len() < most {
            let unit = UnitId(self.believed);
            self.believed += 1;
            let Some(vote) = self.standing.vote(unit) else { continue };
            if self.standing.is_believed(unit, &vote) {
                continue;
            }
            if self.recording.contains_key(&unit) {
                // What is on its way may confirm it or take it back; look at it again.
                self.believed -= 1;
                break;
            }
            let retraction =
                Retraction { quarantine: true, ..self.standing.retraction(unit, &vote, unix_time) };
            self.recording.insert(unit, Recording::of(&retraction));
            records.push(Record::Retract(retraction));
        }
        records
    }

    fn restorations(&mut self, unix_time: u64, most: usize) -> Vec<Record> {
        let disputed: Vec<UnitId> = self.standing.sums().disputed.keys().copied().collect();
        let mut records = Vec::new();
        // Whose machines may lose by what is restored before: what they have said may not be believed then.
        let mut losers = BTreeSet::new();
        for unit in disputed {
            if records.len() == most {
                return records;
            }
            if self.recording.contains_key(&unit) {
                continue;
            }
            let Some(vote) = self.standing.unopposed(unit) else { continue };
            let machines = &self.standing.sums().machines;
            let owner = |vote: &Vote| machines.get(vote.origin.machine).owner.clone();
            if self.standing.votes(unit).any(|vote| losers.contains(&owner(vote))) {
                continue;
            }
            // In the ledger equal votes confirm each other; those of a symmetric count are to be by both algorithms.
            let mut others = self.standing.votes(unit).filter(|other| **other != vote).peekable();
            if self.is_symmetric_count(unit)
                && others.peek().is_some()
                && !others.any(|other| self.confirms(unit, other, machines.making(&vote)))
            {
                continue;
            }
            if self.standing.votes(unit).any(|other| other.origin.machine != vote.origin.machine) {
                let all = self.standing.sums().disputed.get(&unit).into_iter().flatten();
                losers.extend(all.filter(|other| !machines.agree(other, &vote)).map(owner));
            }
            let told = self.standing.retraction(unit, &vote, unix_time);
            self.recording.insert(unit, Recording::of(&told));
            let Retraction { unit, count, nodes, owner, machine, kernel, mirrored, at, .. } = told;
            // Somebody has said otherwise, whoever it was.
            let recount = Some(self.certain_recount(unit));
            let restored = Restoration { unit, count, nodes, owner, machine, kernel, mirrored, recount, at };
            records.push(Record::Restore(restored));
        }
        self.may_restore = !records.is_empty();
        records
    }
}

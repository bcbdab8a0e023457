//! What follows when it changes who is believed: what only a quarantined machine has counted is counted again, what only quarantined
//! machines have contradicted stands again, and symmetric counts that cannot be right together are disputed.

use std::collections::BTreeSet;

use queens::UnitId;
use records::ledger::{Record, Restoration, Retraction};
use records::standing::{Standing, Vote};

use super::judge::{certain_recount, confirms_symmetric};
use super::{Recording, Votes};
use crate::core::workload::Workload;

/// What is still to be looked at.
#[derive(Debug)]
pub struct Pending {
    /// How often it had changed who is believed when that was last looked at.
    trust_changes: u64,
    /// No unit below has a count that is to be taken back.
    believed_below: u64,
    may_restore: bool,
    may_contradict: bool,
}

impl Default for Pending {
    fn default() -> Self {
        Self { trust_changes: 0, believed_below: 0, may_restore: true, may_contradict: true }
    }
}

impl Pending {
    /// Symmetric counts have changed.
    pub fn may_contradict(&mut self) {
        self.may_contradict = true;
    }

    /// Counts of quarantined machines are looked for from that unit on again.
    pub fn look_again_from(&mut self, unit: UnitId) {
        self.believed_below = self.believed_below.min(unit.0);
    }

    /// Whether it has changed who is believed since this was last asked.
    pub fn has_trust_changed(&mut self, standing: &Standing) -> bool {
        let changes = standing.sums().machines.trust_changes();
        let has_changed = std::mem::replace(&mut self.trust_changes, changes) != changes;
        if has_changed {
            (self.believed_below, self.may_restore) = (0, true);
        }
        has_changed
    }
}

impl Votes {
    /// Up to `most` records that follow from those that are there. What is not known yet is taken back once it is.
    pub fn take_back(&mut self, work: &Workload, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = self.retractions(work, unix_time, most);
        if self.pending.may_restore && records.len() < most {
            records.extend(self.restorations(work, unix_time, most - records.len()));
        }
        if records.len() < most {
            records.extend(self.contradictions(work, unix_time));
        }
        records
    }

    /// Takes back counts of quarantined machines that nobody else has confirmed.
    fn retractions(&mut self, work: &Workload, unix_time: u64, most: usize) -> Vec<Record> {
        let (units, mut records) = (work.plan().units(), Vec::new());
        let is_anybody_struck = self.standing.sums().machines.trust_changes() > 0;
        if !is_anybody_struck || self.pending.believed_below == units {
            return records;
        }
        if self.standing.unbelieved() == 0 {
            self.pending.believed_below = units;
            return records;
        }
        while self.pending.believed_below < units && records.len() < most {
            let unit = UnitId(self.pending.believed_below);
            self.pending.believed_below += 1;
            let Some(vote) = self.standing.vote(unit) else { continue };
            if self.standing.is_believed(unit, &vote) {
                continue;
            }
            if self.recording.contains_key(&unit) {
                // What is on its way may confirm it or take it back.
                self.pending.believed_below -= 1;
                break;
            }
            let retraction = self.standing.retraction(unit, &vote, unix_time);
            records.push(self.retract(Retraction { quarantine: true, ..retraction }));
        }
        records
    }

    fn retract(&mut self, retraction: Retraction) -> Record {
        self.recording.insert(retraction.unit, Recording::of(&retraction));
        Record::Retract(retraction)
    }

    /// Restores counts that nobody who is believed contradicts any more.
    fn restorations(&mut self, work: &Workload, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = Vec::new();
        // Owners who may lose a machine by what is restored before: what they have said may not be believed then.
        let mut losers = BTreeSet::new();
        for unit in self.disputed() {
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
            // In the ledger equal votes confirm each other; those of a symmetric count must be by both algorithms.
            let kernel = machines.kernel(vote.origin.kernel);
            let confirms =
                |other: &Vote| confirms_symmetric(work, unit, kernel, machines.kernel(other.origin.kernel));
            let mut others = self.standing.votes(unit).filter(|other| **other != vote).peekable();
            if others.peek().is_some() && !others.any(confirms) {
                continue;
            }
            if self.standing.votes(unit).any(|other| other.origin.machine != vote.origin.machine) {
                let all = self.standing.sums().disputed.get(&unit).into_iter().flatten();
                losers.extend(all.filter(|other| !machines.agree(other, &vote)).map(owner));
            }
            let told = self.standing.retraction(unit, &vote, unix_time);
            self.recording.insert(unit, Recording::of(&told));
            let Retraction { unit, count, nodes, owner, machine, kernel, mirrored, at, .. } = told;
            // Somebody has contradicted it, whoever it was.
            let recount = Some(certain_recount(work, unit));
            let restored = Restoration { unit, count, nodes, owner, machine, kernel, mirrored, recount, at };
            records.push(Record::Restore(restored));
        }
        self.pending.may_restore = !records.is_empty();
        records
    }

    /// Takes back the counts of the first constellation whose counts contradict each other: nobody knows which of them is wrong. That
    /// is done once for each constellation.
    fn contradictions(&mut self, work: &Workload, unix_time: u64) -> Vec<Record> {
        if !std::mem::take(&mut self.pending.may_contradict) {
            return Vec::new();
        }
        let Some(constellation) = self.standing.newly_contradicted() else { return Vec::new() };
        self.pending.may_contradict = true;
        let units = work.units_of_constellation(constellation);
        let is_known =
            |unit: &UnitId| self.standing.vote(*unit).is_some() && !self.recording.contains_key(unit);
        if !units.iter().all(is_known) {
            // They will be, after the audit or the next commit.
            return Vec::new();
        }
        let votes: Vec<_> =
            units.into_iter().filter_map(|unit| Some((unit, self.standing.vote(unit)?))).collect();
        let retraction = |(unit, vote)| {
            let retraction = self.standing.retraction(unit, &vote, unix_time);
            self.retract(Retraction { contradiction: true, ..retraction })
        };
        votes.into_iter().map(retraction).collect()
    }
}

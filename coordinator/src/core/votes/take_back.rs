//! Records that follow from a change of trust:
//!
//! - Counts made only by a quarantined machine are retracted.
//! - Counts contradicted only by quarantined machines are restored.
//! - Symmetric counts that cannot all be right are disputed.

use std::collections::BTreeSet;

use queens::UnitId;
use records::ledger::{Record, Restoration, Retraction};
use records::standing::{Standing, Vote};

use super::judge::{certain_recount, confirms_symmetric};
use super::{Recording, Votes};
use crate::core::workload::Workload;

/// The searches that are still to be made.
#[derive(Debug)]
pub struct PendingSearches {
    /// The number of trust changes at the last search.
    trust_changes: u64,
    /// No unit below this number has a count to be retracted.
    believed_below: u64,
    may_restore: bool,
    may_contradict: bool,
    may_doubt: bool,
}

impl Default for PendingSearches {
    fn default() -> Self {
        Self { trust_changes: 0, believed_below: 0, may_restore: true, may_contradict: true, may_doubt: true }
    }
}

impl PendingSearches {
    /// Requests a search for contradictions: symmetric counts have changed.
    pub fn look_for_contradictions(&mut self) {
        self.may_contradict = true;
    }

    /// Searches for counts of quarantined machines again from this unit on.
    pub fn look_again_from(&mut self, unit: UnitId) {
        self.believed_below = self.believed_below.min(unit.0);
    }

    /// True if units may have been counted only by machines that are not believed any more.
    pub fn may_doubt(&self) -> bool {
        self.may_doubt
    }

    /// Notes a search for such units, and whether it found none.
    pub fn have_doubted(&mut self, found_none: bool) {
        self.may_doubt = !found_none;
    }

    /// True if trust in a machine or owner has changed since the last call.
    pub fn take_trust_change(&mut self, standing: &Standing) -> bool {
        let changes = standing.sums().machines.trust_changes();
        let has_changed = std::mem::replace(&mut self.trust_changes, changes) != changes;
        if has_changed {
            (self.believed_below, self.may_restore, self.may_doubt) = (0, true, true);
        }
        has_changed
    }
}

impl Votes {
    /// Up to `most` records that follow from the state. Counts whose origin is not known yet follow later.
    pub fn take_back(&mut self, work: &Workload, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = self.retractions(work, unix_time, most);
        if self.searches.may_restore && records.len() < most {
            records.extend(self.restorations(work, unix_time, most - records.len()));
        }
        if records.len() < most {
            records.extend(self.contradictions(work, unix_time));
        }
        records
    }

    /// Retracts counts of quarantined machines that no other machine has confirmed.
    fn retractions(&mut self, work: &Workload, unix_time: u64, most: usize) -> Vec<Record> {
        let (units, mut records) = (work.plan().units(), Vec::new());
        let is_anybody_struck = self.standing.sums().machines.trust_changes() > 0;
        if !is_anybody_struck || self.searches.believed_below == units {
            return records;
        }
        if self.standing.unbelieved() == 0 {
            self.searches.believed_below = units;
            return records;
        }
        while self.searches.believed_below < units && records.len() < most {
            let unit = UnitId(self.searches.believed_below);
            self.searches.believed_below += 1;
            let Some(vote) = self.standing.vote(unit) else { continue };
            if self.standing.is_believed(unit, &vote) {
                continue;
            }
            if self.recording.contains_key(&unit) {
                // The count being written may confirm or retract it.
                self.searches.believed_below -= 1;
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

    /// Restores counts that no believed machine contradicts.
    fn restorations(&mut self, work: &Workload, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = Vec::new();
        // Owners that may lose a machine by an earlier restoration. Their votes may then no longer be believed.
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
            // In the ledger equal votes confirm each other. Votes on a symmetric count must come from both algorithms.
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
            // Another machine has contradicted the count, even if that machine is not believed.
            let recount = Some(certain_recount(work, unit));
            let restored = Restoration { unit, count, nodes, owner, machine, kernel, mirrored, recount, at };
            records.push(Record::Restore(restored));
        }
        self.searches.may_restore = !records.is_empty();
        records
    }

    /// Retracts the counts of the first constellation whose counts contradict each other: any of them may be wrong.
    /// Each constellation is retracted once.
    fn contradictions(&mut self, work: &Workload, unix_time: u64) -> Vec<Record> {
        if !std::mem::take(&mut self.searches.may_contradict) {
            return Vec::new();
        }
        let Some(constellation) = self.standing.newly_contradicted() else { return Vec::new() };
        self.searches.may_contradict = true;
        let units = work.units_of_constellation(constellation);
        let is_known =
            |unit: &UnitId| self.standing.vote(*unit).is_some() && !self.recording.contains_key(unit);
        if !units.iter().all(is_known) {
            // Their origins are known after the audit or the next commit.
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

//! Counts of a constellation with symmetry that cannot be right together: nobody knows which of them is wrong, so all are
//! disputed, and counted again by others or in another way.

use queens::Summand;
use queens::UnitId;
use records::ledger::{Record, Retraction};

use super::Core;
use super::recorded::Recording;

impl Core {
    /// Takes back the counts of the first constellation whose counts contradict each other, unless that was done before.
    pub(super) fn contradictions(&mut self, unix_time: u64) -> Vec<Record> {
        if !std::mem::take(&mut self.may_contradict) {
            return Vec::new();
        }
        let Some(member) = self.standing.newly_contradicted() else { return Vec::new() };
        let units = self.units_of_member(member);
        let is_known =
            |unit: &UnitId| self.standing.vote(*unit).is_some() && !self.recording.contains_key(unit);
        if !units.iter().all(is_known) {
            // They will be, after the audit or the next commit.
            self.may_contradict = true;
            return Vec::new();
        }
        let mut records = Vec::new();
        for unit in units {
            let Some(vote) = self.standing.vote(unit) else { continue };
            let retraction =
                Retraction { contradiction: true, ..self.standing.retraction(unit, &vote, unix_time) };
            self.recording.insert(unit, Recording::of(&retraction));
            records.push(Record::Retract(retraction));
        }
        self.may_contradict = true;
        records
    }

    /// Whether the unit is of a constellation whose counts were disputed for that.
    pub(super) fn was_contradicted(&self, unit: UnitId) -> bool {
        let Summand::Symmetric(member, _) = self.plan.summand(unit) else { return false };
        self.standing.sums().contradicted.contains(&member)
    }

    pub(super) fn units_of_member(&self, member: u32) -> Vec<UnitId> {
        let is_of_member = |summand| matches!(summand, Summand::Symmetric(of, _) if of == member);
        let ranges = self.plan.unit_ranges().filter(|range| is_of_member(range.summand));
        ranges.flat_map(|range| range.units).map(UnitId).filter(|unit| self.shard.contains(*unit)).collect()
    }
}

//! What one record changes: the fold over a ledger.

use queens::{Plan, UnitId};

use super::{MOST_COMPLETIONS, MachineId, RecordError, Standing, UnitMark, Vote};
use crate::ledger::{Record, Recount, Retraction, UnitRecord};
use crate::shard::Shard;

impl Standing {
    /// Adds one record.
    ///
    /// # Errors
    /// It cannot stand where it does. What was added up is of no use any more.
    pub fn apply(&mut self, plan: &Plan, shard: Shard, record: &Record) -> Result<(), RecordError> {
        let unit = match record {
            Record::Count(r) | Record::Check(r) | Record::Conflict(r) => r.unit,
            Record::Retract(r) => r.unit,
            Record::Mark(_) => return Ok(()),
        };
        if unit.0 >= plan.units() || !shard.contains(unit) {
            return Err(RecordError::ForeignUnit(unit));
        }
        match record {
            Record::Count(r) => self.stand(plan, r),
            Record::Check(r) => self.check(r),
            Record::Conflict(r) => self.contradict(r),
            Record::Retract(r) => self.retract(plan, r),
            Record::Mark(_) => Ok(()),
        }
    }

    fn vote_of(&mut self, r: &UnitRecord) -> Result<Vote, RecordError> {
        self.sums.cpu_us = self.sums.cpu_us.saturating_add(r.cpu_us);
        let origin = self.sums.machines.origin(&r.machine, &r.kernel, r.mirrored)?;
        Ok(Vote { count: r.count, nodes: r.nodes, origin })
    }

    fn stand(&mut self, plan: &Plan, r: &UnitRecord) -> Result<(), RecordError> {
        let (unit, vote) = (r.unit, self.vote_of(r)?);
        if r.count > MOST_COMPLETIONS {
            return Err(RecordError::Impossible { unit, count: r.count });
        }
        if !self.marks.of_mut(UnitMark::Done).insert(unit.0) {
            return Err(RecordError::Repeated(unit));
        }
        self.counts.set(unit, &vote);
        self.sums.work += u128::from(plan.weight(unit));
        let machine = self.sums.machines.get_mut(vote.origin.machine);
        machine.counts += 1;
        machine.unverified += 1;
        machine.trials += u64::from(r.recount == Some(Recount::Trial));
        if r.recount.is_some() {
            self.marks.of_mut(UnitMark::Due).insert(unit.0);
        }
        if r.recount == Some(Recount::Sample) {
            self.marks.of_mut(UnitMark::Sampled).insert(unit.0);
        }
        self.decide(unit, &vote);
        Ok(self.sums.tally.add(plan.summand(unit), r.count)?)
    }

    fn check(&mut self, r: &UnitRecord) -> Result<(), RecordError> {
        let vote = self.vote_of(r)?;
        self.expect_standing(r.unit, r.count)?;
        let of = r.of.as_deref().and_then(|of| self.sums.machines.number(of));
        let of = of.ok_or(RecordError::UnknownOrigin(r.unit))?;
        self.sums.checks += 1;
        self.confirm(r.unit, of, vote.origin.machine);
        Ok(())
    }

    /// The unit's standing count, made by one machine, was made again by the other, or by the same.
    pub(super) fn confirm(&mut self, unit: UnitId, of: MachineId, by: MachineId) {
        self.marks.of_mut(UnitMark::Due).remove(unit.0);
        if self.marks.of_mut(UnitMark::Checked).insert(unit.0) && self.is(UnitMark::Sampled, unit) {
            self.sums.sampled += 1;
        }
        if of != by && self.marks.of_mut(UnitMark::Independent).insert(unit.0) {
            let machine = self.sums.machines.get_mut(of);
            machine.unverified = machine.unverified.saturating_sub(1);
            machine.verified += 1;
            self.sums.machines.get_mut(by).verified += 1;
        }
    }

    fn contradict(&mut self, r: &UnitRecord) -> Result<(), RecordError> {
        let (unit, vote) = (r.unit, self.vote_of(r)?);
        self.sums.conflicts += 1;
        if self.is(UnitMark::Independent, unit) {
            // Two machines have said otherwise already.
            self.sums.machines.get_mut(vote.origin.machine).wrong += 1;
        } else {
            self.sums.disputed.entry(unit).or_default().push(vote);
        }
        Ok(())
    }

    fn retract(&mut self, plan: &Plan, r: &Retraction) -> Result<(), RecordError> {
        let unit = r.unit;
        self.expect_standing(unit, r.count)?;
        if self.is(UnitMark::Independent, unit) {
            return Err(RecordError::Confirmed(unit));
        }
        let origin = self.sums.machines.origin(&r.machine, &r.kernel, r.mirrored)?;
        let machine = self.sums.machines.get_mut(origin.machine);
        machine.counts = machine.counts.saturating_sub(1);
        machine.unverified = machine.unverified.saturating_sub(1);
        if self.is(UnitMark::Sampled, unit) {
            self.sums.sampled -= u64::from(self.is(UnitMark::Checked, unit));
            self.sums.refuted += u64::from(!r.quarantine);
        }
        for mark in UnitMark::ALL {
            self.marks.of_mut(mark).remove(unit.0);
        }
        self.counts.forget(unit);
        if !r.quarantine {
            let vote = Vote { count: r.count, nodes: r.nodes, origin };
            self.sums.disputed.entry(unit).or_default().push(vote);
        }
        self.sums.work -= u128::from(plan.weight(unit));
        Ok(self.sums.tally.remove(plan.summand(unit), r.count)?)
    }

    fn expect_standing(&self, unit: UnitId, count: u64) -> Result<(), RecordError> {
        match self.count(unit) {
            Some(standing) if standing != count => {
                Err(RecordError::OtherCount { unit, standing, said: count })
            }
            _ if self.is_done(unit) => Ok(()),
            _ => Err(RecordError::NotCounted(unit)),
        }
    }
}

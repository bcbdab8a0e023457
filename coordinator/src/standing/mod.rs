//! What the records of a ledger add up to.
//!
//! The same fold serves the running coordinator, the resumption from a checkpoint and the audit, so that none of them
//! can understand a record differently. Who is to be believed follows from it too: two equal counts from different
//! machines decide a dispute, and a machine that lost one is quarantined.

mod counts;
mod machines;
mod marks;
mod vote;

use std::collections::BTreeMap;

use queens::{Plan, Tally, UnitId};
use serde::{Deserialize, Serialize};

use crate::bitmap::Bitmap;
use crate::double_check::DoubleCheck;
use crate::ledger::{Record, Recount, Retraction, UnitRecord};
use crate::shard::Shard;
use counts::Counts;
pub use counts::MOST_COMPLETIONS;
pub use machines::{Machine, Machines};
pub use marks::{Mark, Marks};
pub use vote::{MachineId, Origin, Vote};

/// The units on record, their counts and sums.
#[derive(Clone, Debug)]
pub struct Standing {
    marks: Marks,
    counts: Counts,
    sums: Sums,
}

/// The sums of the records: small, and part of the checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// The partial totals.
    pub tally: Tally,
    /// Processor time of all records in microseconds.
    pub cpu_us: u64,
    /// Expected work of the units on record, in search nodes.
    pub work: u128,
    /// Checks: second counts equal to the first.
    pub checks: u64,
    /// Units drawn at random whose standing count was checked.
    pub sampled: u64,
    /// Those of which it was contradicted.
    pub refuted: u64,
    /// Counts that contradicted a standing one, or all others of a disputed unit.
    pub conflicts: u64,
    /// Units without a standing count because counts disagree, with all of these.
    pub disputed: BTreeMap<UnitId, Vec<Vote>>,
    /// Who has counted.
    pub machines: Machines,
}

impl Standing {
    /// Nothing on record.
    pub fn new(plan: &Plan) -> Self {
        let sums = Sums {
            tally: Tally::new(plan.symmetric_members()),
            cpu_us: 0,
            work: 0,
            checks: 0,
            sampled: 0,
            refuted: 0,
            conflicts: 0,
            disputed: BTreeMap::new(),
            machines: Machines::default(),
        };
        Self::restored(plan, Marks::new(plan.units()), sums)
    }

    /// As a checkpoint kept it: what is known of each unit, but not what was counted in it, and by whom.
    pub fn restored(plan: &Plan, marks: Marks, sums: Sums) -> Self {
        Self { marks, counts: Counts::new(plan.units()), sums }
    }

    /// Whether the unit has a standing count.
    pub fn is_done(&self, unit: UnitId) -> bool {
        self.is(Mark::Done, unit)
    }

    /// Whether the unit has that mark.
    pub fn is(&self, mark: Mark, unit: UnitId) -> bool {
        self.marks.of(mark).contains(unit.0)
    }

    /// How many units have a standing count.
    pub fn done(&self) -> u64 {
        self.marked(Mark::Done)
    }

    /// How many units have that mark.
    pub fn marked(&self, mark: Mark) -> u64 {
        self.marks.of(mark).len()
    }

    /// The unit's standing count, where it has one and it has been read.
    pub fn count(&self, unit: UnitId) -> Option<u64> {
        self.counts.count(unit).filter(|_| self.is_done(unit))
    }

    /// The same with its origin.
    pub fn vote(&self, unit: UnitId) -> Option<Vote> {
        self.counts.vote(unit).filter(|_| self.is_done(unit))
    }

    /// Whether the unit's count is still to be checked.
    pub fn is_pending(&self, unit: UnitId, policy: DoubleCheck) -> bool {
        match policy {
            DoubleCheck::None => false,
            DoubleCheck::Share(_) => self.is(Mark::Due, unit),
            DoubleCheck::All => self.is_done(unit) && !self.is(Mark::Checked, unit),
        }
    }

    /// How many counts are.
    pub fn pending(&self, policy: DoubleCheck) -> u64 {
        match policy {
            DoubleCheck::None => 0,
            DoubleCheck::Share(_) => self.marked(Mark::Due),
            DoubleCheck::All => self.done() - self.marked(Mark::Checked),
        }
    }

    /// Whether nothing is left to be counted, checked or taken back.
    pub fn is_settled(&self, plan: &Plan, shard: Shard, policy: DoubleCheck) -> bool {
        self.done() == shard.size(plan.units()) && self.pending(policy) == 0 && self.unbelieved() == 0
    }

    /// How many standing counts of quarantined machines nobody has confirmed: they are to be taken back.
    pub fn unbelieved(&self) -> u64 {
        self.sums.machines.quarantined().map(|machine| machine.unverified).sum()
    }

    /// The disputed unit's counts from machines that can be believed.
    pub fn votes(&self, unit: UnitId) -> impl Iterator<Item = &Vote> {
        let votes = self.sums.disputed.get(&unit).into_iter().flatten();
        votes.filter(|vote| !self.sums.machines.get(vote.origin.machine).is_quarantined())
    }

    /// The sums.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// What is known of each unit, for the checkpoint.
    pub fn marks(&mut self) -> &mut Marks {
        &mut self.marks
    }

    /// The first unit of the shard without a standing count.
    pub fn first_missing(&self, shard: Shard) -> Option<UnitId> {
        self.counts.units().find(|unit| shard.contains(*unit) && !self.is_done(*unit))
    }

    /// Marks a unit as counted without adding it up: for comparisons.
    pub(crate) fn learn_count(&mut self, unit: UnitId, count: u64) {
        self.marks.of_mut(Mark::Done).insert(unit.0);
        let nobody = Origin { machine: MachineId(0), kernel: 0, mirrored: false };
        self.counts.set(unit, &Vote { count, nodes: 0, origin: nobody });
    }

    /// Takes over counts that another standing of the same run has read. Both have seen the same first records, so
    /// their numbers of machines and kernels are the same.
    pub fn learn_counts(&mut self, other: &Standing) {
        self.counts.learn(&other.counts);
    }

    /// Adds one record; an error says why it cannot stand where it does.
    pub fn apply(&mut self, plan: &Plan, shard: Shard, record: &Record) -> Result<(), String> {
        let unit = match record {
            Record::Count(r) | Record::Check(r) | Record::Conflict(r) => r.unit,
            Record::Retract(r) => r.unit,
            Record::Mark(_) => return Ok(()),
        };
        if unit.0 >= plan.units() || !shard.contains(unit) {
            return Err(format!("unit {unit} is not in the run"));
        }
        match record {
            Record::Count(r) => self.stand(plan, r),
            Record::Check(r) => self.check(r),
            Record::Conflict(r) => self.contradict(r),
            Record::Retract(r) => self.retract(plan, r),
            Record::Mark(_) => Ok(()),
        }
    }

    fn vote_of(&mut self, r: &UnitRecord) -> Result<Vote, String> {
        self.sums.cpu_us = self.sums.cpu_us.saturating_add(r.cpu_us);
        let origin = self.sums.machines.origin(&r.machine, &r.kernel, r.mirrored)?;
        Ok(Vote { count: r.count, nodes: r.nodes, origin })
    }

    fn stand(&mut self, plan: &Plan, r: &UnitRecord) -> Result<(), String> {
        let (unit, vote) = (r.unit, self.vote_of(r)?);
        if r.count > MOST_COMPLETIONS {
            return Err(format!("unit {unit} cannot have {} completions", r.count));
        }
        if !self.marks.of_mut(Mark::Done).insert(unit.0) {
            return Err(format!("unit {unit} is counted a second time"));
        }
        self.counts.set(unit, &vote);
        self.sums.work += u128::from(plan.weight(unit));
        let machine = self.sums.machines.get_mut(vote.origin.machine);
        machine.counts += 1;
        machine.unverified += 1;
        machine.trials += u64::from(r.recount == Some(Recount::Trial));
        if r.recount.is_some() {
            self.marks.of_mut(Mark::Due).insert(unit.0);
        }
        if r.recount == Some(Recount::Sample) {
            self.marks.of_mut(Mark::Sampled).insert(unit.0);
        }
        self.decide(unit, &vote);
        self.sums.tally.add(plan.summand(unit), r.count).map_err(|error| error.to_string())
    }

    /// Ends the dispute about a unit, if there was one, by its new standing count.
    fn decide(&mut self, unit: UnitId, vote: &Vote) {
        let believed: Vec<Vote> =
            self.votes(unit).filter(|other| self.sums.machines.agree(other, vote)).copied().collect();
        let votes = self.sums.disputed.remove(&unit).unwrap_or_default();
        let another = believed.iter().find(|other| other.origin.machine != vote.origin.machine);
        if let Some(another) = another {
            self.confirm(unit, vote.origin.machine, another.origin.machine);
            let mut losers: Vec<_> = votes
                .iter()
                .filter(|other| self.loses(other, vote, &believed))
                .map(|v| v.origin.machine)
                .collect();
            losers.sort_unstable();
            losers.dedup();
            losers.into_iter().for_each(|loser| self.sums.machines.get_mut(loser).wrong += 1);
        } else if !believed.is_empty() {
            self.confirm(unit, vote.origin.machine, vote.origin.machine);
        }
    }

    /// Whether a vote was wrong, now that another and those who agree with it have decided. Nodes say nothing against
    /// a machine that is among these: one of them may have counted by another method, and its nodes are not compared.
    fn loses(&self, vote: &Vote, decisive: &Vote, believed: &[Vote]) -> bool {
        let machine = vote.origin.machine;
        let is_winner = machine == decisive.origin.machine
            || believed.iter().any(|other| other.origin.machine == machine);
        vote.count != decisive.count || (!self.sums.machines.agree(vote, decisive) && !is_winner)
    }

    fn check(&mut self, r: &UnitRecord) -> Result<(), String> {
        let vote = self.vote_of(r)?;
        self.expect_standing(r.unit, r.count)?;
        let of = r.of.as_deref().and_then(|of| self.sums.machines.number(of));
        let of =
            of.ok_or_else(|| format!("the check of unit {} does not say whose count it confirms", r.unit))?;
        self.sums.checks += 1;
        self.confirm(r.unit, of, vote.origin.machine);
        Ok(())
    }

    /// The unit's standing count, made by one machine, was made again by the other, or by the same.
    fn confirm(&mut self, unit: UnitId, of: MachineId, by: MachineId) {
        self.marks.of_mut(Mark::Due).remove(unit.0);
        if self.marks.of_mut(Mark::Checked).insert(unit.0) && self.is(Mark::Sampled, unit) {
            self.sums.sampled += 1;
        }
        if of != by && self.marks.of_mut(Mark::Independent).insert(unit.0) {
            let machine = self.sums.machines.get_mut(of);
            machine.unverified = machine.unverified.saturating_sub(1);
            machine.verified += 1;
            self.sums.machines.get_mut(by).verified += 1;
        }
    }

    fn contradict(&mut self, r: &UnitRecord) -> Result<(), String> {
        let (unit, vote) = (r.unit, self.vote_of(r)?);
        self.sums.conflicts += 1;
        if self.is(Mark::Independent, unit) {
            // Two machines have said otherwise already.
            self.sums.machines.get_mut(vote.origin.machine).wrong += 1;
        } else {
            self.sums.disputed.entry(unit).or_default().push(vote);
        }
        Ok(())
    }

    fn retract(&mut self, plan: &Plan, r: &Retraction) -> Result<(), String> {
        let unit = r.unit;
        self.expect_standing(unit, r.count)?;
        if self.is(Mark::Independent, unit) {
            return Err(format!(
                "unit {unit} was counted twice on different machines and cannot be taken back"
            ));
        }
        let origin = self.sums.machines.origin(&r.machine, &r.kernel, r.mirrored)?;
        let machine = self.sums.machines.get_mut(origin.machine);
        machine.counts = machine.counts.saturating_sub(1);
        machine.unverified = machine.unverified.saturating_sub(1);
        if self.is(Mark::Sampled, unit) {
            self.sums.sampled -= u64::from(self.is(Mark::Checked, unit));
            self.sums.refuted += u64::from(!r.quarantine);
        }
        for mark in Mark::ALL {
            self.marks.of_mut(mark).remove(unit.0);
        }
        self.counts.forget(unit);
        if !r.quarantine {
            let vote = Vote { count: r.count, nodes: r.nodes, origin };
            self.sums.disputed.entry(unit).or_default().push(vote);
        }
        self.sums.work -= u128::from(plan.weight(unit));
        self.sums.tally.remove(plan.summand(unit), r.count).map_err(|error| error.to_string())
    }

    fn expect_standing(&self, unit: UnitId, count: u64) -> Result<(), String> {
        match self.count(unit) {
            Some(standing) if standing != count => {
                Err(format!("unit {unit} stands at {standing}, which this record calls {count}"))
            }
            _ if self.is_done(unit) => Ok(()),
            _ => Err(format!("unit {unit} has no standing count")),
        }
    }

    /// The units that have a mark, ascending.
    pub fn units_with(&self, mark: Mark) -> impl Iterator<Item = UnitId> + '_ {
        let bits: &Bitmap = self.marks.of(mark);
        bits.iter().map(UnitId)
    }
}

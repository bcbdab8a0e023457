//! The standing: the result of all records of a ledger.
//!
//! The running coordinator, the resumption from a checkpoint and the audit use the same fold, so they cannot interpret
//! a record differently. Trust follows from it, too. Two equal counts of different owners decide a dispute; if all
//! machines belong to one owner, two counts of different machines do. A machine that loses a dispute is quarantined.

mod adopt;
mod apply;
mod bitmap;
mod counts;
mod credits;
mod degree;
mod disputes;
mod draws;
mod history;
mod identity;
mod incidents;
mod lack;
mod machine;
mod machines;
mod marks;
mod own;
mod processor_time;
mod record_error;
mod sums;
mod trust;
mod vote;

use std::ops::Range;

use queens::known::Symmetric;
use queens::{Plan, UnitId};

use crate::double_check::DoubleCheck;
use crate::policy::{PolicyError, not_lowered};
use crate::shard::Shard;
use bitmap::Bitmap;
use counts::Counts;
pub use counts::MOST_COMPLETIONS;
pub use credits::{Account, Accounts};
pub use degree::{Degree, are_several_owners};
pub use history::{History, Milestone, usual_step};
pub use identity::Identity;
pub use incidents::{Incident, Incidents};
pub use lack::Lack;
pub use machine::{Machine, Trust};
pub use machines::Machines;
pub use marks::{Marks, UnitMark};
pub use processor_time::{SLOWER, Took};
pub use record_error::RecordError;
pub use sums::Sums;
pub use vote::{MachineId, Making, Origin, Vote};

/// The units on record, their counts and sums.
#[derive(Clone, Debug)]
pub struct Standing {
    marks: Marks,
    counts: Counts,
    sums: Sums,
}

impl Standing {
    /// A standing without records.
    pub fn new(plan: &Plan) -> Self {
        Self::restored(plan, Marks::new(plan.units()), Sums::new(plan))
    }

    /// The standing in a checkpoint: the marks of all units, without their counts and origins.
    pub fn restored(plan: &Plan, marks: Marks, sums: Sums) -> Self {
        Self { marks, counts: Counts::new(plan.units()), sums }
    }

    /// Whether the unit has a standing count.
    pub fn is_done(&self, unit: UnitId) -> bool {
        self.is(UnitMark::Done, unit)
    }

    /// Whether the unit has that mark.
    pub fn is(&self, mark: UnitMark, unit: UnitId) -> bool {
        self.marks.of(mark).contains(unit.0)
    }

    /// How many units have a standing count.
    pub fn done(&self) -> u64 {
        self.marked(UnitMark::Done)
    }

    /// How many units have that mark.
    pub fn marked(&self, mark: UnitMark) -> u64 {
        self.marks.of(mark).len()
    }

    /// The unit's standing count, if it has one and it has been read.
    pub fn count(&self, unit: UnitId) -> Option<u64> {
        self.counts.count(unit).filter(|_| self.is_done(unit))
    }

    /// The unit's standing count with its origin, if it has one and it has been read.
    pub fn vote(&self, unit: UnitId) -> Option<Vote> {
        self.counts.vote(unit).filter(|_| self.is_done(unit))
    }

    /// How many units of a range have a standing count.
    pub fn done_within(&self, units: Range<u64>) -> u64 {
        self.marks.of(UnitMark::Done).len_within(units)
    }

    /// Whether the unit's count is still to be checked.
    pub fn is_pending(&self, unit: UnitId, policy: DoubleCheck) -> bool {
        match policy {
            DoubleCheck::None | DoubleCheck::Share(_) => self.is(UnitMark::Due, unit),
            DoubleCheck::All => self.is_done(unit) && !self.is(UnitMark::Checked, unit),
        }
    }

    /// How many counts are.
    pub fn pending(&self, policy: DoubleCheck) -> u64 {
        match policy {
            DoubleCheck::None | DoubleCheck::Share(_) => self.marked(UnitMark::Due),
            DoubleCheck::All => self.done() - self.marked(UnitMark::Checked),
        }
    }

    /// How many standing counts are still to be checked by the policy on record, if there is one.
    pub fn pending_on_record(&self) -> u64 {
        let pending = match self.sums.policy {
            None | Some(DoubleCheck::None) => 0,
            Some(policy) => self.pending(policy),
        };
        pending + self.own_left()
    }

    /// Whether each unit of the shard has a standing count.
    pub fn is_counted(&self, plan: &Plan, shard: Shard) -> bool {
        self.done() == shard.size(plan.units())
    }

    /// True if no unit must still be counted, checked or retracted.
    pub fn is_settled(&self, plan: &Plan, shard: Shard, policy: DoubleCheck) -> bool {
        self.is_counted(plan, shard)
            && self.pending(policy) == 0
            && self.unbelieved() == 0
            && self.own_left() == 0
            && self.sums.machines.suspended().next().is_none()
            && self.newly_contradicted().is_none()
    }

    /// The first constellation whose counts contradict each other and have not been retracted for that reason. If
    /// retracted counts were confirmed again, only a person can find the error.
    pub fn newly_contradicted(&self) -> Option<u32> {
        self.sums.tally.contradicted().find(|member| !self.sums.contradicted.contains(member))
    }

    /// P and R, once every symmetric count of the plan stands and none is still to be checked or retracted.
    pub fn symmetric(&self, plan: &Plan, policy: DoubleCheck) -> Option<Symmetric> {
        let counts = plan.symmetric_counts();
        let is_settled = self.done_within(0..counts) == counts
            && !(0..counts).any(|unit| self.is_pending(UnitId(unit), policy))
            && self.sums.disputed.range(..UnitId(counts)).next().is_none()
            && self.unbelieved() == 0;
        if is_settled { self.sums.tally.symmetric() } else { None }
    }

    /// The number of unconfirmed standing counts of quarantined machines, which must be retracted.
    pub fn unbelieved(&self) -> u64 {
        self.sums.machines.iter().map(Machine::unbelieved).sum()
    }

    /// How counts are checked: as the ledger says, or as usual.
    pub fn policy(&self) -> DoubleCheck {
        self.sums.policy.unwrap_or_default()
    }

    /// How counts are checked from a start on: as asked for, where the ledger does not say more.
    ///
    /// # Errors
    /// It says more.
    pub fn policy_at_start(&self, asked: Option<DoubleCheck>) -> Result<DoubleCheck, PolicyError> {
        match (self.sums.policy, asked) {
            (Some(on_record), Some(asked)) => not_lowered(on_record, asked),
            (on_record, asked) => Ok(asked.or(on_record).unwrap_or_default()),
        }
    }

    /// The last term on record; 0 where there is none.
    pub fn term(&self) -> u64 {
        self.sums.term.as_ref().map_or(0, |(term, _)| *term)
    }

    /// How many followers must have a record before it is acknowledged: as given, or as the ledger says, or none.
    pub fn replicas(&self, given: Option<u32>) -> u32 {
        given.or(self.sums.replicas).unwrap_or(0)
    }

    /// The sums.
    pub fn sums(&self) -> &Sums {
        &self.sums
    }

    /// The marks of all units, for the checkpoint.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// The first unit of the shard without a standing count.
    pub fn first_missing(&self, shard: Shard) -> Option<UnitId> {
        self.counts.units().find(|unit| shard.contains(*unit) && !self.is_done(*unit))
    }

    /// Marks a unit as counted without adding it up.
    #[cfg(test)]
    pub(crate) fn adopt_count(&mut self, unit: UnitId, count: u64) {
        self.marks.of_mut(UnitMark::Done).insert(unit.0);
        let nobody = Origin { machine: MachineId(0), kernel: 0, mirrored: false };
        self.counts.set(unit, &Vote { count, nodes: 0, origin: nobody });
    }

    /// Takes over counts that another standing of the same run has read. Both have seen the same first records, so
    /// their numbers of machines and kernels are the same.
    pub fn adopt_counts(&mut self, other: &Standing) {
        self.counts.adopt(&other.counts);
    }

    /// The units that have a mark, ascending.
    pub fn units_with(&self, mark: UnitMark) -> impl Iterator<Item = UnitId> + '_ {
        let bits: &Bitmap = self.marks.of(mark);
        bits.iter().map(UnitId)
    }
}

//! What a reported count means, by what is known of its unit.
//!
//! ```text
//! not lent to who reports it:                    unwanted
//! no standing count:
//!     not in dispute                             it stands, and may have to be checked
//!     in dispute, and another owner agrees       it stands, and those who said otherwise were wrong (a symmetric
//!                                                count if it is by the other algorithm)
//!     in dispute, and nobody agrees              one more that disagrees
//! a standing count, and it is the same:
//!     by another machine, or in another way      a check
//!     by the same in the same way                said again
//! a standing count, and it is another:
//!     two owners have counted the unit           this one is wrong
//!     else                                       neither is believed; the unit is in dispute
//! ```
//!
//! Among the machines of one owner, and where nobody is authenticated, machines take the place of owners.

use std::time::Duration;

use domain::{Lease, UnitCount, Variant, Verdict, WorkerId};
use queens::UnitId;
use rand::RngExt;
use records::DoubleCheck;
use records::ledger::{Record, Recount, UnitRecord};
use records::standing::{Identity, Level, MOST_COMPLETIONS, UnitMark, Vote, are_several_owners};

use super::recorded::Recording;
use super::{Core, Refusal};

/// The first counts of a machine, which are all checked where another machine is there to do it.
const TRIALS: u64 = 20;

/// At most so many counts of a disputed unit are kept that machines of one owner have made and that all differ: who agrees with
/// one of them decides all the same.
const MOST_VOTES: usize = 16;

impl Core {
    /// Judges one reported count. The records, if any, are to be written before the verdict is told; late results
    /// of a lease that has expired are as good as others.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn judge(
        &mut self,
        now: Duration,
        unix_time: u64,
        worker: WorkerId,
        reported: &UnitCount,
    ) -> Result<(Verdict, Vec<Record>), Refusal> {
        let number = worker;
        let worker = self.workers.heard_of(now, worker)?;
        let identity = worker.identity.clone();
        let (name, own_kernel) = (worker.name.clone(), worker.kernel);
        let Lease { unit, variant, .. } = reported.lease;
        let is_in_run = unit.0 < self.plan.units() && self.shard.contains(unit);
        let is_lent = self.key.has_given(&reported.lease, number, &identity);
        if !is_in_run || !is_lent || reported.completions > MOST_COMPLETIONS {
            return Ok((Verdict::Unwanted, Vec::new()));
        }
        let record = UnitRecord {
            unit,
            count: reported.completions,
            nodes: reported.nodes,
            cpu_us: reported.cpu.as_micros().try_into().unwrap_or(u64::MAX),
            worker: name,
            owner: identity.owner.name().to_owned(),
            machine: identity.machine.clone(),
            kernel: self.kernel_label(unit, variant, own_kernel),
            mirrored: variant.mirrored,
            recount: None,
            of: None,
            of_owner: String::new(),
            at: unix_time,
        };
        if let Some(recording) = self.recording.get(&unit) {
            let is_same = recording.count == record.count && recording.identity == identity;
            return Ok((if is_same { Verdict::Known } else { Verdict::Later }, Vec::new()));
        }
        let recording = Recording::new(record.count, identity.clone());
        let (verdict, records) = if self.standing.is_done(unit) {
            self.compare(record)
        } else if self.is_disputed(unit) {
            self.decide(now, number, &identity, record)
        } else {
            (Verdict::Recorded, vec![self.first_count(now, &identity, record)])
        };
        if !records.is_empty() {
            self.recording.insert(unit, recording);
        }
        Ok((verdict, records))
    }

    /// Whether what was judged is one more check, and nobody needs any.
    pub fn is_superfluous(&self, now: Duration, records: &[Record]) -> bool {
        matches!(records, [Record::Check(_)]) && self.is_complete(now)
    }

    /// Whether a count of a unit that the worker was lent is the standing one; nothing where it was not, or none is known.
    pub fn says_what_stands(&self, worker: WorkerId, reported: &UnitCount) -> Option<bool> {
        let identity = &self.workers.get(worker)?.identity;
        let is_lent = self.key.has_given(&reported.lease, worker, identity);
        let unit = Some(reported.lease.unit).filter(|unit| is_lent && self.has_count(*unit))?;
        Some(self.standing.count(unit)? == reported.completions)
    }

    /// The count of a unit that has none.
    fn first_count(&mut self, now: Duration, identity: &Identity, mut record: UnitRecord) -> Record {
        record.recount = self.recount(now, identity, record.unit);
        Record::Count(record)
    }

    /// Whether a new count of the machine is to be checked.
    fn recount(&mut self, now: Duration, identity: &Identity, unit: UnitId) -> Option<Recount> {
        // A wrong count would have no second chance: a contradictory constellation is disputed once.
        if self.is_symmetric_count(unit) || self.was_contradicted(unit) {
            return Some(self.certain_recount(unit));
        }
        let share = match self.policy {
            DoubleCheck::None => return None,
            DoubleCheck::All => return Some(Recount::All),
            DoubleCheck::Share(share) => share,
        };
        if !self.is_alone(now, identity) && *self.trials_of(identity) < TRIALS {
            *self.trials_of(identity) += 1;
            return Some(Recount::Trial);
        }
        self.random.random_bool(share).then_some(Recount::Sample)
    }

    /// What is said of a count that is to be checked whatever the policy.
    pub(super) fn certain_recount(&self, unit: UnitId) -> Recount {
        if self.is_symmetric_count(unit) { Recount::Symmetric } else { Recount::All }
    }

    pub(super) fn trials_of(&mut self, identity: &Identity) -> &mut u64 {
        let machines = &self.standing.sums().machines;
        let on_record = || identity.number(machines).map_or(0, |number| machines.get(number).trials);
        self.trials.entry(identity.clone()).or_insert_with(on_record)
    }

    /// One more count of a unit about which counts disagree.
    fn decide(
        &mut self,
        now: Duration,
        worker: WorkerId,
        identity: &Identity,
        record: UnitRecord,
    ) -> (Verdict, Vec<Record>) {
        let machines = &self.standing.sums().machines;
        let votes: Vec<&Vote> = self.standing.votes(record.unit).collect();
        let origin = machines.find_origin(&record.owner, &record.machine, &record.kernel, record.mirrored);
        let is_known = votes.iter().any(|vote| Some(vote.origin) == origin && vote.count == record.count);
        let is_own = |vote: &Vote| identity.is(machines.get(vote.origin.machine));
        let is_of_owner = |vote: &Vote| machines.get(vote.origin.machine).owner == record.owner;
        let level = |vote: &Vote| {
            Level::between((&record.owner, &record.machine), machines.get(vote.origin.machine).maker())
        };
        let agreeing: Vec<&Vote> = votes
            .iter()
            .copied()
            .filter(|vote| machines.says_the_same(vote, record.count, record.nodes, &record.kernel))
            .filter(|vote| self.confirms(record.unit, vote, record.making()))
            .collect();
        let agrees = agreeing.iter().map(|vote| level(vote)).max().unwrap_or(Level::Once);
        let owners = votes.iter().map(|vote| &*machines.get(vote.origin.machine).owner);
        let is_among_owners = are_several_owners(owners.chain([&*record.owner]));
        let decides_among_machines = !is_among_owners
            && (agrees == Level::AnotherMachine
                || (!agreeing.is_empty() && self.decides_alone(now, identity, record.unit)));
        if votes.is_empty() {
            // All who have counted it are quarantined.
            (Verdict::Recorded, vec![self.first_count(now, identity, record)])
        } else if agrees == Level::AnotherOwner || decides_among_machines {
            // Should those who agree not be believed any more when it is on record, it is one that nobody has confirmed.
            let recount = Some(self.certain_recount(record.unit));
            (Verdict::Recorded, vec![Record::Count(UnitRecord { recount, ..record })])
        } else if is_known {
            (Verdict::Known, Vec::new())
        } else if votes.iter().filter(|vote| is_own(vote)).count() >= Variant::ALL.len()
            || votes.iter().filter(|vote| is_of_owner(vote)).count() >= MOST_VOTES
        {
            // It has said something else in each way already, or its owner on so many machines. What agrees may decide later.
            let agrees = !agreeing.is_empty();
            self.note_in_vain(now, record.unit, worker, agrees);
            (Verdict::Unwanted, Vec::new())
        } else {
            (Verdict::Conflict, vec![Record::Conflict(record)])
        }
    }

    /// Whether two equal counts of that machine, in different ways, decide the dispute about the unit: nobody else is there
    /// to be waited for, and it has not contradicted itself too often.
    pub(super) fn decides_alone(&self, now: Duration, identity: &Identity, unit: UnitId) -> bool {
        if !self.may_decide_alone(identity) {
            return false;
        }
        let machines = &self.standing.sums().machines;
        let mut votes = self.standing.votes(unit);
        let has_alone_counted = votes.all(|vote| identity.is(machines.get(vote.origin.machine)));
        self.is_left_alone(now, identity) || (has_alone_counted && self.is_as_good_as_alone(now, identity))
    }

    /// Another count of a unit that has a standing one.
    fn compare(&mut self, mut record: UnitRecord) -> (Verdict, Vec<Record>) {
        let unit = record.unit;
        let Some(standing) = self.standing.vote(unit) else { return (Verdict::Later, Vec::new()) };
        let machines = &self.standing.sums().machines;
        let counted = machines.get(standing.origin.machine);
        let is_of_owner = counted.owner == record.owner;
        let is_independent = self.standing.is(UnitMark::Independent, unit);
        let is_on_two_machines = self.standing.is(UnitMark::TwoMachines, unit);
        let is_same = self.standing.equals(&self.plan, &record, &standing);
        (record.of, record.of_owner) = (Some(counted.name.clone()), counted.owner.clone());
        if is_same {
            let is_other_kernel = machines.kernel(standing.origin.kernel) != record.kernel;
            let is_other_variant = is_other_kernel && standing.origin.mirrored != record.mirrored;
            let level = Level::between(counted.maker(), (&record.owner, &record.machine));
            let says_more = level > self.standing.level(unit);
            let confirms = self.confirms(unit, &standing, record.making());
            if !says_more || !confirms || (level == Level::AnotherWay && !is_other_variant) {
                return (Verdict::Known, Vec::new());
            }
            return (Verdict::Recorded, vec![Record::Check(record)]);
        }
        // What could not stand in the ledger must not be written.
        if is_independent || (is_on_two_machines && is_of_owner) {
            return (Verdict::Conflict, vec![Record::Conflict(record)]);
        }
        let retraction = self.standing.retraction(unit, &standing, record.at);
        (Verdict::Conflict, vec![Record::Conflict(record), Record::Retract(retraction)])
    }
}

//! What a reported count means, by what is known of its unit.
//!
//! ```text
//! no standing count:
//!     not in dispute                             it stands, and may have to be checked
//!     in dispute, and another machine agrees     it stands, and those who said otherwise were wrong
//!     in dispute, and nobody agrees              one more that disagrees
//! a standing count, and it is the same:
//!     by another machine, or in another way      a check
//!     by the same in the same way                said again
//! a standing count, and it is another:
//!     two machines have counted the unit         this one is wrong
//!     else                                       neither is believed; the unit is in dispute
//! ```

use std::time::Duration;

use proto::{UnitCount, Variant, Verdict, WorkerId};
use queens::UnitId;
use rand::RngExt;

use super::recorded::Recording;
use super::{Core, Refusal};
use crate::double_check::DoubleCheck;
use crate::ledger::{Record, Recount, Retraction, UnitRecord};
use crate::standing::{MOST_COMPLETIONS, UnitMark, Vote};

/// The first counts of a machine, which are all checked where another machine is there to do it.
const TRIALS: u64 = 20;

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
        let worker = self.workers.heard_of(now, worker)?;
        let record = UnitRecord {
            unit: reported.lease.unit,
            count: reported.completions,
            nodes: reported.nodes,
            cpu_us: reported.cpu.as_micros().try_into().unwrap_or(u64::MAX),
            worker: worker.name.clone(),
            machine: worker.machine.clone(),
            kernel: reported.lease.variant.kernel(worker.kernel).to_string(),
            mirrored: reported.lease.variant.mirrored,
            recount: None,
            of: None,
            at: unix_time,
        };
        let is_in_run = record.unit.0 < self.plan.units() && self.shard.contains(record.unit);
        if !is_in_run || record.count > MOST_COMPLETIONS {
            return Ok((Verdict::Unwanted, Vec::new()));
        }
        if let Some(recording) = self.recording.get(&record.unit) {
            let is_same = recording.count == record.count && recording.machine == record.machine;
            return Ok((if is_same { Verdict::Known } else { Verdict::Later }, Vec::new()));
        }
        let unit = record.unit;
        let recording = Recording { count: record.count, machine: record.machine.clone() };
        let (verdict, records) = if self.standing.is_done(unit) {
            self.compare(record)
        } else if self.is_disputed(unit) {
            self.decide(now, record)
        } else {
            (Verdict::Recorded, vec![self.first_count(record)])
        };
        if !records.is_empty() {
            self.recording.insert(unit, recording);
        }
        Ok((verdict, records))
    }

    /// The count of a unit that has none.
    fn first_count(&mut self, mut record: UnitRecord) -> Record {
        record.recount = self.recount(&record.machine);
        Record::Count(record)
    }

    /// Whether a new count of the machine is to be checked.
    fn recount(&mut self, machine: &str) -> Option<Recount> {
        let share = match self.policy {
            DoubleCheck::None => return None,
            DoubleCheck::All => return Some(Recount::All),
            DoubleCheck::Share(share) => share,
        };
        if *self.trials_of(machine) < TRIALS && !self.is_alone(machine) {
            *self.trials_of(machine) += 1;
            return Some(Recount::Trial);
        }
        self.random.random_bool(share).then_some(Recount::Sample)
    }

    pub(super) fn trials_of(&mut self, machine: &str) -> &mut u64 {
        if !self.trials.contains_key(machine) {
            let machines = &self.standing.sums().machines;
            let trials = machines.number(machine).map_or(0, |number| machines.get(number).trials);
            self.trials.insert(machine.to_owned(), trials);
        }
        self.trials.get_mut(machine).expect("it has just been put there")
    }

    /// One more count of a unit about which counts disagree.
    fn decide(&mut self, now: Duration, record: UnitRecord) -> (Verdict, Vec<Record>) {
        let machines = &self.standing.sums().machines;
        let votes: Vec<&Vote> = self.standing.votes(record.unit).collect();
        let origin = machines.find_origin(&record.machine, &record.kernel, record.mirrored);
        if votes.iter().any(|vote| Some(vote.origin) == origin && vote.count == record.count) {
            return (Verdict::Known, Vec::new());
        }
        let number = machines.number(&record.machine);
        let agreeing =
            votes.iter().filter(|v| machines.says_the_same(v, record.count, record.nodes, &record.kernel));
        let (own, others): (Vec<&&Vote>, Vec<_>) =
            agreeing.partition(|vote| Some(vote.origin.machine) == number);
        if votes.is_empty() {
            // All who have counted it are quarantined.
            (Verdict::Recorded, vec![self.first_count(record)])
        } else if !others.is_empty() || (!own.is_empty() && self.is_left_alone(now, &record.machine)) {
            (Verdict::Recorded, vec![Record::Count(record)])
        } else if votes.iter().filter(|vote| Some(vote.origin.machine) == number).count()
            >= Variant::ALL.len()
        {
            // It has said something else in each way already.
            (Verdict::Unwanted, Vec::new())
        } else {
            (Verdict::Conflict, vec![Record::Conflict(record)])
        }
    }

    /// Another count of a unit that has a standing one.
    fn compare(&mut self, mut record: UnitRecord) -> (Verdict, Vec<Record>) {
        let unit = record.unit;
        let Some(standing) = self.standing.vote(unit) else { return (Verdict::Later, Vec::new()) };
        let machines = &self.standing.sums().machines;
        let counted = &machines.get(standing.origin.machine).name;
        let is_independent = self.standing.is(UnitMark::Independent, unit);
        // Where the two machines have counted by different methods, nobody has confirmed the nodes.
        let is_same = if is_independent {
            standing.count == record.count
        } else {
            machines.says_the_same(&standing, record.count, record.nodes, &record.kernel)
        };
        if is_same {
            let says_something_new = if *counted == record.machine {
                let is_other_kernel = machines.kernel(standing.origin.kernel) != record.kernel;
                let is_other_variant = is_other_kernel && standing.origin.mirrored != record.mirrored;
                is_other_variant && !self.standing.is(UnitMark::Checked, unit)
            } else {
                !is_independent
            };
            if !says_something_new {
                return (Verdict::Known, Vec::new());
            }
            record.of = Some(counted.clone());
            return (Verdict::Recorded, vec![Record::Check(record)]);
        }
        if is_independent {
            return (Verdict::Conflict, vec![Record::Conflict(record)]);
        }
        let retraction = self.retraction(unit, &standing, false, record.at);
        (Verdict::Conflict, vec![Record::Conflict(record), Record::Retract(retraction)])
    }

    /// What takes a standing count back.
    pub(super) fn retraction(&self, unit: UnitId, vote: &Vote, quarantine: bool, at: u64) -> Retraction {
        let machines = &self.standing.sums().machines;
        Retraction {
            unit,
            count: vote.count,
            nodes: vote.nodes,
            machine: machines.get(vote.origin.machine).name.clone(),
            kernel: machines.kernel(vote.origin.kernel).to_owned(),
            mirrored: vote.origin.mirrored,
            quarantine,
            at,
        }
    }
}

//! What follows when records are on disk, or could not be put there.

use std::time::Duration;

use domain::{Owner, WorkerId};
use queens::Summand;
use records::ledger::{Record, Recount, Retraction, UnitRecord};
use records::standing::{Identity, RecordError, UnitMark};
use tracing::Level;

use super::Core;
use crate::event::Event;

/// A count on its way to the disk.
#[derive(Debug)]
pub(super) struct Recording {
    pub count: u64,
    pub identity: Identity,
    /// Whether its unit was opened meanwhile: it is once it is known what becomes of the count.
    pub is_opened: bool,
}

impl Recording {
    pub(super) fn new(count: u64, identity: Identity) -> Self {
        Self { count, identity, is_opened: false }
    }

    pub(super) fn of(r: &Retraction) -> Self {
        let identity = Identity { owner: Owner::new(&r.owner), machine: r.machine.clone() };
        Self::new(r.count, identity)
    }
}

impl Core {
    /// The records that [`judge`](Self::judge) handed out are on disk; `worker` has reported them.
    ///
    /// # Errors
    /// Sums that cannot be right; the run must not go on.
    pub fn recorded(
        &mut self,
        now: Duration,
        worker: Option<WorkerId>,
        records: &[Record],
    ) -> Result<(), RecordError> {
        for record in records {
            let was_disputed = record.unit().is_some_and(|unit| self.is_disputed(unit));
            self.standing.apply(&self.plan, self.shard, record)?;
            match record {
                Record::Count(r) => {
                    self.settle(r);
                    self.open.returned.remove(&r.unit);
                    self.open.lost.remove(&r.unit);
                    self.open.disputes.remove(&r.unit);
                    let (work, took) = self.expected_and_taken(r);
                    self.units_rate.add(now, work, took, self.workers.threads());
                }
                Record::Check(r) | Record::Conflict(r) => self.settle(r),
                Record::Retract(r) => {
                    self.recording.remove(&r.unit);
                    self.leases.counts_now(r.unit);
                    if !self.leases.contains(r.unit) {
                        self.reopen(r.unit);
                    }
                }
                Record::Restore(r) => {
                    self.may_contradict |= matches!(self.plan.summand(r.unit), Summand::Symmetric(..));
                    self.recording.remove(&r.unit);
                    self.open.disputes.remove(&r.unit);
                    self.leases.end_unit(r.unit);
                    self.reopen(r.unit);
                }
                Record::Policy(r) => {
                    self.policy = r.double_check;
                    self.counts_adopted();
                }
                // Checks of counts that were not believed have been passed over.
                Record::Admit(_) => self.counts_adopted(),
                Record::Expel(_)
                | Record::Merged(_)
                | Record::Term(_)
                | Record::Replicas(_)
                | Record::Mark(_) => {}
            }
            if let (Some(worker), Record::Count(r) | Record::Check(r)) = (worker, record) {
                let (expected, processor) = self.expected_and_taken(r);
                self.workers.counted(now, worker, self.plan.weight(r.unit), processor);
                self.note_confirmed(r);
                let is_symmetric = self.is_symmetric_count(r.unit);
                self.speed.counted(now, is_symmetric, expected, processor);
                if !is_symmetric {
                    self.workers.took(worker, expected, processor);
                }
            }
            self.note_dispute(record, was_disputed);
        }
        self.expel();
        self.note_settled(now);
        Ok(())
    }

    /// How many seconds of one core the count was expected to take, and how many it took.
    fn expected_and_taken(&self, r: &UnitRecord) -> (f64, f64) {
        (self.plan.weight(r.unit) as f64 / 1e9, r.believed_cpu_us(&self.plan) as f64 / 1e6)
    }

    /// Notes whether the record has opened a dispute, or decided it.
    fn note_dispute(&mut self, record: &Record, was_disputed: bool) {
        let Some(unit) = record.unit() else { return };
        let event = match (was_disputed, self.is_disputed(unit)) {
            (false, true) => {
                let text = format!("unit {unit} is in dispute: its counts differ");
                Event::counted_by_name(Level::WARN, "units came into dispute", unit, text)
            }
            (true, false) => {
                let text = format!("the dispute about unit {unit} is decided");
                Event::counted_by_name(Level::INFO, "disputes were decided", unit, text)
            }
            _ => return,
        };
        let owner = match record {
            Record::Count(r) | Record::Check(r) => Some(Owner::new(&r.owner)),
            _ => None,
        };
        self.events.push((owner, event));
    }

    /// A count of the unit is on record: nobody need count it for the reason for which it was lent.
    fn settle(&mut self, r: &UnitRecord) {
        self.may_contradict |= matches!(self.plan.summand(r.unit), Summand::Symmetric(..));
        self.recording.remove(&r.unit);
        self.losses.forgive(r.unit);
        self.open.suspects.remove(&r.unit);
        self.leases.end_unit(r.unit);
        let machines = &self.standing.sums().machines;
        if let Some(of) = r.of.as_deref()
            && self.standing.is(UnitMark::TwoMachines, r.unit)
            && let Some(by) = machines.number(&r.owner, &r.machine)
            && let Some(of) = machines.number(&r.of_owner, of)
        {
            self.canaries.keep(r.unit, [of, by]);
        }
        self.reopen(r.unit);
    }

    /// The records that [`judge`](Self::judge) handed out are not on disk: their units are as they were.
    pub fn not_recorded(&mut self, records: &[Record]) {
        for record in records {
            match record {
                Record::Count(r) | Record::Check(r) | Record::Conflict(r) => {
                    if r.recount == Some(Recount::Trial) {
                        *self.trials_of(&Identity::of_record(r)) -= 1;
                    }
                }
                // Counts of quarantined machines are looked for from here on again.
                Record::Retract(r) => self.believed = self.believed.min(r.unit.0),
                Record::Restore(_)
                | Record::Expel(_)
                | Record::Admit(_)
                | Record::Policy(_)
                | Record::Merged(_)
                | Record::Term(_)
                | Record::Replicas(_)
                | Record::Mark(_) => {}
            }
            if let Some(unit) = record.unit()
                && let Some(recording) = self.recording.remove(&unit)
                && recording.is_opened
            {
                self.reopen(unit);
            }
        }
    }
}

//! Reported counts are judged, and what follows when their records are on disk, or could not be put there.

use std::time::Duration;

use domain::{Lease, Owner, UnitCount, Verdict, WorkerId};
use queens::UnitId;
use records::ledger::{Record, UnitRecord};
use records::standing::{Level, MOST_COMPLETIONS, RecordError};
use tracing::Level as LogLevel;

use super::votes::{DisputeChange, Reported};
use super::{Core, Refusal};
use crate::event::Event;

impl Core {
    /// Judges one reported count. The records, if any, are to be written before the verdict is told; late results
    /// of a lease that has ended are as good as others.
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
        let member = self.members.heard_of(now, worker)?;
        let (identity, kernel) = (member.identity.clone(), member.kernel);
        let Lease { unit, variant, .. } = reported.lease;
        let is_lent = self.key.has_given(&reported.lease, worker, &identity);
        if !self.work.contains(unit) || !is_lent || reported.completions > MOST_COMPLETIONS {
            return Ok((Verdict::Unwanted, Vec::new()));
        }
        let record = UnitRecord {
            unit,
            count: reported.completions,
            nodes: reported.nodes,
            cpu_us: reported.cpu.as_micros().try_into().unwrap_or(u64::MAX),
            worker: member.name.clone(),
            owner: identity.owner.name().to_owned(),
            machine: identity.machine.clone(),
            kernel: self.work.kernel_label(unit, variant, kernel),
            mirrored: variant.mirrored,
            recount: None,
            of: None,
            of_owner: String::new(),
            at: unix_time,
        };
        self.members.look_up_participants(&self.votes.standing().sums().machines);
        let maker = (identity.owner.name(), &*identity.machine);
        let has_checkers = self.members.participants().highest_degree(maker) > Level::AnotherWay;
        let standing = self.votes.standing().vote(unit);
        let degree = standing.map_or(Level::Once, |vote| self.degree(now, vote.origin.machine));
        let reported = Reported { record, identity, has_checkers, degree };
        Ok(self.votes.judge(&self.work, reported, &mut self.random))
    }

    /// Whether what was judged is one more check, and nobody needs any.
    pub fn is_superfluous(&self, records: &[Record]) -> bool {
        matches!(records, [Record::Check(_)]) && self.is_complete()
    }

    /// Whether a count of a unit that the worker was lent is the standing one; nothing where it was not, or none is known.
    pub fn says_what_stands(&self, worker: WorkerId, reported: &UnitCount) -> Option<bool> {
        let identity = &self.members.get(worker)?.identity;
        let is_lent = self.key.has_given(&reported.lease, worker, identity);
        let unit = Some(reported.lease.unit).filter(|unit| is_lent && self.has_count(*unit))?;
        Some(self.votes.standing().count(unit)? == reported.completions)
    }

    /// Up to `most` records that follow from those that are there: counts of quarantined machines that nobody else has
    /// confirmed are taken back, counts that only quarantined machines have contradicted stand again, and constellations
    /// whose counts contradict each other are disputed. The records are to be written like those of
    /// [`judge`](Self::judge).
    pub fn take_back(&mut self, unix_time: u64, most: usize) -> Vec<Record> {
        self.votes.take_back(&self.work, unix_time, most)
    }

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
        let machines = self.votes.standing().sums().machines.iter().count();
        for record in records {
            let change = self.votes.apply(&self.work, record)?;
            match record {
                Record::Count(r) => {
                    self.schedule.counted(r.unit);
                    self.counted(r.unit);
                    let (work, took) = self.expected_and_taken(r);
                    self.progress.recorded(now, work, took, self.members.threads());
                }
                Record::Check(r) | Record::Conflict(r) => self.counted(r.unit),
                Record::Retract(r) => {
                    self.leases.counts_now(r.unit);
                    self.reopen(r.unit);
                }
                Record::Restore(r) => {
                    self.schedule.counted(r.unit);
                    self.leases.end_unit(r.unit);
                    self.reopen(r.unit);
                }
                // Checks of counts that were not believed have been passed over.
                Record::Policy(_) | Record::Admit(_) => {
                    self.counts_adopted();
                    self.follow_policy();
                }
                Record::Expel(_)
                | Record::Merged(_)
                | Record::Term(_)
                | Record::Replicas(_)
                | Record::Mark(_) => {}
            }
            if let (Some(worker), Record::Count(r) | Record::Check(r)) = (worker, record) {
                self.note_speed(now, worker, r);
            }
            self.note_dispute(record, change);
        }
        if self.votes.standing().sums().machines.iter().count() != machines {
            self.members.forget_participants();
        }
        self.follow_trust();
        Ok(())
    }

    /// A count of the unit is on record: nobody need count it for the reason for which it was lent.
    fn counted(&mut self, unit: UnitId) {
        self.schedule.survived(unit);
        self.leases.end_unit(unit);
        self.reopen(unit);
    }

    /// How many seconds of one core the count was expected to take, and how many it took.
    fn expected_and_taken(&self, r: &UnitRecord) -> (f64, f64) {
        (self.work.weight(r.unit) as f64 / 1e9, r.believed_cpu_us(self.work.plan()) as f64 / 1e6)
    }

    /// The worker's count has shown how fast it is.
    fn note_speed(&mut self, now: Duration, worker: WorkerId, r: &UnitRecord) {
        let (expected, processor) = self.expected_and_taken(r);
        self.members.counted(now, worker, self.work.weight(r.unit), processor);
        let is_symmetric = self.work.is_symmetric_count(r.unit);
        self.progress.counted(now, is_symmetric, expected, processor);
        if !is_symmetric {
            self.members.took(worker, expected, processor);
        }
    }

    fn note_dispute(&mut self, record: &Record, change: Option<DisputeChange>) {
        let event = match change {
            None => return,
            Some(DisputeChange::Begun(unit)) => {
                let text = format!("unit {unit} is in dispute: its counts differ");
                Event::counted_by_name(LogLevel::WARN, "units came into dispute", unit, text)
            }
            Some(DisputeChange::Decided(unit)) => {
                let text = format!("the dispute about unit {unit} is decided");
                Event::counted_by_name(LogLevel::INFO, "disputes were decided", unit, text)
            }
        };
        let owner = match record {
            Record::Count(r) | Record::Check(r) => Some(Owner::new(&r.owner)),
            _ => None,
        };
        self.events.push((owner, event));
    }

    /// Strikes off the workers of machines that are quarantined, once it has changed who is believed: they are refused when they
    /// register again.
    fn follow_trust(&mut self) {
        if !self.votes.has_trust_changed() {
            return;
        }
        self.members.forget_participants();
        let expelled = self.members.on_machines(|machine| self.votes.is_quarantined(machine));
        expelled.into_iter().for_each(|worker| self.remove(worker));
        // Who may decide has changed.
        self.votes.disputed().into_iter().for_each(|unit| self.reopen(unit));
    }

    /// The records that [`judge`](Self::judge) handed out are not on disk: their units are as they were.
    pub fn not_recorded(&mut self, records: &[Record]) {
        self.votes.not_applied(records).into_iter().for_each(|unit| self.reopen(unit));
    }

    /// Counts and their origins have been read that were not known before: what is to be checked or taken back can be.
    pub fn counts_adopted(&mut self) {
        self.votes.counts_adopted();
        self.members.forget_participants();
        self.schedule.forget_checks();
        self.votes.checks_due(&self.work).into_iter().for_each(|unit| self.reopen(unit));
    }

    /// Asks for checks by another owner, where the policy requires them.
    pub(super) fn follow_policy(&mut self) {
        self.independence.require_two_owners(self.votes.require_owners().is_some());
    }

    /// Puts a unit that nobody holds where it is found; once it is known what becomes of its count, where that is on its way to disk.
    pub(super) fn reopen(&mut self, unit: UnitId) {
        if !self.leases.contains(unit) && !self.votes.open_when_recorded(unit) {
            self.schedule.put(unit, self.votes.need(&self.work, unit));
        }
    }
}

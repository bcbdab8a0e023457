//! Judges reported counts, and updates the state when their records are on disk or could not be written.

use std::time::Duration;

use domain::{Lease, Owner, UnitCount, Verdict, WorkerId};
use queens::UnitId;
use rand::RngExt;
use records::ledger::{Record, UnitRecord};
use records::standing::{Degree, MOST_COMPLETIONS, RecordError};
use tracing::Level;

use super::votes::{DisputeChange, Reported, draw};
use super::{Core, Refusal};
use crate::event::Event;

impl Core {
    /// Judges one reported count. The caller must write the returned records before it returns the verdict to the
    /// worker. A count after the end of its lease is judged like any other.
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
        let member = self.members.note_call(now, worker)?;
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
        let maker = (identity.owner.name(), &*identity.machine);
        let standing = self.votes.standing();
        let participants = self.members.participants(&standing.sums().machines);
        let has_checkers = participants.highest_degree(maker) > Degree::SameMachine;
        let degree =
            standing.vote(unit).map_or(Degree::Once, |vote| self.required_degree(now, vote.origin.machine));
        let reported = Reported { record, identity, has_checkers, degree };
        Ok(self.votes.judge(&self.work, reported, &mut self.random))
    }

    /// True if the judged count is a further check that the policy does not require.
    pub fn is_superfluous(&self, records: &[Record]) -> bool {
        matches!(records, [Record::Check(_)]) && self.is_complete()
    }

    /// True if this count equals the standing count of its unit; none if the worker never held the unit, or if the unit
    /// has no standing count.
    pub fn matches_standing_count(&self, worker: WorkerId, reported: &UnitCount) -> Option<bool> {
        let identity = &self.members.get(worker)?.identity;
        let is_lent = self.key.has_given(&reported.lease, worker, identity);
        let unit = Some(reported.lease.unit).filter(|unit| is_lent && self.has_count(*unit))?;
        Some(self.votes.standing().count(unit)? == reported.completions)
    }

    /// Up to `most` records that follow from the state. The caller writes them like the records of
    /// [`judge`](Self::judge). They do four things:
    ///
    /// - They retract counts of quarantined machines that no other machine has confirmed.
    /// - They restore counts that only quarantined machines have contradicted.
    /// - They dispute constellations whose counts contradict each other.
    /// - They draw units for own checks.
    pub fn take_back(&mut self, unix_time: u64, most: usize) -> Vec<Record> {
        let mut records = self.votes.take_back(&self.work, unix_time, most);
        let doubtful = if records.is_empty() { self.votes.take_doubtful() } else { Vec::new() };
        if records.is_empty() && (!doubtful.is_empty() || self.votes.is_draw_due(&self.work)) {
            // Nobody can guess the seed without the key of the run.
            let random: [u8; 32] = self.random.random();
            records.push(draw(self.key.seal(std::iter::once(&random[..])), doubtful, unix_time));
        }
        records
    }

    /// Applies records of [`judge`](Self::judge) that are on disk. `worker` reported them.
    ///
    /// # Errors
    /// The sums cannot be right; the run must stop.
    pub fn recorded(
        &mut self,
        now: Duration,
        worker: Option<WorkerId>,
        records: &[Record],
    ) -> Result<(), RecordError> {
        let machines = self.votes.standing().sums().machines.iter().count();
        for record in records {
            let drawn = match record {
                Record::Draw(draw) => self.votes.standing().hit_by(draw),
                _ => Vec::new(),
            };
            let change = self.votes.apply(&self.work, record)?;
            match record {
                Record::Count(r) => {
                    self.schedule.remove_counted(r.unit);
                    self.close_counted(r.unit);
                    let (work, took) = self.expected_and_taken(r);
                    self.progress.note_first_count(now, work, took, self.members.threads());
                }
                Record::Check(r) | Record::Conflict(r) => self.close_counted(r.unit),
                Record::Retract(r) => {
                    self.leases.promote_to_count(r.unit);
                    self.reopen(r.unit);
                }
                Record::Restore(r) => {
                    self.schedule.remove_counted(r.unit);
                    self.leases.end_unit(r.unit);
                    self.reopen(r.unit);
                }
                // The schedule has dropped checks of counts that were not believed.
                Record::Policy(_) | Record::Admit(_) => {
                    self.counts_adopted();
                    self.apply_policy();
                }
                Record::Draw(_) => drawn.into_iter().for_each(|unit| self.reopen(unit)),
                Record::Expel(r) if r.suspended => {
                    let text = format!("owner {} is suspended: {}", Owner::new(&r.owner).typed(), r.reason);
                    self.events.push((None, Event::new(Level::WARN, "suspended", text)));
                }
                Record::Expel(_)
                | Record::Merged(_)
                | Record::Term(_)
                | Record::Replicas(_)
                | Record::Loss(_)
                | Record::Pause(_)
                | Record::Resume(_)
                | Record::Mark(_) => {}
            }
            if let (Some(worker), Record::Count(r) | Record::Check(r)) = (worker, record) {
                self.note_speed(now, worker, r);
            }
            self.note_dispute(record, change);
        }
        if self.votes.standing().sums().machines.iter().count() != machines {
            self.members.invalidate_participants();
        }
        self.apply_trust_changes();
        Ok(())
    }

    /// A count of the unit is on record, so its leases end.
    fn close_counted(&mut self, unit: UnitId) {
        self.schedule.clear_losses(unit);
        self.leases.end_unit(unit);
        self.reopen(unit);
    }

    /// The expected and the actual time of the count, in seconds of one core.
    fn expected_and_taken(&self, r: &UnitRecord) -> (f64, f64) {
        (self.work.weight(r.unit) as f64 / 1e9, r.believed_cpu_us(self.work.plan()) as f64 / 1e6)
    }

    /// Updates the speed of the worker from this count.
    fn note_speed(&mut self, now: Duration, worker: WorkerId, r: &UnitRecord) {
        let (expected, processor) = self.expected_and_taken(r);
        self.members.note_count(now, worker, self.work.weight(r.unit), processor);
        let is_symmetric = self.work.is_symmetric_count(r.unit);
        self.progress.note_count(now, is_symmetric, expected, processor);
        if !is_symmetric {
            self.members.note_time(worker, expected, processor);
        }
    }

    fn note_dispute(&mut self, record: &Record, change: Option<DisputeChange>) {
        let event = match change {
            None => return,
            Some(DisputeChange::Begun(unit)) => {
                let text = format!("unit {unit} is in dispute: its counts differ");
                Event::counted_by_name(Level::WARN, "units came into dispute", unit, text)
            }
            Some(DisputeChange::Decided(unit)) => {
                let text = format!("the dispute about unit {unit} is decided");
                Event::counted_by_name(Level::INFO, "disputes were decided", unit, text)
            }
        };
        let owner = match record {
            Record::Count(r) | Record::Check(r) => Some(Owner::new(&r.owner)),
            _ => None,
        };
        self.events.push((owner, event));
    }

    /// Removes the workers of newly quarantined machines. If they register again, they are refused.
    fn apply_trust_changes(&mut self) {
        if !self.votes.take_trust_change() {
            return;
        }
        self.members.invalidate_participants();
        let expelled = self.members.on_machines(|machine| self.votes.is_quarantined(machine));
        expelled.into_iter().for_each(|worker| self.remove(worker));
        // Other workers may be able to decide the disputes now.
        self.votes.disputed().into_iter().for_each(|unit| self.reopen(unit));
    }

    /// Drops records of [`judge`](Self::judge) that could not be written. Their units are as before.
    pub fn not_recorded(&mut self, records: &[Record]) {
        self.votes.not_applied(records).into_iter().for_each(|unit| self.reopen(unit));
    }

    /// Counts and their origins have been read from the ledger. Their checks and retractions can now be scheduled.
    pub fn counts_adopted(&mut self) {
        self.votes.counts_adopted();
        self.members.invalidate_participants();
        self.schedule.forget_checks();
        self.votes.checks_due(&self.work).into_iter().for_each(|unit| self.reopen(unit));
    }

    /// Requires checks by another owner if the policy does.
    pub(super) fn apply_policy(&mut self) {
        self.independence.require_two_owners(self.votes.require_owners().is_some());
    }

    /// Schedules a unit that no worker holds. If a count of the unit is being written, the unit is scheduled
    /// afterwards.
    pub(super) fn reopen(&mut self, unit: UnitId) {
        if !self.leases.contains(unit) && !self.votes.reopen_when_recorded(unit) {
            self.schedule.put(unit, self.votes.need(&self.work, unit));
        }
    }
}

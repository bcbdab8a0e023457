//! From reports to records on disk.

use std::time::Duration;

use domain::{Owner, Report, UnitCount, Verdict, WorkerId};
use records::ledger::{Record, Replicas};
use tracing::{Level, debug, debug_span, warn};

use super::Keeper;
use super::ending::Stage;
use super::followers::Answer;
use super::inbox::{CallError, ReplyTo};
use crate::event::Event;

/// If a commit takes longer, its time does not count as silence of the workers.
const SLOW_DISK: Duration = Duration::from_secs(1);

/// Maximum number of counts of quarantined machines retracted in one round.
const MAX_RETRACTIONS_PER_ROUND: usize = 1000;

/// A report whose records are not committed yet.
#[derive(Debug)]
pub(super) struct PendingReport {
    report: Report,
    verdicts: Vec<Verdict>,
    records: Vec<Record>,
    reply: ReplyTo<Vec<Verdict>>,
}

impl Keeper {
    /// Judges a report of the owner's worker.
    pub(super) fn report(&mut self, owner: &Owner, report: Report, reply: ReplyTo<Vec<Verdict>>) {
        match self.core.check_owner(report.worker, owner) {
            Ok(()) => self.judge(owner, report, reply),
            Err(refusal) => drop(reply.send(Err(refusal.into()))),
        }
    }

    /// Judges a report. Its answer waits for the commit. After the end of the run nothing is recorded.
    pub(super) fn judge(&mut self, owner: &Owner, report: Report, reply: ReplyTo<Vec<Verdict>>) {
        if matches!(self.stage, Stage::Ended(_)) {
            reply.send(self.judge_late(owner, &report)).ok();
            return;
        }
        let now = self.clock.now();
        let unix_time = self.clock.unix_time();
        let mut verdicts = Vec::with_capacity(report.counts.len());
        let mut records = Vec::new();
        // Recording such a check would require another audit. A worker could hold checks back and report one during
        // each audit.
        let is_auditing = matches!(self.stage, Stage::Auditing);
        let _span = debug_span!("report", worker = %report.worker).entered();
        for count in &report.counts {
            let unit = count.lease.unit;
            let _span = debug_span!("unit", %unit, attempt = self.core.attempt(unit)).entered();
            debug!(completions = count.completions, cpu = count.cpu.as_secs_f64(), "counted");
            match self.core.judge(now, unix_time, report.worker, count) {
                Ok((_, records)) if is_auditing && self.core.is_superfluous(&records) => {
                    self.core.not_recorded(&records);
                    verdicts.push(Verdict::Known);
                }
                Ok((verdict, mut new_records)) => {
                    if verdict == Verdict::Conflict && self.news.may_log(owner) {
                        let worker = report.worker;
                        warn!(%unit, %worker, completions = count.completions, "counts of a unit disagree");
                    }
                    verdicts.push(verdict);
                    records.append(&mut new_records);
                }
                Err(refusal) => {
                    reply.send(Err(refusal.into())).ok();
                    return;
                }
            }
        }
        self.reports.push(PendingReport { report, verdicts, records, reply });
    }

    /// The verdicts on counts that arrive after the answer.
    ///
    /// # Errors
    /// The answer is withheld. The worker keeps its counts for the coordinator that continues the run.
    fn judge_late(&mut self, owner: &Owner, report: &Report) -> Result<Vec<Verdict>, CallError> {
        self.is_answered()?;
        let counts = report.counts.iter();
        Ok(counts.map(|count| self.judge_late_count(owner, report.worker, count)).collect())
    }

    fn judge_late_count(&mut self, owner: &Owner, worker: WorkerId, count: &UnitCount) -> Verdict {
        let (unit, completions) = (count.lease.unit, count.completions);
        match self.core.matches_standing_count(worker, count) {
            Some(true) => Verdict::Known,
            Some(false) if self.news.may_log(owner) => {
                warn!(%unit, %worker, completions, "a count after the answer contradicts it");
                Verdict::Unwanted
            }
            _ => Verdict::Unwanted,
        }
    }

    /// Commits the records of all pending reports and answers the reports.
    pub(super) fn commit(&mut self) {
        let mut reports = std::mem::take(&mut self.reports);
        let is_news = reports.iter().any(|pending| !pending.records.is_empty());
        let mut records = if is_news { self.opening() } else { Vec::new() };
        let opening = records.len();
        let append = |pending: &mut PendingReport| {
            records.append(&mut pending.records);
            records.len()
        };
        let ends: Vec<usize> = reports.iter_mut().map(append).collect();
        let written = self.write(&records);
        let now = self.clock.now();
        match written {
            Ok(()) => {
                if let Err(what) = self.core.recorded(now, None, &records[..opening]) {
                    self.withhold(what);
                }
                let records_on_disk = self.journal.records();
                let mut begin = opening;
                for (PendingReport { report, verdicts, reply, .. }, end) in reports.into_iter().zip(ends) {
                    let own = &records[begin..end];
                    begin = end;
                    if let Err(what) = self.core.recorded(now, Some(report.worker), own) {
                        self.withhold(what);
                    }
                    let answer = Answer::Report { verdicts, reply };
                    self.followers.wait(self.clock.elapsed(), records_on_disk, answer);
                }
            }
            Err(error) => {
                self.core.not_recorded(&records[opening..]);
                for PendingReport { reply, .. } in reports {
                    reply.send(Err(error.clone())).ok();
                }
            }
        }
    }

    /// Refuses the pending reports without recording them.
    pub(super) fn refuse_reports(&mut self, error: &CallError) {
        for PendingReport { records, reply, .. } in std::mem::take(&mut self.reports) {
            self.core.not_recorded(&records);
            reply.send(Err(error.clone())).ok();
        }
    }

    /// Reports wrong machines, and records what follows from the present records.
    pub(super) fn take_back(&mut self) {
        self.news.report_trust(&self.core.standing().sums().machines);
        let unix_time = self.clock.unix_time();
        if matches!(self.stage, Stage::Ended(_)) {
            return;
        }
        let mut records = self.core.take_back(unix_time, MAX_RETRACTIONS_PER_ROUND);
        let opening = self.opening();
        // Requested changes are recorded before the first count. Otherwise they would end with this process.
        let was_asked_for = |record: &Record| match record {
            Record::Term(_) => false,
            Record::Policy(policy) => {
                let standing = self.core.standing();
                policy.double_check != standing.policy()
                    || policy.own_checks.as_ref() != standing.own_checks()
            }
            _ => true,
        };
        if records.is_empty() && !opening.iter().any(was_asked_for) {
            return;
        }
        records.splice(0..0, opening);
        if self.record(&records).is_ok() {
            self.report_retractions(&records);
        }
    }

    /// Reports retractions that follow from other counts.
    fn report_retractions(&mut self, records: &[Record]) {
        let count = |is_so: fn(&Record) -> bool| records.iter().filter(|record| is_so(record)).count();
        let quarantined = count(|record| matches!(record, Record::Retract(r) if r.quarantine));
        let contradictory = count(|record| matches!(record, Record::Retract(r) if r.contradiction));
        let restored = count(|record| matches!(record, Record::Restore(_)));
        for (level, kind, times) in [
            (Level::WARN, "counts of quarantined machines were taken back", quarantined),
            (Level::WARN, "counts contradict each other and are all disputed", contradictory),
            (Level::INFO, "counts stand again that only quarantined machines contradicted", restored),
        ] {
            if times > 0 {
                self.news.add(Event::repeated(level, kind, times));
            }
        }
    }

    /// Writes records that no worker reported, and applies them to the core.
    ///
    /// # Errors
    /// The disk does not take the records.
    pub(super) fn record(&mut self, records: &[Record]) -> Result<(), CallError> {
        if let Err(error) = self.write(records) {
            self.core.not_recorded(records);
            return Err(error);
        }
        if let Err(what) = self.core.recorded(self.clock.now(), None, records) {
            self.withhold(what);
        }
        Ok(())
    }

    /// Writes records. The time of a slow write is left out of the run's clock, and an error is noted as trouble.
    fn write(&mut self, records: &[Record]) -> Result<(), CallError> {
        let (elapsed, threads) = (self.elapsed(), self.kernels.threads());
        let begun = self.clock.elapsed();
        let (written, event) = self.journal.write(records, elapsed, threads);
        let taken = self.clock.elapsed().saturating_sub(begun);
        if taken > SLOW_DISK {
            warn!(seconds = taken.as_secs_f64(), "the disk was slow to take records");
            self.clock.leave_out(taken);
        }
        if let Some(event) = event {
            self.news.add(event);
        }
        written
    }

    /// The records before this process's first records: its term, and the policy and number of followers if the ledger
    /// has others.
    pub(super) fn opening(&mut self) -> Vec<Record> {
        let at = self.clock.unix_time();
        let mut opening = Vec::new();
        let is_term_on_record = self.journal.term().is_none_or(|own| self.core.term() >= own.number);
        opening.extend(self.journal.term_record(at).filter(|_| !is_term_on_record));
        let needed = self.followers.needed();
        if self.followers.are_possible() && needed != self.core.standing().replicas(None) {
            opening.push(Record::Replicas(Replicas { replicas: needed, reason: None, at }));
        }
        opening.extend(self.core.policy_record(at));
        opening
    }
}

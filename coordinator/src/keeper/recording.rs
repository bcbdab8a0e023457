//! From reports to records on disk.

use std::time::Duration;

use proto::{Owner, Report, Verdict};
use tracing::{error, info, warn};

use super::Keeper;
use super::inbox::{CallError, ReplyTo};
use crate::ledger::Record;

/// A commit that takes longer is no silence of the workers.
const SLOW_DISK: Duration = Duration::from_secs(1);

/// At most so many counts of quarantined machines are taken back at a time.
const MOST_TAKEN_BACK: usize = 1000;

/// A report that waits for the commit of its records.
pub(super) struct PendingReport {
    report: Report,
    verdicts: Vec<Verdict>,
    records: Vec<Record>,
    reply: ReplyTo<Vec<Verdict>>,
}

impl Keeper {
    /// Has the core judge a report. Its answer waits for the commit.
    pub(super) fn judge(&mut self, owner: &Owner, report: Report, reply: ReplyTo<Vec<Verdict>>) {
        let now = self.now();
        let unix_time = self.unix_time();
        let mut verdicts = Vec::with_capacity(report.counts.len());
        let mut records = Vec::new();
        for count in &report.counts {
            match self.core.judge(now, unix_time, report.worker, count) {
                Ok((verdict, mut new_records)) => {
                    if verdict == Verdict::Conflict && self.may_log(owner) {
                        let (unit, worker) = (count.lease.unit, report.worker);
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

    /// Puts the records of all pending reports on disk and answers them.
    pub(super) fn commit(&mut self) {
        let reports = std::mem::take(&mut self.reports);
        let records: Vec<Record> =
            reports.iter().flat_map(|pending| pending.records.iter().cloned()).collect();
        let (elapsed, threads) = (self.elapsed(), self.threads);
        let begun = self.clock.now();
        let committed = match &mut self.store {
            Some(store) if !records.is_empty() => store.commit(&records, elapsed, threads),
            _ => Ok(()),
        };
        let taken = self.clock.now().saturating_sub(begun);
        if taken > SLOW_DISK {
            warn!(seconds = taken.as_secs_f64(), "the disk was slow to take records");
            self.stalled += taken;
        }
        let now = self.now();
        match committed {
            Ok(()) => {
                if !records.is_empty() && !self.trouble.is_empty() {
                    info!("records can be written again");
                    self.trouble.clear();
                }
                for PendingReport { report, verdicts, records, reply } in reports {
                    if let Err(what) = self.core.recorded(now, Some(report.worker), &records) {
                        self.withhold(what);
                    }
                    reply.send(Ok(verdicts)).ok();
                }
            }
            Err(error) => {
                let trouble = format!("nothing is recorded: {error}");
                if self.trouble != trouble {
                    error!("{trouble}");
                }
                for PendingReport { records, reply, .. } in reports {
                    self.core.not_recorded(&records);
                    reply.send(Err(CallError::NotRecorded(trouble.clone()))).ok();
                }
                self.trouble = trouble;
            }
        }
    }

    /// Says which machines were wrong, and has their counts made again.
    pub(super) fn take_back(&mut self) {
        let quarantined: Vec<_> = {
            let machines = self.core.standing().sums().machines.quarantined();
            machines.map(|machine| machine.name.clone()).collect()
        };
        for machine in quarantined {
            if self.quarantined.insert(machine.clone()) {
                warn!(machine, "the machine was wrong and is quarantined");
            }
        }
        let records = self.core.take_back(self.unix_time(), MOST_TAKEN_BACK);
        if records.is_empty() {
            return;
        }
        let (elapsed, threads) = (self.elapsed(), self.threads);
        let committed = self.store.as_mut().map_or(Ok(()), |store| store.commit(&records, elapsed, threads));
        if let Err(error) = committed {
            self.core.not_recorded(&records);
            self.trouble = format!("nothing is recorded: {error}");
        } else if let Err(what) = self.core.recorded(self.now(), None, &records) {
            self.withhold(what);
        } else {
            self.trouble.clear();
            warn!(units = records.len(), "counts of quarantined machines are taken back");
        }
    }

    /// Seconds since 1970 (UTC).
    fn unix_time(&self) -> u64 {
        self.clock.since_1970().as_secs()
    }
}

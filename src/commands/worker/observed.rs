//! A wrapper that observes the calls between a worker and its coordinator, to show progress.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use domain::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId, counted, seen};
use parking_lot::Mutex;
use worker::{CoordinatorError, Lender};

use crate::output::significant;

/// A coordinator, with notes of all calls and answers.
pub struct Observed<L> {
    lender: L,
    notes: Arc<Mutex<WorkerNotes>>,
    /// Its part of the units in the notes; changed only while the notes are locked.
    own: Mutex<HeldUnits>,
}

/// Units that are lent and not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct HeldUnits {
    /// Held units: those of the last renewal, and those leased since.
    held: u64,
    /// The held units that are counted but could not be reported in the last call; since then more may have
    /// been counted.
    untold: u64,
}

/// How far the workers of a process are.
#[derive(Clone, Debug)]
pub struct WorkerNotes {
    begun: Instant,
    /// Units on record, or known there.
    counted: u64,
    /// The units of all workers together.
    units: HeldUnits,
    /// Since when the coordinator does not answer.
    alone: Option<Instant>,
    /// Since when reports are in vain, and why the last one was.
    unrecorded: Option<(Instant, String)>,
}

impl<L> Observed<L> {
    /// All calls are added to the shared notes.
    pub fn new(lender: L, notes: Arc<Mutex<WorkerNotes>>) -> Self {
        Self { lender, notes, own: Mutex::default() }
    }

    fn note<T>(&self, result: &Result<T, CoordinatorError>, note: impl FnOnce(&mut WorkerNotes, &T)) {
        let mut notes = self.notes.lock();
        match result {
            Ok(answer) => {
                if notes.alone.take().is_some() {
                    // Then that was the reason.
                    notes.unrecorded = None;
                }
                note(&mut notes, answer);
            }
            Err(CoordinatorError::Unavailable(_)) => _ = notes.alone.get_or_insert_with(Instant::now),
            Err(_) => {}
        }
    }

    /// It has something else in hand from now on.
    fn change(&self, notes: &mut WorkerNotes, change: impl FnOnce(&mut HeldUnits)) {
        let mut own = self.own.lock();
        let before = *own;
        change(&mut own);
        notes.units.held = notes.units.held + own.held - before.held;
        notes.units.untold = notes.units.untold + own.untold - before.untold;
    }
}

/// A worker that has left holds no units.
impl<L> Drop for Observed<L> {
    fn drop(&mut self) {
        self.change(&mut self.notes.lock(), |own| *own = HeldUnits::default());
    }
}

impl WorkerNotes {
    /// Before the first call.
    pub fn new() -> Self {
        Self { begun: Instant::now(), counted: 0, units: HeldUnits::default(), alone: None, unrecorded: None }
    }

    /// The progress in one line. Without an answer of the coordinator, or while nothing is recorded, it shows
    /// the counts that are ready, because the recorded ones are unknown.
    pub fn describe(&self, threads: u32) -> String {
        let (on_record, HeldUnits { held, untold }) = (counted(self.counted, "unit"), self.units);
        if let Some(since) = self.alone {
            let seconds = since.elapsed().as_secs();
            return format!(
                "{on_record} counted, at least {untold} more of {held} held; no answer for {seconds} s"
            );
        }
        if let Some((since, why)) = &self.unrecorded {
            let seconds = since.elapsed().as_secs();
            return format!(
                "{on_record} counted, at least {untold} more not recorded for {seconds} s: {why}"
            );
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = significant(self.counted as f64 / seconds.max(1.0));
        format!("{on_record} counted, {rate}/s on {}, {held} held", counted(threads, "thread"))
    }
}

#[async_trait]
impl<L: Lender> Lender for Observed<L> {
    async fn register(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        let welcome = self.lender.register(registration).await;
        self.note(&welcome, |_, _| ());
        welcome
    }

    async fn lease(
        &self,
        worker: WorkerId,
        want: u32,
        wait: Duration,
    ) -> Result<LeaseReply, CoordinatorError> {
        let reply = self.lender.lease(worker, want, wait).await;
        self.note(&reply, |notes, reply| {
            if let LeaseReply::Granted(leases) = reply {
                self.change(notes, |own| own.held += leases.len() as u64);
            }
        });
        reply
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        let units = held.len() as u64;
        let renewal = self.lender.renew(worker, held).await;
        self.note(&renewal, |notes, _| self.change(notes, |own| own.held = units));
        renewal
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        let units = report.counts.len() as u64;
        let verdicts = self.lender.report(report).await;
        // The other calls show whether the coordinator is away or cannot record.
        if let Err(CoordinatorError::Unavailable(why)) = &verdicts {
            let mut notes = self.notes.lock();
            let since = notes.unrecorded.take().map_or_else(Instant::now, |(since, _)| since);
            // Show it on a terminal.
            notes.unrecorded = Some((since, seen(why, &[]).into_owned()));
            self.change(&mut notes, |own| own.untold = units);
            return verdicts;
        }
        self.note(&verdicts, |notes, verdicts| {
            let is_settled = |verdict: &&Verdict| matches!(verdict, Verdict::Recorded | Verdict::Known);
            notes.counted += verdicts.iter().filter(is_settled).count() as u64;
            notes.unrecorded = None;
            self.change(notes, |own| *own = HeldUnits { held: own.held.saturating_sub(units), untold: 0 });
        });
        verdicts
    }

    async fn release(
        &self,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
    ) -> Result<(), CoordinatorError> {
        let units = held.len() as u64;
        let released = self.lender.release(worker, held, leaving).await;
        self.note(&released, |notes, ()| {
            self.change(notes, |own| own.held = own.held.saturating_sub(units));
        });
        released
    }
}

#[cfg(test)]
mod tests {
    use domain::UnitCount;
    use queens::UnitId;

    use super::*;
    use crate::terminal::COLUMNS;

    #[test]
    fn worker_progress_line_fits_80_columns() {
        let begun = Instant::now();
        let notes = WorkerNotes {
            begun,
            counted: 0,
            units: HeldUnits { held: 1, untold: 0 },
            alone: None,
            unrecorded: None,
        };
        assert_eq!(notes.describe(1), "0 units counted, 0.00/s on 1 thread, 1 held");
        let units = HeldUnits { held: 50_000, untold: 10_000 };
        let busy = WorkerNotes { counted: 9_999_999, units, ..notes };
        assert!(busy.describe(256).chars().count() < COLUMNS, "{}", busy.describe(256));
        let alone = WorkerNotes { alone: Some(begun), ..busy };
        assert_eq!(
            alone.describe(256),
            "9999999 units counted, at least 10000 more of 50000 held; no answer for 0 s"
        );
    }

    /// A coordinator that grants leases and answers no other call, or only renewals.
    struct Silent {
        renews: bool,
    }

    const FULL: &str = "nothing is recorded: no space left on \u{1b}[2Jdevice";

    fn silence<T>() -> Result<T, CoordinatorError> {
        Err(CoordinatorError::Unavailable("no answer in time".to_owned()))
    }

    #[async_trait]
    impl Lender for Silent {
        async fn register(&self, _: Registration) -> Result<Welcome, CoordinatorError> {
            silence()
        }

        async fn lease(&self, _: WorkerId, want: u32, _: Duration) -> Result<LeaseReply, CoordinatorError> {
            Ok(LeaseReply::Granted(vec![LEASE; want as usize]))
        }

        async fn renew(&self, _: WorkerId, _: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
            if self.renews {
                return Ok(Renewal { lost: Vec::new(), finished: false, drain: false });
            }
            silence()
        }

        async fn report(&self, _: Report) -> Result<Vec<Verdict>, CoordinatorError> {
            if self.renews { Err(CoordinatorError::Unavailable(FULL.to_owned())) } else { silence() }
        }

        async fn release(&self, _: WorkerId, _: Vec<Lease>, _: bool) -> Result<(), CoordinatorError> {
            silence()
        }
    }

    const LEASE: Lease = Lease { unit: UnitId(1), variant: domain::Variant::ALL[0], token: domain::Token(0) };

    const WORKER: WorkerId = WorkerId(1);

    /// A failing report of `counted` counts, and the renewal after it, which shows the worker whether the
    /// coordinator answers.
    async fn report_in_vain(lender: &Observed<Silent>, counted: usize) {
        let count = UnitCount { lease: LEASE, completions: 1, nodes: 1, cpu: Duration::ZERO };
        let counts = vec![count; counted];
        assert!(lender.report(Report { worker: WORKER, counts }).await.is_err());
        lender.renew(WORKER, vec![LEASE; 5]).await.ok();
    }

    #[tokio::test]
    async fn unreported_counts_are_shown_without_an_answer() {
        let notes = Arc::new(Mutex::new(WorkerNotes::new()));
        let lender = Observed::new(Silent { renews: false }, Arc::clone(&notes));
        lender.lease(WORKER, 5, Duration::ZERO).await.unwrap();
        for counted in [2, 4] {
            report_in_vain(&lender, counted).await;
            let told = format!("0 units counted, at least {counted} more of 5 held; no answer for 0 s");
            assert_eq!(notes.lock().describe(1), told);
        }
        lender.lease(WORKER, 1, Duration::ZERO).await.unwrap();
        assert!(notes.lock().describe(1).ends_with("6 held"), "it answers again");
        lender.renew(WORKER, vec![LEASE; 6]).await.unwrap_err();
        drop(lender);
        assert_eq!(notes.lock().describe(1), "0 units counted, at least 0 more of 0 held; no answer for 0 s");
    }

    #[tokio::test]
    async fn unrecorded_counts_are_shown_with_reason_and_time() {
        let notes = Arc::new(Mutex::new(WorkerNotes::new()));
        let lender = Observed::new(Silent { renews: true }, Arc::clone(&notes));
        let since = || notes.lock().unrecorded.clone().unwrap().0;
        report_in_vain(&lender, 2).await;
        let first = since();
        report_in_vain(&lender, 4).await;
        assert_eq!(since(), first);
        let told = "0 units counted, at least 4 more not recorded for 0 s: nothing is recorded: no space";
        let line = notes.lock().describe(1);
        assert!(line.starts_with(told) && !line.contains('\u{1b}'), "{line}");
    }

    #[test]
    fn held_units_of_all_workers_are_added_up() {
        let notes = Arc::new(Mutex::new(WorkerNotes::new()));
        let [one, other] = [(), ()].map(|()| Observed::new((), Arc::clone(&notes)));
        let renews = |who: &Observed<()>, units| {
            who.note(&Ok(()), |notes, ()| who.change(notes, |own| own.held = units));
        };
        let held = || notes.lock().units.held;
        renews(&one, 3);
        renews(&other, 5);
        assert_eq!(held(), 8);
        renews(&one, 2);
        assert_eq!(held(), 7);
        drop(one);
        assert_eq!(held(), 5);
    }
}

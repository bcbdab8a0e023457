//! What passes between a worker and its coordinator, as far as progress can be told from it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use coordinator::counted;
use proto::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use worker::{CoordinatorError, Lender};

use crate::output::significant;

/// A coordinator, with notes of what it was told and what it gave.
pub struct Observed<L> {
    lender: L,
    notes: Arc<Mutex<Notes>>,
    /// What it holds of the units that all hold together; changed while the notes are locked.
    held: AtomicU64,
}

/// How far the workers of a process are.
#[derive(Clone, Debug)]
pub struct Notes {
    begun: Instant,
    /// Units on record, or known there.
    counted: u64,
    /// Units that they hold, by the last renewal of each and what came since.
    held: u64,
    /// Since when the coordinator does not answer.
    alone: Option<Instant>,
}

impl<L> Observed<L> {
    /// What passes is added to the notes of all.
    pub fn new(lender: L, notes: Arc<Mutex<Notes>>) -> Self {
        Self { lender, notes, held: AtomicU64::new(0) }
    }

    fn note<T>(&self, result: &Result<T, CoordinatorError>, note: impl FnOnce(&mut Notes, &T)) {
        let mut notes = locked(&self.notes);
        match result {
            Ok(answer) => {
                notes.alone = None;
                note(&mut notes, answer);
            }
            Err(CoordinatorError::Unavailable(_)) => _ = notes.alone.get_or_insert_with(Instant::now),
            Err(_) => {}
        }
    }

    /// It holds that much from now on.
    fn holds(&self, notes: &mut Notes, change: impl FnOnce(u64) -> u64) {
        let before = self.held.load(Ordering::Relaxed);
        let now = change(before);
        self.held.store(now, Ordering::Relaxed);
        notes.held = notes.held + now - before;
    }
}

/// Who has left holds nothing.
impl<L> Drop for Observed<L> {
    fn drop(&mut self) {
        self.holds(&mut locked(&Arc::clone(&self.notes)), |_| 0);
    }
}

/// What is behind the lock. Nothing that panics is done while it is held.
pub fn locked(notes: &Mutex<Notes>) -> MutexGuard<'_, Notes> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Notes {
    /// Nothing has passed yet.
    pub fn new() -> Self {
        Self { begun: Instant::now(), counted: 0, held: 0, alone: None }
    }

    /// In one line.
    pub fn describe(&self, threads: u32) -> String {
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = significant(self.counted as f64 / seconds.max(1.0));
        let threads = counted(threads, "thread");
        let mut text =
            format!("{} counted, {rate}/s on {threads}, {} held", counted(self.counted, "unit"), self.held);
        if let Some(since) = self.alone {
            text += &format!("; no answer for {} s", since.elapsed().as_secs());
        }
        text
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
                self.holds(notes, |held| held + leases.len() as u64);
            }
        });
        reply
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        let units = held.len() as u64;
        let renewal = self.lender.renew(worker, held).await;
        self.note(&renewal, |notes, _| self.holds(notes, |_| units));
        renewal
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        let verdicts = self.lender.report(report).await;
        self.note(&verdicts, |notes, verdicts| {
            let is_settled = |verdict: &&Verdict| matches!(verdict, Verdict::Recorded | Verdict::Known);
            notes.counted += verdicts.iter().filter(is_settled).count() as u64;
            self.holds(notes, |held| held.saturating_sub(verdicts.len() as u64));
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
        self.note(&released, |notes, ()| self.holds(notes, |held| held.saturating_sub(units)));
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::COLUMNS;

    #[test]
    fn a_worker_tells_what_it_has_counted_and_that_nobody_answers_within_80_columns() {
        let begun = Instant::now();
        let notes = Notes { begun, counted: 0, held: 1, alone: None };
        assert_eq!(notes.describe(1), "0 units counted, 0.00/s on 1 thread, 1 held");
        let busy = Notes { counted: 9_999_999, held: 50_000, alone: Some(begun), ..notes };
        let line = busy.describe(256);
        assert!(line.ends_with("; no answer for 0 s") && line.chars().count() < COLUMNS, "{line}");
    }

    #[test]
    fn what_several_hold_is_told_together_and_who_has_left_holds_nothing() {
        let notes = Arc::new(Mutex::new(Notes::new()));
        let [one, other] = [(), ()].map(|()| Observed::new((), Arc::clone(&notes)));
        let renews = |who: &Observed<()>, units| who.note(&Ok(()), |notes, ()| who.holds(notes, |_| units));
        let held = || locked(&notes).held;
        renews(&one, 3);
        renews(&other, 5);
        assert_eq!(held(), 8);
        renews(&one, 2);
        assert_eq!(held(), 7);
        drop(one);
        assert_eq!(held(), 5);
    }
}

//! The operations of the simulation, on one worker or on the coordinator, and how they are drawn.

use std::time::Duration;

use domain::{UnitCount, Verdict};
use rand::RngExt;
use records::ledger::Record;

use super::{World, is_final};
use crate::core::Refusal;

impl World {
    /// The worker registers, if it is not registered.
    pub fn join(&mut self, k: usize) {
        if self.workers[k].id.is_some() {
            return;
        }
        let registration = self.workers[k].registration(&self.truth);
        match self.core.register(self.now, registration) {
            Ok(welcome) => {
                let worker = &mut self.workers[k];
                (worker.id, worker.former) = (Some(welcome.worker), Some(welcome.worker));
                for lease in welcome.leases {
                    let held = worker.held.iter_mut().find(|held| held.unit == lease.unit);
                    *held.expect("only what is held is leased again") = lease;
                }
            }
            Err(refusal) => {
                let identity = self.workers[k].identity();
                assert!(self.core.votes.is_quarantined(&identity), "{refusal}");
                assert!(
                    matches!(&refusal, Refusal::Quarantined(machine, _) if *machine == identity.to_string()),
                    "{refusal}"
                );
                self.workers[k].held.clear();
            }
        }
    }

    /// The outcome of a call; a worker that is not known is not registered any more.
    fn called<T>(&mut self, k: usize, result: Result<T, Refusal>) -> Option<T> {
        if let Err(refusal) = &result {
            assert!(matches!(refusal, Refusal::UnknownWorker(_)), "{refusal}");
            self.workers[k].id = None;
        }
        result.ok()
    }

    pub fn lease(&mut self, k: usize, want: u32) {
        let Some(id) = self.workers[k].id else { return };
        let lent_before = self.core.leases.units();
        let result = self.core.lease(self.now, id, want);
        let Some(leases) = self.called(k, result) else { return };
        for lease in &leases {
            let holders = self.core.leases.holders(lease.unit).count();
            assert!(holders == 1 || lent_before.contains(&lease.unit), "unit {} is no backup", lease.unit);
        }
        let worker = &mut self.workers[k];
        worker.held.retain(|held| leases.iter().all(|lease| lease.unit != held.unit));
        worker.held.extend(leases);
    }

    pub fn renew(&mut self, k: usize) {
        let Some(id) = self.workers[k].id else { return };
        let held = self.workers[k].held.clone();
        let result = self.core.renew(self.now, id, &held);
        self.called(k, result);
    }

    /// Counts up to `most` of the units that it holds, and reports them.
    pub fn report(&mut self, k: usize, most: usize, disk_is_full: bool) {
        if self.workers[k].id.is_none() {
            return;
        }
        let worker = &mut self.workers[k];
        let most = most.min(worker.held.len());
        let held: Vec<_> = worker.held.drain(..most).collect();
        let counts: Vec<_> =
            held.into_iter().map(|lease| worker.count(&self.truth, lease, &mut self.random)).collect();
        let kept = self.tell(k, &counts, disk_is_full);
        self.workers[k].held.extend(kept.iter().map(|count| count.lease));
        self.workers[k].said = counts;
    }

    /// Repeats the worker's last report.
    pub fn repeat(&mut self, k: usize) {
        let said = self.workers[k].said.clone();
        self.tell(k, &said, false);
    }

    /// Reports counts; gives those that it has to report again.
    fn tell(&mut self, k: usize, counts: &[UnitCount], disk_is_full: bool) -> Vec<UnitCount> {
        let Some(id) = self.workers[k].id else { return Vec::new() };
        let (mut all, mut kept) = (Vec::new(), Vec::new());
        for count in counts {
            let judged = self.core.judge(self.now, 0, id, count);
            let Some((verdict, records)) = self.called(k, judged) else { break };
            let says_something = matches!(verdict, Verdict::Recorded | Verdict::Conflict);
            assert_eq!(says_something, !records.is_empty(), "{verdict:?} with {records:?}");
            if !is_final(verdict) {
                kept.push(*count);
            }
            all.extend(records);
        }
        if !self.commit(Some(id), &all, disk_is_full) {
            kept = counts.to_vec();
        }
        kept
    }

    /// Returns some units of the worker, which then may leave.
    pub fn release(&mut self, k: usize, leaving: bool) {
        let Some(id) = self.workers[k].id else { return };
        let most = self.workers[k].held.len() / 2;
        let held: Vec<_> = self.workers[k].held.drain(..most).collect();
        let result = self.core.release(self.now, id, &held, leaving);
        self.called(k, result);
        if leaving {
            self.workers[k].id = None;
            self.workers[k].held.clear();
        }
    }

    /// The worker's process ends without a word.
    pub fn die(&mut self, k: usize) {
        let worker = &mut self.workers[k];
        (worker.id, worker.held, worker.said) = (None, Vec::new(), Vec::new());
    }

    /// The coordinator crashes during a report: its records may be on disk, but the worker gets no verdict.
    pub fn crash(&mut self, k: usize) {
        if let (Some(id), Some(lease)) = (self.workers[k].id, self.workers[k].held.first().copied()) {
            let count = self.workers[k].count(&self.truth, lease, &mut self.random);
            let judged = self.core.judge(self.now, 0, id, &count);
            let records: Vec<Record> = judged.map(|(_, records)| records).unwrap_or_default();
            if self.random.random() {
                self.ledger.extend(records);
            }
        }
        let from_checkpoint = self.random.random();
        self.restart(from_checkpoint);
    }

    /// Something happens.
    pub fn step(&mut self) {
        let k = self.random.random_range(0..self.workers.len());
        let some = self.random.random_range(1..12);
        match self.random.random_range(0..100) {
            0..15 => self.join(k),
            15..45 => self.lease(k, some),
            45..80 => self.report(k, some as usize, false),
            80 => self.report(k, some as usize, true),
            81..84 => self.renew(k),
            84..88 => self.repeat(k),
            88 => self.release(k, true),
            89 => self.release(k, false),
            90 => self.die(k),
            91 => self.crash(k),
            92..94 => self.audited(),
            94..97 => self.take_back(),
            97 => self.now += Duration::from_secs(u64::from(some)),
            // A laptop that was asleep, and a clock that goes backwards.
            98 => self.now += Duration::from_hours(1),
            _ => self.now = self.now.saturating_sub(Duration::from_mins(1)),
        }
        self.core.tick(self.now);
    }
}

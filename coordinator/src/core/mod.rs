//! The coordinator's core: who holds which unit until when, and what a reported count means.
//!
//! A pure state machine. Every method is told the time, changes the state and says what is to be done: no files, no
//! sockets, no clock. A reported count that is to go on record is handed out as [`Record`]s; the unit is done only
//! when the caller says that they are on disk ([`Core::recorded`]).

mod leases;
mod rate;
mod workers;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use proto::{Lease, Registration, RunStatus, UnitCount, Verdict, Welcome, WorkerId};
use queens::kernel::KernelName;
use queens::plan::Fingerprint;
use queens::{Plan, UnitId};
use thiserror::Error;

use crate::ledger::{Record, UnitRecord};
use crate::shard::Shard;
use crate::standing::Standing;
use leases::Leases;
use rate::Rate;
use workers::{Worker, Workers};

/// How long a lease is safe without renewal; workers renew six times in that time. An expired lease goes on all the
/// same until somebody else could count its unit and has nothing else to do.
pub const LEASE_TIME: Duration = Duration::from_secs(15);

/// A worker that is not heard of for this long is forgotten, and its units are open again.
const SILENCE: Duration = Duration::from_mins(10);

/// A request that the core refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The worker's plan is not the run's.
    #[error("this run has plan {run}, the worker has plan {worker}: use the release that began the run")]
    OtherPlan {
        /// The run's fingerprint.
        run: Fingerprint,
        /// The worker's fingerprint.
        worker: Fingerprint,
    },
    /// The coordinator was restarted, or the worker was silent for too long.
    #[error("worker {0} is not registered; register first")]
    UnknownWorker(WorkerId),
}

/// The state of a run in progress.
#[derive(Debug)]
pub struct Core {
    plan: Arc<Plan>,
    shard: Shard,
    standing: Standing,
    leases: Leases,
    workers: Workers,
    /// Counts on their way to the disk.
    recording: HashMap<UnitId, u64>,
    /// Units below `cursor` that are open again.
    returned: BTreeSet<UnitId>,
    /// No unit from here on has been lent yet, unless it came back with a worker.
    cursor: u64,
    /// Units recorded, and expected work recorded, a second.
    units_rate: Rate,
    work_rate: Rate,
    total_work: u128,
}

impl Core {
    /// A run of that plan with that much on record. `seed` makes lease tokens differ from those of other sessions.
    pub fn new(plan: Arc<Plan>, shard: Shard, standing: Standing, seed: u64) -> Self {
        let total_work = if shard.is_whole() {
            plan.total_weight()
        } else {
            let in_shard = (0..plan.units()).map(UnitId).filter(|unit| shard.contains(*unit));
            in_shard.map(|unit| u128::from(plan.weight(unit))).sum()
        };
        Self {
            plan,
            shard,
            standing,
            leases: Leases::new(seed),
            workers: Workers::default(),
            recording: HashMap::new(),
            returned: BTreeSet::new(),
            cursor: 0,
            units_rate: Rate::default(),
            work_rate: Rate::default(),
            total_work,
        }
    }

    /// A worker introduces itself; units that it holds from before are leased to it again.
    pub fn register(&mut self, now: Duration, registration: Registration) -> Result<Welcome, Refusal> {
        if registration.fingerprint != *self.plan.fingerprint() {
            return Err(Refusal::OtherPlan {
                run: self.plan.fingerprint().clone(),
                worker: registration.fingerprint,
            });
        }
        let Registration { name, threads, kernel, held, .. } = registration;
        let worker = self.workers.add(now, name, threads, kernel);
        let wanted = held.into_iter().filter(|unit| self.is_free_to_lease(*unit)).collect::<BTreeSet<_>>();
        let leases = wanted.into_iter().map(|unit| self.lend(now, worker, unit)).collect();
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases })
    }

    /// Lends up to `want` units; none if none are open. A worker holds no more than a quarter of its share, by threads,
    /// of the work that is left: so the last units are not all with one worker, and one that comes later finds some.
    /// When none are open, leases that have expired end and their units are.
    pub fn lease(&mut self, now: Duration, worker: WorkerId, want: u32) -> Result<Vec<Lease>, Refusal> {
        let threads = u128::from(self.workers.heard_of(now, worker)?.threads);
        if self.open() == 0 {
            self.returned.extend(self.leases.expire(now));
        }
        let share = self.work_left() * threads / u128::from(4 * self.workers.threads());
        let mut leases = Vec::new();
        while leases.len() < want as usize && self.leases.held_by(worker).work <= share {
            let Some(unit) = self.next_open() else { break };
            leases.push(self.lend(now, worker, unit));
        }
        Ok(leases)
    }

    /// Keeps the worker's leases alive and names those that it has lost.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, held: &[Lease]) -> Result<Vec<UnitId>, Refusal> {
        self.workers.heard_of(now, worker)?;
        let mut lost = Vec::new();
        for lease in held {
            // A lease also ends with the record of its count; that is no loss.
            let renewed = self.leases.renew(*lease, now + LEASE_TIME);
            if !renewed && !self.recording.contains_key(&lease.unit) && !self.has_count(lease.unit) {
                lost.push(lease.unit);
            }
        }
        Ok(lost)
    }

    /// Takes units back that will not be counted, and strikes the worker off if it leaves.
    pub fn release(
        &mut self,
        now: Duration,
        worker: WorkerId,
        held: &[Lease],
        leaving: bool,
    ) -> Result<(), Refusal> {
        self.workers.heard_of(now, worker)?;
        for lease in held {
            if self.leases.end(*lease) {
                self.returned.insert(lease.unit);
            }
        }
        if leaving {
            self.workers.remove(worker);
            self.returned.extend(self.leases.end_all_of(worker));
        }
        Ok(())
    }

    /// Judges one reported count. The records, if any, are to be written before the verdict is told; late results
    /// of a lease that has expired are as good as others.
    pub fn judge(
        &mut self,
        now: Duration,
        unix_time: u64,
        worker: WorkerId,
        reported: &UnitCount,
    ) -> Result<(Verdict, Vec<Record>), Refusal> {
        let Worker { name, kernel, .. } = self.workers.heard_of(now, worker)?;
        let record = unit_record(reported, name.clone(), *kernel, unix_time);
        let (unit, count) = (record.unit, record.count);
        if unit.0 >= self.plan.units() || !self.shard.contains(unit) {
            return Ok((Verdict::Unwanted, Vec::new()));
        }
        if let Some(recording) = self.recording.get(&unit) {
            let verdict = if *recording == count { Verdict::Known } else { Verdict::Later };
            return Ok((verdict, Vec::new()));
        }
        if self.standing.is_done(unit) {
            return Ok(match self.standing.count(unit) {
                None => (Verdict::Later, Vec::new()),
                Some(standing) if standing == count => (Verdict::Known, Vec::new()),
                Some(standing) => {
                    let retract = Record::Retract { unit, count: standing, at: unix_time };
                    (Verdict::Conflict, vec![Record::Conflict(record), retract])
                }
            });
        }
        match self.standing.sums().disputed.get(&unit) {
            Some(counts) if !counts.contains(&count) => {
                Ok((Verdict::Conflict, vec![Record::Conflict(record)]))
            }
            _ => {
                self.recording.insert(unit, count);
                Ok((Verdict::Recorded, vec![Record::Count(record)]))
            }
        }
    }

    /// The records that [`judge`](Self::judge) handed out are on disk.
    ///
    /// # Errors
    /// Sums that cannot be right; the run must not go on.
    pub fn recorded(&mut self, now: Duration, worker: WorkerId, records: &[Record]) -> Result<(), String> {
        for record in records {
            self.standing.apply(&self.plan, self.shard, record)?;
            match record {
                Record::Count(r) => {
                    self.recording.remove(&r.unit);
                    self.returned.remove(&r.unit);
                    self.leases.end_unit(r.unit);
                    self.workers.counted(now, worker);
                    self.units_rate.add(now, 1.0);
                    self.work_rate.add(now, self.plan.weight(r.unit) as f64);
                }
                Record::Conflict(r) => {
                    self.leases.end_unit(r.unit);
                    self.returned.insert(r.unit);
                }
                Record::Check(_) | Record::Retract { .. } | Record::Mark(_) => {}
            }
        }
        Ok(())
    }

    /// The records that [`judge`](Self::judge) handed out are not on disk: their units are as they were.
    pub fn not_recorded(&mut self, records: &[Record]) {
        for record in records {
            if let Record::Count(r) = record {
                self.recording.remove(&r.unit);
            }
        }
    }

    /// Time has passed: workers that have been silent for long are forgotten.
    pub fn tick(&mut self, now: Duration) {
        for worker in self.workers.forget_silent(now.saturating_sub(SILENCE)) {
            self.returned.extend(self.leases.end_all_of(worker));
        }
    }

    /// Whether every unit has a standing count.
    pub fn is_complete(&self) -> bool {
        self.standing.done() == self.shard.size(self.plan.units())
    }

    /// What is on record.
    pub fn standing(&mut self) -> &mut Standing {
        &mut self.standing
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The share of the plan that is counted.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// The threads of all workers that are there.
    pub fn threads(&self) -> u32 {
        u32::try_from(self.workers.threads()).unwrap_or(u32::MAX)
    }

    /// Whether no worker is there.
    pub fn is_deserted(&self) -> bool {
        self.workers.is_empty()
    }

    /// Where the run stands; phase, trouble and elapsed time are the caller's to add.
    pub fn status(&self, now: Duration) -> RunStatus {
        let sums = self.standing.sums();
        let work_left = self.work_left() as f64;
        let per_second = self.work_rate.per_second(now);
        RunStatus {
            board: self.plan.board(),
            fingerprint: self.plan.fingerprint().clone(),
            units: self.shard.size(self.plan.units()),
            done: self.standing.done(),
            leased: self.leases.len() as u64,
            disputed: sums.disputed.len() as u64,
            progress: if self.total_work == 0 { 1.0 } else { sums.work as f64 / self.total_work as f64 },
            totals: sums.tally.totals().unwrap_or_default(),
            elapsed: Duration::ZERO,
            left: per_second.and_then(|rate| Duration::try_from_secs_f64(work_left / rate).ok()),
            rate: self.units_rate.per_second(now).unwrap_or(0.0),
            phase: proto::Phase::Counting,
            trouble: String::new(),
            workers: self.workers.status(now, |worker| self.leases.held_by(worker).units),
        }
    }

    /// The expected work of the units that are not on record, in search nodes.
    fn work_left(&self) -> u128 {
        self.total_work.saturating_sub(self.standing.sums().work)
    }

    /// Units that are neither on record, nor on their way there, nor lent.
    fn open(&self) -> u64 {
        let recording_unleased = self.recording.keys().filter(|unit| !self.leases.contains(**unit)).count();
        self.shard.size(self.plan.units())
            - self.standing.done()
            - self.leases.len() as u64
            - recording_unleased as u64
    }

    fn has_count(&self, unit: UnitId) -> bool {
        unit.0 < self.plan.units() && self.standing.is_done(unit)
    }

    fn is_free_to_lease(&self, unit: UnitId) -> bool {
        unit.0 < self.plan.units()
            && self.shard.contains(unit)
            && !self.standing.is_done(unit)
            && !self.leases.contains(unit)
            && !self.recording.contains_key(&unit)
    }

    fn next_open(&mut self) -> Option<UnitId> {
        while let Some(unit) = self.returned.pop_first() {
            if self.is_free_to_lease(unit) {
                return Some(unit);
            }
        }
        while self.cursor < self.plan.units() {
            let unit = UnitId(self.cursor);
            self.cursor += 1;
            if self.is_free_to_lease(unit) {
                return Some(unit);
            }
        }
        None
    }

    fn lend(&mut self, now: Duration, worker: WorkerId, unit: UnitId) -> Lease {
        self.leases.lend(unit, self.plan.weight(unit), worker, now + LEASE_TIME)
    }
}

fn unit_record(reported: &UnitCount, worker: String, kernel: KernelName, at: u64) -> UnitRecord {
    UnitRecord {
        unit: reported.lease.unit,
        count: reported.completions,
        nodes: reported.nodes,
        cpu_us: reported.cpu.as_micros().try_into().unwrap_or(u64::MAX),
        worker,
        kernel: kernel.to_string(),
        at,
    }
}

#[cfg(test)]
mod tests;

//! The coordinator's core: who holds which unit until when, and what a reported count means.
//!
//! A pure state machine. Every method is told the time, changes the state and says what is to be done: no files, no
//! sockets, no clock. A reported count that is to go on record is handed out as [`Record`](crate::ledger::Record)s; the
//! unit is done only when the caller says that they are on disk ([`Core::recorded`]).
//!
//! What may be done with a unit follows from its standing and from the leases alone (`lending`); what a count means
//! follows from the standing (`judge`); whose counts are taken back follows from it too (`quarantine`). So a restart
//! goes on where the ledger ends.

mod canaries;
mod judge;
mod leases;
mod lending;
mod losses;
mod open;
mod quarantine;
mod rate;
mod status;
mod workers;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use proto::{Lease, Registration, Welcome, WorkerId};
use queens::plan::Fingerprint;
use queens::{Plan, UnitId, self_test};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use thiserror::Error;

use crate::double_check::DoubleCheck;
use crate::shard::Shard;
use crate::standing::{Standing, UnitMark};
use canaries::Canaries;
use judge::Recording;
use leases::Leases;
use losses::Losses;
use open::Open;
use rate::Rate;
use workers::Workers;

/// How long a lease is safe without renewal; workers renew six times in that time. An expired lease goes on all the
/// same until somebody else could count its unit and has nothing else to do.
pub const LEASE_TIME: Duration = Duration::from_secs(15);

/// A worker that is not heard of for this long is forgotten, and its units are open again.
const SILENCE: Duration = Duration::from_mins(10);

/// A machine checks its own counts only when it has been alone for this long, or always.
const ALONE: Duration = Duration::from_mins(1);

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
    /// The worker's kernel miscounts a known board.
    #[error(
        "worker {worker} on machine {machine} finds {found} solutions of a known board that has {expected}: it cannot be relied on"
    )]
    SelfTest {
        /// The worker's name.
        worker: String,
        /// Its machine.
        machine: String,
        /// What it found.
        found: u64,
        /// What it should have found.
        expected: u64,
    },
    /// The worker's machine was wrong before.
    #[error("machine {0} is quarantined: two other counts have proved a count of it wrong")]
    Quarantined(String),
    /// The coordinator was restarted, or the worker was silent for too long.
    #[error("worker {0} is not registered; register first")]
    UnknownWorker(WorkerId),
}

/// The state of a run in progress.
#[derive(Debug)]
pub struct Core {
    plan: Arc<Plan>,
    shard: Shard,
    policy: DoubleCheck,
    standing: Standing,
    leases: Leases,
    workers: Workers,
    /// When workers of different machines were last there together, if they were.
    last_accompanied: Option<Duration>,
    /// Counts on their way to the disk.
    recording: HashMap<UnitId, Recording>,
    open: Open,
    losses: Losses,
    /// Units set aside that the caller has not been told of.
    given_up: Vec<UnitId>,
    canaries: Canaries,
    /// The first counts of each machine, those on their way to the disk included.
    trials: HashMap<String, u64>,
    /// How many machines were quarantined when this was last looked at.
    quarantined: usize,
    /// No unit below has a count that is to be taken back.
    believed: u64,
    /// Decides what is checked, by which kernel.
    random: StdRng,
    /// Units recorded, and expected work recorded, a second.
    units_rate: Rate,
    work_rate: Rate,
    total_work: u128,
}

impl Core {
    /// A run of that plan with that much on record. `seed` makes lease tokens and samples differ from those of other
    /// sessions.
    pub fn new(plan: Arc<Plan>, shard: Shard, standing: Standing, policy: DoubleCheck, seed: u64) -> Self {
        let total_work = if shard.is_whole() {
            plan.total_weight()
        } else {
            let in_shard = (0..plan.units()).map(UnitId).filter(|unit| shard.contains(*unit));
            in_shard.map(|unit| u128::from(plan.weight(unit))).sum()
        };
        let mut random = StdRng::seed_from_u64(seed);
        let mut core = Self {
            plan,
            shard,
            policy,
            standing,
            leases: Leases::new(random.random()),
            workers: Workers::new(random.random()),
            last_accompanied: None,
            recording: HashMap::new(),
            open: Open::default(),
            losses: Losses::default(),
            given_up: Vec::new(),
            canaries: Canaries::default(),
            trials: HashMap::new(),
            quarantined: 0,
            believed: 0,
            random,
            units_rate: Rate::default(),
            work_rate: Rate::default(),
            total_work,
        };
        core.open.disputes = core.standing.sums().disputed.keys().copied().collect();
        core.counts_adopted();
        core
    }

    /// Counts and their origins have been read that were not known before: what is to be checked or taken back can be.
    pub fn counts_adopted(&mut self) {
        self.believed = 0;
        self.open.checks.clear();
        let mark = match self.policy {
            DoubleCheck::None => return,
            DoubleCheck::Share(_) => UnitMark::Due,
            DoubleCheck::All => UnitMark::Done,
        };
        let pending: Vec<_> =
            self.standing.units_with(mark).filter(|unit| self.is_open_check(*unit)).collect();
        pending.into_iter().for_each(|unit| self.reopen(unit));
    }

    /// A worker introduces itself; units that it holds from before are leased to it again.
    pub fn register(&mut self, now: Duration, registration: Registration) -> Result<Welcome, Refusal> {
        let Registration { fingerprint, name, machine, self_test: found, held, .. } = &registration;
        if fingerprint != self.plan.fingerprint() {
            return Err(Refusal::OtherPlan {
                run: self.plan.fingerprint().clone(),
                worker: fingerprint.clone(),
            });
        }
        let expected = self_test::expected();
        if *found != expected {
            let (worker, machine, found) = (name.clone(), machine.clone(), *found);
            return Err(Refusal::SelfTest { worker, machine, found, expected });
        }
        if self.is_quarantined(machine) {
            return Err(Refusal::Quarantined(machine.clone()));
        }
        let mut wanted = held.clone();
        wanted.sort_unstable();
        wanted.dedup();
        let worker = self.workers.add(now, registration);
        self.note_machines(now);
        self.hand_over(worker, &wanted);
        let borrower = self.borrower(now, worker)?;
        let leases = wanted.into_iter().filter_map(|unit| self.lend(now, &borrower, unit)).collect();
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases })
    }

    /// Ends the leases of units that the worker had under another number: the answer to its first registration was lost
    /// on the way, or the coordinator has not noticed yet that it was started again.
    fn hand_over(&mut self, worker: WorkerId, held: &[UnitId]) {
        for unit in held {
            if self.leases.holder(*unit).is_some_and(|holder| self.workers.are_namesakes(holder, worker)) {
                self.leases.end_unit(*unit);
            }
        }
    }

    /// Keeps the worker's leases alive and names those that it has lost.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, held: &[Lease]) -> Result<Vec<UnitId>, Refusal> {
        self.workers.heard_of(now, worker)?;
        let mut lost = Vec::new();
        for lease in held {
            // A lease also ends with the record of its count; that is no loss.
            let renewed = self.leases.renew(lease.unit, worker, now.saturating_add(LEASE_TIME));
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
                self.reopen(lease.unit);
            }
        }
        if leaving {
            self.note_machines(now);
            self.workers.remove(worker);
            self.leases.end_all_of(worker).into_iter().for_each(|unit| self.reopen(unit));
        }
        Ok(())
    }

    /// Time has passed: workers that have been silent for long are forgotten. Gives the units that are set aside since
    /// this was last asked, because they were lost with too many.
    pub fn tick(&mut self, now: Duration) -> Vec<UnitId> {
        self.note_machines(now);
        for worker in self.workers.silent(now.saturating_sub(SILENCE)) {
            self.workers.remove(worker);
            let units = self.leases.end_all_of(worker);
            self.lose(&units);
        }
        std::mem::take(&mut self.given_up)
    }

    fn note_machines(&mut self, now: Duration) {
        if self.workers.machines().nth(1).is_some() {
            self.last_accompanied = Some(now);
        }
    }

    /// Whether workers of no other machine are there.
    fn is_alone(&self, machine: &str) -> bool {
        self.workers.machines().all(|other| other == machine)
    }

    /// Whether it has been so for long enough that no other machine is to be waited for.
    fn is_left_alone(&self, now: Duration, machine: &str) -> bool {
        if !self.is_alone(machine) {
            return false;
        }
        let mut known = self.standing.sums().machines.iter();
        let had_others = known.any(|other| other.name != machine && !other.is_quarantined());
        let last = self.last_accompanied.or(had_others.then_some(Duration::ZERO));
        last.is_none_or(|last| now.saturating_sub(last) >= ALONE)
    }

    /// Whether every unit has a standing count, and all is checked that is to be.
    pub fn is_complete(&self) -> bool {
        self.standing.is_settled(&self.plan, self.shard, self.policy)
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

    fn has_count(&self, unit: UnitId) -> bool {
        unit.0 < self.plan.units() && self.standing.is_done(unit)
    }

    fn is_quarantined(&self, machine: &str) -> bool {
        let machines = &self.standing.sums().machines;
        machines.number(machine).is_some_and(|number| machines.get(number).is_quarantined())
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

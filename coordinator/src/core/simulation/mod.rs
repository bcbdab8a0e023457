//! Random operations on the core with a simulated clock: workers connect, count, lie, fall silent and repeat reports.
//! Disks fail, the coordinator crashes and restarts from its records, and time jumps.

mod absences;
mod collusion;
mod found;
mod invariants;
mod keys;
mod liars;
mod malice;
mod operations;
mod speeds;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use domain::{CoordinatorId, Owner, Verdict, WorkerId};
use queens::kernel::{Count, Isa, Method, Stop, kernel};
use queens::plan::Scheme;
use queens::{Board, Plan, PlanSpec, UnitId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Checking, Core};
use records::ledger::{Record, TermRecord};
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::{Identity, Standing};
use records::{DoubleCheck, OwnChecks};
use worker::{Habit, SimulatedWorker};

/// The key of all leases: it outlives the coordinator's process.
const KEY: LeaseKey = LeaseKey::new([7; LeaseKey::BYTES]);

/// The true counts of a small plan by either method; the nodes differ.
#[derive(Debug)]
struct Truth {
    plan: Arc<Plan>,
    counts: [Vec<Count>; 2],
}

impl Truth {
    /// The plan of that board, cut finely.
    fn of(n: u8, grain: u64) -> Arc<Self> {
        let spec =
            PlanSpec { scheme: Scheme::Constellations { grain }, ..PlanSpec::new(Board::new(n).unwrap()) };
        let plan = Plan::derive(spec).unwrap();
        let counts = Method::ALL.map(|method| {
            let kernel = kernel(method, Some(Isa::Portable)).unwrap();
            let units = (0..plan.units()).map(|id| plan.unit(UnitId(id)));
            units.map(|unit| unit.count(&*kernel, &Stop::new()).unwrap()).collect()
        });
        Arc::new(Self { plan: Arc::new(plan), counts })
    }

    fn count(&self, unit: UnitId, method: Method) -> Count {
        let of_method = Method::ALL.iter().position(|m| *m == method).unwrap();
        self.counts[of_method][unit.0 as usize]
    }
}

/// A coordinator, its records on disk, and its workers.
struct World {
    truth: Arc<Truth>,
    policy: DoubleCheck,
    own_checks: Option<OwnChecks>,
    core: Core,
    ledger: Vec<Record>,
    now: Duration,
    workers: Vec<SimulatedWorker>,
    random: StdRng,
}

impl World {
    fn new(truth: &Arc<Truth>, policy: DoubleCheck, habits: &[Habit], seed: u64) -> Self {
        let workers = habits.iter().zip(0..).map(|(habit, k)| SimulatedWorker::new(k, *habit)).collect();
        let (term, coordinator) = (1, CoordinatorId(1));
        let term = Record::Term(TermRecord { term, coordinator, key: None, at: 0 });
        let mut standing = Standing::new(&truth.plan);
        standing.apply(&truth.plan, Shard::default(), &term).unwrap();
        Self {
            truth: Arc::clone(truth),
            policy,
            own_checks: None,
            core: Self::core(truth, standing, policy.into(), seed),
            ledger: vec![term],
            now: Duration::ZERO,
            workers,
            random: StdRng::seed_from_u64(seed),
        }
    }

    fn core(truth: &Truth, standing: Standing, checking: Checking, seed: u64) -> Core {
        Core::new(Arc::clone(&truth.plan), Shard::default(), standing, checking, KEY, seed)
    }

    /// The standing of the records on disk.
    fn replayed(&self) -> Standing {
        let mut standing = Standing::new(&self.truth.plan);
        for record in &self.ledger {
            standing.apply(&self.truth.plan, Shard::default(), record).unwrap();
        }
        standing
    }

    /// The coordinator's process ends, and another begins: from the ledger, or from a checkpoint, which knows no counts.
    fn restart(&mut self, from_checkpoint: bool) {
        let mut standing = self.replayed();
        if from_checkpoint {
            let (marks, sums) = (standing.marks().clone(), standing.sums().clone());
            standing = Standing::restored(&self.truth.plan, marks, sums);
        }
        let seed = self.random.random();
        let checking = Checking { own_checks: self.own_checks.clone(), ..self.policy.into() };
        self.core = Self::core(&self.truth, standing, checking, seed);
    }

    /// Simulates the audit after a restart: it compares the ledger with the core, which does not know all counts.
    fn audited(&mut self) {
        let audited = self.replayed();
        let standing = self.core.standing();
        assert!(standing.sums().agrees_with(audited.sums()) && standing.marks() == audited.marks());
        self.core.standing().adopt_counts(&audited);
        self.core.counts_adopted();
    }

    /// Records the judged counts, unless the disk is full.
    fn commit(&mut self, worker: Option<WorkerId>, records: &[Record], disk_is_full: bool) -> bool {
        if disk_is_full {
            self.core.not_recorded(records);
            return false;
        }
        self.ledger.extend_from_slice(records);
        self.core.recorded(self.now, worker, records).unwrap();
        true
    }

    /// One round of everything that an undisturbed run does.
    fn round(&mut self) {
        self.now += Duration::from_secs(1);
        for k in 0..self.workers.len() {
            self.join(k);
            self.lease(k, 5);
            if self.workers[k].habit != Habit::Hoards {
                self.report(k, 5, false);
            }
            self.renew(k);
        }
        self.take_back();
        self.core.tick(self.now);
    }

    /// Runs undisturbed until all is counted and checked.
    fn finish(&mut self) {
        for _ in 0..20_000 {
            if self.core.is_complete() {
                return;
            }
            self.round();
        }
        panic!("the run does not end: {:?}", self.core.status(self.now));
    }

    fn is_quarantined(&self, machine: &str) -> bool {
        let is_meant = |worker: &&SimulatedWorker| worker.identity().machine == machine;
        let identity = self.workers.iter().find(is_meant).map_or_else(
            || Identity { owner: Owner::default(), machine: machine.to_owned() },
            SimulatedWorker::identity,
        );
        self.core.votes.is_quarantined(&identity)
    }

    fn take_back(&mut self) {
        let records = self.core.take_back(0, 7);
        let disk_is_full = self.random.random_ratio(1, 4);
        self.commit(None, &records, disk_is_full);
    }

    fn is_exact(&mut self) -> bool {
        let totals = self.core.standing().sums().tally.totals();
        totals == Ok(queens::known::totals(self.truth.plan.board()).unwrap())
    }
}

/// A verdict after which the worker drops the count.
fn is_final(verdict: Verdict) -> bool {
    verdict != Verdict::Later
}

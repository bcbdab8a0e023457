//! A simulated worker: its leases and its habits.

use std::time::Duration;

use domain::{Lease, Owner, Registration, UnitCount, WorkerId};
use queens::kernel::{Isa, KernelName, Method};
use queens::self_test;
use rand::RngExt;
use rand::rngs::StdRng;
use records::standing::Identity;

use super::Truth;

/// The kernel of all workers.
const KERNEL: KernelName = KernelName { method: Method::Search, isa: Isa::Portable };

/// How a worker counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// Right.
    Honest,
    /// Wrong in a random share of its counts: one of this number.
    LiesOneIn(u32),
    /// Wrong in a fixed share of units, one of this number, always by the same amount.
    LiesAlikeOneIn(u64),
    /// The right count, but the search went astray.
    WrongNodesOneIn(u32),
    /// Takes all that it gets, keeps it alive, and never says a word about it.
    Hoards,
}

/// One worker. There are four machines.
#[derive(Debug)]
pub struct SimulatedWorker {
    pub owner: Owner,
    pub machine: String,
    pub habit: Habit,
    /// How long each count took, as it says.
    pub cpu: Duration,
    pub id: Option<WorkerId>,
    /// The number under which it got its leases.
    pub former: Option<WorkerId>,
    pub held: Vec<Lease>,
    /// Its last report, which it may repeat.
    pub said: Vec<UnitCount>,
    pub lies: u64,
}

impl SimulatedWorker {
    pub fn new(number: usize, habit: Habit) -> Self {
        let machine = format!("machine-{}", number % 4);
        let owner = Owner::default();
        Self {
            owner,
            machine,
            habit,
            cpu: Duration::from_micros(1),
            id: None,
            former: None,
            held: Vec::new(),
            said: Vec::new(),
            lies: 0,
        }
    }

    pub fn identity(&self) -> Identity {
        Identity { owner: self.owner.clone(), machine: self.machine.clone() }
    }

    pub fn registration(&self, truth: &Truth) -> Registration {
        Registration {
            owner: self.owner.clone(),
            fingerprint: truth.plan.fingerprint().clone(),
            name: "w".into(),
            machine: self.machine.clone(),
            threads: 1,
            kernel: KERNEL,
            self_test: self_test::expected(),
            held: self.held.iter().map(|lease| lease.unit).collect(),
            former: self.former,
            met: None,
            leases: self.held.clone(),
        }
    }

    /// Counts a unit, in its own way.
    pub fn count(&mut self, truth: &Truth, lease: Lease, random: &mut StdRng) -> UnitCount {
        let true_count = truth.count(lease.unit, lease.variant.kernel(KERNEL).method);
        let (mut completions, mut nodes) = (true_count.completions, true_count.nodes);
        match self.habit {
            Habit::LiesOneIn(k) if random.random_ratio(1, k) => completions += random.random_range(1..1000),
            Habit::LiesAlikeOneIn(k) if (lease.unit.0 * 0x9E37_79B9).is_multiple_of(k) => completions += 7,
            Habit::WrongNodesOneIn(k) if random.random_ratio(1, k) => nodes += random.random_range(1..1000),
            _ => {}
        }
        self.lies += u64::from(completions != true_count.completions || nodes != true_count.nodes);
        UnitCount { lease, completions, nodes, cpu: self.cpu }
    }
}

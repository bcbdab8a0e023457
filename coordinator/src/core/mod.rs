//! The coordinator's core: leases of units, and judgement of reported counts.
//!
//! A pure state machine: no files, no sockets, no clock. Each method takes the current time, changes the state and
//! returns what the caller must do. A count to be recorded is returned as [`Record`]s. The unit is done only when the
//! caller confirms that these records are on disk ([`Core::recorded`]).
//!
//! Each part of the state has one owner. The core combines them:
//!
//! - [`Workload`]: the units to be counted;
//! - [`Votes`]: the counts of each unit;
//! - [`Members`]: the connected workers;
//! - [`Leases`]: the units that each worker holds;
//! - [`Schedule`]: the units to be lent next;
//! - [`Independence`]: how independent a check must be.

mod allowance;
mod explain;
mod independence;
mod leases;
mod lending;
mod members;
mod progress;
mod reports;
mod schedule;
mod status;
mod votes;
mod worker_calls;
mod workload;

use std::sync::Arc;
use std::time::Duration;

use domain::Owner;
use queens::known::Symmetric;
use queens::{Plan, UnitId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::event::Event;
use records::ledger::Record;
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;
use records::{DoubleCheck, Families, OwnChecks};

use independence::Independence;
use leases::Leases;
use members::Members;
use progress::Progress;
use schedule::Schedule;
use votes::{Need, Votes};
use workload::Workload;

pub use leases::LEASE_TIME;
pub use lending::checks_by_other_method;
pub use members::{NoWorker, Refusal};

/// The state of a run in progress.
#[derive(Debug)]
pub struct Core {
    work: Workload,
    votes: Votes,
    members: Members,
    leases: Leases,
    schedule: Schedule,
    independence: Independence,
    progress: Progress,
    families: Families,
    /// Signs the tokens of leases.
    key: LeaseKey,
    /// Draws the counts to be checked and the kernels of checks.
    random: StdRng,
    /// The operator's reason for a pause, during which nothing is lent.
    paused: Option<String>,
    /// The events since the last [`Core::take_events`], each with the owner of the worker that caused it.
    events: Vec<(Option<Owner>, Event)>,
}

/// How a run checks its counts.
#[derive(Clone, Debug)]
pub struct Checking {
    /// Which counts are checked.
    pub policy: DoubleCheck,
    /// The number of owners that must count each checked unit; none if one owner suffices.
    pub require_owners: Option<u32>,
    /// Which counts the operator's own machines make once more, if they do.
    pub own_checks: Option<OwnChecks>,
    /// When only checks are left, the required degree of independence drops after each such period. By default: a tenth
    /// of the time spent counting.
    pub relax_after: Option<Duration>,
    /// The time that earlier processes of this run spent counting.
    pub counted_before: Duration,
}

impl From<DoubleCheck> for Checking {
    fn from(policy: DoubleCheck) -> Self {
        let (relax_after, counted_before) = (None, Duration::ZERO);
        Self { policy, require_owners: None, own_checks: None, relax_after, counted_before }
    }
}

impl Core {
    /// The state of a run with these records. `key` signs the tokens of its leases. `seed` determines the worker
    /// numbers and the samples.
    pub fn new(
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        checking: Checking,
        key: LeaseKey,
        seed: u64,
    ) -> Self {
        let families = Families::new(&plan, shard);
        let work = Workload::new(plan, shard);
        let sums = standing.sums();
        let expected = sums.took.values().map(|took| work.scaled(took.work) / 1e9).sum();
        let processor = sums.cpu_us() as f64 / 1e6;
        let progress = Progress::new(work.mean_unit() / 1e9, standing.done(), expected, processor);
        let mut random = StdRng::seed_from_u64(seed);
        let mut core = Self {
            work,
            votes: Votes::new(standing, checking.policy, checking.require_owners, checking.own_checks),
            members: Members::new(StdRng::seed_from_u64(random.random())),
            leases: Leases::default(),
            schedule: Schedule::default(),
            independence: Independence::new(checking.relax_after, checking.counted_before),
            progress,
            families,
            key,
            random,
            paused: None,
            events: Vec::new(),
        };
        core.votes.disputed().into_iter().for_each(|unit| core.schedule.put(unit, Need::Decision));
        core.counts_adopted();
        core.apply_policy();
        core
    }

    /// How counts are checked.
    pub fn policy(&self) -> DoubleCheck {
        self.votes.policy()
    }

    /// The number of owners that must count each checked unit; none if one owner suffices.
    pub fn require_owners(&self) -> Option<u32> {
        self.votes.require_owners()
    }

    /// Which counts the operator's own machines make once more, if they do.
    pub fn own_checks(&self) -> Option<&OwnChecks> {
        self.votes.own_checks()
    }

    /// The record that puts the policy into the ledger; none if the ledger already has it. A run is complete only when
    /// the checks of its policy are made.
    pub fn policy_record(&self, unix_time: u64) -> Option<Record> {
        self.votes.policy_record(unix_time)
    }

    /// The last term on record.
    pub fn term(&self) -> u64 {
        self.votes.standing().term()
    }

    /// What is on record.
    pub fn standing(&mut self) -> &mut Standing {
        self.votes.standing_mut()
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        self.work.plan()
    }

    /// The shard of the plan that is counted.
    pub fn shard(&self) -> Shard {
        self.work.shard()
    }

    /// True if every unit has a standing count and all required checks are made.
    pub fn is_complete(&self) -> bool {
        self.votes.is_complete(&self.work)
    }

    /// P and R of a whole plan, once every symmetric count stands and is checked.
    pub fn symmetric(&self) -> Option<Symmetric> {
        let standing = self.votes.standing();
        if self.shard().is_whole() { standing.symmetric(self.plan(), self.policy()) } else { None }
    }

    /// The number of the current attempt to count the unit: 1, plus 1 for each worker lost while it held the unit.
    pub fn attempt(&self, unit: UnitId) -> u8 {
        self.schedule.times_lost(unit).saturating_add(1)
    }

    /// Takes the events since the last call, each with the owner of the worker that caused it, if any.
    pub fn take_events(&mut self) -> Vec<(Option<Owner>, Event)> {
        std::mem::take(&mut self.events)
    }

    fn has_count(&self, unit: UnitId) -> bool {
        unit.0 < self.work.plan().units() && self.votes.standing().is_done(unit)
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

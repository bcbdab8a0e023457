//! The coordinator's core: who holds which unit until when, and what a reported count means.
//!
//! A pure state machine. Every method is told the time, changes the state and says what is to be done: no files, no
//! sockets, no clock. A reported count that is to go on record is handed out as [`Record`]s; the
//! unit is done only when the caller says that they are on disk ([`Core::recorded`]).
//!
//! Each part of the state has one owner: what is to be counted ([`Workload`]), what the counts say ([`Votes`]), who is there
//! ([`Members`]), who holds what ([`Leases`]), what is lent next ([`Schedule`]) and how independent a check must be
//! ([`Independence`]). The core asks them in turn.

mod leases;
mod lending;
mod members;
mod membership;
mod progress;
mod recording;
mod rules;
mod schedule;
mod share;
mod status;
mod votes;
mod workload;

use std::sync::Arc;
use std::time::Duration;

use domain::Owner;
use queens::{Plan, UnitId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::event::Event;
use records::ledger::Record;
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::Standing;
use records::{DoubleCheck, Families};

use leases::Leases;
use members::Members;
use progress::Progress;
use rules::Independence;
use schedule::Schedule;
use votes::{Need, Votes};
use workload::Workload;

pub use leases::LEASE_TIME;
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
    /// By which the tokens of leases are made.
    key: LeaseKey,
    /// Decides what is checked, by which kernel.
    random: StdRng,
    /// Why nothing is lent, where the operator wishes so.
    paused: Option<String>,
    /// The events since the caller last took them, and whose workers caused each.
    events: Vec<(Option<Owner>, Event)>,
}

/// How a run checks its counts.
#[derive(Clone, Copy, Debug)]
pub struct Checking {
    /// Which counts are made a second time.
    pub policy: DoubleCheck,
    /// By how many owners each checked unit must have been counted; nothing where one is enough.
    pub require_owners: Option<u32>,
    /// After how long, where only checks are left, less independent ones are accepted: each time after a tenth of the time spent
    /// counting, where nothing is said.
    pub relax_after: Option<Duration>,
    /// How long processes before this one have counted.
    pub counted_before: Duration,
}

impl From<DoubleCheck> for Checking {
    fn from(policy: DoubleCheck) -> Self {
        Self { policy, require_owners: None, relax_after: None, counted_before: Duration::ZERO }
    }
}

impl Core {
    /// A run of that plan with that much on record. `key` makes the tokens of its leases, and `seed` the numbers of
    /// workers and the samples.
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
            votes: Votes::new(standing, checking.policy, checking.require_owners),
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
        core.follow_policy();
        core
    }

    /// How counts are checked.
    pub fn policy(&self) -> DoubleCheck {
        self.votes.policy()
    }

    /// By how many owners each checked unit must have been counted; nothing where one is enough.
    pub fn require_owners(&self) -> Option<u32> {
        self.votes.require_owners()
    }

    /// What puts the policy on record, where the ledger says another, or nothing: a run is complete only when its checks are made.
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

    /// The share of the plan that is counted.
    pub fn shard(&self) -> Shard {
        self.work.shard()
    }

    /// Whether every unit has a standing count and all is checked that is to be.
    pub fn is_complete(&self) -> bool {
        self.votes.is_complete(&self.work)
    }

    /// The how-manieth attempt to count the unit this is: 1, and 1 more for each worker that was lost with it.
    pub fn attempt(&self, unit: UnitId) -> u8 {
        self.schedule.times_lost(unit).saturating_add(1)
    }

    /// Takes the events since the last call, each with the owner whose workers caused it, if any did.
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

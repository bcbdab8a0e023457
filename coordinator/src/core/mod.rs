//! The coordinator's core: who holds which unit until when, and what a reported count means.
//!
//! A pure state machine. Every method is told the time, changes the state and says what is to be done: no files, no
//! sockets, no clock. A reported count that is to go on record is handed out as [`Record`]s; the
//! unit is done only when the caller says that they are on disk ([`Core::recorded`]).
//!
//! What may be done with a unit follows from its standing and from the leases alone (`task`); what a count means
//! follows from the standing (`report`); whose counts are taken back follows from it too (`quarantine`). So a restart
//! goes on where the ledger ends.

mod came_back;
mod canaries;
mod confirmations;
mod contradictions;
mod crews;
mod disputes;
mod fair_share;
mod lease;
mod leases;
mod losses;
mod machines;
mod open;
mod patience;
mod quarantine;
mod rate;
mod recorded;
mod refusal;
mod register;
mod release;
mod renew;
mod report;
mod said;
mod speed;
mod status;
mod steering;
mod suspects;
mod task;
mod thread_speed;
mod workers;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use domain::{Owner, WorkerId};
use queens::{Plan, UnitId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::event::Event;
use came_back::CameBack;
use canaries::Canaries;
use confirmations::Confirmations;
use disputes::InVain;
use leases::Leases;
use losses::Losses;
use open::Open;
use patience::Patience;
use rate::Rate;
use recorded::Recording;
use records::ledger::{Policy, Record};
use records::run_directory::LeaseKey;
use records::shard::Shard;
use records::standing::{Identity, Standing, UnitMark};
use records::{DoubleCheck, Families};
use speed::Speed;
use workers::{RegisteredWorker, Workers};

pub use leases::LEASE_TIME;
pub use refusal::{NoWorker, Refusal};

/// The state of a run in progress.
#[derive(Debug)]
pub struct Core {
    plan: Arc<Plan>,
    shard: Shard,
    policy: DoubleCheck,
    standing: Standing,
    leases: Leases,
    workers: Workers,
    /// By which the tokens of leases are made.
    key: LeaseKey,
    /// When workers of different machines were last there together, if they were.
    last_accompanied: Option<Duration>,
    /// When workers of different owners were.
    last_two_owners: Option<Duration>,
    /// Counts on their way to the disk.
    recording: HashMap<UnitId, Recording>,
    open: Open,
    losses: Losses,
    /// Units set aside that the caller has not been told of.
    given_up: Vec<UnitId>,
    came_back: CameBack,
    /// When it is next looked at what is waited for too long.
    hurry_next: Duration,
    in_vain: InVain,
    canaries: Canaries,
    /// Where nothing but checks and disputes is left.
    patience: Option<Patience>,
    /// When all is counted and checked.
    confirmations: Option<Confirmations>,
    /// Whether what is on record, all counted and checked, may have been answered by another process.
    may_be_answered: bool,
    /// The first counts of each machine, those on their way to the disk included.
    trials: HashMap<Identity, u64>,
    /// How often it had changed who is believed when this was last looked at.
    trust_changes: u64,
    /// Owners who have begun too many disputes that are undecided.
    quarrelsome: BTreeSet<String>,
    /// No unit below has a count that is to be taken back.
    believed: u64,
    /// Whether a count may stand again.
    may_restore: bool,
    /// Whether counts of a constellation with symmetry may contradict each other.
    may_contradict: bool,
    /// Decides what is checked, by which kernel.
    random: StdRng,
    /// Units recorded a second.
    units_rate: Rate,
    speed: Speed,
    /// The expected work of all units, in nanoseconds of one core: of each what units of its part take on average.
    total_work: u128,
    /// How many times as long they take as that.
    relative_work: f64,
    /// The expected work of a unit on average, in nanoseconds of one core.
    mean_work: f64,
    /// The symmetric counts of the shard.
    symmetric_counts: Vec<UnitId>,
    /// Why nothing is lent, where the operator wishes so.
    paused: Option<String>,
    families: Families,
    /// The events since the caller last took them, and whose workers caused each.
    events: Vec<(Option<Owner>, Event)>,
}

impl Core {
    /// A run of that plan with that much on record. `key` makes the tokens of its leases, and `seed` the numbers of
    /// workers and the samples.
    pub fn new(
        plan: Arc<Plan>,
        shard: Shard,
        standing: Standing,
        policy: DoubleCheck,
        key: LeaseKey,
        seed: u64,
    ) -> Self {
        let total_work = shard.work_of(&plan);
        let symmetric_counts = plan.unit_ranges().filter(|range| range.summand.is_symmetric_count());
        let symmetric_counts = symmetric_counts
            .flat_map(|range| range.units.map(UnitId))
            .filter(|unit| shard.contains(*unit))
            .collect();
        let sums = standing.sums();
        let relative_work = shard.relative_work(&plan);
        let mean_work = total_work as f64 * relative_work / shard.size(plan.units()).max(1) as f64;
        let expected = sums.took.values().map(|took| took.work as f64 * relative_work / 1e9).sum();
        let processor = sums.cpu_us() as f64 / 1e6;
        let speed = Speed::new(mean_work / 1e9, standing.done(), expected, processor);
        let families = Families::new(&plan, shard);
        let mut random = StdRng::seed_from_u64(seed);
        let mut core = Self {
            plan,
            shard,
            policy,
            standing,
            leases: Leases::default(),
            workers: Workers::new(StdRng::seed_from_u64(random.random())),
            key,
            last_accompanied: None,
            last_two_owners: None,
            recording: HashMap::new(),
            open: Open::default(),
            losses: Losses::default(),
            given_up: Vec::new(),
            came_back: CameBack::new(),
            hurry_next: Duration::ZERO,
            in_vain: InVain::new(),
            canaries: Canaries::default(),
            patience: None,
            confirmations: None,
            may_be_answered: false,
            trials: HashMap::new(),
            trust_changes: 0,
            quarrelsome: BTreeSet::new(),
            believed: 0,
            may_restore: true,
            may_contradict: true,
            random,
            units_rate: Rate::default(),
            speed,
            total_work,
            relative_work,
            mean_work,
            symmetric_counts,
            paused: None,
            families,
            events: Vec::new(),
        };
        core.open.disputes = core.standing.sums().disputed.keys().copied().collect();
        core.counts_adopted();
        core
    }

    /// Counts and their origins have been read that were not known before: what is to be checked or taken back can be.
    pub fn counts_adopted(&mut self) {
        self.believed = 0;
        (self.may_restore, self.may_contradict) = (true, true);
        self.open.checks.clear();
        self.patience = None;
        self.forget_unconfirmed();
        let mark = match self.policy {
            DoubleCheck::None | DoubleCheck::Share(_) => UnitMark::Due,
            DoubleCheck::All => UnitMark::Done,
        };
        let pending: Vec<_> =
            self.standing.units_with(mark).filter(|unit| self.is_open_check(*unit)).collect();
        pending.into_iter().for_each(|unit| self.reopen(unit));
    }

    /// How counts are checked.
    pub fn policy(&self) -> DoubleCheck {
        self.policy
    }

    /// What puts the policy on record, where the ledger says another, or nothing: a run is complete only when its checks are made.
    pub fn policy_record(&self, unix_time: u64) -> Option<Record> {
        let on_record = self.standing.sums().policy.map(|policy| policy.to_string());
        let differs = on_record != Some(self.policy.to_string());
        differs.then_some(Record::Policy(Policy { double_check: self.policy, reason: None, at: unix_time }))
    }

    /// The last term on record.
    pub fn term(&self) -> u64 {
        self.standing.term()
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

    /// What people are told that the worker is called; nothing if it is not there.
    pub fn title(&self, worker: WorkerId) -> String {
        self.workers.get(worker).map_or_else(String::new, RegisteredWorker::title)
    }

    /// Takes the events since the last call, each with the owner whose workers caused it, if any did.
    pub fn take_events(&mut self) -> Vec<(Option<Owner>, Event)> {
        std::mem::take(&mut self.events)
    }

    /// Whether no worker is there.
    pub fn is_deserted(&self) -> bool {
        self.workers.is_empty()
    }

    fn has_count(&self, unit: UnitId) -> bool {
        unit.0 < self.plan.units() && self.standing.is_done(unit)
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

//! The state of a fake coordinator: leases and records, the received calls with their times, and the present failure.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use domain::{Lease, Token, UnitCount, Variant, Verdict, WorkerId};
use queens::UnitId;

use crate::coordinator::CoordinatorError;

/// A received call.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    Register(Vec<UnitId>),
    Lease,
    Renew(Vec<UnitId>),
    Report(Vec<UnitCount>),
    Release { held: Vec<UnitId>, leaving: bool },
}

/// The present behaviour of the coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// It works normally.
    #[default]
    Well,
    /// It cannot be reached.
    Away,
    /// It answers, but its disk is full.
    CannotRecord,
    /// Connections are made and nothing ever comes back.
    Mute,
}

/// The test's instructions.
#[derive(Default)]
pub struct Script {
    pub condition: Condition,
    /// Verdicts of the next counts, instead of its own.
    pub verdicts: VecDeque<Verdict>,
    /// The number of counts judged in the next report, if limited.
    pub judged_of_next: Option<usize>,
    /// The answer to the next report, instead of verdicts.
    pub report_error: Option<CoordinatorError>,
    /// Units whose leases are gone when they are renewed next.
    pub lost: Vec<UnitId>,
    /// Maximum number of lent units.
    pub most_lent: Option<usize>,
    /// Units lent to the next registering worker in addition to its held units.
    pub besides: Vec<UnitId>,
    /// Delay of the reply to a request for units.
    pub lease_delay: Duration,
    /// Delay of the reply after a report was judged.
    pub report_delay: Duration,
    /// True if it lends each counted unit again as a mirrored check.
    pub checks_all: bool,
    /// Units that are lent to be counted by the other method.
    pub by_other: Vec<UnitId>,
}

/// Its state and the received calls.
#[derive(Default)]
pub struct CoordinatorState {
    pub script: Script,
    pub heard: Vec<(Duration, Heard)>,
    /// Units to be lent.
    open: VecDeque<UnitId>,
    lent: HashMap<UnitId, Token>,
    pub recorded: BTreeMap<UnitId, u64>,
    /// How many checks are on record.
    pub checked: u64,
    /// Counts that came under another token than that of their lease.
    pub stale: usize,
    /// Counts that were on record already.
    pub repeated: usize,
    /// The worker that it knows, if it knows one.
    worker: Option<WorkerId>,
    workers: u64,
    tokens: u64,
}

impl CoordinatorState {
    pub fn with_units(units: u64) -> Self {
        Self { open: (0..units).map(UnitId).collect(), ..Self::default() }
    }

    /// When calls that are so came.
    pub fn times(&self, is_so: impl Fn(&Heard) -> bool) -> Vec<Duration> {
        self.heard.iter().filter(|(_, heard)| is_so(heard)).map(|(at, _)| *at).collect()
    }

    /// The leases returned by each release, with its time: while the worker stays, or when it leaves.
    pub fn released(&self, when_leaving: bool) -> Vec<(Duration, Vec<UnitId>)> {
        let released = self.heard.iter().filter_map(|(at, heard)| match heard {
            Heard::Release { held, leaving } if *leaving == when_leaving => Some((*at, held.clone())),
            _ => None,
        });
        released.collect()
    }

    /// The number of reports of this unit.
    pub fn reports_of(&self, unit: u64) -> usize {
        let counts = self.heard.iter().filter_map(|(_, heard)| match heard {
            Heard::Report(counts) => Some(counts),
            _ => None,
        });
        counts.flatten().filter(|count| count.lease.unit == UnitId(unit)).count()
    }

    /// Registers a worker, and renews its leases of units that no other worker holds.
    pub fn enrol(&mut self, held: &[Lease]) -> (WorkerId, Vec<Lease>) {
        self.workers += 1;
        let worker = WorkerId(self.workers);
        self.worker = Some(worker);
        let is_free = |lease: &&Lease| self.lent.get(&lease.unit).is_none_or(|token| *token == lease.token);
        let mut held: Vec<_> = held.iter().filter(is_free).map(|lease| lease.unit).collect();
        held.append(&mut self.script.besides);
        held.sort();
        self.open.retain(|unit| !held.contains(unit));
        (worker, held.into_iter().map(|unit| self.lend(unit)).collect())
    }

    pub fn knows(&self, worker: WorkerId) -> bool {
        self.worker == Some(worker)
    }

    /// Removes the worker and reopens its units.
    pub fn forget(&mut self) {
        self.worker = None;
        let lent: Vec<_> = self.lent.keys().copied().collect();
        self.take_back(&lent);
    }

    /// Lends up to this number of units.
    pub fn lend_up_to(&mut self, want: u32) -> Vec<Lease> {
        let lent = self.open.len().min(want as usize).min(self.script.most_lent.unwrap_or(usize::MAX));
        let units: Vec<_> = self.open.drain(..lent).collect();
        units.into_iter().map(|unit| self.lend(unit)).collect()
    }

    fn lend(&mut self, unit: UnitId) -> Lease {
        self.tokens += 1;
        let token = Token(self.tokens);
        self.lent.insert(unit, token);
        let other_kernel = self.script.by_other.contains(&unit);
        let variant = Variant { mirrored: self.recorded.contains_key(&unit), other_kernel };
        Lease { unit, token, variant }
    }

    pub fn take_back(&mut self, units: &[UnitId]) {
        for unit in units {
            self.lent.remove(unit);
            self.open.push_back(*unit);
        }
    }

    /// The units whose leases are gone.
    pub fn lose(&mut self) -> Vec<UnitId> {
        let lost = std::mem::take(&mut self.script.lost);
        self.take_back(&lost);
        lost
    }

    /// Puts a count on record, unless the test wants something else.
    pub fn judge(&mut self, count: &UnitCount) -> Verdict {
        if let Some(verdict) = self.script.verdicts.pop_front() {
            return verdict;
        }
        let unit = count.lease.unit;
        if self.lent.remove(&unit) != Some(count.lease.token) {
            self.stale += 1;
        }
        if count.lease.variant.mirrored {
            self.checked += 1;
            return Verdict::Recorded;
        }
        self.open.retain(|open| *open != unit);
        if self.recorded.insert(unit, count.completions).is_some() {
            self.repeated += 1;
            return Verdict::Known;
        }
        if self.script.checks_all {
            self.open.push_back(unit);
        }
        Verdict::Recorded
    }

    pub fn lent(&self) -> usize {
        self.lent.len()
    }

    pub fn is_finished(&self) -> bool {
        self.open.is_empty() && self.lent.is_empty()
    }
}

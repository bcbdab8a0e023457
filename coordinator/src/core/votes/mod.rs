//! The counts of each unit: which count stands, which checks are due, and which units are disputed.
//!
//! The standing is the sum of the records on disk. A judged count becomes a record, and counts once the record is on
//! disk ([`Votes::apply`]). So a restarted coordinator continues where the ledger ends.

mod ballot;
mod judge;
mod own;
mod take_back;

use std::collections::HashMap;

use domain::{Hardware, Owner};
use queens::UnitId;
use records::ledger::{Policy, Record, Recount, Retraction};
use records::standing::{Identity, MachineId, RecordError, Standing, UnitMark, Vote};
use records::{DoubleCheck, OwnChecks};

use super::workload::Workload;

pub use ballot::Ballot;
pub use judge::Reported;
pub use own::draw;
use take_back::PendingSearches;

/// What a unit needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It needs a first count.
    Count,
    /// It needs a count that decides a dispute.
    Decision,
    /// It needs a check of a machine's count.
    Check(CheckKind),
    /// It needs nothing, or nothing until a count is on disk.
    Nothing,
}

/// A group of counts that the same workers may check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckKind {
    /// The machine that made them.
    pub counted: MachineId,
    /// True if kernels make the counts. Symmetric counts sort first; every worker supports both of their algorithms.
    pub by_kernel: bool,
    /// True if only the operator's own machines may make the checks.
    pub is_own: bool,
}

/// The counts of all units.
#[derive(Debug)]
pub struct Votes {
    standing: Standing,
    policy: DoubleCheck,
    require_owners: Option<u32>,
    own_checks: Option<OwnChecks>,
    /// Counts that are being written to disk.
    recording: HashMap<UnitId, Recording>,
    /// The number of checked first counts by machine, including counts that are being written.
    first_counts: HashMap<Identity, u64>,
    searches: PendingSearches,
}

/// A count that is being written to disk.
#[derive(Debug)]
struct Recording {
    count: u64,
    identity: Identity,
    /// True if the unit was returned meanwhile. It is reopened when the result of the write is known.
    is_opened: bool,
}

impl Recording {
    fn new(count: u64, identity: Identity) -> Self {
        Self { count, identity, is_opened: false }
    }

    fn of(r: &Retraction) -> Self {
        Self::new(r.count, Identity { owner: Owner::new(&r.owner), machine: r.machine.clone() })
    }
}

impl Votes {
    /// The votes on record.
    pub fn new(
        standing: Standing,
        policy: DoubleCheck,
        require_owners: Option<u32>,
        own_checks: Option<OwnChecks>,
    ) -> Self {
        Self {
            standing,
            policy,
            require_owners,
            own_checks,
            recording: HashMap::new(),
            first_counts: HashMap::new(),
            searches: PendingSearches::default(),
        }
    }

    /// What is on record.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Mutable access to the records.
    pub fn standing_mut(&mut self) -> &mut Standing {
        &mut self.standing
    }

    /// Which counts are checked.
    pub fn policy(&self) -> DoubleCheck {
        self.policy
    }

    /// The number of owners that must count each checked unit; none if one owner suffices.
    pub fn require_owners(&self) -> Option<u32> {
        self.require_owners
    }

    /// The record that puts the policy into the ledger; none if the ledger already has it.
    pub fn policy_record(&self, unix_time: u64) -> Option<Record> {
        let (sums, require_owners) = (self.standing.sums(), self.require_owners);
        let on_record = sums.policy.map(|policy| policy.to_string());
        let differs = on_record != Some(self.policy.to_string())
            || sums.require_owners != require_owners
            || sums.own_checks != self.own_checks;
        let (double_check, own_checks) = (self.policy, self.own_checks.clone());
        let policy = Policy { double_check, require_owners, own_checks, reason: None, at: unix_time };
        differs.then_some(Record::Policy(policy))
    }

    /// What the unit needs.
    pub fn need(&self, work: &Workload, unit: UnitId) -> Need {
        if !work.contains(unit) || self.recording.contains_key(&unit) {
            return Need::Nothing;
        }
        if !self.standing.is_done(unit) {
            return if self.is_disputed(unit) { Need::Decision } else { Need::Count };
        }
        // The origin of a count is known only after the ledger has been read.
        match self.standing.vote(unit) {
            Some(vote) if self.standing.is_pending(unit, self.policy) && self.believes(&vote) => {
                Need::Check(CheckKind {
                    counted: vote.origin.machine,
                    by_kernel: !work.is_symmetric_count(unit),
                    is_own: false,
                })
            }
            Some(vote) => self.own_check(work, unit, &vote).map_or(Need::Nothing, Need::Check),
            None => Need::Nothing,
        }
    }

    fn believes(&self, vote: &Vote) -> bool {
        !self.standing.sums().machines.get(vote.origin.machine).is_quarantined()
    }

    /// The units whose counts are to be checked.
    pub fn checks_due(&self, work: &Workload) -> Vec<UnitId> {
        let mark = match self.policy {
            DoubleCheck::None | DoubleCheck::Share(_) => UnitMark::Due,
            DoubleCheck::All => UnitMark::Done,
        };
        let is_due = |unit: &UnitId, own| matches!(self.need(work, *unit), Need::Check(CheckKind { is_own, .. }) if is_own == own);
        let by_policy = self.standing.units_with(mark).filter(|unit| is_due(unit, false));
        let own = self.standing.units_with(UnitMark::Drawn).filter(|unit| is_due(unit, true));
        by_policy.chain(own).collect()
    }

    /// The counts of a unit in dispute.
    pub fn ballot(&self, work: &Workload, unit: UnitId) -> Ballot<'_> {
        let machines = &self.standing.sums().machines;
        Ballot::new(machines, self.standing.votes(unit), work.is_symmetric_count(unit), self.operator())
    }

    /// True if the unit's counts differ and no value has won.
    pub fn is_disputed(&self, unit: UnitId) -> bool {
        self.standing.sums().disputed.contains_key(&unit)
    }

    /// The units in dispute.
    pub fn disputed(&self) -> Vec<UnitId> {
        self.standing.sums().disputed.keys().copied().collect()
    }

    /// True if a count of the unit is being written.
    pub fn is_recording(&self, unit: UnitId) -> bool {
        self.recording.contains_key(&unit)
    }

    /// The units with a count that is being written.
    pub fn recording(&self) -> impl Iterator<Item = &UnitId> {
        self.recording.keys()
    }

    /// Notes that the unit is no longer lent. Returns false if no count of it is being written.
    pub fn reopen_when_recorded(&mut self, unit: UnitId) -> bool {
        self.recording.get_mut(&unit).map(|recording| recording.is_opened = true).is_some()
    }

    /// The kind of the machine's device.
    pub fn hardware(&self, machine: MachineId) -> Hardware {
        self.standing.sums().machines.get(machine).hardware()
    }

    /// True if the machine is quarantined or its owner is expelled.
    pub fn is_quarantined(&self, machine: &Identity) -> bool {
        self.standing.sums().machines.is_quarantined(machine.owner.name(), &machine.machine)
    }

    /// Whether every unit has a standing count and the policy's checks are made.
    pub fn is_complete(&self, work: &Workload) -> bool {
        self.standing.is_settled(work.plan(), work.shard(), self.policy)
    }

    /// True if only checks and disputes are left.
    pub fn has_only_checks_left(&self, work: &Workload) -> bool {
        let disputed = self.standing.sums().disputed.len() as u64;
        let checks = self.standing.pending(self.policy) + self.standing.own_checks_due();
        let has_any = checks > 0 || disputed > 0;
        has_any && self.standing.done() + disputed >= work.units()
    }

    /// Restarts all searches: counts have been read from the ledger.
    pub fn counts_adopted(&mut self) {
        self.searches = PendingSearches::default();
    }

    /// Applies a record that is on disk. Returns whether it began or ended a dispute.
    ///
    /// # Errors
    /// The sums cannot be right; the run must stop.
    pub fn apply(&mut self, work: &Workload, record: &Record) -> Result<Option<DisputeChange>, RecordError> {
        let was_disputed = record.unit().is_some_and(|unit| self.is_disputed(unit));
        self.standing.apply(work.plan(), work.shard(), record)?;
        if let Record::Policy(r) = record {
            (self.policy, self.require_owners) = (r.double_check, r.require_owners);
            self.own_checks.clone_from(&r.own_checks);
        }
        let Some(unit) = record.unit() else { return Ok(None) };
        self.recording.remove(&unit);
        if work.symmetric_constellation(unit).is_some() && !matches!(record, Record::Retract(_)) {
            self.searches.look_for_contradictions();
        }
        Ok(match (was_disputed, self.is_disputed(unit)) {
            (false, true) => Some(DisputeChange::Begun(unit)),
            (true, false) => Some(DisputeChange::Decided(unit)),
            _ => None,
        })
    }

    /// Drops records that could not be written. Returns their units that were returned meanwhile.
    pub fn not_applied(&mut self, records: &[Record]) -> Vec<UnitId> {
        let mut opened = Vec::new();
        for record in records {
            match record {
                Record::Count(r) if r.recount == Some(Recount::Trial) => {
                    *self.first_counts_of(&Identity::of_record(r)) -= 1;
                }
                Record::Retract(r) => self.searches.look_again_from(r.unit),
                _ => {}
            }
            if let Some(unit) = record.unit()
                && self.recording.remove(&unit).is_some_and(|recording| recording.is_opened)
            {
                opened.push(unit);
            }
        }
        opened
    }

    /// True if trust in a machine or owner has changed since the last call.
    pub fn take_trust_change(&mut self) -> bool {
        self.searches.take_trust_change(&self.standing)
    }

    fn first_counts_of(&mut self, identity: &Identity) -> &mut u64 {
        let machines = &self.standing.sums().machines;
        let on_record = || identity.number(machines).map_or(0, |number| machines.get(number).trials);
        self.first_counts.entry(identity.clone()).or_insert_with(on_record)
    }
}

/// A dispute has begun or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisputeChange {
    /// Counts of the unit differ.
    Begun(UnitId),
    /// A value has won.
    Decided(UnitId),
}

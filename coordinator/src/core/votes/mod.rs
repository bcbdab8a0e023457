//! What the counts of each unit say: which of them stands, what is to be checked, and what is in dispute.
//!
//! The standing is what the records on disk add up to. What is judged here becomes records; it counts once they are on disk
//! ([`Votes::apply`]). So a restart goes on where the ledger ends.

mod ballot;
mod judge;
mod take_back;

use std::collections::HashMap;

use domain::{Hardware, Owner};
use queens::UnitId;
use records::DoubleCheck;
use records::ledger::{Policy, Record, Recount, Retraction};
use records::standing::{Identity, MachineId, RecordError, Standing, UnitMark, Vote};

use super::workload::Workload;

pub use ballot::{Ballot, label_of};
pub use judge::Reported;
use take_back::Pending;

/// What a unit needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A first count.
    Count,
    /// A count that decides a dispute.
    Decision,
    /// A check of the count of a machine.
    Check(CheckKind),
    /// Nothing, or nothing before a count of it that is on its way is on disk.
    Nothing,
}

/// Counts that the same workers may check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckKind {
    /// The machine that made them.
    pub counted: MachineId,
    /// Whether a kernel makes them. Symmetric counts, which come first, everybody makes by both algorithms.
    pub by_kernel: bool,
}

/// The counts of all units.
#[derive(Debug)]
pub struct Votes {
    standing: Standing,
    policy: DoubleCheck,
    require_owners: Option<u32>,
    /// Counts on their way to the disk.
    recording: HashMap<UnitId, Recording>,
    /// How many of each machine's first counts are checked, those on their way to the disk included.
    first_counts: HashMap<Identity, u64>,
    pending: Pending,
}

/// A count on its way to the disk.
#[derive(Debug)]
struct Recording {
    count: u64,
    identity: Identity,
    /// Whether somebody gave the unit back meanwhile: it is opened when it is known what becomes of the count.
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
    pub fn new(standing: Standing, policy: DoubleCheck, require_owners: Option<u32>) -> Self {
        Self {
            standing,
            policy,
            require_owners,
            recording: HashMap::new(),
            first_counts: HashMap::new(),
            pending: Pending::default(),
        }
    }

    /// What is on record.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// To change what is known of the records.
    pub fn standing_mut(&mut self) -> &mut Standing {
        &mut self.standing
    }

    /// Which counts are checked.
    pub fn policy(&self) -> DoubleCheck {
        self.policy
    }

    /// By how many owners each checked unit must have been counted; nothing where one is enough.
    pub fn require_owners(&self) -> Option<u32> {
        self.require_owners
    }

    /// What puts the policy on record, where the ledger has another one, or none.
    pub fn policy_record(&self, unix_time: u64) -> Option<Record> {
        let (sums, require_owners) = (self.standing.sums(), self.require_owners);
        let on_record = sums.policy.map(|policy| policy.to_string());
        let differs = on_record != Some(self.policy.to_string()) || sums.require_owners != require_owners;
        let policy = Policy { double_check: self.policy, require_owners, reason: None, at: unix_time };
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
        // The counts are not known before the ledger was read.
        match self.standing.vote(unit) {
            Some(vote) if self.standing.is_pending(unit, self.policy) && self.believes(&vote) => {
                Need::Check(CheckKind {
                    counted: vote.origin.machine,
                    by_kernel: !work.is_symmetric_count(unit),
                })
            }
            _ => Need::Nothing,
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
        let is_due = |unit: &UnitId| matches!(self.need(work, *unit), Need::Check(_));
        self.standing.units_with(mark).filter(is_due).collect()
    }

    /// The counts of a unit in dispute.
    pub fn ballot(&self, work: &Workload, unit: UnitId) -> Ballot<'_> {
        let machines = &self.standing.sums().machines;
        Ballot::new(machines, self.standing.votes(unit), work.is_symmetric_count(unit))
    }

    /// Whether the unit's counts differ and none of them has won.
    pub fn is_disputed(&self, unit: UnitId) -> bool {
        self.standing.sums().disputed.contains_key(&unit)
    }

    /// The units in dispute.
    pub fn disputed(&self) -> Vec<UnitId> {
        self.standing.sums().disputed.keys().copied().collect()
    }

    /// Whether a count of the unit is on its way to the disk.
    pub fn is_recording(&self, unit: UnitId) -> bool {
        self.recording.contains_key(&unit)
    }

    /// The units with a count on its way to the disk.
    pub fn recording(&self) -> impl Iterator<Item = &UnitId> {
        self.recording.keys()
    }

    /// Notes that nobody holds the unit any more; false if no count of it is on its way to the disk.
    pub fn open_when_recorded(&mut self, unit: UnitId) -> bool {
        self.recording.get_mut(&unit).map(|recording| recording.is_opened = true).is_some()
    }

    /// What kind of hardware the machine is.
    pub fn hardware(&self, machine: MachineId) -> Hardware {
        self.standing.sums().machines.get(machine).hardware()
    }

    /// Whether it, or its owner, is not believed any more.
    pub fn is_quarantined(&self, machine: &Identity) -> bool {
        self.standing.sums().machines.is_quarantined(machine.owner.name(), &machine.machine)
    }

    /// Whether every unit has a standing count and the policy's checks are made.
    pub fn is_complete(&self, work: &Workload) -> bool {
        self.standing.is_settled(work.plan(), work.shard(), self.policy)
    }

    /// Whether nothing is left but checks and disputes.
    pub fn has_only_checks_left(&self, work: &Workload) -> bool {
        let disputed = self.standing.sums().disputed.len() as u64;
        let has_any = self.standing.pending(self.policy) > 0 || disputed > 0;
        has_any && self.standing.done() + disputed >= work.units()
    }

    /// Counts were read that were not known before.
    pub fn counts_adopted(&mut self) {
        self.pending = Pending::default();
    }

    /// The record is on disk. Says whether a dispute about its unit has begun or ended.
    ///
    /// # Errors
    /// Sums that cannot be right; the run must not go on.
    pub fn apply(&mut self, work: &Workload, record: &Record) -> Result<Option<DisputeChange>, RecordError> {
        let was_disputed = record.unit().is_some_and(|unit| self.is_disputed(unit));
        self.standing.apply(work.plan(), work.shard(), record)?;
        if let Record::Policy(r) = record {
            (self.policy, self.require_owners) = (r.double_check, r.require_owners);
        }
        let Some(unit) = record.unit() else { return Ok(None) };
        self.recording.remove(&unit);
        if work.symmetric_constellation(unit).is_some() && !matches!(record, Record::Retract(_)) {
            self.pending.may_contradict();
        }
        Ok(match (was_disputed, self.is_disputed(unit)) {
            (false, true) => Some(DisputeChange::Begun(unit)),
            (true, false) => Some(DisputeChange::Decided(unit)),
            _ => None,
        })
    }

    /// The records are not on disk: their units are as they were. Names those that were given back meanwhile.
    pub fn not_applied(&mut self, records: &[Record]) -> Vec<UnitId> {
        let mut opened = Vec::new();
        for record in records {
            match record {
                Record::Count(r) if r.recount == Some(Recount::Trial) => {
                    *self.first_counts_of(&Identity::of_record(r)) -= 1;
                }
                Record::Retract(r) => self.pending.look_again_from(r.unit),
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

    /// Whether it has changed who is believed since this was last asked.
    pub fn has_trust_changed(&mut self) -> bool {
        self.pending.has_trust_changed(&self.standing)
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
    /// One of them stands.
    Decided(UnitId),
}

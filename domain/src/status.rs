//! The status of a run, for all its viewers.

use std::fmt;
use std::time::Duration;

use queens::kernel::KernelName;
use queens::plan::Fingerprint;
use queens::{Board, Totals, UnitId};

use crate::credit::Credits;
use crate::owner::Owner;
use crate::term::{RunId, Term};

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Units are being counted.
    #[default]
    Counting,
    /// All units are counted, and the ledger is being audited.
    Auditing,
    /// The answer has been given.
    Complete,
    /// The audit found something wrong, so there is no answer.
    Withheld,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Counting => "counting",
            Phase::Auditing => "auditing",
            Phase::Complete => "complete",
            Phase::Withheld => "withheld",
        })
    }
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    /// The board.
    pub board: Board,
    /// The plan.
    pub fingerprint: Fingerprint,
    /// The identity of the run, if the coordinator sends it.
    pub run: Option<RunId>,
    /// The number of units.
    pub units: u64,
    /// Units on record.
    pub done: u64,
    /// Units lent.
    pub leased: u64,
    /// Units counted differently by different workers and not decided yet.
    pub disputed: u64,
    /// Share of the expected work that is done, 0 to 1.
    pub progress: f64,
    /// The totals so far; constellations with symmetry are in them when complete.
    pub totals: Totals,
    /// How long the run has been worked on, over all its sessions.
    pub elapsed: Duration,
    /// The expected time until all is counted, where the speed is known.
    pub left: Option<TimeLeft>,
    /// Units a second, lately.
    pub rate: f64,
    /// How far the run has come.
    pub phase: Phase,
    /// The present problem; empty if there is none.
    pub trouble: String,
    /// The registered workers that called most recently.
    pub workers: Vec<WorkerStatus>,
    /// How many are registered, those not listed included.
    pub workers_total: u64,
    /// The threads of all of them.
    pub threads_total: u64,
    /// The coordinator's term, where it has one; without its proof.
    pub term: Option<Term>,
    /// How many followers must have a record before it is acknowledged.
    pub replicas: u32,
    /// How many there are.
    pub followers: u32,
    /// The results of double-checking so far.
    pub assurance: Assurance,
    /// Units that were lost with five workers and are not lent any more; at most 100 of them.
    pub set_aside: Vec<UnitId>,
    /// How many there are.
    pub set_aside_total: u64,
    /// The expected work of all units.
    pub work: Work,
    /// How far each family is, by top and bottom queen, ascending.
    pub families: Vec<FamilyStatus>,
    /// How the run has come so far, oldest first; at most 600 samples.
    pub history: Vec<Sample>,
    /// The latest events, oldest first; at most 50.
    pub events: Vec<Event>,
    /// Interventions, starts, conflicts and quarantines as the ledger has them, oldest first; at most 100 of them.
    pub incidents: Vec<Incident>,
    /// How many there are.
    pub incidents_total: u64,
    /// The head of the ledger's hash chain, as the line of `diadem head`; none for a run in memory.
    pub head: Option<String>,
    /// The machines that have counted or are connected, by owner and name; at most 1000 of them.
    pub machines: Vec<MachineStatus>,
    /// How many there are.
    pub machines_total: u64,
    /// The number of machines with connected workers.
    pub machines_there: u64,
    /// What the owners gave; at most 1000 of them are listed.
    pub credits: Credits,
    /// Why no units are lent, where the operator wishes so.
    pub paused: Option<String>,
    /// Which counts are made a second time: none, a share as in 1%, or all.
    pub double_check: String,
    /// By how many owners each checked unit must have been counted: 1 or 2.
    pub require_owners: u32,
    /// The release that serves the run.
    pub release: String,
}

/// A worker that was not heard of for longer is not there: it has missed six renewals of its leases.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(15);

impl RunStatus {
    /// True if no unit is being counted and none will be soon: paused with nothing lent, without workers, or ended.
    pub fn is_at_rest(&self) -> bool {
        let holds_none = || self.workers.iter().all(|worker| worker.leased == 0);
        self.phase != Phase::Counting || self.machines_there == 0 || (self.paused.is_some() && holds_none())
    }

    /// Sets all speeds to 0, and the expected time to unknown. They are means of minutes, which outlast the counting.
    pub fn reset_speeds(&mut self) {
        (self.left, self.rate) = (None, 0.0);
        self.workers.iter_mut().for_each(|worker| worker.rate = 0.0);
        self.machines.iter_mut().for_each(|machine| machine.speed = 0.0);
    }

    /// The numbers of connected workers and of their threads. If the list is cut, each unlisted worker called earlier
    /// than each listed worker.
    pub fn there(&self) -> (u64, u64) {
        let there = || self.workers.iter().filter(|worker| worker.last_word <= LONGEST_SILENCE);
        if there().count() == self.workers.len() {
            return (self.workers_total, self.threads_total);
        }
        (there().count() as u64, there().map(|worker| u64::from(worker.threads)).sum())
    }
}

/// A time that is expected, and the range in which it lies four times in five.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLeft {
    /// The best guess.
    pub expected: Duration,
    /// The lower end.
    pub low: Duration,
    /// The upper end.
    pub high: Duration,
}

/// Work by the plan's own expectation, in seconds of one core of the machine that it was measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Work of all units.
    pub total: f64,
    /// The work of the recorded units.
    pub done: f64,
}

/// How far the constellations that share top and bottom queen are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FamilyStatus {
    /// The column of the queen in the first row, from 0.
    pub top: u8,
    /// The column of the queen in the last row, from 0.
    pub bottom: u8,
    /// Its units.
    pub units: u64,
    /// Units on record.
    pub done: u64,
}

/// How far the run was at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// In seconds since 1970 (UTC).
    pub at: u64,
    /// Units on record.
    pub done: u64,
    /// Their share of the expected work, 0 to 1.
    pub progress: f64,
}

/// Something that an operator would want to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// In seconds since 1970 (UTC).
    pub at: u64,
    /// The event in one line.
    pub text: String,
}

/// Something in the ledger that a sceptic would want to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// In seconds since 1970 (UTC).
    pub at: u64,
    /// Its kind in words without names, which everybody may read.
    pub kind: String,
    /// How many units, starts or counts it is about.
    pub times: u64,
    /// What happened, with names.
    pub text: String,
    /// The operator's reason, if one was given.
    pub reason: Option<String>,
}

/// The status of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineStatus {
    /// Its owner.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// The number of its connected workers.
    pub workers: u64,
    /// How many units they count at a time.
    pub threads: u64,
    /// Units on record that it counted.
    pub counts: u64,
    /// Counts of it that another machine confirmed, or that confirmed another's.
    pub verified: u64,
    /// Counts of it that two others proved wrong.
    pub wrong: u64,
    /// Whether it is believed: else nothing is lent to it.
    pub is_believed: bool,
    /// Its expected work a second, in seconds of the core that [`Work`] names; 0 while unknown.
    pub speed: f64,
}

/// The results of double-checking for the counts on record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assurance {
    /// Units counted twice by different owners.
    pub on_two_owners: u64,
    /// Units counted twice on different machines of one owner.
    pub on_two_machines: u64,
    /// Units counted twice on one machine only.
    pub on_one_machine: u64,
    /// Units counted on two kinds of hardware, of any owners.
    pub on_two_kinds: u64,
    /// Units that a program which shares no code with diadem has also counted.
    pub by_external: u64,
    /// Counts that are still to be checked.
    pub pending: u64,
    /// Units drawn at random that were counted twice.
    pub sampled: u64,
    /// Counts that contradicted others.
    pub conflicts: u64,
    /// Machines that are not believed.
    pub quarantined: Vec<String>,
    /// The expelled owners, whose machines are all untrusted.
    pub expelled: Vec<String>,
    /// Upper bound of the share of wrong units, with 95 % confidence, if it is known.
    pub wrong_at_most: Option<f64>,
    /// The own checks, if the operator's machines make any.
    pub own_checks: Option<OwnCheckStatus>,
}

/// Counts that the operator's own machines made once more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnCheckStatus {
    /// The share of units, drawn at random, as in 1%.
    pub share: String,
    /// The owner of the operator's machines.
    pub owner: String,
    /// Units that these machines counted once more, with the same outcome.
    pub made: u64,
    /// Units that they are still to count.
    pub pending: u64,
    /// Upper bound of the share of wrong units, with 95 % confidence, if it is known.
    pub wrong_at_most: Option<f64>,
}

/// The status of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerStatus {
    /// The owner as which it was admitted.
    pub owner: Owner,
    /// Its name.
    pub name: String,
    /// The machine that it runs on.
    pub machine: String,
    /// How many units it counts at a time.
    pub threads: u32,
    /// The kernel that it counts with.
    pub kernel: KernelName,
    /// Units lent to it.
    pub leased: u64,
    /// Units that it has put on record since it registered.
    pub done: u64,
    /// Units a second, lately.
    pub rate: f64,
    /// How long ago it was last heard of.
    pub last_word: Duration,
    /// True if it drains: it finishes its running units and leaves.
    pub drains: bool,
}

//! What happens to a run that an operator would want to hear of, in one sentence each: for the log and for the list of
//! events.

use std::mem::{Discriminant, discriminant};

use queens::UnitId;
use records::counted;
use tracing::{error, info, warn};

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The coordinator serves the run from now on, in this term where it has one.
    Began(Option<u64>),
    /// A worker has registered.
    Joined(String),
    /// A worker has taken leave.
    Left(String),
    /// A worker was not heard of, and what it held is open again.
    Lost {
        /// What it is called.
        worker: String,
        /// How many units it held.
        units: usize,
    },
    /// A worker that held nothing was not heard of for long.
    Forgotten(String),
    /// An owner is let in no longer.
    Revoked {
        /// Who.
        owner: String,
        /// How many workers were struck off.
        workers: usize,
    },
    /// A unit was lost with too many workers.
    SetAside(UnitId),
    /// Counts of the unit differ.
    Disputed(UnitId),
    /// It is known which count of the unit stands.
    Decided(UnitId),
    /// A machine, or its owner, is not believed any more.
    Quarantined(String),
    /// It is again.
    Believed(String),
    /// So many counts of those who are not believed were taken back.
    TakenBack(usize),
    /// So many counts cannot be right together.
    Contradicted(usize),
    /// So many counts stand again that only machines contradicted which are not believed.
    Restored(usize),
    /// The operator takes something back.
    Retracted {
        /// What.
        what: String,
        /// Why.
        reason: String,
    },
    /// The operator believes somebody again.
    Readmitted {
        /// Whom.
        what: String,
        /// Why.
        reason: String,
    },
    /// The operator changes how the run is checked or copied.
    PolicyChanged {
        /// Which counts are made a second time, if that changes.
        double_check: Option<String>,
        /// How many followers must have a record, if that changes.
        replicas: Option<u32>,
        /// Why.
        reason: String,
    },
    /// The operator pauses the run, for this reason.
    Paused(String),
    /// The operator has it go on.
    Resumed,
    /// The operator asks the workers of a machine to leave.
    Draining {
        /// The machine.
        machine: String,
        /// How many workers of it are there.
        workers: u64,
    },
    /// Nothing can be recorded, for this reason.
    Unwritable(String),
    /// Records can be written again.
    Writable,
    /// A follower keeps a copy of so many records.
    FollowerCame(u64),
    /// A follower has gone.
    FollowerLeft,
    /// So many records of the ledger were read again, and nothing is wrong with them.
    Audited(u64),
    /// The ledger does not stand up to the audit.
    Unsound(String),
    /// The answer is there.
    Answered(u128),
    /// There is none, for this reason.
    Withheld(String),
}

impl Happening {
    /// What happens often, and is told once where it happens several times in a row.
    pub fn is_frequent(&self) -> bool {
        use Happening::{
            Contradicted, Decided, Disputed, FollowerCame, FollowerLeft, Forgotten, Joined, Left, Lost,
            Quarantined, Restored, SetAside, TakenBack, Unwritable, Writable,
        };
        matches!(
            self,
            Joined(_)
                | Left(_)
                | Lost { .. }
                | Forgotten(_)
                | SetAside(_)
                | Disputed(_)
                | Decided(_)
                | Quarantined(_)
                | TakenBack(_)
                | Contradicted(_)
                | Restored(_)
                | Unwritable(_)
                | Writable
                | FollowerCame(_)
                | FollowerLeft
        )
    }

    /// What happenings of one kind have in common.
    pub fn kind(&self) -> Discriminant<Self> {
        discriminant(self)
    }

    /// How often it has happened, all at once.
    pub fn times(&self) -> u64 {
        match self {
            Self::TakenBack(counts) | Self::Contradicted(counts) | Self::Restored(counts) => *counts as u64,
            _ => 1,
        }
    }

    /// What has happened so many times, this one the last.
    pub fn sentence(&self, times: u64) -> String {
        let several = |what: &str, last: &dyn std::fmt::Display| format!("{times} {what}, {last} the last");
        match self {
            Self::Began(Some(term)) => format!("the coordinator began term {term}"),
            Self::Began(None) => "the count began".to_owned(),
            Self::Joined(worker) if times > 1 => several("workers joined", worker),
            Self::Joined(worker) => format!("worker {worker} joined"),
            Self::Left(worker) if times > 1 => several("workers left", worker),
            Self::Left(worker) => format!("worker {worker} left"),
            Self::Lost { worker, .. } if times > 1 => {
                several("workers were silent and lost their units", worker)
            }
            Self::Lost { worker, units } => {
                format!("worker {worker} was silent and lost {}", counted(*units as u64, "unit"))
            }
            Self::Forgotten(worker) if times > 1 => several("workers were silent and are forgotten", worker),
            Self::Forgotten(worker) => format!("worker {worker} was silent and is forgotten"),
            Self::Revoked { owner, workers } => {
                format!("{owner} was revoked, and {} struck off", counted(*workers as u64, "worker"))
            }
            Self::SetAside(unit) if times > 1 => {
                several("units were lost with five workers each and are set aside", unit)
            }
            Self::SetAside(unit) => format!("unit {unit} was lost with five workers and is set aside"),
            Self::Disputed(unit) if times > 1 => several("units came into dispute", unit),
            Self::Disputed(unit) => format!("unit {unit} is in dispute: its counts differ"),
            Self::Decided(unit) if times > 1 => several("disputes were decided", unit),
            Self::Decided(unit) => format!("the dispute about unit {unit} is decided"),
            Self::Quarantined(machine) if times > 1 => several("machines are quarantined", machine),
            Self::Quarantined(machine) => format!("machine {machine} is quarantined"),
            Self::Believed(machine) => format!("machine {machine} is believed again"),
            Self::TakenBack(_) => format!("{times} counts of quarantined machines were taken back"),
            Self::Contradicted(_) => format!("{times} counts cannot be right together and are all disputed"),
            Self::Restored(_) => {
                format!("{times} counts stand again that only quarantined machines contradicted")
            }
            Self::Retracted { what, reason } => format!("the operator takes back {what}: {reason}"),
            Self::Readmitted { what, reason } => format!("the operator believes {what} again: {reason}"),
            Self::PolicyChanged { double_check, replicas, reason } => {
                let double_check = double_check.as_ref().map(|policy| format!("--double-check {policy}"));
                let replicas = replicas.map(|replicas| format!("--replicas {replicas}"));
                let change: Vec<_> = double_check.into_iter().chain(replicas).collect();
                format!("the operator says {}: {reason}", change.join(" "))
            }
            Self::Paused(reason) => format!("the operator pauses the run: {reason}"),
            Self::Resumed => "the operator has the run go on".to_owned(),
            Self::Draining { machine, workers } => {
                format!("the operator asks {} of {machine} to leave", counted(*workers, "worker"))
            }
            Self::Unwritable(why) => why.clone(),
            Self::Writable => "records can be written again".to_owned(),
            Self::FollowerCame(_) if times > 1 => format!("{times} followers came"),
            Self::FollowerCame(records) => {
                format!("a follower came that has {}", counted(*records, "record"))
            }
            Self::FollowerLeft if times > 1 => format!("{times} followers left"),
            Self::FollowerLeft => "a follower left".to_owned(),
            Self::Audited(records) => {
                format!("the ledger was audited, all of it is sound: {}", counted(*records, "record"))
            }
            Self::Unsound(why) => format!("the audit failed: {why}"),
            Self::Answered(solutions) => format!("the answer is given: {solutions} solutions"),
            Self::Withheld(why) => format!("the answer is withheld: {why}"),
        }
    }

    /// Says it in the log.
    pub fn log(&self) {
        let sentence = self.sentence(self.times());
        match self {
            Self::SetAside(_) | Self::Unwritable(_) | Self::Unsound(_) | Self::Withheld(_) => {
                error!("{sentence}")
            }
            Self::Disputed(_)
            | Self::Quarantined(_)
            | Self::TakenBack(_)
            | Self::Contradicted(_)
            | Self::Retracted { .. }
            | Self::Readmitted { .. }
            | Self::PolicyChanged { .. }
            | Self::Revoked { .. }
            | Self::Paused(_)
            | Self::Lost { .. } => {
                warn!("{sentence}");
            }
            _ => info!("{sentence}"),
        }
    }
}

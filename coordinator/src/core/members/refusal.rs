//! Requests that the core refuses.

use domain::WorkerId;
use queens::plan::Fingerprint;
use records::standing::{Identity, Machines};
use thiserror::Error;

/// A request that the core refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The worker's plan is not the run's.
    #[error(
        "this coordinator now counts plan {run}, not the worker's plan {worker}: restart the worker to \
         count here, or give it the address of its own run"
    )]
    OtherPlan {
        /// The run's fingerprint.
        run: Fingerprint,
        /// The worker's fingerprint.
        worker: Fingerprint,
    },
    /// The worker's kernel miscounts a known board.
    #[error(
        "worker {worker} on machine {machine} finds {found} solutions of a known board that has \
         {expected}: test its memory, or try --isa portable"
    )]
    SelfTest {
        /// The worker's name.
        worker: String,
        /// Its machine.
        machine: String,
        /// What it found.
        found: u64,
        /// What it should have found.
        expected: u64,
    },
    /// The worker's machine is not believed.
    #[error("machine {0} is quarantined: {1}")]
    Quarantined(String, Distrust),
    /// An owner has as many workers as it may.
    #[error("this owner has {0} registered workers, the most allowed: try again when some have left")]
    TooManyWorkers(usize),
    /// The coordinator was restarted, or the worker was silent for too long.
    #[error("worker {0} is not registered; register first")]
    UnknownWorker(WorkerId),
}

/// Why a machine is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Distrust {
    /// It was wrong.
    #[error(
        "two other counts proved one of its counts wrong; test its memory, then readmit it with diadem \
         retract --machine NAME --readmit --reason TEXT"
    )]
    Wrong,
    /// It has contradicted itself too often.
    #[error(
        "it contradicted itself in ten units; test its memory, then readmit it with diadem retract \
         --machine NAME --readmit --reason TEXT"
    )]
    Contradictory,
    /// The operator quarantined it.
    #[error(
        "the operator took back its counts; readmit it with diadem retract --machine NAME --readmit \
         --reason TEXT"
    )]
    Retracted,
    /// An own check contradicts its owner.
    #[error(
        "an own check of the operator contradicts its owner, who is suspended; ask the operator, who decides with diadem \
         retract --owner NAME --reason TEXT, or with --readmit"
    )]
    Suspended,
    /// Its owner is expelled.
    #[error(
        "its owner is not believed, with all machines; readmit the owner with diadem retract --owner \
         NAME --readmit --reason TEXT"
    )]
    Owner,
}

impl Distrust {
    /// The reason why the machine is not believed; none if it is believed.
    pub fn of(machine: &Identity, machines: &Machines) -> Option<Self> {
        if machines.is_suspended(machine.owner.name()) {
            return Some(Self::Suspended);
        }
        if machines.is_expelled(machine.owner.name()) {
            return Some(Self::Owner);
        }
        let on_record = machines.get(machine.number(machines)?);
        on_record.is_quarantined().then_some(match on_record.wrong {
            0 if on_record.contradicts_itself() => Self::Contradictory,
            0 => Self::Retracted,
            _ => Self::Wrong,
        })
    }
}

/// No worker matches a request to drain a machine.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoWorker {
    /// Only these other machines have workers.
    #[error("machine {0} has no connected worker; there are workers of {1}")]
    Unknown(Identity, String),
    /// These machines of several owners have the name.
    #[error("{0:?} may be any of {1}: name one of them")]
    Ambiguous(String, String),
    /// No worker is registered.
    #[error("no worker is connected")]
    Nobody,
}

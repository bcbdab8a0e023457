//! Requests that the core refuses.

use domain::WorkerId;
use queens::plan::Fingerprint;
use records::standing::Identity;
use thiserror::Error;

/// A request that the core refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The worker's plan is not the run's.
    #[error(
        "this run has plan {run}, the worker came for plan {worker}: another board or plan is counted here now; start the worker again \
         to count for it, or give it the address where its own run goes on"
    )]
    OtherPlan {
        /// The run's fingerprint.
        run: Fingerprint,
        /// The worker's fingerprint.
        worker: Fingerprint,
    },
    /// The worker's kernel miscounts a known board.
    #[error(
        "worker {worker} on machine {machine} finds {found} solutions of a known board that has {expected}: it cannot be relied on; test its memory, or try --isa portable"
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
    #[error(
        "{0} workers of this owner are registered, which is as many as may be; try again when some have left"
    )]
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
        "two other counts have proved a count of it wrong; test its memory, then diadem retract with --machine, --readmit and --reason has it believed again"
    )]
    Wrong,
    /// It was said to be.
    #[error(
        "the operator has taken back what it counted; diadem retract with --machine, --readmit and --reason has it believed again"
    )]
    Retracted,
    /// Its owner is not believed.
    #[error(
        "its owner is not believed any more, with all machines; diadem retract with --owner, --readmit and --reason has it believed again"
    )]
    Owner,
}

/// Nobody is there to be asked to leave.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoWorker {
    /// There are only others; these.
    #[error("no worker of the machine {0} is there; there are those of {1}")]
    Unknown(Identity, String),
    /// Machines of several owners have the name; these.
    #[error("{0:?} may be any of {1}: name one of them")]
    Ambiguous(String, String),
    /// There is none.
    #[error("no worker is there at all")]
    Nobody,
}

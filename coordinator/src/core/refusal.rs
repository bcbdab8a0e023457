//! Requests that the core refuses.

use proto::WorkerId;
use queens::plan::Fingerprint;
use thiserror::Error;

/// A request that the core refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The worker's plan is not the run's.
    #[error("this run has plan {run}, the worker has plan {worker}: use the release that began the run")]
    OtherPlan {
        /// The run's fingerprint.
        run: Fingerprint,
        /// The worker's fingerprint.
        worker: Fingerprint,
    },
    /// The worker's kernel miscounts a known board.
    #[error(
        "worker {worker} on machine {machine} finds {found} solutions of a known board that has {expected}: it cannot be relied on"
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
    /// The worker's machine was wrong before.
    #[error("machine {0} is quarantined: two other counts have proved a count of it wrong")]
    Quarantined(String),
    /// An owner has as many workers as it may.
    #[error(
        "{0} workers of this owner are registered, which is as many as may be; try again when some have left"
    )]
    TooManyWorkers(usize),
    /// The coordinator was restarted, or the worker was silent for too long.
    #[error("worker {0} is not registered; register first")]
    UnknownWorker(WorkerId),
}

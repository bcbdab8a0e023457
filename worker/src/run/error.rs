//! Why a worker had to leave, in one sentence each.

use queens::self_test::SelfTestError;
use rayon::ThreadPoolBuildError;
use thiserror::Error;

use crate::outage::GaveUp;

/// Why a worker had to leave.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// The coordinator does not want it.
    #[error("the coordinator refuses this worker: {0}")]
    Refused(String),
    /// The coordinator now serves another run of the plan, for which the worker starts over.
    #[error("another run is counted there now")]
    OtherRun,
    /// Its kernel miscounts.
    #[error(transparent)]
    SelfTest(#[from] SelfTestError),
    /// Its kernel hangs.
    #[error("it has not counted a known board in {0} minutes: its kernel hangs, or the machine does")]
    SelfTestHangs(u64),
    /// The coordinator did not answer for too long.
    #[error(transparent)]
    GaveUp(#[from] GaveUp),
    /// All of its threads hang.
    #[error(
        "all of its {0} threads hang; the units are given back. Start it again, with another --isa or on another machine"
    )]
    Hung(u32),
    /// Its card hangs.
    #[error(
        "all that its card counts hangs; the units are given back. Start the machine again, or leave the card out of --gpu"
    )]
    CardHung,
    /// The system gave no threads.
    #[error("cannot start the counting threads: {0}; use a smaller --threads")]
    Threads(#[from] ThreadPoolBuildError),
}

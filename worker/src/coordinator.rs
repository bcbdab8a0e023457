//! The interface of a worker to its coordinator, in the same process or over the network.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use thiserror::Error;

/// A call that has failed, by what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoordinatorError {
    /// Try again later: it cannot be reached, or cannot write at the moment.
    #[error("{0}")]
    Unavailable(String),
    /// Register again: it does not know the worker (any more).
    #[error("the coordinator does not know this worker any more")]
    Unregistered,
    /// Start over: the coordinator now serves another run of the same plan, and the held units belong to the former
    /// run.
    #[error("another run is counted there now")]
    OtherRun,
    /// Leave: the coordinator will never accept the request.
    #[error("{0}")]
    Refused(String),
}

/// The answer to a call.
pub type CallResult<T> = Result<T, CoordinatorError>;

/// The coordinator as a worker sees it. Calls may be made at the same time.
///
/// Calls fail with [`CoordinatorError`] if the coordinator cannot be reached, does not know the worker, or refuses the
/// request.
#[async_trait]
pub trait Lender: Send + Sync + 'static {
    /// Introduces the worker.
    async fn register(&self, registration: Registration) -> CallResult<Welcome>;

    /// Asks for up to `want` units, and waits up to `wait` for some to open.
    async fn lease(&self, worker: WorkerId, want: u32, wait: Duration) -> CallResult<LeaseReply>;

    /// Keeps leases alive; answers with the units that are lost, and whether all is counted.
    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> CallResult<Renewal>;

    /// Reports counts; answers with one verdict for each, once they are on record.
    async fn report(&self, report: Report) -> CallResult<Vec<Verdict>>;

    /// Gives units back, and takes leave if so said.
    async fn release(&self, worker: WorkerId, held: Vec<Lease>, leaving: bool) -> CallResult<()>;
}

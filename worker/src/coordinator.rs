//! What a worker needs of a coordinator, wherever that is.

use std::future::Future;
use std::time::Duration;

use proto::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
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
    /// Leave: it will never do what was asked.
    #[error("{0}")]
    Refused(String),
}

/// The coordinator as a worker sees it. Calls may be made at the same time.
pub trait Coordinator: Clone + Send + Sync + 'static {
    /// Introduces the worker.
    fn register(&self, registration: Registration) -> impl Call<Welcome>;

    /// Asks for up to `want` units, and waits up to `wait` for some to open.
    fn lease(&self, worker: WorkerId, want: u32, wait: Duration) -> impl Call<LeaseReply>;

    /// Keeps leases alive; answers with the units that are lost, and whether all is counted.
    fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> impl Call<Renewal>;

    /// Reports counts; answers with one verdict for each, once they are on record.
    fn report(&self, report: Report) -> impl Call<Vec<Verdict>>;

    /// Gives units back, and takes leave if so said.
    fn release(&self, worker: WorkerId, held: Vec<Lease>, leaving: bool) -> impl Call<()>;
}

/// A call that has been made, to be awaited on any thread.
///
/// It fails as [`CoordinatorError`] says: because the coordinator cannot be reached, does not know the worker, or does
/// not want what was asked.
pub trait Call<T>: Future<Output = Result<T, CoordinatorError>> + Send {}

impl<T, F: Future<Output = Result<T, CoordinatorError>> + Send> Call<T> for F {}

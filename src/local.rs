//! A coordinator in the worker's own process: calls go to the keeper, with no network between.

use std::time::Duration;

use async_trait::async_trait;
use coordinator::core::Refusal;
use coordinator::{CallError, Handle};
use proto::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use worker::{CoordinatorError, Lender};

/// The keeper of the same process.
#[derive(Clone)]
pub struct Local(pub Handle);

fn local(error: CallError) -> CoordinatorError {
    let text = error.to_string();
    match error {
        CallError::NotRecorded(_) | CallError::Superseded(_) => CoordinatorError::Unavailable(text),
        CallError::Refused(Refusal::UnknownWorker(_)) => CoordinatorError::Unregistered,
        CallError::Refused(_)
        | CallError::Nothing(_)
        | CallError::Policy(_)
        | CallError::NoWorker(_)
        | CallError::Ended
        | CallError::Closed => CoordinatorError::Refused(text),
    }
}

#[async_trait]
impl Lender for Local {
    async fn register(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        self.0.register(registration).await.map_err(local)
    }

    async fn lease(
        &self,
        worker: WorkerId,
        want: u32,
        wait: Duration,
    ) -> Result<LeaseReply, CoordinatorError> {
        self.0.lease(worker, want, wait).await.map_err(local)
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        self.0.renew(worker, held).await.map_err(local)
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        self.0.report(report).await.map_err(local)
    }

    async fn release(
        &self,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
    ) -> Result<(), CoordinatorError> {
        self.0.release(worker, held, leaving).await.map_err(local)
    }
}

//! A coordinator in the worker's own process: calls go to the keeper, with no network between.

use std::future::pending;
use std::time::Duration;

use async_trait::async_trait;
use coordinator::core::Refusal;
use coordinator::{CallError, Handle};
use domain::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use worker::{CoordinatorError, Lender};

/// The keeper of the same process.
#[derive(Clone)]
pub struct Local(pub Handle);

/// The answer of the keeper. A withheld answer is no error here: the command that began the run reports it
/// and ends the workers.
async fn local<T>(answer: Result<T, CallError>) -> Result<T, CoordinatorError> {
    let error = match answer {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    let text = error.to_string();
    Err(match error {
        CallError::Withheld(_) => pending().await,
        CallError::NotRecorded(_) | CallError::OtherCoordinator(_) => CoordinatorError::Unavailable(text),
        CallError::Refused(Refusal::UnknownWorker(_)) => CoordinatorError::Unregistered,
        CallError::Refused(_)
        | CallError::Nothing(_)
        | CallError::Policy(_)
        | CallError::NoWorker(_)
        | CallError::Ended
        | CallError::Closed => CoordinatorError::Refused(text),
    })
}

#[async_trait]
impl Lender for Local {
    async fn register(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        local(self.0.register(registration).await).await
    }

    async fn lease(
        &self,
        worker: WorkerId,
        want: u32,
        wait: Duration,
    ) -> Result<LeaseReply, CoordinatorError> {
        local(self.0.lease(worker, want, wait).await).await
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        local(self.0.renew(worker, held).await).await
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        local(self.0.report(report).await).await
    }

    async fn release(
        &self,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
    ) -> Result<(), CoordinatorError> {
        local(self.0.release(worker, held, leaving).await).await
    }
}

//! Workers in the test's own process, over real sockets, that report in a way of their own.

use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use proto::v1;
use queens::kernel::Kernel;
use tonic::async_trait;
use worker::{Config, CoordinatorError, Lender, Remote};

/// How a worker of the plan with that fingerprint introduces itself.
pub fn registration(fingerprint: impl Into<String>, name: &str) -> v1::RegisterRequest {
    v1::RegisterRequest {
        fingerprint: fingerprint.into(),
        name: name.into(),
        machine: "here".into(),
        threads: 1,
        kernel: "search/portable".into(),
        self_test: 14_200,
        protocol: 1,
        ..v1::RegisterRequest::default()
    }
}

/// How counts are reported.
#[async_trait]
pub trait Reporter: Clone + Send + Sync + 'static {
    async fn report(&self, coordinator: &Remote, report: Report) -> Result<Vec<Verdict>, CoordinatorError>;
}

/// A coordinator, and how counts are reported to it.
#[derive(Clone)]
pub struct Client<R> {
    pub coordinator: Remote,
    pub reporter: R,
}

#[async_trait]
impl<R: Reporter> Lender for Client<R> {
    async fn register(&self, registration: Registration) -> Result<Welcome, CoordinatorError> {
        self.coordinator.register(registration).await
    }

    async fn lease(
        &self,
        worker: WorkerId,
        want: u32,
        wait: Duration,
    ) -> Result<LeaseReply, CoordinatorError> {
        self.coordinator.lease(worker, want, wait).await
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> Result<Renewal, CoordinatorError> {
        self.coordinator.renew(worker, held).await
    }

    async fn report(&self, report: Report) -> Result<Vec<Verdict>, CoordinatorError> {
        self.reporter.report(&self.coordinator, report).await
    }

    async fn release(
        &self,
        worker: WorkerId,
        held: Vec<Lease>,
        leaving: bool,
    ) -> Result<(), CoordinatorError> {
        self.coordinator.release(worker, held, leaving).await
    }
}

/// A worker with one thread on that machine, which waits for its coordinator without limit.
pub fn config(machine: &str, kernel: Arc<dyn Kernel>) -> Config {
    Config {
        name: machine.to_owned(),
        machine: machine.to_owned(),
        threads: 1,
        kernel,
        give_up_after: None,
        hopeful: worker::Hopeful::default(),
        give_up_unrecorded_after: None,
        finishes_when_lost: false,
        ahead: worker::AHEAD,
        drain: Duration::ZERO,
    }
}

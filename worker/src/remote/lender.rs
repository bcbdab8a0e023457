//! A worker's calls to a coordinator over gRPC.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Lease, LeaseReply, Registration, Renewal, Report, Verdict, Welcome, WorkerId};
use proto::{v1, verdicts_from_reply};

use super::{PATIENCE, Remote, strange_answer};
use crate::coordinator::{CallResult, Lender};

#[async_trait]
impl Lender for Remote {
    async fn register(&self, registration: Registration) -> CallResult<Welcome> {
        self.join(registration).await
    }

    async fn lease(&self, worker: WorkerId, want: u32, wait: Duration) -> CallResult<LeaseReply> {
        let index = self.addresses.current();
        let wait_ms = wait.as_millis().try_into().unwrap_or(u64::MAX);
        let request = v1::LeaseRequest { worker: worker.0, want, wait_ms };
        let mut client = self.clients.client(index);
        let reply = self.answer(index, wait, client.lease(request)).await?.into();
        // If the worker has changed to another coordinator meanwhile, that coordinator lends these units.
        Ok(if index == self.addresses.current() { reply } else { LeaseReply::Granted(Vec::new()) })
    }

    async fn renew(&self, worker: WorkerId, held: Vec<Lease>) -> CallResult<Renewal> {
        let leases = held.into_iter().map(Into::into).collect();
        let request = v1::RenewRequest { worker: worker.0, leases };
        Ok(self.call(Duration::ZERO, |mut c| async move { c.renew(request).await }).await?.into())
    }

    async fn report(&self, report: Report) -> CallResult<Vec<Verdict>> {
        let index = self.addresses.current();
        let request = v1::ReportRequest::from(report);
        // Without a limit, because an aborted report would be sent again, possibly without end if a disk or a follower
        // is slow. A renewal detects an absent coordinator.
        let recording = PATIENCE.saturating_sub(self.patience);
        let mut client = self.clients.client(index);
        let reply = self.answer(index, recording, client.report(request)).await?;
        verdicts_from_reply(&reply).map_err(|error| self.addresses.give_up_on(index, strange_answer(&error)))
    }

    async fn release(&self, worker: WorkerId, held: Vec<Lease>, leaving: bool) -> CallResult<()> {
        let leases = held.into_iter().map(Into::into).collect();
        let request = v1::ReleaseRequest { worker: worker.0, leases, leaving };
        self.call(Duration::ZERO, |mut c| async move { c.release(request).await }).await.map(|_| ())
    }
}

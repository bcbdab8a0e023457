//! A run that is watched over gRPC: its status, as often as the coordinator publishes it.

use std::time::Duration;

use domain::RunStatus;
use proto::v1;
use tonic::Streaming;

use crate::coordinator::CoordinatorError;
use crate::refusal::NOTHING_BEHIND;
use crate::remote::Remote;

/// A run that is watched.
#[derive(Debug)]
pub struct StatusFeed {
    remote: Remote,
    site: usize,
    replies: Streaming<v1::StatusReply>,
}

impl StatusFeed {
    /// Where the run stands next.
    ///
    /// # Errors
    /// The coordinator ends the call, cannot be reached any more, or says what is not understood.
    pub async fn next(&mut self) -> Result<RunStatus, CoordinatorError> {
        let status = self.remote.next(self.site, &mut self.replies).await?;
        // What refuses it from now on may pass by itself.
        self.remote.sites().taken_in();
        Ok(status)
    }
}

impl Remote {
    /// Begins to watch the coordinator's run.
    ///
    /// # Errors
    /// If the coordinator cannot be reached, or refuses.
    pub async fn watch(&self) -> Result<StatusFeed, CoordinatorError> {
        let site = self.sites().current();
        let mut client = self.client(site);
        let replies = self.answer(site, Duration::ZERO, client.watch(v1::StatusRequest {})).await;
        let replies = replies.map_err(|error| match error {
            CoordinatorError::Unregistered => {
                self.sites().failed(site, self.sites().refused_for_now(site, NOTHING_BEHIND.into()))
            }
            error => error,
        })?;
        Ok(StatusFeed { remote: self.clone(), site, replies })
    }
}

//! Calls that stay open: a run that is followed, and one that is watched.

use std::time::Duration;

use domain::{FollowReply, FollowRequest, RunStatus};
use proto::v1;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::Remote;
use crate::coordinator::{CallResult, CoordinatorError};
use crate::refusal::NOTHING_BEHIND;

/// Number of a follower's messages that wait for the coordinator.
const WAITING_MESSAGES: usize = 4;

/// The stream of a followed run: messages of the coordinator, and reports of the follower's disk.
#[derive(Debug)]
pub struct FollowStream {
    remote: Remote,
    index: usize,
    requests: mpsc::Sender<v1::FollowRequest>,
    replies: Streaming<v1::FollowReply>,
}

impl FollowStream {
    /// The coordinator's next message.
    ///
    /// # Errors
    /// The coordinator ends the call, cannot be reached, or sends an incomprehensible message.
    pub async fn next(&mut self) -> CallResult<FollowReply> {
        self.remote.next(self.index, &mut self.replies).await
    }

    /// Notes that this run is followed: later refusals may be temporary.
    pub fn taken_in(&self) {
        self.remote.addresses.taken_in();
    }

    /// Leaves this coordinator for another address, for that reason.
    pub fn leave(self, why: String) -> CoordinatorError {
        self.remote.addresses.failed(self.index, CoordinatorError::Unavailable(why))
    }

    /// Reports the end of the copy on disk. If the call has ended, the next reply shows it.
    pub async fn say(&self, request: FollowRequest) {
        self.requests.send(request.into()).await.ok();
    }
}

/// A run that is watched: its status, as often as the coordinator publishes it.
#[derive(Debug)]
pub struct StatusStream {
    remote: Remote,
    index: usize,
    replies: Streaming<v1::StatusReply>,
}

impl StatusStream {
    /// The next status of the run.
    ///
    /// # Errors
    /// The coordinator ends the call, cannot be reached, or sends an incomprehensible message.
    pub async fn next(&mut self) -> CallResult<RunStatus> {
        let status = self.remote.next(self.index, &mut self.replies).await?;
        // Later refusals may pass by themselves.
        self.remote.addresses.taken_in();
        Ok(status)
    }
}

impl Remote {
    /// Starts to follow the coordinator's run from the end of the follower's copy.
    ///
    /// # Errors
    /// The coordinator cannot be reached, or refuses.
    pub async fn follow(&self, first: FollowRequest) -> CallResult<FollowStream> {
        let index = self.addresses.current();
        let (requests, stream) = mpsc::channel(WAITING_MESSAGES);
        requests.try_send(v1::FollowRequest::from(first)).ok();
        let mut client = self.clients.client(index);
        let call = client.follow(ReceiverStream::new(stream));
        let replies = self.answer(index, Duration::ZERO, call).await?;
        Ok(FollowStream { remote: self.clone(), index, requests, replies })
    }

    /// Begins to watch the coordinator's run.
    ///
    /// # Errors
    /// The coordinator cannot be reached, or refuses.
    pub async fn watch(&self) -> CallResult<StatusStream> {
        let index = self.addresses.current();
        let mut client = self.clients.client(index);
        let replies = self.answer(index, Duration::ZERO, client.watch(v1::StatusRequest {})).await;
        let replies = replies.map_err(|error| match error {
            CoordinatorError::Unregistered => {
                self.addresses.failed(index, self.addresses.refused_for_now(index, NOTHING_BEHIND.into()))
            }
            error => error,
        })?;
        Ok(StatusStream { remote: self.clone(), index, replies })
    }
}

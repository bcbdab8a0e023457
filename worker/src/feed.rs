//! A run that is followed over gRPC: what the coordinator says of it, and what the follower has on disk.

use std::time::Duration;

use domain::{FollowReply, FollowRequest};
use proto::v1;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use crate::coordinator::CoordinatorError;
use crate::remote::Remote;

/// So many words of a follower wait until the coordinator takes them.
const WORDS: usize = 4;

/// A run that is followed.
#[derive(Debug)]
pub struct Feed {
    remote: Remote,
    site: usize,
    requests: mpsc::Sender<v1::FollowRequest>,
    replies: Streaming<v1::FollowReply>,
}

impl Feed {
    /// What the coordinator says next.
    ///
    /// # Errors
    /// It ends the call, cannot be reached any more, or says what is not understood.
    pub async fn next(&mut self) -> Result<FollowReply, CoordinatorError> {
        self.remote.next(self.site, &mut self.replies).await
    }

    /// It is the run that is followed: what refuses the follower from now on may pass by itself.
    pub fn taken_in(&self) {
        self.remote.sites().taken_in();
    }

    /// Leaves this coordinator for another address, for that reason.
    pub fn leave(self, why: String) -> CoordinatorError {
        self.remote.sites().failed(self.site, CoordinatorError::Unavailable(why))
    }

    /// Says what is on disk. Where nobody takes it the call has ended, as the next reply tells.
    pub async fn say(&self, request: FollowRequest) {
        self.requests.send(request.into()).await.ok();
    }
}

impl Remote {
    /// Begins to follow the coordinator's run, with what the follower has.
    ///
    /// # Errors
    /// If the coordinator cannot be reached, or refuses.
    pub async fn follow(&self, first: FollowRequest) -> Result<Feed, CoordinatorError> {
        let site = self.sites().current();
        let (requests, stream) = mpsc::channel(WORDS);
        requests.try_send(v1::FollowRequest::from(first)).ok();
        let mut client = self.client(site);
        let call = client.follow(ReceiverStream::new(stream));
        let replies = self.answer(site, Duration::ZERO, call).await?;
        Ok(Feed { remote: self.clone(), site, requests, replies })
    }
}

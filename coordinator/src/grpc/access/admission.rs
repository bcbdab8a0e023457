//! What a call was let pass by. Some calls go on for months: when others are let in than before, they are judged again.

use std::future::pending;
use std::sync::Arc;

use proto::AUTHORIZATION;
use tokio::sync::watch;
use tonic::Status;
use tonic::codegen::http::{HeaderValue, Request, Uri};

use super::{Access, Bearers};
use crate::grpc::access::caller::Caller;

/// A call, by what it shows.
#[derive(Debug)]
pub struct Admission {
    access: Access,
    changes: watch::Receiver<Arc<Bearers>>,
    uri: Uri,
    authorization: Option<HeaderValue>,
    certified: Option<Caller>,
}

impl Admission {
    /// That of a request, which has come from a holder of that certificate.
    pub(super) fn new<B>(access: &Access, request: &Request<B>, certified: Option<&Caller>) -> Self {
        Self {
            access: access.clone(),
            changes: access.bearers.subscribe(),
            uri: request.uri().clone(),
            authorization: request.headers().get(AUTHORIZATION).cloned(),
            certified: certified.cloned(),
        }
    }

    /// Who calls, if the call may pass.
    pub(super) fn judge(&self) -> Result<Caller, Status> {
        let authorization = self.authorization.as_ref().map(HeaderValue::as_bytes);
        self.access.judge(self.uri.path(), authorization, self.certified.clone())
    }

    /// Why the call may not go on, once that is so.
    pub(crate) async fn ended(mut self) -> Status {
        while self.changes.changed().await.is_ok() {
            if let Err(status) = self.judge() {
                return status;
            }
        }
        pending().await
    }
}

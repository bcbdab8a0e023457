//! The credentials of a call, and whether they permit the call. Some calls last for months: they are judged again when
//! the access rights change.

use std::future::pending;
use std::sync::Arc;

use proto::{AUTHORIZATION, for_good};
use tokio::sync::watch;
use tonic::Status;
use tonic::codegen::http::{HeaderValue, Request, Uri};

use crate::admission::{Access, Bearers, Caller, Right};

/// The credentials of a call.
#[derive(Debug)]
pub struct Pass {
    access: Access,
    changes: watch::Receiver<Arc<Bearers>>,
    uri: Uri,
    authorization: Option<HeaderValue>,
    certified: Option<Caller>,
}

impl Pass {
    /// The credentials of a request on a connection with this certificate.
    pub fn of<B>(access: &Access, request: &Request<B>, certified: Option<&Caller>) -> Self {
        Self {
            access: access.clone(),
            changes: access.changes(),
            uri: request.uri().clone(),
            authorization: request.headers().get(AUTHORIZATION).cloned(),
            certified: certified.cloned(),
        }
    }

    /// The caller, if the call is permitted.
    ///
    /// # Errors
    /// The call needs a right that nothing in it shows.
    pub fn judge(&self) -> Result<Caller, Status> {
        if !self.access.is_guarded() {
            return Ok(Caller::anybody());
        }
        let bearers = self.access.bearers();
        let authorization = self.authorization.as_ref().map(HeaderValue::as_bytes);
        // A token takes precedence over a certificate, because its holder may have got another right with it.
        let by_token = authorization.and_then(|value| bearers.caller(value)).cloned();
        let caller = by_token.or_else(|| self.certified.clone()).ok_or_else(|| {
            if let Some(owner) = authorization.and_then(|value| bearers.expired(value)) {
                let text = format!("the invitation of {owner} has expired: ask the operator for a new one");
                return for_good(Status::permission_denied(text));
            }
            Status::unauthenticated(if authorization.is_some() {
                "the token is not one of this coordinator's; it may have been replaced"
            } else {
                "this coordinator requires a token or a client certificate: use --keys DIR"
            })
        })?;
        if bearers.is_revoked(&caller.owner) {
            // Earlier workers recognise a permanent refusal by these words.
            let text =
                format!("the keys of {} have been revoked: ask the operator for new keys", caller.owner);
            return Err(for_good(Status::permission_denied(text)));
        }
        let needed = Right::needed(self.uri.path());
        if !caller.right.allows(needed) {
            return Err(Status::permission_denied(caller.right.refusal(needed)));
        }
        Ok(caller)
    }

    /// Completes with the reason when the call is no longer permitted.
    pub async fn ended(mut self) -> Status {
        while self.changes.changed().await.is_ok() {
            if let Err(status) = self.judge() {
                return status;
            }
        }
        pending().await
    }
}

#[cfg(test)]
mod tests;

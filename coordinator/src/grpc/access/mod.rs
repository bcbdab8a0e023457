//! Who may do what and how much of it: decided for each call from its path, its token and its certificate, before its body is read.

pub mod caller;
pub mod peers;
pub mod quota;

mod admission;
mod bearers;

use std::sync::Arc;
use std::time::Duration;

use crate::token_bucket::TokenBucket;
use domain::Owner;
use parking_lot::Mutex;
use proto::for_good;
use tokio::sync::watch;
use tonic::Status;
use tonic::codegen::http;
use tracing::warn;

use peers::{Peer, Seats};

pub use admission::Admission;
pub use bearers::{Bearers, TokenHash};
use caller::{Caller, Right};

/// Refusals are logged at most so often: those that knock at the door must not fill the disk.
const LOGGED_AT_ONCE: u32 = 20;
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// Who may do what. Clones share it, so that it can be changed while calls are served.
#[derive(Clone, Debug)]
pub struct Access {
    /// Whether there is nothing to present: everybody who can connect may do everything.
    open: bool,
    bearers: watch::Sender<Arc<Bearers>>,
    seats: Arc<Seats>,
    log: Arc<Mutex<TokenBucket>>,
}

impl Access {
    /// Everybody who can connect may do everything.
    pub fn open() -> Self {
        Self { open: true, ..Self::guarded(Bearers::default()) }
    }

    /// The bearers of these tokens may do what those let do, holders of a verified client certificate may take part;
    /// owners that are revoked may nothing.
    pub fn guarded(bearers: Bearers) -> Self {
        let log = Arc::new(Mutex::new(TokenBucket::new(LOGGED_AT_ONCE, LOGGED_EVERY)));
        Self { open: false, bearers: watch::Sender::new(Arc::new(bearers)), seats: Arc::default(), log }
    }

    /// Whether callers have to present something.
    pub fn is_guarded(&self) -> bool {
        !self.open
    }

    /// Lets in others from now on, and ends the calls of those that would not be let in any more. The connections of owners
    /// that are revoked are closed; their workers are the caller's to strike off.
    pub fn replace(&self, bearers: Bearers) {
        let bearers = Arc::new(bearers);
        self.bearers.send_replace(Arc::clone(&bearers));
        bearers.revoked().for_each(|owner| self.seats.close_all_of(owner));
    }

    /// The owners that are let in no more.
    pub fn revoked(&self) -> Vec<Owner> {
        self.bearers().revoked().cloned().collect()
    }

    /// As whom the bearer of the token may read where the run stands, if he may.
    pub(crate) fn reader(&self, token: TokenHash) -> Option<Owner> {
        if self.open {
            return Some(Owner::default());
        }
        let bearers = self.bearers();
        let caller = bearers.of(token).filter(|caller| caller.right.allows(Right::Read))?;
        (!bearers.is_revoked(&caller.owner)).then(|| caller.owner.clone())
    }

    /// Where connections have their seats.
    pub(crate) fn seats(&self) -> &Arc<Seats> {
        &self.seats
    }

    /// Lets a call pass, with its [`Caller`] in its extensions, for as long as its [`Admission`] says, or refuses it. A connection on which one passed has shown
    /// that it is welcome.
    ///
    /// # Errors
    /// The call needs a right that nothing in it shows, or there are too many connections like its own.
    pub(crate) fn check<B>(
        &self,
        now: Duration,
        mut request: http::Request<B>,
    ) -> Result<(http::Request<B>, Caller, Admission), Status> {
        let peer = request.extensions().get::<Peer>();
        let admission = Admission::new(self, &request, peer.and_then(Peer::certified));
        let admitted = admission.judge().and_then(|caller| match peer {
            Some(peer) if self.is_guarded() => self.seats.admit(peer, &caller).map(|()| caller),
            _ => Ok(caller),
        });
        match admitted {
            Ok(caller) => {
                request.extensions_mut().insert(caller.clone());
                Ok((request, caller, admission))
            }
            Err(status) => {
                self.log_refusal(now, peer, &status);
                Err(status)
            }
        }
    }

    fn judge(
        &self,
        path: &str,
        authorization: Option<&[u8]>,
        certified: Option<Caller>,
    ) -> Result<Caller, Status> {
        if self.open {
            return Ok(Caller::anybody());
        }
        let bearers = self.bearers();
        // A token says more than a certificate: the holder of one may have been given another right besides.
        let by_token = authorization.and_then(|value| bearers.caller(value)).cloned();
        let caller = by_token.or(certified).ok_or_else(|| {
            Status::unauthenticated(if authorization.is_some() {
                "the token is not one of this coordinator's; it may have been replaced"
            } else {
                "this coordinator wants a token or a client certificate: say --keys DIR"
            })
        })?;
        if bearers.is_revoked(&caller.owner) {
            // By these words workers of before know that it is meant for good.
            let text = format!("the keys of {} have been revoked: ask for others", caller.owner);
            return Err(for_good(Status::permission_denied(text)));
        }
        let needed = Right::needed(path);
        if !caller.right.allows(needed) {
            return Err(Status::permission_denied(caller.right.refusal(needed)));
        }
        Ok(caller)
    }

    fn bearers(&self) -> Arc<Bearers> {
        Arc::clone(&self.bearers.borrow())
    }

    fn log_refusal(&self, now: Duration, peer: Option<&Peer>, status: &Status) {
        let mut log = self.log.lock();
        if log.take(now) {
            let peer = peer.map(|peer| peer.address().to_string()).unwrap_or_default();
            warn!(%peer, "refused: {}", status.message());
        }
    }
}

#[cfg(test)]
mod tests;

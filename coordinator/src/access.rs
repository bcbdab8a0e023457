//! Who may do what: decided for each call from its path, its token and its certificate, before its body is read.

mod caller;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::{AUTHORIZATION, AccessToken, Owner};
use tonic::Status;
use tonic::codegen::http;
use tonic::transport::server::TlsConnectInfo;
use tracing::warn;

use crate::bucket::Bucket;
use crate::connections::Peer;

pub use caller::{Caller, Right};

/// The calls that change nothing; every other one needs the right to join.
const READING: [&str; 2] = ["/diadem.v1.Coordinator/Status", "/diadem.v1.Coordinator/Watch"];

/// Refusals are logged at most so often: those that knock at the door must not fill the disk.
const LOGGED_AT_ONCE: u32 = 20;
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// The owner of the token that all workers share.
const JOIN: &str = "join";

/// Who may do what.
#[derive(Clone, Debug)]
pub struct Access {
    /// Whether there is nothing to present: everybody who can connect may do everything.
    open: bool,
    bearers: Arc<[(blake3::Hash, Caller)]>,
    log: Arc<Mutex<Bucket>>,
}

impl Access {
    /// Everybody who can connect may do everything.
    pub fn open() -> Self {
        Self { open: true, ..Self::guarded(&[], &[]) }
    }

    /// Bearers of a `join` token and of a verified client certificate may take part, those of a `status` token read.
    pub fn guarded(join: &[AccessToken], status: &[AccessToken]) -> Self {
        let hashed = |tokens: &[AccessToken], name, right| {
            let caller = Caller { owner: Owner::new(name), right };
            tokens.iter().map(move |token| (hash(token), caller.clone())).collect::<Vec<_>>()
        };
        let bearers = [hashed(join, JOIN, Right::Join), hashed(status, "", Right::Read)].concat().into();
        let log = Arc::new(Mutex::new(Bucket::new(LOGGED_AT_ONCE, LOGGED_EVERY)));
        Self { open: false, bearers, log }
    }

    /// Whether callers have to present something.
    pub fn is_guarded(&self) -> bool {
        !self.open
    }

    /// Lets a call pass, with its [`Caller`] in its extensions, or refuses it. A connection on which one passed has shown
    /// that it is welcome.
    ///
    /// # Errors
    /// The call needs a right that nothing in it shows.
    pub(crate) fn check<B>(
        &self,
        now: Duration,
        mut request: http::Request<B>,
    ) -> Result<http::Request<B>, Status> {
        let peer = request.extensions().get::<Peer>();
        let chain = request.extensions().get::<TlsConnectInfo<Peer>>().and_then(TlsConnectInfo::peer_certs);
        let certified = chain.as_ref().and_then(|chain| chain.first()).map(|certificate| owner(certificate));
        let authorization = request.headers().get(AUTHORIZATION).map(http::HeaderValue::as_bytes);
        match self.judge(request.uri().path(), authorization, certified) {
            Ok(caller) => {
                if let Some(peer) = peer {
                    peer.admit();
                }
                request.extensions_mut().insert(caller);
                Ok(request)
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
        certified: Option<Owner>,
    ) -> Result<Caller, Status> {
        if self.open {
            return Ok(Caller::anybody());
        }
        let needed = if READING.contains(&path) { Right::Read } else { Right::Join };
        let caller = match (authorization, certified) {
            (_, Some(owner)) => Caller { owner, right: Right::Join },
            (Some(value), None) => self.caller(value).ok_or_else(|| {
                Status::unauthenticated(
                    "the token is not one of this coordinator's; it may have been replaced",
                )
            })?,
            (None, None) => {
                return Err(Status::unauthenticated(
                    "this coordinator wants a token or a client certificate: say --keys DIR",
                ));
            }
        };
        if !caller.right.allows(needed) {
            return Err(Status::permission_denied(
                "a status token reads only; taking part needs the join token: say --keys DIR with a worker's keys",
            ));
        }
        Ok(caller)
    }

    /// Who the bearer of this is. Hashes are compared, all of them, and in constant time (as [`blake3::Hash`]
    /// promises), so that the time tells nothing about the tokens.
    fn caller(&self, authorization: &[u8]) -> Option<Caller> {
        let presented = hash(&AccessToken::from_bearer(authorization).ok()?);
        let known = self.bearers.iter().map(|(known, caller)| (*known == presented).then_some(caller));
        known.fold(None, Option::or).cloned()
    }

    fn log_refusal(&self, now: Duration, peer: Option<&Peer>, status: &Status) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.take(now) {
            let peer = peer.map(|peer| peer.address().to_string()).unwrap_or_default();
            warn!(%peer, "refused: {}", status.message());
        }
    }
}

/// The owner of a certificate.
fn owner(certificate: &[u8]) -> Owner {
    Owner::new(&format!("certificate-{}", &blake3::hash(certificate).to_hex()[..16]))
}

fn hash(token: &AccessToken) -> blake3::Hash {
    blake3::hash(token.expose().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    const PATHS: [&str; 10] = [
        "/diadem.v1.Coordinator/Status",
        "/diadem.v1.Coordinator/Watch",
        "/diadem.v1.Coordinator/Plan",
        "/diadem.v1.Coordinator/Register",
        "/diadem.v1.Coordinator/Lease",
        "/diadem.v1.Coordinator/Renew",
        "/diadem.v1.Coordinator/Report",
        "/diadem.v1.Coordinator/Release",
        "/grpc.health.v1.Health/Check",
        "/something/else",
    ];

    fn token(digit: char) -> AccessToken {
        digit.to_string().repeat(64).parse().unwrap()
    }

    fn verdict(access: &Access, path: &str, token: Option<&AccessToken>, certified: bool) -> Code {
        let certified = certified.then(|| owner(b"a certificate"));
        let bearer = token.map(AccessToken::bearer);
        let judged =
            access.judge(path, bearer.as_ref().map(tonic::metadata::MetadataValue::as_bytes), certified);
        judged.map_or_else(|status| status.code(), |_| Code::Ok)
    }

    #[test]
    fn each_call_needs_the_right_bearer() {
        let (join, old_join, status, other) = (token('1'), token('2'), token('3'), token('4'));
        let access = Access::guarded(&[join.clone(), old_join.clone()], std::slice::from_ref(&status));
        for path in PATHS {
            let reads = READING.contains(&path);
            assert_eq!(verdict(&access, path, Some(&join), false), Code::Ok);
            assert_eq!(verdict(&access, path, Some(&old_join), false), Code::Ok);
            assert_eq!(verdict(&access, path, None, true), Code::Ok);
            let with_status = if reads { Code::Ok } else { Code::PermissionDenied };
            assert_eq!(verdict(&access, path, Some(&status), false), with_status, "{path}");
            assert_eq!(verdict(&access, path, Some(&other), false), Code::Unauthenticated);
            assert_eq!(verdict(&access, path, None, false), Code::Unauthenticated);
        }
    }

    #[test]
    fn without_tokens_nobody_passes_and_open_means_everybody() {
        for path in PATHS {
            assert_eq!(
                verdict(&Access::guarded(&[], &[]), path, Some(&token('1')), false),
                Code::Unauthenticated
            );
            assert_eq!(verdict(&Access::open(), path, None, false), Code::Ok);
        }
    }

    #[test]
    fn no_token_can_be_read_from_what_is_printed() {
        let access = Access::guarded(&[token('7')], &[]);
        assert!(!format!("{access:?}").contains("7777"));
    }
}

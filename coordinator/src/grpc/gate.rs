//! The gate in front of the service. It judges each call before it reads the body. It limits the size and the duration
//! of the body by the kind of call.
//!
//! ```text
//! at the start:             accept or refuse the call by path, token and certificate
//! while its body arrives:   charge its bytes to its owner; end the call if the body is too long or too slow
//! while its reply is sent:  end the call if its caller is revoked
//! after its reply:          return the bytes to the owner
//! ```

use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use proto::v1::coordinator_server::{Coordinator, CoordinatorServer};
use records::Clock;
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Bytes, http};
use tonic::server::NamedService;
use tower::{Layer, Service};
use tracing::warn;

use super::pass::Pass;
use super::quota::{CallUnderWay, Quotas};
use super::service::MOST_UNITS;
use crate::admission::{Access, Caller, Peer};
use crate::token_bucket::TokenBucket;

/// Maximum size of a call with units: a full report and some reserve.
const MESSAGE_BYTES: usize = 64 * MOST_UNITS;

/// Maximum size of any other call.
const SMALL_BYTES: usize = 4 << 10;

/// Size of the gRPC prefix of a message.
const PREFIX_BYTES: usize = 5;

/// Time limit for a body, plus a second for each of these many bytes.
const ARRIVAL: Duration = Duration::from_secs(10);
const MIN_BYTES_PER_SECOND: usize = 32 << 10;

/// Maximum burst of logged refusals, so that refused callers cannot fill the disk.
const LOGGED_AT_ONCE: u32 = 20;
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// The gate, as a layer around the service.
#[derive(Clone, Debug)]
pub struct Gate {
    access: Access,
    quotas: Arc<Quotas>,
    clock: Arc<dyn Clock>,
    log: Arc<Mutex<TokenBucket>>,
}

impl Gate {
    /// The gate with these access rights.
    pub fn new(access: Access, clock: Arc<dyn Clock>) -> Self {
        let log = Arc::new(Mutex::new(TokenBucket::new(LOGGED_AT_ONCE, LOGGED_EVERY)));
        Self { access, quotas: Arc::default(), clock, log }
    }

    /// Returns the caller of an accepted call with its pass, or refuses the call. An accepted call admits its
    /// connection.
    fn judge<B>(&self, request: &http::Request<B>) -> Result<(Caller, Pass), Status> {
        let peer = request.extensions().get::<Peer>();
        let pass = Pass::of(&self.access, request, peer.and_then(Peer::certified));
        let judged = pass.judge().and_then(|caller| match peer {
            Some(peer) if self.access.is_guarded() => {
                let seated = self.access.seats().admit(peer, &caller);
                seated.map(|()| caller).map_err(|crowded| Status::resource_exhausted(crowded.to_string()))
            }
            _ => Ok(caller),
        });
        match judged {
            Ok(caller) => Ok((caller, pass)),
            Err(refusal) => {
                self.log_refusal(peer, &refusal);
                Err(refusal)
            }
        }
    }

    fn log_refusal(&self, peer: Option<&Peer>, refusal: &Status) {
        if self.log.lock().take(self.clock.now()) {
            let peer = peer.map(|peer| peer.address().to_string()).unwrap_or_default();
            warn!(%peer, "refused: {}", refusal.message());
        }
    }
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated { gate: self.clone(), inner }
    }
}

/// A service behind the gate.
#[derive(Clone, Debug)]
pub struct Gated<S> {
    gate: Gate,
    inner: S,
}

type Reply<E> = Pin<Box<dyn Future<Output = Result<http::Response<Body>, E>> + Send>>;

impl<S> Service<http::Request<Body>> for Gated<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = S::Error;
    type Future = Reply<S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Reply<S::Error> {
        let (caller, pass) = match self.gate.judge(&request) {
            Ok(passed) => passed,
            Err(refusal) => return Box::pin(ready(Ok(refusal.into_http()))),
        };
        let call = self.gate.quotas.call(&caller.owner);
        request.extensions_mut().insert(Arc::clone(&call));
        request.extensions_mut().insert(caller);
        let most = most_bytes(request.uri().path());
        let request = request.map(|body| match most {
            Some(most) => Body::new(ArrivingBody::new(body, most, Arc::clone(&call))),
            None => body,
        });
        let reply = self.inner.call(request);
        Box::pin(async move {
            let reply = reply.await?;
            let ended = Box::pin(pass.ended());
            Ok(reply.map(|body| Body::new(LeavingBody { body, ended, _call: call })))
        })
    }
}

/// The service behind the gate, with a small size limit for messages of a stream, because tonic has only one limit for
/// a service.
#[derive(Clone, Debug)]
pub struct LimitedMessages<S> {
    streamed: CoordinatorServer<S>,
    whole: CoordinatorServer<S>,
}

impl<S: Coordinator> LimitedMessages<S> {
    /// Two clones of the server that differ only in this limit.
    pub fn new(server: CoordinatorServer<S>) -> Self {
        let streamed = server.clone().max_decoding_message_size(SMALL_BYTES);
        Self { streamed, whole: server.max_decoding_message_size(MESSAGE_BYTES) }
    }
}

impl<S> NamedService for LimitedMessages<S> {
    const NAME: &'static str = <CoordinatorServer<S> as NamedService>::NAME;
}

impl<S: Coordinator> Service<http::Request<Body>> for LimitedMessages<S> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Reply<Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Reply<Infallible> {
        let is_stream = most_bytes(request.uri().path()).is_none();
        if is_stream { self.streamed.call(request) } else { self.whole.call(request) }
    }
}

/// Maximum size of the body of a call; none for a stream without end.
fn most_bytes(path: &str) -> Option<usize> {
    match path.strip_prefix("/diadem.v1.Coordinator/") {
        Some("Register" | "Renew" | "Report" | "Release" | "Retract") => Some(MESSAGE_BYTES + PREFIX_BYTES),
        // The stream lasts for months, with small messages.
        Some("Follow") => None,
        _ => Some(SMALL_BYTES),
    }
}

/// The body of an arriving request.
struct ArrivingBody {
    body: Body,
    /// Maximum size in bytes.
    most: usize,
    arrived: usize,
    /// The announced length of the message, as far as it has arrived.
    announced: usize,
    begun: Instant,
    too_slow: Pin<Box<Sleep>>,
    call: Arc<CallUnderWay>,
}

impl ArrivingBody {
    fn new(body: Body, most: usize, call: Arc<CallUnderWay>) -> Self {
        let begun = Instant::now();
        let too_slow = Box::pin(sleep_until(begun + ARRIVAL));
        Self { body, most, arrived: 0, announced: 0, begun, too_slow, call }
    }

    /// Counts the received bytes, and reads the announced length of the message, by which memory is allocated.
    fn take(&mut self, data: &[u8]) -> Result<(), Status> {
        let length = data.iter().take(PREFIX_BYTES.saturating_sub(self.arrived)).enumerate();
        for (_, byte) in length.filter(|(index, _)| index + self.arrived > 0) {
            self.announced = (self.announced << 8) | usize::from(*byte);
        }
        self.arrived += data.len();
        let has_length = self.arrived >= PREFIX_BYTES;
        if self.arrived > self.most || (has_length && self.announced + PREFIX_BYTES > self.most) {
            return Err(Status::out_of_range("the request is too long for its kind"));
        }
        self.call.hold(data.len())
    }

    /// The time by which the body must have arrived.
    fn deadline(&self) -> Instant {
        self.begun + ARRIVAL + Duration::from_secs((self.arrived / MIN_BYTES_PER_SECOND) as u64)
    }
}

impl HttpBody for ArrivingBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            return Poll::Ready(frame.map(|frame| {
                let frame = frame?;
                self.take(frame.data_ref().map_or(&[], |data| data))?;
                Ok(frame)
            }));
        }
        while self.too_slow.as_mut().poll(context).is_ready() {
            let deadline = self.deadline();
            if deadline <= Instant::now() {
                let text = "the request did not arrive in time; try again over a faster connection";
                return Poll::Ready(Some(Err(Status::deadline_exceeded(text))));
            }
            self.too_slow.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a reply. It ends the call when it has been sent or dropped, or when its caller is revoked.
struct LeavingBody {
    body: Body,
    ended: Pin<Box<dyn Future<Output = Status> + Send>>,
    _call: Arc<CallUnderWay>,
}

impl HttpBody for LeavingBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Poll::Ready(status) = self.ended.as_mut().poll(context) {
            // Dropping the body notifies the producer of the reply.
            self.body = Body::empty();
            self.ended = Box::pin(pending());
            let mut trailers = http::HeaderMap::new();
            return Poll::Ready(Some(status.add_header(&mut trailers).map(|()| Frame::trailers(trailers))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! Serves a run over the network until the caller's shutdown: [`serve`] puts gRPC in front of a coordinator's
//! [`Handle`]; a [`Guard`] says who is let in, over what and how much of it he may take.

mod access;
mod connections;
mod encryption;
mod following;
mod gate;
mod service;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::Handle;
use domain::Owner;
use proto::v1::coordinator_server::CoordinatorServer;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::server::TlsStream;
use tonic::transport::Server;

use crate::grpc::access::quota::Quotas;

pub use access::caller::{Caller, Right};
pub use access::{Access, Bearers, TokenHash};
pub use encryption::{Encryption, ServerKeys, UnusableKeys};

use connections::connections;
use gate::{Gate, MESSAGE_BYTES};
use service::Service;

/// A connection that does not answer a ping within this time, asked as often, is dropped.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// A worker has four calls under way at most.
const MOST_CALLS: u32 = 32;

/// The most bytes in the headers of a call; a token has 256 at most.
const HEADER_BYTES: u32 = 8 << 10;

/// So many bytes of a call, and of all calls of a connection, may come before they are looked at.
const CALL_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// The server cannot start, or has ended for another reason than its shutdown.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The transport failed.
    #[error("the server has failed: {0}")]
    Transport(#[from] tonic::transport::Error),
}

/// Whom a server lets in, and over what. Clones share it.
#[derive(Clone, Debug)]
pub struct Guard {
    access: Access,
    encryption: Option<Encryption>,
}

impl Guard {
    /// Lets in whom `access` lets in; over TLS only where there is an encryption. Both can be changed while it serves.
    pub fn new(access: Access, encryption: Option<Encryption>) -> Self {
        Self { access, encryption }
    }

    /// Whether callers have to present something.
    pub fn asks(&self) -> bool {
        self.access.is_guarded()
    }

    /// As whom the bearer of the token may read where the run stands, if he may.
    pub fn reader(&self, token: TokenHash) -> Option<Owner> {
        self.access.reader(token)
    }

    /// Whether it is spoken over TLS.
    pub fn encrypts(&self) -> bool {
        self.encryption.is_some()
    }

    /// Agrees with a browser on the keys of a connection; nothing where that fails, or there is no encryption.
    pub async fn agree_with_browser<S>(&self, stream: S) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.encryption.as_ref()?.agree_with_browser(stream).await
    }
}

/// A stream that fails when the other end takes nothing of what is written for `longest`.
pub fn with_write_timeout<S>(stream: S, longest: Duration) -> Pin<Box<TimeoutStream<S>>>
where
    S: AsyncRead + AsyncWrite,
{
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(longest));
    Box::pin(stream)
}

/// Serves the run behind `handle` on `listener` until `shutdown` completes. The caller owns port and signal.
///
/// # Errors
/// The transport fails.
pub async fn serve(
    listener: TcpListener,
    handle: Handle,
    guard: Guard,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let Guard { access, encryption } = guard;
    let clock = Arc::clone(handle.clock());
    let service = CoordinatorServer::new(Service::new(handle)).max_decoding_message_size(MESSAGE_BYTES);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<CoordinatorServer<Service>>().await;
    let incoming = connections(listener, &access, encryption);
    let gate = Gate { access, quotas: Arc::new(Quotas::default()), clock };
    Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .http2_max_header_list_size(HEADER_BYTES)
        .initial_stream_window_size(CALL_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(MOST_CALLS)
        .layer(gate)
        .add_service(health_service)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, shutdown)
        .await?;
    Ok(())
}

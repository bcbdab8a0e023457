//! Serves a run to workers until the caller's shutdown.

use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use proto::v1::coordinator_server::CoordinatorServer;
use thiserror::Error;
use tokio::net::TcpListener;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};

use crate::access::Access;
use crate::connections::connections;
use crate::gate::{Gate, MESSAGE_BYTES};
use crate::handle::Handle;
use crate::quota::Quotas;
use crate::service::Service;

/// A connection that does not answer a ping within this time, asked as often, is dropped.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// A worker has four calls under way at most.
const MOST_CALLS: u32 = 32;

/// The most bytes in the headers of a call; a token has 256 at most.
const HEADER_BYTES: u32 = 8 << 10;

/// So many bytes of a call, and of all calls of a connection, may come before they are looked at.
const CALL_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// A connection that has not agreed on its keys in this time is dropped.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The server cannot start, or has ended for another reason than its shutdown.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The certificate and its key are of no use.
    #[error("the server's certificate or key cannot be used: {0}")]
    Keys(String),
    /// The transport failed.
    #[error("the server has failed: {0}")]
    Transport(#[from] tonic::transport::Error),
}

/// What a server proves itself with, and whom it lets prove themselves so; all in PEM.
pub struct ServerKeys {
    /// Its certificate.
    pub certificate: String,
    /// The key of the certificate.
    pub key: String,
    /// The authority whose certificates let clients take part, if any.
    pub client_authority: Option<String>,
}

impl fmt::Debug for ServerKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerKeys(not shown)")
    }
}

impl From<ServerKeys> for ServerTlsConfig {
    fn from(keys: ServerKeys) -> Self {
        let tls = Self::new().identity(Identity::from_pem(keys.certificate, keys.key)).timeout(HANDSHAKE);
        match keys.client_authority {
            None => tls,
            Some(authority) => {
                tls.client_ca_root(Certificate::from_pem(authority)).client_auth_optional(true)
            }
        }
    }
}

/// Whom a server lets in, and over what.
#[derive(Debug)]
pub struct Guard {
    access: Access,
    server: Server,
}

impl Guard {
    /// Lets in whom `access` lets in; with keys over TLS only.
    ///
    /// # Errors
    /// The keys are of no use.
    pub fn new(access: Access, keys: Option<ServerKeys>) -> Result<Self, ServeError> {
        let server = Server::builder()
            .http2_keepalive_interval(Some(KEEP_ALIVE))
            .http2_keepalive_timeout(Some(KEEP_ALIVE))
            .http2_max_header_list_size(HEADER_BYTES)
            .initial_stream_window_size(CALL_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(MOST_CALLS);
        let server = match keys {
            None => server,
            Some(keys) => server.tls_config(keys.into()).map_err(|error| {
                ServeError::Keys(error.source().map_or_else(|| error.to_string(), ToString::to_string))
            })?,
        };
        Ok(Self { access, server })
    }

    /// Whom it lets in; that can be changed while it does.
    pub fn access(&self) -> Access {
        self.access.clone()
    }
}

/// Serves the run behind `handle` on `listener` until `shutdown` completes. The caller owns port and signal.
///
/// # Errors
/// The transport fails.
pub fn serve(
    listener: TcpListener,
    handle: Handle,
    guard: Guard,
    shutdown: Boxed<()>,
) -> Boxed<Result<(), ServeError>> {
    Box::pin(serve_until(listener, handle, guard, shutdown))
}

/// A future in a box: compiled with the crate that boxes it, and not again with each that awaits it.
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

async fn serve_until(
    listener: TcpListener,
    handle: Handle,
    guard: Guard,
    shutdown: Boxed<()>,
) -> Result<(), ServeError> {
    let Guard { access, server } = guard;
    let clock = Arc::clone(handle.clock());
    let service = CoordinatorServer::new(Service::new(handle)).max_decoding_message_size(MESSAGE_BYTES);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<CoordinatorServer<Service>>().await;
    let incoming = connections(listener, &access);
    let gate = Gate { access, quotas: Arc::new(Quotas::default()), clock };
    server
        .layer(gate)
        .add_service(health_service)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, shutdown)
        .await?;
    Ok(())
}

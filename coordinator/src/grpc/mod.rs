//! Serves a run over the network until the caller's shutdown: [`serve`] puts gRPC in front of a coordinator's [`Handle`].

mod following;
mod gate;
mod pass;
mod quota;
mod refused;
mod service;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use proto::v1::coordinator_server::CoordinatorServer;
use thiserror::Error;
use tokio::net::TcpListener;
use tonic::transport::Server;

use crate::Handle;
use crate::admission::{Clients, Guard, Limits, Rules};

use gate::{Gate, LimitedMessages};
use service::Service;

/// Interval between pings, and time to answer a ping before the connection is dropped.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Maximum number of connections.
const MAX_CONNECTIONS: u64 = 8192;

/// Open files reserved for ledger, checkpoint and dashboard.
const RESERVED_FILES: u64 = 64;

/// Open files for the viewers of a public page, if the system grants that many.
const VIEWERS: u64 = 2048;

/// Time after which a connection without an accepted call is closed.
const PROBATION: Duration = Duration::from_secs(20);

/// Time after which a connection that reads nothing is closed. It exceeds the time for pings, which cannot be sent
/// while nothing can be written.
const UNREAD_TIMEOUT: Duration = KEEP_ALIVE.saturating_mul(2);

/// Maximum number of calls of a connection. A worker makes at most four.
const MAX_CALLS: u32 = 32;

/// Maximum size of the headers of a call. A token has at most 256 bytes.
const HEADER_BYTES: u32 = 8 << 10;

/// Maximum number of unread bytes of a call, and of all calls of a connection.
const CALL_WINDOW: u32 = 128 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// The server cannot start, or has ended for another reason than its shutdown.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The transport failed.
    #[error("the server has failed: {0}")]
    Transport(#[from] tonic::transport::Error),
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
    let clock = Arc::clone(handle.clock());
    let service = Service::new(handle, guard.asks());
    let service = LimitedMessages::new(CoordinatorServer::new(service));
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<CoordinatorServer<Service>>().await;
    let rules = Rules {
        most: most_connections(),
        // If no credentials are needed, all are welcome.
        all_welcome: !guard.asks(),
        probation: Some(PROBATION),
        unread: UNREAD_TIMEOUT,
        clients: Clients::Workers,
    };
    let seats = Arc::clone(guard.access().seats());
    seats.limit(Limits::of_workers(rules.most));
    let incoming = guard.connections(listener, seats, rules);
    let gate = Gate::new(guard.access().clone(), clock);
    Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .http2_max_header_list_size(HEADER_BYTES)
        .initial_stream_window_size(CALL_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(MAX_CALLS)
        .layer(gate)
        .add_service(health_service)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, shutdown)
        .await?;
    Ok(())
}

/// The number of connections for which the system grants open files. Its usual limit of 1024 is too low for a thousand
/// workers.
fn most_connections() -> usize {
    let open_files =
        rlimit::increase_nofile_limit(MAX_CONNECTIONS + RESERVED_FILES + VIEWERS).unwrap_or(1024);
    open_files.saturating_sub(RESERVED_FILES).clamp(1, MAX_CONNECTIONS) as usize
}

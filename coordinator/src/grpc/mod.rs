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

/// A connection that does not answer a ping within this time, asked as often, is dropped.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Not more connections are held at a time.
const MOST_CONNECTIONS: u64 = 8192;

/// Open files that ledger, checkpoint and dashboard may need; connections do not use them up.
const KEPT_FREE: u64 = 64;

/// A connection on which no call was let pass within this time is closed.
const PROBATION: Duration = Duration::from_secs(20);

/// One that takes nothing of what is written to it within this time is closed. Pings are answered in less, but where nothing can be
/// written none can be sent.
const UNREAD: Duration = KEEP_ALIVE.saturating_mul(2);

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
        // Where callers need not present anything, all are.
        all_welcome: !guard.asks(),
        probation: Some(PROBATION),
        unread: UNREAD,
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
        .max_concurrent_streams(MOST_CALLS)
        .layer(gate)
        .add_service(health_service)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, shutdown)
        .await?;
    Ok(())
}

/// As many as the system grants open files for: its usual 1024 are few for a thousand workers.
fn most_connections() -> usize {
    let open_files = rlimit::increase_nofile_limit(MOST_CONNECTIONS + KEPT_FREE).unwrap_or(1024);
    open_files.saturating_sub(KEPT_FREE).clamp(1, MOST_CONNECTIONS) as usize
}

//! Serves a run to workers until the caller's shutdown.

use std::future::Future;
use std::time::Duration;

use proto::v1::coordinator_server::CoordinatorServer;
use thiserror::Error;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

use crate::handle::Handle;
use crate::service::{MOST_UNITS, Service};

/// A connection that does not answer a ping within this time, asked as often, is dropped.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The most bytes in a message: every count of a full report, and some more.
const MESSAGE_BYTES: usize = 64 * MOST_UNITS;

/// The server has ended for another reason than its shutdown.
#[derive(Debug, Error)]
#[error("the server has failed: {0}")]
pub struct ServeError(#[from] tonic::transport::Error);

/// Serves the run behind `handle` on `listener` until `shutdown` completes. The caller owns port and signal.
pub async fn serve(
    listener: TcpListener,
    handle: Handle,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let service = CoordinatorServer::new(Service::new(handle)).max_decoding_message_size(MESSAGE_BYTES);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<CoordinatorServer<Service>>().await;
    // Small messages go out at once: a delay of 40 ms for each would have workers wait at the end of a run.
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .add_service(health_service)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, shutdown)
        .await?;
    Ok(())
}

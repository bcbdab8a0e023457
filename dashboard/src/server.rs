//! Serves the dashboard to browsers, for as long as there is something to tell.
//!
//! Viewers cannot disturb the run: connections, the size of a request and its duration are limited.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::AddExtension;
use axum::{Extension, Router};
use coordinator::Snapshot;
use coordinator::admission::{Clients, Connection, Guard, Peer, Rules};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};
use tower::Layer;

use crate::broadcast::{Broadcast, Statuses};
use crate::door::Door;
use crate::routes::{Site, router};
use crate::unit_page::RunSource;

/// The rules for connections. Connections that do not watch make room for new connections.
const RULES: Rules = Rules {
    most: 256,
    all_welcome: false,
    probation: None,
    unread: Duration::from_secs(30),
    clients: Clients::Browsers,
};

/// The rules of a public page. Its viewers ask every few seconds, mostly on the connection that they have.
const PUBLIC_RULES: Rules = Rules { most: 2048, ..RULES };

/// The head of a request has arrived after this time; a connection on which none comes is closed.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// The most bytes in the head of a request, and the most headers.
const HEAD_BYTES: usize = 16 << 10;
const HEADERS: usize = 64;

/// Time for viewers to read the last update at the end.
const FAREWELL_TIME: Duration = Duration::from_secs(2);

/// The statuses of these snapshots, until they end.
pub fn statuses(snapshots: watch::Receiver<Snapshot>) -> Statuses {
    Box::pin(WatchStream::new(snapshots).map(|snapshot| snapshot.status))
}

/// Serves the dashboard of the run behind `source` on `listener` until the statuses end, to viewers that `guard` admits. If
/// it is public, everybody else gets the public page. The caller owns the port.
///
/// # Errors
/// The listener has no address.
pub async fn serve(
    listener: TcpListener,
    mut statuses: Statuses,
    source: Arc<dyn RunSource>,
    guard: Guard,
    is_public: bool,
) -> io::Result<()> {
    let door = Door::new(guard.clone(), listener.local_addr()?, is_public);
    let rules = if is_public { PUBLIC_RULES } else { RULES };
    let Some(first) = statuses.next().await else { return Ok(()) };
    let (announcer, broadcast) = Broadcast::begin(first, is_public);
    let site = Arc::new(Site::new(broadcast, source, door));
    let accepting =
        accept(guard.connections(listener, Arc::clone(site.seats()), rules), router(Arc::clone(&site)));
    let telling = async {
        announcer.tell(statuses).await;
        timeout(FAREWELL_TIME, site.all_viewers_left()).await.ok();
    };
    tokio::select! {
        () = accepting => {}
        () = telling => {}
    }
    Ok(())
}

/// Serves all connections that come; they end with this.
async fn accept(mut incoming: impl Stream<Item = io::Result<Connection>> + Unpin, router: Router) {
    let mut connections = JoinSet::new();
    while let Some(Ok(connection)) = incoming.next().await {
        connections.spawn(serve_connection(connection, router.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Serves one connection to its end, or until its seat is wanted by another.
async fn serve_connection(connection: Connection, router: Router) {
    let peer = connection.peer().clone();
    // Wraps the whole router, because a layer of the router would wrap each path separately.
    let service: AddExtension<Router, Peer> = Extension(peer.clone()).layer(router);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(connection), TowerToHyperService::new(service));
    tokio::select! {
        // A broken connection is not logged.
        _ = connection => {}
        () = peer.closed() => {}
    }
}

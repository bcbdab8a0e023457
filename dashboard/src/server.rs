//! Serves the dashboard to browsers, for as long as there is something to tell.
//!
//! Whatever they do, the run goes on: connections, the bytes of a request and the time that it takes are limited.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::AddExtension;
use axum::{Extension, Router};
use coordinator::Snapshot;
use coordinator::grpc::{Guard, with_write_timeout};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::WatchStream;
use tower::Layer;

use crate::broadcast::{Broadcast, Statuses};
use crate::door::Door;
use crate::routes::{Site, router};
use crate::seats::{Seats, Visitor};

/// The head of a request has arrived after this time; a connection on which none comes is closed.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// What is sent is read within this time, or the connection is closed.
const READ_TIME: Duration = Duration::from_secs(30);

/// The most bytes in the head of a request, and the most headers.
const HEAD_BYTES: usize = 16 << 10;
const HEADERS: usize = 64;

/// The pause after an accept that failed, for lack of open files mostly.
const PAUSE: Duration = Duration::from_millis(200);

/// At the end viewers have so long to read the last.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where the run of these snapshots stands, for as long as there are some.
pub fn statuses(snapshots: watch::Receiver<Snapshot>) -> Statuses {
    Box::pin(WatchStream::new(snapshots).map(|snapshot| snapshot.status))
}

/// Serves the dashboard on `listener` until the statuses end; lets those read whom `guard` does. The caller owns the port.
///
/// # Errors
/// The listener has no address.
pub async fn serve(listener: TcpListener, mut statuses: Statuses, guard: Guard) -> io::Result<()> {
    let door = Door::new(guard.clone(), listener.local_addr()?);
    let Some(first) = statuses.next().await else { return Ok(()) };
    let (announcer, broadcast) = Broadcast::begin(first);
    let site = Arc::new(Site::new(broadcast, door));
    let accepting = accept(listener, router(Arc::clone(&site)), guard);
    let telling = async {
        announcer.tell(statuses).await;
        timeout(FAREWELL, site.all_viewers_left()).await.ok();
    };
    tokio::select! {
        () = accepting => {}
        () = telling => {}
    }
    Ok(())
}

/// Accepts connections for ever; they end with this.
async fn accept(listener: TcpListener, router: Router, guard: Guard) {
    let seats = Arc::new(Seats::default());
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let visitor = seats.take(address.ip()).await;
                connections.spawn(receive(stream, router.clone(), guard.clone(), visitor));
            }
            Err(_) => sleep(PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Serves one connection to its end, or until its seat is wanted by another.
async fn receive(stream: TcpStream, router: Router, guard: Guard, visitor: Visitor) {
    // Around all of it: a layer of the router would be put around each of its paths anew.
    let service = Extension(visitor.clone()).layer(router);
    tokio::select! {
        () = serve_connection(stream, service, guard) => {}
        () = visitor.is_shown_out() => {}
    }
}

/// The router, which is told who asks.
type Service = AddExtension<Router, Visitor>;

async fn serve_connection(stream: TcpStream, service: Service, guard: Guard) {
    stream.set_nodelay(true).ok();
    let stream = with_write_timeout(stream, READ_TIME);
    if !guard.encrypts() {
        converse(stream, service).await;
    } else if let Some(stream) = guard.agree_with_browser(stream).await {
        converse(stream, service).await;
    }
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, service: Service) {
    let service = TowerToHyperService::new(service);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    // Whoever went away in the middle is no news.
    connection.await.ok();
}

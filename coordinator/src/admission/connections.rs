//! Accepts connections, up to the limits of the process, and closes connections that are not admitted in time.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;
use tracing::warn;

use super::caller::Caller;
use super::encryption::{Encryption, Transport};
use super::seats::{Peer, Seats};
use crate::token_bucket::TokenBucket;

/// The rules for accepted connections.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Maximum number of connections.
    pub most: usize,
    /// True if every connection may stay.
    pub all_welcome: bool,
    /// Time after which a connection that is not admitted is closed, if there is a limit.
    pub probation: Option<Duration>,
    /// Time after which a connection that reads nothing of the written data is closed.
    pub unread: Duration,
    /// The kind of clients.
    pub clients: Clients,
}

/// The kind of clients, which determines the negotiation of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clients {
    /// Workers and other gRPC clients. They may present a certificate.
    Workers,
    /// Browsers and scrapers of metrics.
    Browsers,
}

/// Pause after a failed accept, mostly for lack of open files. An accepted connection waits equally long for another
/// connection to close.
const PAUSE: Duration = Duration::from_millis(200);

/// Maximum burst of log lines about too many connections.
const LOGGED_AT_ONCE: u32 = 3;
const LOGGED_EVERY: Duration = Duration::from_secs(10);

/// A connection for requests.
pub type Connection = Transport<AcceptedConnection>;

impl Connection {
    /// The other end.
    pub fn peer(&self) -> &Peer {
        match self {
            Transport::Plain(connection) => &connection.peer,
            Transport::Encrypted(stream) => &stream.get_ref().0.peer,
        }
    }
}

/// Accepts connections until the stream is dropped, and encrypts them if an encryption is given.
pub fn connections(
    listener: TcpListener,
    seats: Arc<Seats>,
    rules: Rules,
    encryption: Option<Encryption>,
) -> ReceiverStream<io::Result<Connection>> {
    let (accepted, stream) = channel(1);
    tokio::spawn(accept(listener, seats, rules, HandOver { clients: rules.clients, encryption, accepted }));
    ReceiverStream::new(stream)
}

async fn accept(listener: TcpListener, seats: Arc<Seats>, rules: Rules, hand_over: HandOver) {
    let free = Arc::new(Semaphore::new(rules.most));
    let (mut log, begun) = (TokenBucket::new(LOGGED_AT_ONCE, LOGGED_EVERY), Instant::now());
    loop {
        let stream = tokio::select! {
            stream = listener.accept() => stream,
            () = hand_over.accepted.closed() => return,
        };
        // An error here would end the server. A refused client tries again.
        let (stream, address) = match stream {
            Ok(connected) => connected,
            Err(error) => {
                warn!("cannot accept a connection: {error}");
                sleep(PAUSE).await;
                continue;
            }
        };
        let mut permit = Arc::clone(&free).try_acquire_owned().ok();
        if permit.is_none() {
            if log.take(begun.elapsed()) {
                warn!("too many connections; closing those that have not proven anything yet");
            }
            if seats.close_oldest_newcomer() {
                let room = timeout(PAUSE, Arc::clone(&free).acquire_owned()).await;
                permit = room.ok().and_then(Result::ok);
            }
        }
        let Some(permit) = permit else { continue };
        // Sends small messages at once. A delay of 40 ms for each would make workers wait at the end of a run.
        stream.set_nodelay(true).ok();
        let peer = seats.newcomer(address, rules.all_welcome);
        let connection = AcceptedConnection::new(stream, peer, Arc::clone(&seats), permit, &rules);
        tokio::spawn(hand_over.clone().hand_over(connection));
    }
}

/// Hands an accepted connection to its server.
#[derive(Clone)]
struct HandOver {
    clients: Clients,
    encryption: Option<Encryption>,
    accepted: Sender<io::Result<Connection>>,
}

impl HandOver {
    async fn hand_over(self, connection: AcceptedConnection) {
        let connection = match &self.encryption {
            None => Some(Transport::Plain(connection)),
            Some(encryption) => {
                encryption.agree(self.clients == Clients::Browsers, connection).await.map(|stream| {
                    let (connection, session) = stream.get_ref();
                    if let Some(certificate) = session.peer_certificates().and_then(<[_]>::first) {
                        connection.peer.certify(Caller::certified(certificate));
                    }
                    Transport::Encrypted(Box::new(stream))
                })
            }
        };
        if let Some(connection) = connection {
            self.accepted.send(Ok(connection)).await.ok();
        }
    }
}

/// An accepted connection; it counts as one until it is dropped.
#[derive(Debug)]
pub struct AcceptedConnection {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    peer: Peer,
    seats: Arc<Seats>,
    probation: Option<Pin<Box<Sleep>>>,
    _permit: OwnedSemaphorePermit,
}

impl AcceptedConnection {
    fn new(
        stream: TcpStream,
        peer: Peer,
        seats: Arc<Seats>,
        permit: OwnedSemaphorePermit,
        rules: &Rules,
    ) -> Self {
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(rules.unread));
        let probation = rules.probation.map(|probation| Box::pin(sleep(probation)));
        Self { stream: Box::pin(stream), peer, seats, probation, _permit: permit }
    }

    /// Ends a connection that must make room for another connection or was not admitted in time. Both reads and writes
    /// call this, because a connection that cannot be written to is not read either.
    fn end_if_due(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.peer.is_closed(context) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if let Some(probation) = &mut self.probation
            && !self.peer.is_welcome()
            && probation.as_mut().poll(context).is_ready()
        {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Drop for AcceptedConnection {
    fn drop(&mut self) {
        self.seats.leave(&self.peer);
    }
}

impl Connected for AcceptedConnection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for AcceptedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.end_if_due(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for AcceptedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.end_if_due(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.end_if_due(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    const PROBATION: Duration = Duration::from_secs(20);
    const UNREAD: Duration = Duration::from_secs(40);

    /// A connection whose peer reads nothing, and the peer.
    async fn unread(seats: &Arc<Seats>, is_welcome: bool) -> (AcceptedConnection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, address) = listener.accept().await.unwrap();
        let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        let peer = seats.newcomer(address, is_welcome);
        let rules = Rules {
            most: 1,
            all_welcome: false,
            probation: Some(PROBATION),
            unread: UNREAD,
            clients: Clients::Workers,
        };
        (AcceptedConnection::new(stream, peer, Arc::clone(seats), permit, &rules), other)
    }

    /// Writes more data than the system buffers. Returns the error and the time until it.
    async fn write(mut connection: AcceptedConnection) -> (io::ErrorKind, Duration) {
        let begun = Instant::now();
        let error = connection.write_all(&vec![0; 64 << 20]).await.unwrap_err();
        (error.kind(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn connection_that_reads_nothing_is_closed_in_time() {
        let seats = Arc::new(Seats::default());
        for (is_welcome, time) in [(false, PROBATION), (true, UNREAD)] {
            let (connection, _other) = unread(&seats, is_welcome).await;
            let (error, after) = write(connection).await;
            assert_eq!(error, io::ErrorKind::TimedOut);
            assert!(after >= time && after < time + Duration::from_secs(1), "{after:?}");
        }
        let (connection, _other) = unread(&seats, false).await;
        let writing = tokio::spawn(write(connection));
        sleep(PROBATION / 2).await;
        assert!(seats.close_oldest_newcomer());
        let (error, after) = writing.await.unwrap();
        assert!(error == io::ErrorKind::ConnectionAborted && after < PROBATION, "{error:?} {after:?}");
    }
}

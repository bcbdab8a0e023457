//! A dashboard on a port of its own, and requests to it byte by byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use coordinator::admission::{Access, Bearers, Guard, Right};
use dashboard::{Explaining, NoAccount, RunSource, UnitAccount};
use domain::{Owner, RunStatus};
use queens::{Position, Square};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_stream::wrappers::WatchStream;

use crate::made_up::SCRIPT;

/// Upper limit of any wait in these tests.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The required token.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A run that knows only the unit 17, and whose disk may be full.
#[derive(Debug)]
struct MadeUp {
    statuses: watch::Receiver<RunStatus>,
}

impl RunSource for MadeUp {
    fn has_disk_trouble(&self) -> bool {
        self.statuses.borrow().trouble.contains("no space left")
    }

    fn explain_unit(&self, unit: u64) -> Explaining {
        let position = Position::empty(self.statuses.borrow().board).with_queen(Square::new(0, 1));
        Box::pin(async move {
            if unit != 17 {
                return Err(NoAccount::Unknown(format!("the plan has no unit {unit}")));
            }
            let facts = vec![SCRIPT.to_owned()];
            Ok(UnitAccount { title: "unit 17 of 90".to_owned(), position, facts })
        })
    }
}

/// A dashboard.
pub struct Site {
    pub address: SocketAddr,
    /// The access rights.
    pub access: Access,
    statuses: watch::Sender<RunStatus>,
    /// Dropping this ends the server.
    _runtime: Runtime,
}

impl Site {
    /// An open site for a run with this status.
    pub fn open(status: RunStatus) -> Self {
        Self::new("127.0.0.1:0".parse().unwrap(), status, Access::open(), false)
    }

    /// A site that needs the token.
    pub fn guarded(status: RunStatus) -> Self {
        Self::new("127.0.0.1:0".parse().unwrap(), status, with_token(), false)
    }

    /// A site with a public page for those who have no token.
    pub fn public(status: RunStatus) -> Self {
        Self::new("127.0.0.1:0".parse().unwrap(), status, with_token(), true)
    }

    /// A site with a public page for everybody.
    pub fn public_without_keys(status: RunStatus) -> Self {
        Self::new("127.0.0.1:0".parse().unwrap(), status, Access::open(), true)
    }

    /// A site without a token, at the address of an earlier site.
    pub fn at(address: SocketAddr, status: RunStatus) -> Self {
        Self::new(address, status, Access::open(), false)
    }

    fn new(address: SocketAddr, status: RunStatus, access: Access, is_public: bool) -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind(address)).unwrap();
        let address = listener.local_addr().unwrap();
        let (statuses, receiver) = watch::channel(status);
        let stream = Box::pin(WatchStream::new(receiver));
        let source = Arc::new(MadeUp { statuses: statuses.subscribe() });
        let guard = Guard::new(access.clone(), None);
        runtime.spawn(dashboard::serve(listener, stream, source, guard, is_public));
        Self { address, access, statuses, _runtime: runtime }
    }

    /// Publishes the next status of the run.
    pub fn goes_on(&self, status: RunStatus) {
        self.statuses.send_replace(status);
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers to a request for this path with these headers.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut connection = self.ask(path, headers);
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).unwrap();
        Reply::parse(&bytes)
    }

    /// A connection on which that was asked.
    pub fn ask(&self, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        let headers: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let headers = headers.concat();
        let host =
            if headers.contains("host: ") { String::new() } else { format!("host: {}\r\n", self.address) };
        self.send(&format!("GET {path} HTTP/1.1\r\n{host}connection: close\r\n{headers}\r\n"))
    }

    /// A connection on which these bytes were sent.
    pub fn send(&self, bytes: &str) -> TcpStream {
        let mut connection = TcpStream::connect(self.address).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        connection.write_all(bytes.as_bytes()).unwrap();
        connection
    }
}

/// Access for holders of the token.
fn with_token() -> Access {
    let mut bearers = Bearers::default();
    bearers.admit(&TOKEN.parse().unwrap(), Owner::new("status"), Right::Read);
    Access::guarded(bearers)
}

/// The reply.
#[derive(Debug)]
pub struct Reply {
    pub code: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// From all bytes of a connection that was closed after it.
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { code, head: head.to_lowercase(), body: body.to_owned() }
    }
}

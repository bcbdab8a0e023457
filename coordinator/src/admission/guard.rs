//! Access and encryption of a server.

use std::io;
use std::sync::Arc;

use domain::Owner;
use tokio::net::TcpListener;
use tokio_stream::wrappers::ReceiverStream;

use super::access::Access;
use super::bearers::TokenHash;
use super::connections::{Connection, Rules, connections};
use super::encryption::Encryption;
use super::seats::Seats;

/// The access and encryption of a server. Clones share them.
#[derive(Clone, Debug)]
pub struct Guard {
    access: Access,
    encryption: Option<Encryption>,
}

impl Guard {
    /// A guard with this access, and with TLS if an encryption is given. Both can change while the server runs.
    pub fn new(access: Access, encryption: Option<Encryption>) -> Self {
        Self { access, encryption }
    }

    /// True if callers need credentials.
    pub fn asks(&self) -> bool {
        self.access.is_guarded()
    }

    /// The owner as which the bearer of this token may read the status; none without that right.
    pub fn reader(&self, token: TokenHash) -> Option<Owner> {
        self.access.reader(token)
    }

    /// True if the server uses TLS.
    pub fn encrypts(&self) -> bool {
        self.encryption.is_some()
    }

    /// The access rights.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// Accepts connections by these rules until the stream is dropped, and encrypts them if the guard has an
    /// encryption.
    pub fn connections(
        &self,
        listener: TcpListener,
        seats: Arc<Seats>,
        rules: Rules,
    ) -> ReceiverStream<io::Result<Connection>> {
        connections(listener, seats, rules, self.encryption.clone())
    }
}

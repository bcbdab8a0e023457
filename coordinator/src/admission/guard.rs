//! Access and encryption of a server, in one.

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

    /// Who may do what.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// Accepts connections by these rules until the stream is dropped, and encrypts them where there is an encryption.
    pub fn connections(
        &self,
        listener: TcpListener,
        seats: Arc<Seats>,
        rules: Rules,
    ) -> ReceiverStream<io::Result<Connection>> {
        connections(listener, seats, rules, self.encryption.clone())
    }
}

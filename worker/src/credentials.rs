//! What a worker shows to a coordinator, and by what it knows the coordinator.

use std::fmt;
use std::time::Duration;

use domain::AccessToken;
use proto::{AUTHORIZATION, bearer};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use tonic::{Request, Status};

/// A handshake that takes longer is given up, and another one begun: what took the connection may be frozen, or gone without a
/// word. Nothing else bounds it: a connection has no pings before it.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// What is shown to the coordinator, and by what it is known; nothing where neither is asked for.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The authority that the coordinator's certificate must be of, in PEM. With it the connection is encrypted.
    pub authority: Option<String>,
    /// The client certificate and its key, in PEM.
    pub identity: Option<(String, String)>,
    /// The token that each call carries.
    pub token: Option<AccessToken>,
}

impl Credentials {
    /// How to connect, where that is to be encrypted, with a bound for the handshake.
    pub fn tls(&self) -> Option<ClientTlsConfig> {
        let authority = Certificate::from_pem(self.authority.as_ref()?);
        let tls = ClientTlsConfig::new().ca_certificate(authority).timeout(HANDSHAKE);
        Some(match &self.identity {
            None => tls,
            Some((certificate, key)) => tls.identity(Identity::from_pem(certificate, key)),
        })
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(not shown)")
    }
}

/// Adds the token, if there is one, to each call.
#[derive(Clone, Debug)]
pub struct Bearer(pub Option<AccessToken>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert(AUTHORIZATION, bearer(token));
        }
        Ok(request)
    }
}

//! The credentials of a worker, and the authority that identifies its coordinator.

use std::fmt;
use std::time::Duration;

use domain::AccessToken;
use proto::{AUTHORIZATION, bearer};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use tonic::{Request, Status};

/// Time after which a handshake is abandoned and restarted, because the server may be frozen or gone without notice. No
/// ping covers a connection before its handshake.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// The credentials for a coordinator, and its authority. Each may be missing.
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
    /// The TLS configuration with a time limit for the handshake, if the connection is encrypted.
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

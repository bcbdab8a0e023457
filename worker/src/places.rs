//! How a coordinator is called at each of its addresses: with the credentials that there are now, in place of which others may be
//! shown later.

use std::time::Duration;

use parking_lot::RwLock;
use proto::v1::coordinator_client::CoordinatorClient;
use tokio::sync::Notify;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};

use crate::address::{AddressError, parse};
use crate::credentials::{Bearer, Credentials};
use crate::refusal::innermost;

/// A connection that does not answer a ping within this time, asked as often, is dropped: after twice the time, so that
/// leases (15 s) can be renewed over another one before they expire.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Each message is at most so many bytes.
const MESSAGE_BYTES: usize = 16 << 20;

pub type Client = CoordinatorClient<InterceptedService<Channel, Bearer>>;

/// One of the addresses.
#[derive(Debug)]
pub struct Place {
    client: Client,
    /// Host and port, where the connection is not encrypted.
    plain: Option<String>,
}

impl Place {
    /// How that address is called with these credentials, and its URL.
    ///
    /// # Errors
    /// It is no such URL, what is secret would be readable on the way there, or the keys are of no use.
    pub fn new(address: &str, credentials: &Credentials) -> Result<(Self, String), AddressError> {
        let uri = parse(address, credentials)?;
        let url = uri.to_string().trim_end_matches('/').to_owned();
        let plain = (uri.scheme_str() == Some("http")).then(|| uri.authority().map(ToString::to_string));
        let mut endpoint = Endpoint::from(uri)
            .connect_timeout(Duration::from_secs(5))
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true);
        if let Some(tls) = credentials.tls() {
            endpoint = endpoint.tls_config(tls).map_err(|error| AddressError::Keys(innermost(&error)))?;
        }
        let bearer = Bearer(credentials.token.clone());
        let client = CoordinatorClient::with_interceptor(endpoint.connect_lazy(), bearer);
        let client = client.max_decoding_message_size(MESSAGE_BYTES);
        Ok((Self { client, plain: plain.flatten() }, url))
    }
}

/// All of them, which all workers of a process call alike.
#[derive(Debug)]
pub struct Places {
    places: RwLock<Vec<Place>>,
    /// Told of each refusal that other credentials may mend.
    refused: Notify,
}

impl Places {
    pub fn new(places: Vec<Place>) -> Self {
        Self { places: RwLock::new(places), refused: Notify::new() }
    }

    /// A way to one of the addresses.
    pub fn client(&self, site: usize) -> Client {
        self.places.read()[site].client.clone()
    }

    /// Host and port of one of them, where the connection is not encrypted.
    pub fn plain(&self, site: usize) -> Option<String> {
        self.places.read()[site].plain.clone()
    }

    /// The addresses are called so from now on.
    pub fn replace(&self, places: Vec<Place>) {
        *self.places.write() = places;
    }

    /// A call was refused in a way that other credentials may mend.
    pub fn tell_of_refusal(&self) {
        self.refused.notify_one();
    }

    /// Waits until one is, or has been since this was last waited for.
    pub async fn refused(&self) {
        self.refused.notified().await;
    }
}

//! The gRPC client of each address, with the current credentials.

use std::time::Duration;

use parking_lot::RwLock;
use proto::v1::coordinator_client::CoordinatorClient;
use tokio::sync::Notify;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};

use super::address_list::AddressList;
use crate::address::{AddressError, name_and_zone, parse};
use crate::credentials::{Bearer, Credentials};
use crate::refusal::innermost;

/// Interval between pings, and time to answer a ping. A dead connection is dropped after twice this time. Then leases
/// (15 s) can still be renewed over another connection before they expire.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Maximum size of a message, in bytes.
const MESSAGE_BYTES: usize = 16 << 20;

pub type Client = CoordinatorClient<InterceptedService<Channel, Bearer>>;

/// How one address is called.
#[derive(Debug)]
pub struct AddressClient {
    client: Client,
    /// Host and port, if the connection is not encrypted.
    plain: Option<String>,
}

impl AddressClient {
    /// The client for this address with these credentials, and its URL. Fails if the URL is invalid, a secret would be
    /// sent unencrypted, or the keys are unusable.
    pub fn new(address: &str, credentials: &Credentials) -> Result<(Self, String), AddressError> {
        let uri = parse(address, credentials)?;
        let url = uri.to_string().trim_end_matches('/').to_owned();
        let plain = (uri.scheme_str() == Some("http")).then(|| uri.authority().map(ToString::to_string));
        let name_in_certificate = match name_and_zone(uri.host().unwrap_or_default()) {
            (name, Some(_)) => Some(name.to_owned()),
            _ => None,
        };
        let mut endpoint = Endpoint::from(uri)
            .connect_timeout(Duration::from_secs(5))
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true);
        if let Some(mut tls) = credentials.tls() {
            if let Some(name) = name_in_certificate {
                tls = tls.domain_name(name);
            }
            endpoint = endpoint.tls_config(tls).map_err(|error| AddressError::Keys(innermost(&error)))?;
        }
        let bearer = Bearer(credentials.token.clone());
        let client = CoordinatorClient::with_interceptor(endpoint.connect_lazy(), bearer);
        let client = client.max_decoding_message_size(MESSAGE_BYTES);
        Ok((Self { client, plain: plain.flatten() }, url))
    }
}

/// The clients of all addresses, shared by all workers of a process.
#[derive(Debug)]
pub struct AddressClients {
    shown: RwLock<ShownClients>,
    /// Notified of each refusal that other credentials may mend.
    refused: Notify,
}

/// The clients, and what they show.
#[derive(Debug)]
struct ShownClients {
    clients: Vec<AddressClient>,
    credentials: Credentials,
}

impl AddressClients {
    pub fn new(clients: Vec<AddressClient>, credentials: Credentials) -> Self {
        Self { shown: RwLock::new(ShownClients { clients, credentials }), refused: Notify::new() }
    }

    pub fn client(&self, index: usize) -> Client {
        self.shown.read().clients[index].client.clone()
    }

    /// Host and port of an address, if the connection is not encrypted.
    pub fn plain(&self, index: usize) -> Option<String> {
        self.shown.read().clients[index].plain.clone()
    }

    pub fn credentials(&self) -> Credentials {
        self.shown.read().credentials.clone()
    }

    /// Shows these credentials at all known addresses.
    pub fn show(&self, credentials: &Credentials, list: &AddressList) -> Result<(), AddressError> {
        let mut shown = self.shown.write();
        let client = |index| Ok(AddressClient::new(&list.address(index), credentials)?.0);
        let clients = (0..shown.clients.len()).map(client).collect::<Result<_, _>>()?;
        *shown = ShownClients { clients, credentials: credentials.clone() };
        Ok(())
    }

    /// Lists these addresses, and adds the clients of new ones. Returns true if the list has changed.
    pub fn list(&self, addresses: &[String], list: &AddressList) -> Result<bool, AddressError> {
        let mut shown = self.shown.write();
        let client = |address: &String| AddressClient::new(address, &shown.credentials);
        let found = addresses.iter().map(client).collect::<Result<Vec<_>, _>>()?;
        let (mut clients, urls): (Vec<_>, Vec<_>) =
            found.into_iter().map(|(client, url)| (Some(client), url)).unzip();
        let listed_before = list.listed();
        let indices = list.list(&urls);
        // An index that is new is one more than the last.
        for (client, index) in clients.iter_mut().zip(&indices) {
            if *index == shown.clients.len() {
                shown.clients.extend(client.take());
            }
        }
        Ok(listed_before != list.listed())
    }

    /// A call was refused in a way that other credentials may mend.
    pub fn notify_refusal(&self) {
        self.refused.notify_one();
    }

    /// Waits for such a refusal, or returns at once if there was one since the last wait.
    pub async fn refused(&self) {
        self.refused.notified().await;
    }
}

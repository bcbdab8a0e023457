//! Requests to the dashboard of a coordinator with keys.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::credentials::text;
use crate::harness::{Folder, PATIENCE};
use crate::http::ask;

/// The answer to a client that trusts the authority of the keys.
pub fn get_over_tls(folder: &Folder, http: &str, path: &str, headers: &str) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(text(folder, "keys/ca.pem").as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    // As browsers do, which also support HTTP/2.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let session = ClientConnection::new(Arc::new(config), name).unwrap();
    let connection = TcpStream::connect(http).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    ask(StreamOwned::new(session, connection), path, http, headers)
}

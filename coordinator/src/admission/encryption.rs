//! TLS for accepted connections. The server's certificate can be replaced while it serves: open connections continue,
//! and later connections get the new certificate.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::RwLock;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

/// Time after which an unfinished handshake is dropped.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The protocol negotiated with workers. With browsers none is negotiated, so they use HTTP/1.1. A worker that connects
/// to the browsers' port then learns that no coordinator listens there, instead of losing the connection.
const HTTP2: &[u8] = b"h2";

/// The certificate or the key is unusable, or they do not match.
#[derive(Debug, Error)]
#[error("the server's certificate or key cannot be used: {0}")]
pub struct UnusableKeys(String);

impl UnusableKeys {
    fn because(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

/// The keys of a server and the authority of its clients, in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerKeys {
    /// Its certificate.
    pub certificate: String,
    /// The key of the certificate.
    pub key: String,
    /// The authority whose certificates give clients the right to take part, if any.
    pub client_authority: Option<String>,
}

impl fmt::Debug for ServerKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerKeys(not shown)")
    }
}

impl ServerKeys {
    fn configs(&self) -> Result<Configs, UnusableKeys> {
        // A browser would ask its user for a certificate.
        let browsers = self.config(None, None)?;
        Ok(Configs { workers: self.config(Some(HTTP2), self.client_authority.as_deref())?, browsers })
    }

    fn config(
        &self,
        protocol: Option<&[u8]>,
        authority: Option<&str>,
    ) -> Result<Arc<ServerConfig>, UnusableKeys> {
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(UnusableKeys::because)?;
        let config = match authority {
            None => ServerConfig::builder().with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(certificates(authority)?);
                let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated();
                let verifier = verifier.build().map_err(UnusableKeys::because)?;
                ServerConfig::builder().with_client_cert_verifier(verifier)
            }
        };
        let mut config = config.with_single_cert(chain, key).map_err(UnusableKeys::because)?;
        config.alpn_protocols.extend(protocol.map(<[u8]>::to_vec));
        Ok(Arc::new(config))
    }
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, UnusableKeys> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().map_err(UnusableKeys::because)
}

/// The TLS configurations for both kinds of clients.
#[derive(Debug)]
struct Configs {
    workers: Arc<ServerConfig>,
    browsers: Arc<ServerConfig>,
}

/// Encrypts connections. Clones share the keys, so that they can be replaced while connections arrive.
#[derive(Clone, Debug)]
pub struct Encryption(Arc<RwLock<Configs>>);

impl Encryption {
    /// Encryption with these keys.
    ///
    /// # Errors
    /// The keys are unusable.
    pub fn new(keys: &ServerKeys) -> Result<Self, UnusableKeys> {
        Ok(Self(Arc::new(RwLock::new(keys.configs()?))))
    }

    /// Replaces the keys from the next connection on.
    ///
    /// # Errors
    /// The keys are unusable; the former keys remain.
    pub fn replace(&self, keys: &ServerKeys) -> Result<(), UnusableKeys> {
        let configs = keys.configs()?;
        *self.0.write() = configs;
        Ok(())
    }

    /// Performs the handshake with a client; none if it fails or takes too long.
    pub(super) async fn agree<S>(&self, with_browser: bool, stream: S) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = {
            let configs = self.0.read();
            Arc::clone(if with_browser { &configs.browsers } else { &configs.workers })
        };
        timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream)).await.ok()?.ok()
    }
}

/// A connection, encrypted or not.
#[derive(Debug)]
pub enum Transport<S> {
    Plain(S),
    Encrypted(Box<TlsStream<S>>),
}

trait Duplex: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Duplex for S {}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport<S> {
    fn stream(&mut self) -> Pin<&mut dyn Duplex> {
        match self {
            Transport::Plain(stream) => Pin::new(stream),
            Transport::Encrypted(stream) => Pin::new(stream),
        }
    }
}

impl<S: Connected> Connected for Transport<S> {
    type ConnectInfo = S::ConnectInfo;

    fn connect_info(&self) -> S::ConnectInfo {
        match self {
            Transport::Plain(stream) => stream.connect_info(),
            Transport::Encrypted(stream) => stream.get_ref().0.connect_info(),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Transport<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream().poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Transport<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Encrypted(stream) => stream.is_write_vectored(),
        }
    }
}

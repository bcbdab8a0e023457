//! Servers that are no coordinator, and that keep every byte that a client sends to them.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rcgen::{Certificate, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A client that sends nothing more for this long has nothing more to say.
const SILENCE: Duration = Duration::from_secs(5);

/// What one client sent.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The bytes on the wire.
    pub wire: Vec<u8>,
    /// The bytes that the client encrypted, decrypted.
    pub plain: Vec<u8>,
    /// Whether the client accepted the server.
    pub is_accepted: bool,
}

/// A server on loopback; it listens until the test ends.
pub struct Eavesdropper {
    pub address: String,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Eavesdropper {
    /// A server that answers everything in HTTP/1, unencrypted.
    pub fn plain() -> Self {
        Self::start(|mut stream| {
            let mut heard = Heard::default();
            let mut buffer = [0; 1 << 14];
            let length = stream.read(&mut buffer).unwrap_or(0);
            heard.wire.extend(&buffer[..length]);
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").ok();
            stream.read_to_end(&mut heard.wire).ok();
            heard
        })
    }

    /// A server for TLS with this certificate and its key.
    pub fn tls(certificate: &Certificate, key: &KeyPair) -> Self {
        let chain = vec![CertificateDer::from_pem_slice(certificate.pem().as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = config.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let config = Arc::new(config);
        Self::start(move |stream| {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = StreamOwned::new(session, Tapped { stream, wire: Vec::new() });
            let mut plain = Vec::new();
            tls.read_to_end(&mut plain).ok();
            let is_accepted = !tls.conn.is_handshaking();
            Heard { wire: tls.sock.wire, plain, is_accepted }
        })
    }

    fn start(serve: impl Fn(TcpStream) -> Heard + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().map(Result::unwrap) {
                stream.set_read_timeout(Some(SILENCE)).unwrap();
                let heard = serve(stream);
                all.lock().unwrap().push(heard);
            }
        });
        Self { address, heard }
    }

    /// What each client sent whose connection has ended.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

/// A stream whose incoming bytes are kept.
struct Tapped {
    stream: TcpStream,
    wire: Vec<u8>,
}

impl Read for Tapped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.read(buffer)?;
        self.wire.extend(&buffer[..length]);
        Ok(length)
    }
}

impl Write for Tapped {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self.stream.write(buffer) {
            // The client has left; it may still have sent something before.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(buffer.len()),
            result => result,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

//! The reasons why a connection to a coordinator fails, each as a sentence with the solution. One end may not use TLS
//! or HTTP/2, or a certificate may not be trusted.

use std::error::Error;
use std::io;
use std::time::Duration;

use rustls::{AlertDescription, CertificateError, Error as TlsError, InvalidMessage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tonic::Status;

/// A request in HTTP/1. A TLS server takes it for a broken record and answers with an alert, a coordinator for a broken
/// beginning of HTTP/2 (RFC 9113, 3.4).
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: coordinator\r\nconnection: close\r\n\r\n";

/// The type of a TLS record that holds an alert (RFC 8446, 5.1).
const ALERT: u8 = 21;

/// The probe takes no longer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The message about a server that expects TLS.
const SPEAKS_TLS: &str = "the coordinator speaks TLS and this address does not: use https:// and --keys \
                          DIR";

/// The message about a server that answers in HTTP/1.
const SPEAKS_HTTP_1: &str = "the server there speaks HTTP/1 and is no coordinator: use the address of \
                             --listen, not that of --http";

/// The message about a gRPC server that does not know the call.
pub const NO_COORDINATOR: &str =
    "there is a server at that address, but no coordinator, or one of a release that does not know this call";

/// The message about a proxy that does not find its coordinator.
pub const NOTHING_BEHIND: &str = "something else than a coordinator answers there (NOT_FOUND)";

/// Why a call has failed as the next one will, if TLS is the reason.
pub fn tls_refusal(status: &Status) -> Option<String> {
    let mut cause: Option<&(dyn Error + 'static)> = status.source();
    while let Some(error) = cause {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(error) = inner.and_then(|inner| inner.downcast_ref()) {
            return sentence(error);
        }
        // tonic keeps to itself which error of its own this is.
        if error.to_string() == "HTTP/2 was not negotiated." {
            return Some(SPEAKS_HTTP_1.into());
        }
        // After the handshake, h2 keeps only the text of an error.
        if let Some((_, alert)) = error.to_string().split_once("received fatal alert: ") {
            return client_certificate(alert);
        }
        cause = error.source();
    }
    None
}

fn sentence(error: &TlsError) -> Option<String> {
    match error {
        TlsError::InvalidCertificate(error) => Some(certificate(error)),
        TlsError::InvalidMessage(InvalidMessage::InvalidContentType) => Some(
            "the server there does not speak TLS: start the coordinator with --keys DIR, or use http:// where \
             that is safe"
                .into(),
        ),
        TlsError::AlertReceived(AlertDescription::NoApplicationProtocol) => Some(SPEAKS_HTTP_1.into()),
        _ => None,
    }
}

/// The error in the coordinator's certificate.
fn certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the coordinator's certificate is not of the authority in ca.pem or in the invitation: use the ca.pem made \
             with it, or ask for a new invitation"
                .into()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<_> = presented.iter().map(|name| plain_name(name)).collect();
            format!(
                "the coordinator's certificate is for {}, not for {}: connect by such a name, or make another with \
                 diadem keys renew --host",
                names.join(", "),
                expected.to_str(),
            )
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the coordinator's certificate has expired (by this machine's clock): make another with diadem keys renew"
                .into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the coordinator's certificate is not valid yet by this machine's clock: set the clock".into()
        }
        other => format!("the coordinator's certificate is not accepted: {other}"),
    }
}

/// A name as it is written in an address; rustls tells `DnsName("a.example")` and `IpAddress(10.0.0.7)`.
fn plain_name(name: &str) -> &str {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"')
}

/// The coordinator's error about the worker's certificate (the names of alerts are those of RFC 8446, 6.2).
fn client_certificate(alert: &str) -> Option<String> {
    let what = match alert {
        "UnknownCA" | "DecryptError" => "is not of its authority",
        "CertificateExpired" => "has expired",
        "BadCertificate" | "UnsupportedCertificate" | "CertificateUnknown" | "CertificateRevoked" => {
            "is not accepted"
        }
        _ => return None,
    };
    Some(format!("the coordinator says that the client certificate {what}: make one with diadem keys client"))
}

/// The reason why the server at this address is no coordinator, if it is recognisable. Used after a plain connection
/// failed: the reply is then often lost with the connection, and HTTP/2 has no such reply.
pub async fn wrong_listener(address: &str) -> Option<&'static str> {
    let probe = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(REQUEST).await?;
        stream.read_u8().await
    };
    match timeout(PROBE_TIMEOUT, probe).await {
        Ok(Ok(ALERT)) => Some(SPEAKS_TLS),
        Ok(Ok(b'H')) => Some(SPEAKS_HTTP_1),
        _ => None,
    }
}

/// The core of an error: the message, or the innermost cause of a failed connection.
pub fn innermost(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof) {
            // The library for TLS refers to its manual.
            return "the connection was cut".to_owned();
        }
        (text, cause) = (error.to_string(), error.source());
    }
    text
}

//! Requests of pages and metrics.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::harness::PATIENCE;

/// The answer on a connection that is closed after it.
pub fn ask(mut connection: impl Read + Write, path: &str, host: &str, headers: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n");
    let mut reply = Vec::new();
    if connection.write_all(request.as_bytes()).is_ok() {
        connection.read_to_end(&mut reply).ok();
    }
    String::from_utf8_lossy(&reply).into_owned()
}

/// The answer without TLS.
pub fn get(http: &str, path: &str) -> String {
    let connection = TcpStream::connect(http).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    ask(connection, path, http, "")
}

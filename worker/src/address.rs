//! Addresses of coordinators.

use queens::{Class, Classified};
use std::net::IpAddr;

use rustls::pki_types::ServerName;
use thiserror::Error;
use tonic::codegen::http::Uri;

use crate::credentials::Credentials;

/// An address that cannot be one, or not with these credentials.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddressError {
    /// Not an address at all.
    #[error(
        "{0:?} is not an address of a coordinator; it looks like http://127.0.0.1:7227 or https://HOST:7227"
    )]
    Malformed(String),
    /// The authority that identifies the coordinator is missing.
    #[error("{0} needs the authority of the coordinator's certificate: use --keys DIR, with ca.pem in it")]
    NoAuthority(String),
    /// A secret would be sent unencrypted.
    #[error("{0} is not encrypted, and others could read the token: use https:// and --keys DIR")]
    NotEncrypted(String),
    /// The file of addresses cannot be read.
    #[error("cannot read the coordinator's addresses from {0}: {1}")]
    Unreadable(String, String),
    /// The file of addresses has none, or a text that is none.
    #[error("{0} must have the coordinator's addresses, one a line, as in http://127.0.0.1:7227: {1}")]
    WrongFile(String, String),
    /// The certificate or the key is of no use.
    #[error("the keys cannot be used: {0}")]
    Keys(String),
}

impl Classified for AddressError {
    fn class(&self) -> Class {
        match self {
            Self::Malformed(_)
            | Self::NoAuthority(_)
            | Self::NotEncrypted(_)
            | Self::Unreadable(..)
            | Self::WrongFile(..) => Class::Usage,
            Self::Keys(_) => Class::Failed,
        }
    }
}

/// The name or address of a host, and the zone (`%eth0`) of a link-local address. A certificate names no zone.
pub fn name_and_zone(host: &str) -> (&str, Option<&str>) {
    let host = host.trim_matches(['[', ']']);
    host.split_once('%').map_or((host, None), |(name, zone)| (name, Some(zone)))
}

/// The URL, if secrets are encrypted on the way to it.
pub fn parse(address: &str, credentials: &Credentials) -> Result<Uri, AddressError> {
    let scheme = if credentials.authority.is_some() { "https" } else { "http" };
    let url = if address.contains("://") { address.to_owned() } else { format!("{scheme}://{address}") };
    // URLs write the zone of a link-local address as %25eth0 (RFC 6874), the system wants it as %eth0.
    let url = url.replace("%25", "%");
    let malformed = || AddressError::Malformed(address.to_owned());
    let uri: Uri = url.parse().map_err(|_| malformed())?;
    let (Some(scheme), Some(host), Some(_)) = (uri.scheme_str(), uri.host(), uri.port()) else {
        return Err(malformed());
    };
    let (name, _) = name_and_zone(host);
    let is_local = name == "localhost" || name.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let has_certificate = ServerName::try_from(name).is_ok();
    match scheme {
        "https" if !has_certificate => Err(malformed()),
        "https" if credentials.authority.is_some() => Ok(uri),
        "https" => Err(AddressError::NoAuthority(url)),
        "http" if credentials.authority.is_some() => Err(AddressError::NotEncrypted(url)),
        "http" if credentials.token.is_some() && !is_local => Err(AddressError::NotEncrypted(url)),
        "http" => Ok(uri),
        _ => Err(malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_of_link_local_address_is_kept() {
        let credentials = Credentials { authority: Some(String::new()), ..Credentials::default() };
        for url in ["https://[fe80::1%eth0]:7227", "https://[fe80::1%25eth0]:7227", "[fe80::1%eth0]:7227"] {
            let parsed = parse(url, &credentials).unwrap();
            assert_eq!(parsed.authority().unwrap(), "[fe80::1%eth0]:7227", "{url}");
        }
        assert_eq!(name_and_zone("[fe80::1%eth0]"), ("fe80::1", Some("eth0")));
        assert_eq!(name_and_zone("node7"), ("node7", None));
        assert!(matches!(
            parse("http://host%eth0:7227", &Credentials::default()),
            Err(AddressError::Malformed(_))
        ));
    }
}

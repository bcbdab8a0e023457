//! An invitation: all that a worker needs to join a coordinator, in one line of text.
//!
//! It is `diadem-` and, in base64url, a protobuf message and the first eight bytes of its BLAKE3 hash. The hash finds slips of
//! copying; what protects the coordinator is the token, and what protects the worker is the authority: the worker trusts no
//! other certificate.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::AccessToken;
use prost::Message;
use thiserror::Error;
use worker::{Credentials, Remote};

use super::Expiry;

const PREFIX: &str = "diadem-";

/// The bytes of the hash behind the message.
const HASH: usize = 8;

const CERTIFICATE: &str = "CERTIFICATE";

/// All that a worker needs to join.
#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub struct Invitation {
    /// URLs of the coordinator, tried in turn.
    #[prost(string, repeated, tag = "1")]
    pub coordinators: Vec<String>,
    /// The owner of the counts.
    #[prost(string, tag = "2")]
    pub owner: String,
    /// Seconds since 1970: the coordinator refuses the token from then on.
    #[prost(uint64, tag = "3")]
    pub expires: u64,
    #[prost(string, tag = "4")]
    token: String,
    /// The certificate of the authority, in DER.
    #[prost(bytes = "vec", tag = "5")]
    authority: Vec<u8>,
}

/// Why a text is no invitation that can be used. It does not repeat the text, which is nearly a secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvitationError {
    /// It does not look like one.
    #[error("this is no invitation: it begins with {PREFIX} and is one line of letters, digits, - and _")]
    Other,
    /// It looks like one, but characters differ or are missing.
    #[error("the invitation is damaged: copy the whole line again, from {PREFIX} to its end")]
    Damaged,
    /// Its time is over.
    #[error("the invitation of {owner} expired on {expiry}: ask the operator for a new one")]
    Expired { owner: String, expiry: Expiry },
}

impl Invitation {
    /// The invitation of an owner, who shows this token. `authority` is its certificate in PEM.
    ///
    /// # Errors
    /// The authority is no certificate in PEM.
    pub fn new(
        coordinators: Vec<String>,
        owner: String,
        expiry: Expiry,
        token: &str,
        authority: &str,
    ) -> Result<Self, pem::PemError> {
        let authority = pem::parse(authority)?.into_contents();
        Ok(Self { coordinators, owner, expires: expiry.seconds(), token: token.to_owned(), authority })
    }

    /// The coordinator, as its bearer calls it. Must be called within a runtime.
    ///
    /// # Errors
    /// It has expired, or it holds something that cannot be used.
    pub fn remote(&self) -> anyhow::Result<Remote> {
        Ok(Remote::new(&self.coordinators, &self.credentials()?)?)
    }

    /// The credentials of its bearer.
    ///
    /// # Errors
    /// It has expired, or it holds no token.
    fn credentials(&self) -> Result<Credentials, InvitationError> {
        let expiry = Expiry::at(UNIX_EPOCH + Duration::from_secs(self.expires));
        if expiry.is_over(SystemTime::now()) {
            return Err(InvitationError::Expired { owner: self.owner.clone(), expiry });
        }
        let token: AccessToken = self.token.parse().map_err(|_| InvitationError::Damaged)?;
        let authority = pem::Pem::new(CERTIFICATE, self.authority.clone());
        Ok(Credentials { token: Some(token), identity: None, authority: Some(pem::encode(&authority)) })
    }
}

/// Without the token.
impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { coordinators, owner, expires, .. } = self;
        write!(f, "Invitation({owner} to {coordinators:?} until {expires})")
    }
}

/// One line. It is a secret.
impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.encode_to_vec();
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(&hash.as_bytes()[..HASH]);
        write!(f, "{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Invitation {
    type Err = InvitationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let packed = text.trim().strip_prefix(PREFIX).ok_or(InvitationError::Other)?;
        let bytes = URL_SAFE_NO_PAD.decode(packed).map_err(|_| InvitationError::Damaged)?;
        let (message, hash) = bytes.split_last_chunk::<HASH>().ok_or(InvitationError::Damaged)?;
        if blake3::hash(message).as_bytes()[..HASH] != hash[..] {
            return Err(InvitationError::Damaged);
        }
        Self::decode(message).map_err(|_| InvitationError::Damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invitation(expires: u64) -> Invitation {
        let authority = pem::encode(&pem::Pem::new(CERTIFICATE, vec![48; 300]));
        let expiry = Expiry::at(UNIX_EPOCH + Duration::from_secs(expires));
        let coordinators = vec!["https://10.0.0.7:7227".to_owned()];
        Invitation::new(coordinators, "ada".into(), expiry, &"7".repeat(64), &authority).unwrap()
    }

    #[test]
    fn invitation_round_trips_through_its_line() {
        let invitation = invitation(4_000_000_000);
        let line = invitation.to_string();
        assert!(line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{line}");
        assert_eq!(format!(" {line}\n").parse::<Invitation>().unwrap(), invitation);
        let credentials = invitation.credentials().unwrap();
        assert_eq!(credentials.token.unwrap().expose(), "7".repeat(64));
        assert!(credentials.authority.unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    }

    #[test]
    fn every_altered_or_shortened_line_is_refused() {
        let line = invitation(4_000_000_000).to_string();
        for at in 0..line.len() {
            let mut altered = line.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert!(altered.parse::<Invitation>().is_err(), "character {at}");
            assert!(line[..at].parse::<Invitation>().is_err(), "{at} characters");
        }
        assert_eq!("https://10.0.0.7:7227".parse::<Invitation>(), Err(InvitationError::Other));
    }

    #[test]
    fn expired_invitation_names_owner_and_day() {
        let why = invitation(1_000_000_000).credentials().unwrap_err().to_string();
        assert!(why.contains("of ada expired on 2001-09-09"), "{why}");
    }
}

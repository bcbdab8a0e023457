//! The hash with which each line of the ledger refers to the line before it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The hash of a line: 128 bits of BLAKE3, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LineHash([u8; 16]);

impl LineHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hash = [0; 16];
        hash.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        Self(hash)
    }

    /// The hash of these bytes as it stands in a message.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the hash.
    pub fn bytes(&self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<LineHash> for String {
    fn from(hash: LineHash) -> String {
        hash.to_string()
    }
}

/// A text that is not the hash of a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is not 32 hexadecimal digits in lower case")]
pub struct LineHashError(String);

impl FromStr for LineHash {
    type Err = LineHashError;
    fn from_str(text: &str) -> Result<Self, LineHashError> {
        let is_digits = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let number = u128::from_str_radix(text, 16).ok().filter(|_| is_digits);
        number.map(|n| Self(n.to_be_bytes())).ok_or_else(|| LineHashError(text.to_owned()))
    }
}

impl TryFrom<String> for LineHash {
    type Error = LineHashError;
    fn try_from(text: String) -> Result<Self, LineHashError> {
        text.parse()
    }
}

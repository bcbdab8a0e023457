//! The term of the writer: each process writes this record before its other records.

use domain::CoordinatorId;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A process has opened the ledger for writing, and writes from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermRecord {
    /// Higher than all terms before.
    pub term: u64,
    /// Names the process.
    #[serde(serialize_with = "as_text", deserialize_with = "coordinator")]
    pub coordinator: CoordinatorId,
    /// Its public key (Ed25519), if it has one: 64 hexadecimal digits in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "public_key")]
    pub key: Option<String>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

fn as_text<S: Serializer>(id: &CoordinatorId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

fn coordinator<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CoordinatorId, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn public_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let key = String::deserialize(deserializer)?;
    let is_key = key.len() == 64 && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_key { Ok(Some(key)) } else { Err(D::Error::custom("a public key is 64 hexadecimal digits")) }
}

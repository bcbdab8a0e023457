//! The certificate of a finished run: what was found and how far it was checked, signed by its coordinator.
//!
//! The signature is over the certificate without `signature`, as JSON in the canonical form of RFC 8785: names in order,
//! no white space. All numbers are whole.

mod checked;

use std::collections::BTreeMap;

use queens::plan::Fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use checked::Checked;

use crate::assurance::assess;
use crate::audit::{Audit, AuditError, audit_until};
use crate::clock::{Clock, SystemClock};
use crate::counted;
use crate::head::PublishedHead;
use crate::ledger::LineHash;
use crate::run_directory::RunDirectory;
use crate::shard::Shard;
use crate::signing::{SigningKey, is_signed};

/// The form of certificates: which fields they have.
const FORM: u32 = 1;

/// What a finished run has found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Which fields it has.
    #[serde(rename = "diadem_certificate")]
    form: u32,
    n: u8,
    #[serde(default, skip_serializing_if = "Shard::is_whole")]
    shard: Shard,
    total: String,
    a: String,
    p: String,
    r: String,
    units: u64,
    plan: Fingerprint,
    run: LineHash,
    records: u64,
    head: LineHash,
    checked: Checked,
    program: String,
    /// When, in seconds since 1970 (UTC).
    at: u64,
    /// The public key, as 64 hexadecimal digits.
    key: String,
    /// As 128 hexadecimal digits.
    signature: String,
}

/// A certificate that is not given, or that cannot be believed.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// It is something else.
    #[error("it is no certificate of a run: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It has a form that a later release knows.
    #[error("it is a certificate of form {0}, and this release knows form {FORM}")]
    OtherForm(u32),
    /// It was changed after it was signed, or signed with another key.
    #[error("the signature is not that of its key over what the certificate says")]
    Unsigned,
    /// It is signed by somebody else.
    #[error("it is signed with the key {found}, not with {wanted}")]
    OtherKey {
        /// The key in it.
        found: String,
        /// The key that was named.
        wanted: String,
    },
    /// The ledger does not stand up to the audit.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// It is of another run, or its ledger has been rewritten.
    #[error("the ledger of this run has no head {head} after {records} records")]
    OtherLedger {
        /// The records.
        records: u64,
        /// The hash of the mark behind them.
        head: LineHash,
    },
    /// Nothing is certified that is not finished.
    #[error(
        "the run is not finished: {} missing, {} to be checked, {unbelieved} not believed",
        counted(*missing, "unit"), counted(*pending, "count")
    )]
    Unfinished {
        /// Units without a count.
        missing: u64,
        /// Counts to be checked.
        pending: u64,
        /// Counts to be taken back.
        unbelieved: u64,
    },
    /// The ledger says something else.
    #[error("{name} is {said} in the certificate, and {found} in the ledger")]
    Differs {
        /// The field.
        name: String,
        /// What the certificate says.
        said: String,
        /// What the ledger says.
        found: String,
    },
}

impl Certificate {
    /// The certificate that a sound ledger gives, signed with that key.
    ///
    /// # Errors
    /// The run is not finished.
    pub fn sign(directory: &RunDirectory, audit: &Audit, key: &SigningKey) -> Result<Self, CertificateError> {
        let unsigned = Self { key: key.public(), ..Self::of(directory, audit)? };
        let signature = key.sign(&unsigned.signed_bytes());
        Ok(Self { signature, ..unsigned })
    }

    /// What a ledger gives, without key and signature.
    fn of(directory: &RunDirectory, audit: &Audit) -> Result<Self, CertificateError> {
        let (standing, totals, end) = (&audit.standing, audit.totals, &audit.tail.end);
        let sums = standing.sums();
        let assurance = assess(standing, standing.policy());
        let (missing, unbelieved) = (audit.missing_units, standing.unbelieved());
        if missing + unbelieved + assurance.pending > 0 {
            return Err(CertificateError::Unfinished { missing, pending: assurance.pending, unbelieved });
        }
        Ok(Self {
            form: FORM,
            n: directory.plan().board().n(),
            shard: directory.run().shard,
            total: totals.solutions().to_string(),
            a: totals.a.to_string(),
            p: totals.p.to_string(),
            r: totals.r.to_string(),
            units: standing.done(),
            plan: directory.plan().fingerprint().clone(),
            run: directory.run().hash(),
            records: end.mark.records,
            head: end.hash,
            checked: Checked::of(assurance, sums.refuted, sums.policy),
            program: format!("diadem {}", env!("CARGO_PKG_VERSION")),
            at: SystemClock::default().since_1970().as_secs(),
            key: String::new(),
            signature: String::new(),
        })
    }

    /// Reads a certificate, and checks its signature.
    ///
    /// # Errors
    /// It is none, or its signature does not fit.
    pub fn parse(text: &str) -> Result<Self, CertificateError> {
        let certificate: Self = serde_json::from_str(text)?;
        if certificate.form != FORM {
            return Err(CertificateError::OtherForm(certificate.form));
        }
        let is_signed = is_signed(&certificate.key, &certificate.signed_bytes(), &certificate.signature);
        if is_signed { Ok(certificate) } else { Err(CertificateError::Unsigned) }
    }

    /// The public key that signed it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What the signature is over.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let mut value = serde_json::to_value(self).expect("a certificate is plain data");
        value.as_object_mut().expect("it is an object").remove("signature");
        in_order(value).to_string().into_bytes()
    }

    /// Checks that all it says is what the ledger of that run said up to its head; tells whether a term in the ledger names
    /// the key that signed it as its coordinator's.
    ///
    /// # Errors
    /// It is not, or the ledger cannot be read.
    pub fn check(&self, directory: &RunDirectory) -> Result<bool, CertificateError> {
        let (records, head) = (self.records, self.head);
        let published = PublishedHead { run: self.run, records, head };
        let until = published.find(directory).map_err(AuditError::from)?;
        let until = until.ok_or(CertificateError::OtherLedger { records, head })?;
        let audit = audit_until(directory, &until)?.sound()?;
        let found = Self::of(directory, &audit)?;
        let (program, at) = (self.program.clone(), self.at);
        let found = Self { program, at, key: self.key.clone(), signature: self.signature.clone(), ..found };
        let [said, found] = [self, &found].map(|certificate| fields("", serde_json::to_value(certificate)));
        let names = said.keys().chain(found.keys());
        match names.into_iter().find(|name| said.get(*name) != found.get(*name)) {
            None => Ok(audit.keys.contains(&self.key)),
            Some(name) => {
                let text =
                    |all: &BTreeMap<String, Value>| all.get(name).map_or("nothing".into(), Value::to_string);
                Err(CertificateError::Differs { name: name.clone(), said: text(&said), found: text(&found) })
            }
        }
    }
}

/// A value with the names of all its objects in order.
fn in_order(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let sorted: BTreeMap<String, Value> =
                object.into_iter().map(|(name, value)| (name, in_order(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        other => other,
    }
}

/// All fields by their names, those of `checked` too.
fn fields(within: &str, value: serde_json::Result<Value>) -> BTreeMap<String, Value> {
    let Ok(Value::Object(object)) = value else { return BTreeMap::new() };
    let field = |(name, value): (String, Value)| match value {
        Value::Object(_) => fields(&format!("{within}{name}."), Ok(value)),
        value => BTreeMap::from([(format!("{within}{name}"), value)]),
    };
    object.into_iter().flat_map(field).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::audit::audit;
    use crate::known_run;
    use crate::ledger::Record;
    use crate::store::Store;

    #[test]
    fn a_certificate_says_what_its_ledger_said_and_any_change_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, _, _) = Store::open(known_run::options(folder.path())).unwrap();
        let records: Vec<Record> = (0..known_run::plan().units()).map(known_run::record).collect();
        let (last, others) = records.split_last().unwrap();
        let directory = store.directory().clone();
        let key = SigningKey::of_run(directory.path()).unwrap();
        store.commit(others, Duration::ZERO, 1).unwrap();
        let early = Certificate::sign(&directory, &audit(&directory).unwrap(), &key);
        assert!(matches!(early, Err(CertificateError::Unfinished { missing: 1, pending: 0, unbelieved: 0 })));
        store.commit(std::slice::from_ref(last), Duration::ZERO, 1).unwrap();
        let certificate = Certificate::sign(&directory, &audit(&directory).unwrap(), &key).unwrap();
        let text = serde_json::to_string_pretty(&certificate).unwrap();
        assert_eq!(Certificate::parse(&text).unwrap(), certificate);
        assert!(!certificate.check(&directory).unwrap(), "there is no term");
        assert_eq!((certificate.total.as_str(), certificate.key()), ("92", key.public().as_str()));
        // What comes later changes nothing.
        store.commit(&[], Duration::from_secs(9), 7).unwrap();
        certificate.check(&directory).unwrap();
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
            let read = String::from_utf8(changed).ok().and_then(|changed| Certificate::parse(&changed).ok());
            // White space says nothing.
            assert!(read.is_none() || text.as_bytes()[at].is_ascii_whitespace(), "{at}");
        }
        // Whoever signs something else is found by the ledger.
        let differs = |change: fn(&mut Certificate), word: &str| {
            let mut other = certificate.clone();
            change(&mut other);
            other.signature = key.sign(&other.signed_bytes());
            let text = serde_json::to_string(&other).unwrap();
            let refused = Certificate::parse(&text).unwrap().check(&directory).unwrap_err().to_string();
            assert!(refused.contains(word), "{refused}");
        };
        differs(|c| c.total = "93".into(), "total is \"93\" in the certificate, and \"92\" in the ledger");
        differs(|c| c.checked.on_two_owners = 5, "checked.on_two_owners is 5");
        differs(|c| c.units -= 1, "units is ");
        differs(|c| c.records -= 1, "has no head");
        differs(|c| c.run = c.head, "has no head");
    }
}

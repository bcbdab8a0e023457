//! The certificate of a finished run: its totals and the extent of the checks, signed by its coordinator.
//!
//! The signature is over the certificate without `signature`, as JSON in the canonical form of RFC 8785: names in order,
//! no white space. All numbers are whole.

mod checked;
mod head;

use std::collections::BTreeMap;

use queens::known::Symmetric;
use queens::plan::Fingerprint;
use queens::{Board, Class, Classified, Totals, known};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

pub use head::{HeadError, PublishedHead, PublishedHeads, stamped_hash};

use checked::Checked;

use crate::assurance::assess;
use crate::audit::{Audit, AuditError, audit_until};
use crate::clock::{Clock, SystemClock};
use crate::interventions::Intervention;
use crate::ledger::LineHash;
use crate::run_directory::RunDirectory;
use crate::shard::Shard;
use crate::signing::{SigningKey, is_signed};
use domain::counted;

/// The form of certificates: which fields they have.
const FORM: u32 = 1;

/// The certified results of a finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Which fields it has.
    #[serde(rename = "diadem_certificate")]
    form: u32,
    n: Board,
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
    /// What people did to the run apart from counting: the first interventions, and how many others there are.
    interventions: Vec<Intervention>,
    #[serde(default, skip_serializing_if = "is_none")]
    more_interventions: u64,
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
    #[error("the signature does not fit the certificate and its key")]
    Unsigned,
    /// Its totals do not fit together.
    #[error("its total {0} is not 8A + 4P + 2R, or no number")]
    Impossible(String),
    /// Others have found something else.
    #[error("its {name} for n = {n} is {said}, and the published one is {published}")]
    NotPublished {
        /// The field.
        name: &'static str,
        /// The board.
        n: Board,
        /// The total of the certificate.
        said: u128,
        /// The published value.
        published: u128,
    },
    /// It claims more checked units than the run has.
    #[error("it says that {checked} of {units} units were counted twice")]
    MoreChecked {
        /// Units counted twice.
        checked: u128,
        /// All of them.
        units: u64,
    },
    /// The number of untrusted participants differs from the number of names.
    #[error("it says that {number} {whom} are not believed, and names {named}")]
    Misnamed {
        /// Machines or owners.
        whom: &'static str,
        /// How many there are.
        number: u64,
        /// How many are named.
        named: usize,
    },
    /// The ledger has gone on since.
    #[error(
        "{name} is {said} in the certificate, and {now} at the end of the ledger: counts were taken back since it was signed"
    )]
    TakenBack {
        /// The field.
        name: &'static str,
        /// What the certificate says.
        said: String,
        /// The total of the ledger.
        now: u128,
    },
    /// It is signed with another key.
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
    /// The run is not finished.
    #[error(
        "the run is not complete: {} missing, {} to be checked, {unbelieved} not believed",
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
    /// The operator must decide about owners whom an own check contradicts.
    #[error("{0}")]
    Suspended(String),
    /// The ledger says something else.
    #[error("{name} is {said} in the certificate, and {found} in the ledger")]
    Differs {
        /// The field.
        name: String,
        /// What the certificate says.
        said: String,
        /// The value in the ledger.
        found: String,
    },
}

impl Classified for CertificateError {
    fn class(&self) -> Class {
        match self {
            Self::Malformed(_) | Self::OtherForm(_) => Class::Failed,
            _ => Class::Unsound,
        }
    }
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

    /// The certificate of a ledger, without key and signature.
    fn of(directory: &RunDirectory, audit: &Audit) -> Result<Self, CertificateError> {
        let (standing, totals, end) = (&audit.standing, audit.totals, &audit.tail.end);
        let sums = standing.sums();
        let assurance = assess(standing, standing.policy());
        let (missing, pending, unbelieved) = (audit.missing_units, audit.pending(), standing.unbelieved());
        if missing + pending + unbelieved > 0 {
            return Err(CertificateError::Unfinished { missing, pending, unbelieved });
        }
        if let Some(why) = standing.suspension() {
            return Err(CertificateError::Suspended(why));
        }
        Ok(Self {
            form: FORM,
            n: directory.plan().board(),
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
            checked: Checked::of(assurance, sums),
            interventions: audit.interventions.listed.clone(),
            more_interventions: audit.interventions.unlisted,
            program: format!("diadem {}", env!("CARGO_PKG_VERSION")),
            at: SystemClock::default().since_1970().as_secs(),
            key: String::new(),
            signature: String::new(),
        })
    }

    /// Reads a certificate, and checks its signature.
    ///
    /// # Errors
    /// It is no certificate, or its signature is wrong.
    pub fn parse(text: &str) -> Result<Self, CertificateError> {
        let certificate: Self = serde_json::from_str(text)?;
        if certificate.form != FORM {
            return Err(CertificateError::OtherForm(certificate.form));
        }
        // The signature covers the file's own text, so another spelling of the same data has another signature.
        let is_as_written = serde_json::to_value(&certificate)? == serde_json::from_str::<Value>(text)?;
        let is_signed = is_signed(&certificate.key, &certificate.signed_bytes(), &certificate.signature);
        if !is_as_written || !is_signed {
            return Err(CertificateError::Unsigned);
        }
        certificate.expect_possible().map(|()| certificate)
    }

    /// Refuses totals that no run has.
    fn expect_possible(&self) -> Result<(), CertificateError> {
        let number = |text: &str| text.parse().ok().filter(|number: &u128| number.to_string() == text);
        let impossible = || CertificateError::Impossible(self.total.clone());
        let [total, a, p, r] = [&self.total, &self.a, &self.p, &self.r].map(|text| number(text));
        let totals = Totals { full: u128::from(self.n.n() == 1 && total == Some(1)), a: 0, p: 0, r: 0 };
        let (Some(total), Some(a), Some(p), Some(r)) = (total, a, p, r) else { return Err(impossible()) };
        let most = u128::MAX / 32;
        if a > most || p > most || r > most || (Totals { a, p, r, ..totals }).solutions() != total {
            return Err(impossible());
        }
        self.expect_published([total, a, p, r])?;
        let (checked, units) = (self.checked.counted_twice(), self.units);
        if checked > u128::from(units) {
            return Err(CertificateError::MoreChecked { checked, units });
        }
        let misnamed = self.checked.misnamed();
        misnamed
            .map_or(Ok(()), |(whom, number, named)| Err(CertificateError::Misnamed { whom, number, named }))
    }

    /// Rejects totals that differ from the published totals of the board, or for a part exceed them.
    fn expect_published(&self, said: [u128; 4]) -> Result<(), CertificateError> {
        let [total, a, p, r] = said;
        let Symmetric { p: known_p, r: known_r } = known::symmetric(self.n);
        let (known_total, known_a) =
            known::totals(self.n).map_or((None, None), |known| (Some(known.solutions()), Some(known.a)));
        let pairs = [
            ("total", total, known_total),
            ("a", a, known_a),
            ("p", p, Some(known_p)),
            ("r", r, Some(known_r)),
        ];
        let is_other =
            |said: u128, published| if self.shard.is_whole() { said != published } else { said > published };
        let known = pairs.into_iter().filter_map(|(name, said, published)| Some((name, said, published?)));
        let other = known.into_iter().find(|(_, said, published)| is_other(*said, *published));
        other.map_or(Ok(()), |(name, said, published)| {
            Err(CertificateError::NotPublished { name, n: self.n, said, published })
        })
    }

    /// The board, the part of the plan, and the solutions found in it.
    pub fn found(&self) -> (Board, Shard, &str) {
        (self.n, self.shard, &self.total)
    }

    /// Checks that the totals that the ledger ends with are still those that it certifies.
    ///
    /// # Errors
    /// Counts were taken back since.
    pub fn expect_still(&self, totals: &Totals) -> Result<(), CertificateError> {
        let fields = [
            ("total", &self.total, totals.solutions()),
            ("a", &self.a, totals.a),
            ("p", &self.p, totals.p),
            ("r", &self.r, totals.r),
        ];
        let changed = fields.into_iter().find(|(_, said, now)| **said != now.to_string());
        changed.map_or(Ok(()), |(name, said, now)| {
            Err(CertificateError::TakenBack { name, said: said.clone(), now })
        })
    }

    /// The public key that signed it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The signed bytes.
    pub fn signed_bytes(&self) -> Vec<u8> {
        let mut value = serde_json::to_value(self).expect("a certificate is plain data");
        value.as_object_mut().expect("it is an object").remove("signature");
        in_order(value).to_string().into_bytes()
    }

    /// Checks the certificate against the ledger of the run up to its head. Returns true if a term in the ledger names
    /// the signing key as its coordinator's key. If heads were published, this term must lie within the given number of
    /// records: anybody may have appended records behind the last published head.
    ///
    /// # Errors
    /// The certificate does not match, or the ledger cannot be read.
    pub fn check(&self, directory: &RunDirectory, published: Option<u64>) -> Result<bool, CertificateError> {
        let (records, head) = (self.records, self.head);
        let until =
            PublishedHead { run: self.run, records, head }.find(directory).map_err(AuditError::from)?;
        let until = until.ok_or(CertificateError::OtherLedger { records, head })?;
        let audit = audit_until(directory, &until, |_, _| ())?.sound()?;
        let found = Self::of(directory, &audit)?;
        let (program, at) = (self.program.clone(), self.at);
        let found = Self { program, at, key: self.key.clone(), signature: self.signature.clone(), ..found };
        let [said, found] = [self, &found].map(|certificate| fields("", serde_json::to_value(certificate)));
        let names = said.keys().chain(found.keys());
        match names.into_iter().find(|name| said.get(*name) != found.get(*name)) {
            None => Ok(audit
                .keys
                .get(&self.key)
                .is_some_and(|before| published.is_none_or(|until| *before < until))),
            Some(name) => {
                let text =
                    |all: &BTreeMap<String, Value>| all.get(name).map_or("nothing".into(), Value::to_string);
                Err(CertificateError::Differs { name: name.clone(), said: text(&said), found: text(&found) })
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(number: &u64) -> bool {
    *number == 0
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
    use crate::ledger::Record;
    use crate::store::Store;
    use crate::testing::known_run;

    #[test]
    fn certificate_matches_ledger_and_detects_any_change() {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, _, _) = Store::open(known_run::options(folder.path())).unwrap();
        let records: Vec<Record> = (0..known_run::plan().units()).map(known_run::record).collect();
        let (last, others) = records.split_last().unwrap();
        let directory = store.directory().clone();
        let key = SigningKey::open(&SigningKey::file_of_run(directory.path())).unwrap();
        store.commit(others, Duration::ZERO, 1).unwrap();
        let early = Certificate::sign(&directory, &audit(&directory).unwrap(), &key);
        assert!(matches!(early, Err(CertificateError::Unfinished { missing: 1, pending: 0, unbelieved: 0 })));
        store.commit(std::slice::from_ref(last), Duration::ZERO, 1).unwrap();
        let certificate = Certificate::sign(&directory, &audit(&directory).unwrap(), &key).unwrap();
        let text = serde_json::to_string_pretty(&certificate).unwrap();
        assert_eq!(Certificate::parse(&text).unwrap(), certificate);
        assert!(!certificate.check(&directory, None).unwrap(), "there is no term");
        assert_eq!((certificate.total.as_str(), certificate.key()), ("92", key.public().as_str()));
        // Later records change nothing.
        store.commit(&[], Duration::from_secs(9), 7).unwrap();
        certificate.check(&directory, None).unwrap();
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
            let read = String::from_utf8(changed).ok().and_then(|changed| Certificate::parse(&changed).ok());
            // White space has no meaning.
            assert!(read.is_none() || text.as_bytes()[at].is_ascii_whitespace(), "{at}");
        }
        // The ledger exposes a wrong signature.
        let differs = |change: fn(&mut Certificate), word: &str| {
            let mut other = certificate.clone();
            change(&mut other);
            other.signature = key.sign(&other.signed_bytes());
            let text = serde_json::to_string(&other).unwrap();
            let refused =
                Certificate::parse(&text).and_then(|other| other.check(&directory, None)).unwrap_err();
            let refused = refused.to_string();
            assert!(refused.contains(word), "{refused}");
        };
        differs(|c| c.total = "93".into(), "its total 93 is not 8A + 4P + 2R");
        differs(|c| c.total = "+92".into(), "its total +92 is not");
        let more = |c: &mut Certificate| (c.a, c.total) = ("12".into(), "100".into());
        differs(more, "its total for n = 8 is 100, and the published one is 92");
        let otherwise = |c: &mut Certificate| (c.a, c.p) = ("10".into(), "3".into());
        differs(otherwise, "its a for n = 8 is 10, and the published one is 11");
        let symmetric = |c: &mut Certificate| c.n = Board::new(28).unwrap();
        differs(symmetric, "its p for n = 28 is 1, and the published one is 312717136");
        let part = |c: &mut Certificate| {
            (c.a, c.total, c.shard) = ("10".into(), "84".into(), "1/2".parse().unwrap())
        };
        differs(part, "a is \"10\" in the certificate, and \"11\" in the ledger");
        let more_than_all = |c: &mut Certificate| {
            (c.a, c.total, c.shard) = ("12".into(), "100".into(), "1/2".parse().unwrap())
        };
        differs(more_than_all, "its total for n = 8 is 100, and the published one is 92");
        differs(|c| c.checked.on_two_owners = c.units + 1, "units were counted twice");
        differs(
            |c| c.checked.quarantined_machines.push("m".into()),
            "0 machines are not believed, and names 1",
        );
        differs(|c| c.checked.expelled = 101, "101 owners are not believed, and names 0");
        differs(|c| c.checked.on_two_owners = 5, "checked.on_two_owners is 5");
        let untold = Intervention::Takeover { term: 2_000_000, at: 1 };
        let mut told = certificate.clone();
        told.interventions.push(untold);
        told.signature = key.sign(&told.signed_bytes());
        let told = Certificate::parse(&serde_json::to_string(&told).unwrap()).unwrap();
        let refused = told.check(&directory, None).unwrap_err().to_string();
        assert!(refused.starts_with("interventions is [{\"kind\":\"takeover\""), "{refused}");
        differs(|c| c.units -= 1, "units is ");
        differs(|c| c.records -= 1, "has no head");
        differs(|c| c.run = c.head, "has no head");
        // Another spelling of the same data is not signed.
        let head = certificate.head.to_string();
        for (as_written, otherwise) in [
            (head.clone(), head.to_uppercase()),
            ("\"total\"".into(), r#""shard": {"index": 1, "of": 1}, "total""#.into()),
            ("\"total\"".into(), r#""shard": {"index": 1, "of": 1, "total": "7"}, "total""#.into()),
            ("\"program\"".into(), "\"Program\"".into()),
        ] {
            let changed = text.replace(&as_written, &otherwise);
            assert!(changed != text && Certificate::parse(&changed).is_err(), "{otherwise}");
        }
        // Later retractions are reported.
        let totals = audit(&directory).unwrap().totals;
        certificate.expect_still(&totals).unwrap();
        let less = Totals { a: totals.a - 1, ..totals };
        assert!(matches!(
            certificate.expect_still(&less),
            Err(CertificateError::TakenBack { name: "total", now: 84, .. })
        ));
    }
}

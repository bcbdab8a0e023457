//! The authority of a run: the key that signs the certificates of its coordinator and, optionally, of its
//! workers.

use anyhow::Context;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

/// The authority outlives the longest run and those after it.
const AUTHORITY_DAYS: u32 = 3650;

/// Certificates are valid from a day ago, because clocks differ.
const CLOCKS: Duration = Duration::DAY;

/// Signs certificates.
pub struct Authority {
    params: CertificateParams,
    key: KeyPair,
}

/// A certificate and its key, in PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    /// A new authority, and its certificate.
    pub fn make() -> anyhow::Result<(Self, Pair)> {
        let key = KeyPair::generate().context("cannot make a key")?;
        let authority = Self { params: params(), key };
        let certificate = authority.params.self_signed(&authority.key)?.pem();
        let pair = Pair { certificate, key: authority.key.serialize_pem() };
        Ok((authority, pair))
    }

    /// The authority with that key.
    pub fn from_key(pem: &str) -> anyhow::Result<Self> {
        let key = KeyPair::from_pem(pem)?;
        Ok(Self { params: params(), key })
    }

    /// The certificate of a coordinator that is reached under these names and addresses.
    pub fn server(&self, hosts: &[String], days: u32) -> anyhow::Result<Pair> {
        let params = CertificateParams::new(hosts)?;
        self.sign(params, "diadem coordinator", ExtendedKeyUsagePurpose::ServerAuth, days)
    }

    /// The certificate of a worker of that owner, in the DNS name by which a coordinator knows it.
    pub fn client(&self, name: &str, days: u32) -> anyhow::Result<Pair> {
        let params = CertificateParams::new(vec![format!("{name}.owner.diadem")])?;
        self.sign(params, name, ExtendedKeyUsagePurpose::ClientAuth, days)
    }

    fn sign(
        &self,
        mut params: CertificateParams,
        name: &str,
        purpose: ExtendedKeyUsagePurpose,
        days: u32,
    ) -> anyhow::Result<Pair> {
        params.distinguished_name = named(name);
        (params.not_before, params.not_after) = validity(days);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &Issuer::from_params(&self.params, &self.key))?;
        Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// The parameters of the authority's certificate. Only the dates vary, so the key alone is enough to sign
/// further certificates.
fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named("diadem authority");
    (params.not_before, params.not_after) = validity(AUTHORITY_DAYS);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn validity(days: u32) -> (OffsetDateTime, OffsetDateTime) {
    let now = OffsetDateTime::now_utc();
    (now - CLOCKS, now + Duration::days(days.into()))
}

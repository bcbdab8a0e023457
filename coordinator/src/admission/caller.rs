//! Who calls: the owner as whom a call was let in, and what that owner may do.

use domain::Owner;
use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// A certificate names its owner in a DNS name under this one, which resolves nowhere.
const OWNERS: &str = ".owner.diadem";

/// What a bearer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// Read the status.
    Read,
    /// Take part.
    Join,
    /// Keep a copy of the ledger and the lease key.
    Follow,
    /// Take counts back, change the policy of the run, pause it, have workers leave.
    Admin,
    /// Everything: there is nothing to present.
    All,
}

impl Right {
    /// What a call needs, by its path. What is not known here needs the most.
    pub(crate) fn needed(path: &str) -> Self {
        match path.strip_prefix("/diadem.v1.Coordinator/") {
            Some("Status" | "Watch" | "Head") => Self::Read,
            Some("Plan" | "Register" | "Lease" | "Renew" | "Report" | "Release") | None => Self::Join,
            Some("Follow") => Self::Follow,
            Some(_) => Self::Admin,
        }
    }

    /// Whether it lets do what needs the other one. Everybody who has one may read; who administers may follow.
    pub fn allows(self, needed: Right) -> bool {
        let is_of_admin = self == Right::Admin && needed == Right::Follow;
        self == needed || self == Right::All || needed == Right::Read || is_of_admin
    }

    /// What its bearer may do and what the call needs instead, in a sentence.
    pub(crate) fn refusal(self, needed: Right) -> String {
        let may = match self {
            Right::Read => "a status token reads only",
            Right::Join => "a join token or client certificate takes part only",
            Right::Follow => "a follow token follows only",
            Right::Admin => "an admin token administers only",
            Right::All => "everything is allowed",
        };
        let needs = match needed {
            Right::Read | Right::Join | Right::All => {
                "taking part needs the join token: say --keys DIR with a worker's keys"
            }
            Right::Follow => "following needs the follow token: say --keys DIR with a follower's keys",
            Right::Admin => "this needs the admin token: say --keys DIR with an admin's keys",
        };
        format!("{may}; {needs}")
    }
}

/// Who calls; found in the extensions of each request that was let pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// As whom it was let in; the unnamed owner where nothing is asked for.
    pub owner: Owner,
    /// What it may do.
    pub right: Right,
}

impl Caller {
    /// Whoever can connect, where nothing is asked for.
    pub fn anybody() -> Self {
        Self { owner: Owner::default(), right: Right::All }
    }

    /// The holder of a certificate that the authority has signed.
    pub(crate) fn certified(certificate: &CertificateDer<'_>) -> Self {
        Self { owner: owner(certificate), right: Right::Join }
    }
}

/// The owner that a certificate names, or one named after the certificate itself.
fn owner(certificate: &CertificateDer<'_>) -> Owner {
    let named = EndEntityCert::try_from(certificate).ok().and_then(|certificate| {
        let mut names = certificate.valid_dns_names();
        names.find_map(|name| name.strip_suffix(OWNERS)).map(Owner::new)
    });
    let digits = || blake3::hash(certificate).to_hex();
    named.unwrap_or_else(|| Owner::new(&format!("certificate-{}", &digits()[..16])))
}

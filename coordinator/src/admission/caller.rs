//! The caller: the owner of an accepted call, and its right.

use domain::Owner;
use rustls_pki_types::CertificateDer;
use webpki::EndEntityCert;

/// A certificate names its owner in a DNS name with this suffix, which no server resolves.
const OWNERS: &str = ".owner.diadem";

/// The right of a bearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// Read the status.
    Read,
    /// Take part.
    Join,
    /// Keep a copy of the ledger and the lease key.
    Follow,
    /// Retract counts, change the policy, pause the run, drain workers.
    Admin,
    /// Everything: no credentials are needed.
    All,
}

impl Right {
    /// The right that a call needs, by its path. Unknown paths need the highest right.
    pub(crate) fn needed(path: &str) -> Self {
        match path.strip_prefix("/diadem.v1.Coordinator/") {
            Some("Status" | "Watch" | "Head" | "Explain") => Self::Read,
            Some("Plan" | "Register" | "Lease" | "Renew" | "Report" | "Release") | None => Self::Join,
            Some("Follow") => Self::Follow,
            Some(_) => Self::Admin,
        }
    }

    /// True if this right includes the needed right. Every right includes reading; administration includes following.
    pub fn allows(self, needed: Right) -> bool {
        let is_of_admin = self == Right::Admin && needed == Right::Follow;
        self == needed || self == Right::All || needed == Right::Read || is_of_admin
    }

    /// A sentence with the bearer's right and the right that the call needs.
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
                "taking part needs the join token: use --keys DIR with a worker's keys"
            }
            Right::Follow => "following needs the follow token: use --keys DIR with a follower's keys",
            Right::Admin => "this needs the admin token: use --keys DIR with an admin's keys",
        };
        format!("{may}; {needs}")
    }
}

/// The caller. Each accepted request has it in its extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The owner as which the call was accepted; the unnamed owner if access is open.
    pub owner: Owner,
    /// Its right.
    pub right: Right,
}

impl Caller {
    /// The caller if access is open.
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

//! The version of the wire's contract, so that a later release can speak two versions and machines are replaced one by one.
//!
//! ```text
//! the coordinator, with its plan:  the newest version that it speaks, and its release
//! the worker, as it registers:     the lower one of that and its own newest, and its release; or it leaves with a sentence
//! the coordinator:                 refuses a version that it does not speak, with a sentence
//! ```

use std::fmt;
use std::ops::RangeInclusive;

use thiserror::Error;

use crate::v1;

/// The protocol versions of this release. The last version increases with each change that the former version would
/// misunderstand or refuse. The first version increases when it is no longer needed.
const SPOKEN: RangeInclusive<u32> = 1..=1;

/// The longest name of a release, in bytes.
const LONGEST_RELEASE: usize = 40;

/// The protocol versions of one end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    version: u32,
    release: String,
}

impl Protocol {
    /// The protocol versions of this release.
    pub fn own() -> Self {
        Self { version: *SPOKEN.end(), release: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// The version that this worker speaks with the coordinator of that reply.
    ///
    /// # Errors
    /// The coordinator speaks older versions only.
    pub fn agree(reply: &v1::PlanReply) -> Result<u32, ProtocolError> {
        agreed(&SPOKEN, reply.protocol)
            .ok_or_else(|| ProtocolError::new("coordinator", "worker", reply.protocol, &reply.release))
    }

    /// Whether a coordinator can serve a worker that registers so.
    ///
    /// # Errors
    /// The worker speaks another version.
    pub fn admit(request: &v1::RegisterRequest) -> Result<(), ProtocolError> {
        if SPOKEN.contains(&request.protocol) {
            return Ok(());
        }
        Err(ProtocolError::new("worker", "coordinator", request.protocol, &request.release))
    }

    /// Adds the coordinator's protocol versions to a plan.
    pub fn announce(reply: v1::PlanReply) -> v1::PlanReply {
        let Self { version, release } = Self::own();
        v1::PlanReply { protocol: version, release, ..reply }
    }

    /// Adds to a registration the version that the worker speaks with its coordinator.
    pub fn speak(version: u32, request: v1::RegisterRequest) -> v1::RegisterRequest {
        v1::RegisterRequest { protocol: version, release: Self::own().release, ..request }
    }
}

/// The version that an end with these versions speaks with one whose newest is that, if there is one.
fn agreed(spoken: &RangeInclusive<u32>, newest: u32) -> Option<u32> {
    Some(newest.min(*spoken.end())).filter(|version| spoken.contains(version))
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.release[..] {
            "" => f.write_str("an unnamed release")?,
            release => write!(f, "diadem {release}")?,
        }
        write!(f, ", version {} of the protocol", self.version)
    }
}

/// Worker and coordinator cannot speak with each other.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the {peer} uses another protocol ({theirs}) than this {own} ({ours}): use the coordinator's release"
)]
pub struct ProtocolError {
    peer: &'static str,
    own: &'static str,
    theirs: Protocol,
    ours: Protocol,
}

impl ProtocolError {
    /// A release is shown only if it can be read on a terminal.
    fn new(peer: &'static str, own: &'static str, version: u32, release: &str) -> Self {
        let is_fit = release.len() <= LONGEST_RELEASE && release.chars().all(|c| c.is_ascii_graphic());
        let theirs = Protocol { version, release: if is_fit { release.to_owned() } else { String::new() } };
        Self { peer, own, theirs, ours: Protocol::own() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registration(protocol: u32) -> v1::RegisterRequest {
        v1::RegisterRequest { protocol, release: "9.2".into(), ..v1::RegisterRequest::default() }
    }

    #[test]
    fn worker_speaks_newest_version_of_both() {
        for (own, newest, version) in [
            (1..=1, 1, Some(1)),
            (1..=1, 7, Some(1)),
            (1..=2, 1, Some(1)),
            (2..=3, 3, Some(3)),
            (2..=3, 1, None),
        ] {
            assert_eq!(agreed(&own, newest), version, "{own:?} {newest}");
        }
    }

    #[test]
    fn another_version_is_refused_by_name() {
        assert_eq!(Protocol::admit(&registration(1)), Ok(()));
        let own = Protocol::own().to_string();
        for version in [0, 2, u32::MAX] {
            let refused = Protocol::admit(&registration(version)).unwrap_err().to_string();
            let theirs = format!("diadem 9.2, version {version} of the protocol");
            assert!(refused.contains(&theirs) && refused.contains(&own), "{refused}");
        }
        let old = v1::PlanReply { release: "9.2".into(), ..v1::PlanReply::default() };
        let refused = Protocol::agree(&old).unwrap_err().to_string();
        assert!(refused.contains("diadem 9.2, version 0 ") && refused.contains(&own), "{refused}");
    }

    #[test]
    fn unreadable_release_is_not_shown() {
        let long = "9".repeat(LONGEST_RELEASE + 1);
        for release in ["9\n", &long, "9 \u{1b}[2J"] {
            let request = v1::RegisterRequest { release: release.into(), ..registration(6) };
            let refused = Protocol::admit(&request).unwrap_err().to_string();
            assert!(refused.contains("an unnamed release, version 6"), "{refused}");
        }
    }

    #[test]
    fn both_ends_send_version_and_release() {
        let spoken = Protocol::speak(1, v1::RegisterRequest::default());
        assert_eq!((spoken.protocol, &*spoken.release), (1, env!("CARGO_PKG_VERSION")));
        let announced = Protocol::announce(v1::PlanReply::default());
        assert_eq!((announced.protocol, &*announced.release), (1, env!("CARGO_PKG_VERSION")));
    }
}

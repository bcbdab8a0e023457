//! Versions of the wire's contract, so that releases are replaced one machine after the other in the middle of a run.
//!
//! ```text
//! the coordinator, with its plan:  which versions it speaks, and its release
//! the worker, as it registers:     the highest version that both speak, and its release; or it leaves with a sentence
//! the coordinator:                 refuses a version that it does not speak, with a sentence
//! ```
//!
//! Releases of before say nothing, which is version 0; they refuse requests with fields that they do not know, so none of
//! a later version is sent to them.

use std::fmt;

use thiserror::Error;

use crate::v1;

/// The newest version that this release speaks. It goes up with whatever one that speaks the version before would
/// misunderstand or refuse.
const NEWEST: u32 = 1;

/// The oldest version that this release speaks: that of releases which said nothing of versions.
const OLDEST: u32 = 0;

/// The longest name of a release, in bytes.
const LONGEST_RELEASE: usize = 40;

/// The versions of the contract that a release speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    oldest: u32,
    newest: u32,
    release: String,
}

impl Protocol {
    /// What this release speaks.
    pub fn own() -> Self {
        Self { oldest: OLDEST, newest: NEWEST, release: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// What a coordinator speaks, as it has said.
    pub fn of_coordinator(reply: &v1::PlanReply) -> Self {
        Self { oldest: reply.oldest_protocol, newest: reply.protocol, release: shown(&reply.release) }
    }

    /// The highest version that this worker and that coordinator both speak.
    ///
    /// # Errors
    /// There is none.
    pub fn agree(&self, coordinator: &Self) -> Result<u32, ProtocolError> {
        let version = self.newest.min(coordinator.newest);
        if version >= self.oldest.max(coordinator.oldest) {
            return Ok(version);
        }
        Err(ProtocolError::Coordinator { coordinator: coordinator.clone(), worker: self.clone() })
    }

    /// Whether a worker can be dealt with that registers so.
    ///
    /// # Errors
    /// It speaks another version.
    pub fn admit(&self, request: &v1::RegisterRequest) -> Result<(), ProtocolError> {
        let spoken = request.protocol;
        if (self.oldest..=self.newest).contains(&spoken) {
            return Ok(());
        }
        let worker = Self { oldest: spoken, newest: spoken, release: shown(&request.release) };
        Err(ProtocolError::Worker { worker, coordinator: self.clone() })
    }

    /// What is said with the plan.
    pub fn announce(self, reply: v1::PlanReply) -> v1::PlanReply {
        let Self { oldest, newest, release } = self;
        v1::PlanReply { protocol: newest, oldest_protocol: oldest, release, ..reply }
    }

    /// What a worker says as it registers, where it speaks that version with its coordinator.
    pub fn speak(self, version: u32, request: v1::RegisterRequest) -> v1::RegisterRequest {
        if version == 0 {
            return request;
        }
        v1::RegisterRequest { protocol: version, release: self.release, ..request }
    }
}

/// What somebody calls a release, as far as it can be shown.
fn shown(release: &str) -> String {
    let is_fit = release.len() <= LONGEST_RELEASE && release.chars().all(|c| c.is_ascii_graphic());
    if is_fit { release.to_owned() } else { String::new() }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.release[..] {
            "" => f.write_str("an unnamed release")?,
            release => write!(f, "diadem {release}")?,
        }
        match (self.oldest, self.newest) {
            (oldest, newest) if oldest == newest => write!(f, ", version {newest} of the protocol"),
            (oldest, newest) => write!(f, ", versions {oldest} to {newest} of the protocol"),
        }
    }
}

/// Worker and coordinator cannot speak with each other.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// As the worker sees it.
    #[error(
        "the coordinator speaks another language ({coordinator}) than this worker ({worker}): use the coordinator's release"
    )]
    Coordinator {
        /// What the coordinator speaks.
        coordinator: Protocol,
        /// What this worker speaks.
        worker: Protocol,
    },
    /// As the coordinator sees it.
    #[error(
        "the worker speaks another language ({worker}) than this coordinator ({coordinator}): use the coordinator's release"
    )]
    Worker {
        /// What the worker speaks with this coordinator.
        worker: Protocol,
        /// What this coordinator speaks.
        coordinator: Protocol,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speaks(oldest: u32, newest: u32) -> Protocol {
        Protocol { oldest, newest, release: "7.1".into() }
    }

    fn registration(protocol: u32) -> v1::RegisterRequest {
        v1::RegisterRequest { protocol, release: "9.2".into(), ..v1::RegisterRequest::default() }
    }

    #[test]
    fn two_agree_on_the_highest_version_that_both_speak() {
        for (worker, coordinator, agreed) in [
            (speaks(0, 1), speaks(0, 0), 0),
            (speaks(0, 1), speaks(0, 1), 1),
            (speaks(0, 1), speaks(1, 5), 1),
            (speaks(2, 9), speaks(0, 2), 2),
        ] {
            assert_eq!(worker.agree(&coordinator), Ok(agreed));
        }
        for (worker, coordinator) in [(speaks(0, 1), speaks(2, 5)), (speaks(1, 4), speaks(0, 0))] {
            let refused = worker.agree(&coordinator).unwrap_err().to_string();
            assert!(refused.contains(&coordinator.to_string()) && refused.contains("use"), "{refused}");
        }
    }

    #[test]
    fn a_coordinator_admits_the_versions_that_it_speaks_and_names_another_one() {
        for version in 3..=5 {
            assert_eq!(speaks(3, 5).admit(&registration(version)), Ok(()));
        }
        for version in [0, 2, 6, u32::MAX] {
            let refused = speaks(3, 5).admit(&registration(version)).unwrap_err().to_string();
            for part in [&format!("diadem 9.2, version {version} "), "diadem 7.1, versions 3 to 5 "] {
                assert!(refused.contains(part), "{refused}");
            }
        }
    }

    #[test]
    fn a_release_that_nobody_would_want_to_read_is_not_shown() {
        let long = "9".repeat(LONGEST_RELEASE + 1);
        for release in ["9\n", &long, "9 \u{1b}[2J"] {
            let request = v1::RegisterRequest { release: release.into(), ..registration(6) };
            let refused = speaks(3, 5).admit(&request).unwrap_err().to_string();
            assert!(refused.contains("an unnamed release, version 6"), "{refused}");
        }
    }

    #[test]
    fn nothing_is_said_to_releases_of_before() {
        let request = v1::RegisterRequest::default();
        assert_eq!(Protocol::own().speak(0, request.clone()), request);
        let spoken = Protocol::own().speak(1, request);
        assert_eq!((spoken.protocol, spoken.release.as_str()), (1, env!("CARGO_PKG_VERSION")));
    }
}

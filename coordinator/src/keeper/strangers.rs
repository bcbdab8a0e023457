//! Workers that speak another version of the wire's contract and were turned away: the log tells of each host once, within
//! the lines that its owner may give occasion to. A service manager starts such a worker again and again.

use std::collections::BTreeSet;
use std::net::IpAddr;

use domain::Owner;
use tracing::warn;

use super::Keeper;

/// Of so many it is remembered that the log has told of them; of those that come then it tells whenever they come.
const MOST_REMEMBERED: usize = 1000;

/// A worker that was turned away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stranger {
    pub owner: Owner,
    /// Where it called from, if that is known.
    pub host: Option<IpAddr>,
    /// What it was told.
    pub why: String,
}

/// Those of which the log has told.
pub(super) type Strangers = BTreeSet<Stranger>;

impl Keeper {
    /// A worker was turned away.
    pub(super) fn hear_of_stranger(&mut self, stranger: Stranger) {
        if self.strangers.contains(&stranger) || !self.may_log(&stranger.owner) {
            return;
        }
        let host = stranger.host.map_or_else(String::new, |host| host.to_string());
        warn!(host, owner = %stranger.owner, "a worker is refused: {}", stranger.why);
        if self.strangers.len() < MOST_REMEMBERED {
            self.strangers.insert(stranger);
        }
    }
}

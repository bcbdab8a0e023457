//! Who calls: the owner as whom a call was let in, and what that owner may do.

use proto::Owner;

/// What a bearer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Right {
    /// Read the status.
    Read,
    /// Take part.
    Join,
    /// Keep a copy of the ledger and the lease key.
    Follow,
    /// Take counts back, change the policy of the run.
    Admin,
    /// Everything: there is nothing to present.
    All,
}

impl Right {
    /// Whether it lets do what needs the other one. Everybody who has one may read.
    pub fn allows(self, needed: Right) -> bool {
        self == needed || self == Right::All || needed == Right::Read
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
}

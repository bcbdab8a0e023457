//! The tokens that are let in, whose they are, and which owners are not let in any more.

use std::collections::BTreeSet;

use proto::{AccessToken, Owner};

use crate::access::caller::{Caller, Right};

/// The tokens that are let in, and the owners that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bearers {
    tokens: Vec<(blake3::Hash, Caller)>,
    revoked: BTreeSet<Owner>,
}

impl Bearers {
    /// Lets in whoever shows the token, as that owner.
    pub fn admit(&mut self, token: &AccessToken, owner: Owner, right: Right) {
        self.tokens.push((hash(token), Caller { owner, right }));
    }

    /// Lets an owner in no more, whatever it shows.
    pub fn revoke(&mut self, owner: Owner) {
        self.revoked.insert(owner);
    }

    /// The owners that are let in no more.
    pub fn revoked(&self) -> impl Iterator<Item = &Owner> {
        self.revoked.iter()
    }

    /// Whether the owner is let in no more.
    pub(super) fn is_revoked(&self, owner: &Owner) -> bool {
        self.revoked.contains(owner)
    }

    /// Whether a token lets take part.
    pub fn can_join(&self) -> bool {
        self.tokens.iter().any(|(_, caller)| caller.right == Right::Join)
    }

    /// Whether there is no token at all.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Who shows this, in a call's metadata.
    pub(super) fn caller(&self, authorization: &[u8]) -> Option<&Caller> {
        self.of(&AccessToken::from_bearer(authorization).ok()?)
    }

    /// Whose token it is. Hashes are compared, all of them, and in constant time (as [`blake3::Hash`] promises), so that
    /// the time tells nothing about the tokens.
    pub(super) fn of(&self, token: &AccessToken) -> Option<&Caller> {
        let presented = hash(token);
        let known = self.tokens.iter().map(|(known, caller)| (*known == presented).then_some(caller));
        known.fold(None, Option::or)
    }
}

fn hash(token: &AccessToken) -> blake3::Hash {
    blake3::hash(token.expose().as_bytes())
}

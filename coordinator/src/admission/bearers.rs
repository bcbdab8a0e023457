//! The accepted tokens with their owners, and the revoked owners.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use domain::{AccessToken, Owner};

use super::caller::{Caller, Right};

/// The hash of a token. It identifies the token's owner, but cannot be used as a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(blake3::Hash);

impl TokenHash {
    /// The hash of this token.
    pub fn of(token: &AccessToken) -> Self {
        Self(blake3::hash(token.expose().as_bytes()))
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TokenHash {
    type Err = blake3::HexError;

    fn from_str(digits: &str) -> Result<Self, Self::Err> {
        digits.parse().map(Self)
    }
}

/// The accepted tokens, and the revoked owners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bearers {
    tokens: Vec<(TokenHash, Caller)>,
    revoked: BTreeSet<Owner>,
}

impl Bearers {
    /// Accepts callers with this token as this owner with this right.
    pub fn admit(&mut self, token: &AccessToken, owner: Owner, right: Right) {
        self.tokens.push((TokenHash::of(token), Caller { owner, right }));
    }

    /// Refuses an owner from now on, with any credentials.
    pub fn revoke(&mut self, owner: Owner) {
        self.revoked.insert(owner);
    }

    /// The revoked owners.
    pub fn revoked(&self) -> impl Iterator<Item = &Owner> {
        self.revoked.iter()
    }

    /// True if the owner is revoked.
    pub(crate) fn is_revoked(&self, owner: &Owner) -> bool {
        self.revoked.contains(owner)
    }

    /// True if a token gives the right to take part.
    pub fn can_join(&self) -> bool {
        self.tokens.iter().any(|(_, caller)| caller.right == Right::Join)
    }

    /// True if no token is accepted.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The caller with this authorization metadata, if its token is accepted.
    pub(crate) fn caller(&self, authorization: &[u8]) -> Option<&Caller> {
        self.of(TokenHash::of(&AccessToken::from_bearer(authorization).ok()?))
    }

    /// The caller with this token. All hashes are compared, each in constant time (as [`blake3::Hash`] promises), so
    /// that the time reveals nothing about the tokens.
    pub(super) fn of(&self, presented: TokenHash) -> Option<&Caller> {
        let known = self.tokens.iter().map(|(known, caller)| (*known == presented).then_some(caller));
        known.fold(None, Option::or)
    }
}

//! The tokens that are let in, whose they are, and which owners are not let in any more.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use domain::{AccessToken, Owner};

use super::caller::{Caller, Right};

/// The hash of a token. It tells whose that is, and is none itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(blake3::Hash);

impl TokenHash {
    /// That of a token.
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

/// The tokens that are let in, and the owners that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bearers {
    tokens: Vec<(TokenHash, Caller)>,
    revoked: BTreeSet<Owner>,
}

impl Bearers {
    /// Lets in whoever shows the token, as that owner.
    pub fn admit(&mut self, token: &AccessToken, owner: Owner, right: Right) {
        self.tokens.push((TokenHash::of(token), Caller { owner, right }));
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
    pub(crate) fn is_revoked(&self, owner: &Owner) -> bool {
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
    pub(crate) fn caller(&self, authorization: &[u8]) -> Option<&Caller> {
        self.of(TokenHash::of(&AccessToken::from_bearer(authorization).ok()?))
    }

    /// Whose token it is. Hashes are compared, all of them, and in constant time (as [`blake3::Hash`] promises), so that
    /// the time tells nothing about the tokens.
    pub(super) fn of(&self, presented: TokenHash) -> Option<&Caller> {
        let known = self.tokens.iter().map(|(known, caller)| (*known == presented).then_some(caller));
        known.fold(None, Option::or)
    }
}

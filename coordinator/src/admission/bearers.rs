//! The accepted tokens with their owners, and the revoked owners.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

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

/// A token that is accepted until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bearer {
    token: TokenHash,
    caller: Caller,
    expiry: Option<SystemTime>,
}

impl Bearer {
    fn has_expired(&self) -> bool {
        self.expiry.is_some_and(|expiry| SystemTime::now() >= expiry)
    }
}

/// The accepted tokens, and the revoked owners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bearers {
    tokens: Vec<Bearer>,
    revoked: BTreeSet<Owner>,
}

impl Bearers {
    /// Accepts callers with this token as this owner with this right.
    pub fn admit(&mut self, token: &AccessToken, owner: Owner, right: Right) {
        self.admit_until(token, owner, right, None);
    }

    /// Accepts callers with this token until it expires.
    pub fn admit_until(
        &mut self,
        token: &AccessToken,
        owner: Owner,
        right: Right,
        expiry: Option<SystemTime>,
    ) {
        self.tokens.push(Bearer { token: TokenHash::of(token), caller: Caller { owner, right }, expiry });
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
        self.tokens.iter().any(|bearer| bearer.caller.right == Right::Join)
    }

    /// True if no token is accepted.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The caller with this authorization metadata, if its token is accepted.
    pub(crate) fn caller(&self, authorization: &[u8]) -> Option<&Caller> {
        self.of(TokenHash::of(&AccessToken::from_bearer(authorization).ok()?))
    }

    /// The owner whose token this authorization metadata has, if the token has expired.
    pub(crate) fn expired(&self, authorization: &[u8]) -> Option<&Owner> {
        let presented = TokenHash::of(&AccessToken::from_bearer(authorization).ok()?);
        self.listed(presented).filter(|bearer| bearer.has_expired()).map(|bearer| &bearer.caller.owner)
    }

    /// The caller with this token, unless it has expired.
    pub(super) fn of(&self, presented: TokenHash) -> Option<&Caller> {
        self.listed(presented).filter(|bearer| !bearer.has_expired()).map(|bearer| &bearer.caller)
    }

    /// The entry of this token. All hashes are compared, each in constant time (as [`blake3::Hash`] promises), so that the
    /// time reveals nothing about the tokens.
    fn listed(&self, presented: TokenHash) -> Option<&Bearer> {
        let known = self.tokens.iter().map(|bearer| (bearer.token == presented).then_some(bearer));
        known.fold(None, Option::or)
    }
}

//! The token that a call carries, so that it can come from a file or the environment and end up in no log.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The prefix of the token in a call.
const SCHEME: &str = "Bearer ";

/// Minimum length of a token, so that it cannot be guessed. Tokens made by diadem have 64 digits.
const MIN_TOKEN_LENGTH: usize = 32;

/// Longer ones are not looked at.
const MAX_TOKEN_LENGTH: usize = 256;

/// A secret that lets its bearer join a run or read its status. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

/// A text that is no token; it is not repeated here, because it may be one almost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a token has {MIN_TOKEN_LENGTH} to {MAX_TOKEN_LENGTH} visible ASCII characters and no spaces")]
pub struct TokenError;

impl AccessToken {
    /// The value of the header `authorization`, not to be shown.
    pub fn to_bearer(&self) -> String {
        format!("{SCHEME}{}", self.0)
    }

    /// The token in a value of that header.
    ///
    /// # Errors
    /// The scheme is not `Bearer`, or the rest is no token.
    pub fn from_bearer(value: &[u8]) -> Result<Self, TokenError> {
        let (scheme, token) = value.split_at_checked(SCHEME.len()).ok_or(TokenError)?;
        // RFC 7235 compares schemes without case.
        if !scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) {
            return Err(TokenError);
        }
        std::str::from_utf8(token).map_err(|_| TokenError)?.parse()
    }

    /// Its characters, for a private file or a hash. Never show them.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for AccessToken {
    type Err = TokenError;
    fn from_str(text: &str) -> Result<Self, TokenError> {
        let fits = (MIN_TOKEN_LENGTH..=MAX_TOKEN_LENGTH).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(TokenError)
        }
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_round_trips_through_header_and_is_not_shown() {
        let text = "0123456789abcdef0123456789abcdef";
        let token: AccessToken = text.parse().unwrap();
        assert_eq!(AccessToken::from_bearer(token.to_bearer().as_bytes()), Ok(token.clone()));
        assert_eq!(AccessToken::from_bearer(format!("bearer {text}").as_bytes()), Ok(token.clone()));
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn invalid_token_is_refused_and_not_repeated() {
        let long = "x".repeat(MAX_TOKEN_LENGTH + 1);
        for text in
            ["", "short", "0123456789abcdef 0123456789abcdef", "0123456789abcdef0123456789abcdé", &long]
        {
            let error = text.parse::<AccessToken>().unwrap_err().to_string();
            assert!(text.is_empty() || !error.contains(text), "{error}");
        }
        let basic = b"Basic 0123456789abcdef0123456789abcdef";
        assert_eq!(AccessToken::from_bearer(basic), Err(TokenError));
    }
}

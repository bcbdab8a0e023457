//! The metadata of a call: the token, and the mark of a permanent refusal.

use domain::AccessToken;
use tonic::Status;
use tonic::metadata::{Ascii, MetadataValue};

/// The metadata key under which a call carries its token.
pub const AUTHORIZATION: &str = "authorization";

/// The metadata key of a permanent refusal. After a refusal without this key a caller waits, because a token or a right
/// may return, for example while keys are replaced.
const FOR_GOOD: &str = "diadem-for-good";

/// Marks a refusal as permanent: the caller is revoked.
pub fn for_good(mut refusal: Status) -> Status {
    refusal.metadata_mut().insert(FOR_GOOD, MetadataValue::from_static("1"));
    refusal
}

/// True if a refusal is permanent. Earlier coordinators do not set this mark.
pub fn is_for_good(status: &Status) -> bool {
    status.metadata().contains_key(FOR_GOOD)
}

/// The value of the metadata key [`AUTHORIZATION`] for that token; it is not shown in logs.
pub fn bearer(token: &AccessToken) -> MetadataValue<Ascii> {
    let mut value: MetadataValue<Ascii> = token.to_bearer().parse().expect("a token is visible ASCII");
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_carries_its_token_and_is_not_shown() {
        let token: AccessToken = "0123456789abcdef0123456789abcdef".parse().unwrap();
        let bearer = bearer(&token);
        assert_eq!(AccessToken::from_bearer(bearer.as_bytes()), Ok(token));
        assert!(!format!("{bearer:?}").contains("0123"));
    }
}

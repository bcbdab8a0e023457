//! When a token expires.

use std::fmt;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcDateTime};

/// Stands before the time in a file of tokens. No owner's name has this sign.
const MARK: &str = "until=";

/// The time from which on a token is refused, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry(OffsetDateTime);

impl Expiry {
    /// Expiry at that time.
    pub fn at(time: SystemTime) -> Self {
        let time = OffsetDateTime::from(time);
        Self(time.replace_nanosecond(0).unwrap_or(time))
    }

    /// Expiry so many days from now.
    pub fn in_days(days: u32) -> Self {
        Self::at(SystemTime::now() + Duration::from_secs(u64::from(days) * 24 * 3600))
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> u64 {
        u64::try_from(self.0.unix_timestamp()).unwrap_or(0)
    }

    /// The time.
    pub fn time(self) -> SystemTime {
        self.0.into()
    }

    /// True if it has expired by then.
    pub fn is_over(self, now: SystemTime) -> bool {
        now >= self.time()
    }

    /// The word for a file of tokens.
    pub fn word(self) -> String {
        format!("{MARK}{}", self.0.format(&Rfc3339).unwrap_or_default())
    }

    /// The expiry in a word of a file of tokens; `None` if the word is something else.
    ///
    /// # Errors
    /// The word has the mark of an expiry, and no time.
    pub fn from_word(word: &str) -> Option<anyhow::Result<Self>> {
        word.strip_prefix(MARK).map(|time| {
            let time = OffsetDateTime::parse(time, &Rfc3339);
            time.map(Self).with_context(|| format!("{word} is no time such as {MARK}2027-01-31T12:00:00Z"))
        })
    }
}

/// The day, and the time in UTC.
impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let utc = UtcDateTime::from(self.0);
        write!(f, "{} {:02}:{:02} UTC", utc.date(), utc.hour(), utc.minute())
    }
}

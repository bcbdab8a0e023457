//! Limits the log lines about each owner.

use std::collections::HashMap;
use std::time::Duration;

use domain::Owner;

use crate::token_bucket::TokenBucket;

/// Maximum burst of log lines about an owner.
const LINE_BURST: u32 = 2000;
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// The remaining log lines of each owner, so that no owner fills the disk.
#[derive(Debug, Default)]
pub struct LogLines(HashMap<Owner, (TokenBucket, u64)>);

impl LogLines {
    /// The permission to write a line about the owner, with the number of lines omitted since the last one; none if no
    /// line may be written.
    pub fn take(&mut self, now: Duration, owner: &Owner) -> Option<u64> {
        if !self.0.contains_key(owner) {
            self.0.insert(owner.clone(), (TokenBucket::new(LINE_BURST, LINE_INTERVAL), 0));
        }
        let (bucket, left_out) = self.0.get_mut(owner)?;
        if bucket.take(now) {
            Some(std::mem::take(left_out))
        } else {
            *left_out += 1;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_per_owner_are_bounded_and_omissions_kept() {
        let mut lines = LogLines::default();
        let (loud, quiet) = (Owner::new("loud"), Owner::new("quiet"));
        let written = (0..5000).filter(|_| lines.take(Duration::ZERO, &loud).is_some()).count();
        assert_eq!(written, LINE_BURST as usize);
        assert_eq!(lines.take(Duration::ZERO, &quiet), Some(0));
        assert_eq!(lines.take(LINE_INTERVAL, &loud), Some(5000 - u64::from(LINE_BURST)));
    }
}

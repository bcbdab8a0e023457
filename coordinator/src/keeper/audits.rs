//! The audits that go on in the background: what they are made for, and when one that could not be made is made again.

use std::time::Duration;

use crate::audit::AuditError;
use crate::ledger::LedgerError;

/// An audit that could not be begun, or not read the ledger, is made again after this time.
const AGAIN: Duration = Duration::from_secs(10);

/// So often a disk may fail to give the ledger, one time after the other, before that is the last word.
const MOST_FAILURES: u32 = 5;

/// What is known of the audits of a run.
#[derive(Debug)]
pub(super) struct Audits {
    /// Whether the counts are known that were on record when this process began: the checkpoint does not keep them.
    pub is_read: bool,
    /// Whether the audit is under way that reads them.
    pub is_reading: bool,
    /// How many audits in a row could not read the ledger.
    failures: u32,
    /// None begins before.
    next: Duration,
}

impl Audits {
    /// None was made yet of a run with so many records.
    pub fn of(records: u64) -> Self {
        Self { is_read: records == 0, is_reading: false, failures: 0, next: Duration::ZERO }
    }

    /// Whether one may begin.
    pub fn may_begin(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// One could not begin: a moment later one may.
    pub fn put_off(&mut self, now: Duration) {
        self.next = now.saturating_add(AGAIN);
    }

    /// One has read the ledger.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// One has failed; says whether it is made again in a moment: the disk would not give the ledger, or the audit itself broke
    /// down, which says nothing of what is in the ledger.
    pub fn may_repeat(&mut self, now: Duration, error: &AuditError) -> bool {
        let says_nothing = matches!(error, AuditError::Ledger(LedgerError::Io { .. }) | AuditError::Died);
        if !says_nothing || self.failures >= MOST_FAILURES {
            return false;
        }
        self.failures += 1;
        self.put_off(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_that_broke_down_is_made_again_some_times_and_one_that_found_something_is_not() {
        let mut audits = Audits::of(1);
        assert!(!audits.may_repeat(Duration::ZERO, &AuditError::Short) && audits.may_begin(Duration::ZERO));
        for _ in 0..MOST_FAILURES {
            assert!(audits.may_repeat(Duration::ZERO, &AuditError::Died));
            assert!(!audits.may_begin(Duration::ZERO) && audits.may_begin(AGAIN));
        }
        assert!(!audits.may_repeat(Duration::ZERO, &AuditError::Died));
    }
}

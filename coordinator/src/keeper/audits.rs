//! The audits that go on in the background: what they are made for, and when one that could not be made is made again.

use std::time::Duration;

use crate::audit::{Audit, AuditError};
use crate::ledger::{LedgerError, LedgerPosition};
use crate::standing::{Marks, Standing, Sums};

/// An audit that could not be begun, or not read the ledger, is made again after this time.
const AGAIN: Duration = Duration::from_secs(10);

/// So often a disk may fail to give the ledger, one time after the other, before that is the last word.
const MOST_FAILURES: u32 = 5;

/// What was on record when this process began, as far as its checkpoint keeps it.
#[derive(Debug)]
pub(super) struct Opening {
    /// Up to where.
    pub end: LedgerPosition,
    sums: Sums,
    marks: Marks,
}

impl Opening {
    /// What stands there.
    pub fn of(end: &LedgerPosition, standing: &Standing) -> Self {
        Self { end: end.clone(), sums: standing.sums().clone(), marks: standing.marks().clone() }
    }

    /// Compares it with what an audit has read up to there.
    ///
    /// # Errors
    /// The ledger says something else.
    pub fn compare(&self, audit: &Audit) -> Result<(), AuditError> {
        let found = &audit.standing;
        let is_same = self.sums.agrees_with(found.sums()) && self.marks == *found.marks();
        if is_same { Ok(()) } else { Err(AuditError::Differs) }
    }
}

/// What is known of the audits of a run.
#[derive(Debug)]
pub(super) struct Audits {
    /// Until the counts are known that were on record when this process began: the checkpoint does not keep them.
    pub opening: Option<Opening>,
    /// Whether the audit is under way that reads them.
    pub is_reading: bool,
    /// How many audits in a row could not read the ledger.
    failures: u32,
    /// None begins before.
    next: Duration,
}

impl Audits {
    /// None was made yet of a run of which that is on record, if anything is.
    pub fn of(opening: Option<Opening>) -> Self {
        Self { opening, is_reading: false, failures: 0, next: Duration::ZERO }
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
        let mut audits = Audits::of(None);
        assert!(!audits.may_repeat(Duration::ZERO, &AuditError::Short) && audits.may_begin(Duration::ZERO));
        for _ in 0..MOST_FAILURES {
            assert!(audits.may_repeat(Duration::ZERO, &AuditError::Died));
            assert!(!audits.may_begin(Duration::ZERO) && audits.may_begin(AGAIN));
        }
        assert!(!audits.may_repeat(Duration::ZERO, &AuditError::Died));
    }
}

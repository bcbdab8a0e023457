//! The audits that go on in the background: what they are made for, and when one that could not be made is made again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tracing::error;

use super::watchdog::{EVERY, LOOKS};
use crate::audit::{Audit, AuditError};
use crate::ledger::{LedgerError, LedgerPosition};
use crate::standing::{Marks, Standing, Sums};

/// An audit that could not be begun, or not read the ledger, is made again after this time.
const AGAIN: Duration = Duration::from_secs(10);

/// So often a disk may fail to give the ledger, one time after the other, before there is no answer where nothing else is left to do,
const MOST_FAILURES: u32 = 5;

/// and before it is asked no oftener than this while units are counted.
const SELDOM: Duration = Duration::from_mins(1);

/// What is told of one that reads nothing: a disk that hangs gives no error.
const HANGS: &str = "the audit has read nothing of the ledger for ten seconds or more; it goes on when the disk of the run answers";

/// How many records audits have read, all together: what an audit shows of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(Arc<AtomicU64>);

impl Progress {
    /// One record more.
    pub fn one_more(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

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
    /// How many audits in a row could not read the ledger,
    failures: u32,
    /// what the last of them said,
    trouble: Option<String>,
    /// and whether all units were counted then.
    is_waited_for: bool,
    /// None begins before.
    next: Duration,
    progress: Progress,
    /// What that was at the last look,
    seen: u64,
    /// how many looks in a row it has been that,
    looks: u32,
    /// and when the next one is due.
    look_next: Duration,
}

impl Audits {
    /// None was made yet of a run of which that is on record, if anything is.
    pub fn of(opening: Option<Opening>) -> Self {
        Self {
            opening,
            is_reading: false,
            failures: 0,
            trouble: None,
            is_waited_for: false,
            next: Duration::ZERO,
            progress: Progress::default(),
            seen: 0,
            looks: 0,
            look_next: Duration::ZERO,
        }
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
        (self.failures, self.trouble) = (0, None);
    }

    /// What an audit shows itself by.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Looks from time to time whether the audit that is under way, if one is, reads on. Says whether it begins or ceases to hang.
    pub fn look(&mut self, now: Duration, is_under_way: bool) -> bool {
        let hung = self.hangs();
        let read = self.progress.0.load(Ordering::Relaxed);
        if !is_under_way || read != self.seen {
            (self.seen, self.looks, self.look_next) = (read, 0, now.saturating_add(EVERY));
        } else if now >= self.look_next {
            (self.looks, self.look_next) = (self.looks.saturating_add(1), now.saturating_add(EVERY));
        }
        if self.hangs() && !hung {
            error!("{HANGS}");
        }
        self.hangs() != hung
    }

    fn hangs(&self) -> bool {
        self.looks >= LOOKS
    }

    /// Why the ledger is not read, if that is tried in vain.
    pub fn trouble(&self) -> Option<&str> {
        if self.hangs() { Some(HANGS) } else { self.trouble.as_deref() }
    }

    /// One has failed; says whether it is made again: the disk would not give the ledger, or the audit itself broke down, which says
    /// nothing of what is in the ledger. While units are to be counted these go on without it; once it is all that the run waits for,
    /// it is not waited for for ever.
    pub fn may_repeat(&mut self, now: Duration, is_waited_for: bool, error: &AuditError) -> bool {
        if is_waited_for && !self.is_waited_for {
            self.failures = 0;
        }
        self.is_waited_for = is_waited_for;
        let says_nothing = matches!(error, AuditError::Ledger(LedgerError::Io { .. }) | AuditError::Died);
        let is_often = self.failures >= MOST_FAILURES;
        if !says_nothing || (is_often && is_waited_for) {
            return false;
        }
        self.failures += 1;
        self.next = now.saturating_add(if is_often { SELDOM } else { AGAIN });
        self.trouble = Some(format!("the ledger could not be audited, which is tried again: {error}"));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_that_reads_nothing_hangs_until_it_reads_on_or_is_over() {
        let mut audits = Audits::of(None);
        let mut now = Duration::ZERO;
        let mut look = |audits: &mut Audits, is_under_way| {
            now += EVERY;
            audits.look(now, is_under_way)
        };
        for is_over in [false, true] {
            audits.progress().one_more();
            assert!(!look(&mut audits, true));
            // None that comes at once says more.
            for _ in 1..LOOKS {
                assert!(!look(&mut audits, true) && !audits.look(Duration::ZERO, true));
            }
            assert_eq!(audits.trouble(), None);
            assert!(look(&mut audits, true));
            assert_eq!(audits.trouble(), Some(HANGS));
            assert!(!look(&mut audits, true));
            if !is_over {
                audits.progress().one_more();
            }
            assert!(look(&mut audits, !is_over));
            assert_eq!(audits.trouble(), None);
        }
        for _ in 0..2 * LOOKS {
            assert!(!look(&mut audits, false), "none is under way");
        }
    }

    #[test]
    fn an_audit_that_broke_down_is_made_again_some_times_and_one_that_found_something_is_not() {
        let mut audits = Audits::of(None);
        let start = Duration::ZERO;
        for is_waited_for in [false, true] {
            assert!(!audits.may_repeat(start, is_waited_for, &AuditError::Short) && audits.may_begin(start));
        }
        for _ in 0..MOST_FAILURES {
            assert!(audits.may_repeat(start, false, &AuditError::Died));
            assert!(!audits.may_begin(start) && audits.may_begin(AGAIN));
        }
        assert!(audits.may_repeat(start, false, &AuditError::Died), "units are counted meanwhile");
        assert!(!audits.may_begin(AGAIN) && audits.may_begin(SELDOM) && audits.trouble().is_some());
        for _ in 0..MOST_FAILURES {
            assert!(audits.may_repeat(start, true, &AuditError::Died), "it is tried as often once they are");
        }
        assert!(!audits.may_repeat(start, true, &AuditError::Died));
        audits.succeeded();
        assert!(audits.may_repeat(start, true, &AuditError::Died) && audits.may_begin(AGAIN));
    }
}

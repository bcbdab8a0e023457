//! The audits that go on in the background: what they are made for, and when one that could not be made is made again.

use std::collections::BTreeMap;
use std::time::Duration;

use records::ledger::{LedgerError, LedgerPosition};
use records::standing::{Marks, Standing, Sums};
use records::{Audit, AuditError};
use tracing::{error, warn};

use super::inbox::AuditReason;
use super::standstill::{Pulse, Standstill};

/// An audit that could not be begun, or not read the ledger, is made again after this time.
const AGAIN: Duration = Duration::from_secs(10);

/// So often a disk may fail to give the ledger, one time after the other, before there is no answer where nothing else is left to do,
const MOST_FAILURES: u32 = 5;

/// and before it is asked no oftener than this while units are counted.
const SELDOM: Duration = Duration::from_mins(1);

/// What is told of one that reads nothing.
const HANGS: &str = "the audit has read nothing of the ledger for ten seconds or more; it goes on when the disk of the run answers";

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
    /// Those that are under way, and whether each reads on.
    under_way: BTreeMap<AuditReason, Standstill>,
    /// How many audits in a row could not read the ledger,
    failures: u32,
    /// what the last of them said,
    trouble: Option<String>,
    /// and whether all units were counted then.
    is_waited_for: bool,
    /// None begins before.
    next: Duration,
}

impl Audits {
    /// None was made yet of a run of which that is on record, if anything is.
    pub fn of(opening: Option<Opening>) -> Self {
        Self {
            opening,
            under_way: BTreeMap::new(),
            failures: 0,
            trouble: None,
            is_waited_for: false,
            next: Duration::ZERO,
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

    /// One has begun, which shows by that pulse that it reads.
    pub fn begun(&mut self, reason: AuditReason, pulse: Pulse, now: Duration) {
        self.under_way.insert(reason, Standstill::of(pulse, now));
    }

    /// Whether one is under way for that reason.
    pub fn is_under_way(&self, reason: AuditReason) -> bool {
        self.under_way.contains_key(&reason)
    }

    /// The one for that reason is over.
    pub fn ended(&mut self, reason: AuditReason) {
        self.under_way.remove(&reason);
    }

    /// The run has ended: none is waited for.
    pub fn let_go(&mut self) {
        self.under_way.clear();
    }

    /// One has read the ledger.
    pub fn succeeded(&mut self) {
        (self.failures, self.trouble) = (0, None);
    }

    /// Looks whether those that are under way read on. Says whether it begins or ceases that one hangs.
    pub fn look(&mut self, now: Duration) -> bool {
        let hung = self.is_one_hanging();
        self.under_way.values_mut().for_each(|audit| audit.look(now));
        if self.is_one_hanging() && !hung {
            error!("{HANGS}");
        }
        self.is_one_hanging() != hung
    }

    fn is_one_hanging(&self) -> bool {
        self.under_way.values().any(Standstill::is_hanging)
    }

    /// Why the ledger is not read, if that is tried in vain.
    pub fn trouble(&self) -> Option<&str> {
        if self.is_one_hanging() { Some(HANGS) } else { self.trouble.as_deref() }
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
        let trouble = format!("the ledger could not be audited, which is tried again: {error}");
        warn!("{trouble}");
        self.trouble = Some(trouble);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::standstill::{EVERY, LOOKS};

    #[test]
    fn audit_hangs_until_it_reads_again_or_ends() {
        let (mut audits, pulse, mut now) = (Audits::of(None), Pulse::default(), Duration::ZERO);
        audits.begun(AuditReason::Resumption, pulse.clone(), now);
        for is_last in [false, true] {
            pulse.beat();
            for _ in 0..LOOKS {
                assert!(!audits.look(now));
                assert_eq!(audits.trouble(), None);
                now += EVERY;
            }
            assert!(audits.look(now));
            assert_eq!(audits.trouble(), Some(HANGS));
            assert!(!audits.look(now + EVERY), "that is told once");
            if is_last {
                audits.ended(AuditReason::Resumption);
            } else {
                pulse.beat();
                assert!(audits.look(now));
            }
            assert_eq!(audits.trouble(), None);
        }
    }

    #[test]
    fn hanging_audit_is_reported_beside_reading_audit() {
        let both = [AuditReason::Resumption, AuditReason::Answer];
        for (hangs, reads) in [(both[0], both[1]), (both[1], both[0])] {
            let (mut audits, pulse, mut now) = (Audits::of(None), Pulse::default(), Duration::ZERO);
            audits.begun(hangs, Pulse::default(), now);
            audits.begun(reads, pulse.clone(), now);
            for look in 1..=2 * LOOKS {
                now += EVERY;
                pulse.beat();
                assert_eq!(audits.look(now), look == LOOKS);
            }
            audits.ended(reads);
            assert_eq!(audits.trouble(), Some(HANGS));
            audits.let_go();
            assert_eq!(audits.trouble(), None);
        }
    }

    #[test]
    fn crashed_audit_is_retried_and_failed_audit_is_not() {
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

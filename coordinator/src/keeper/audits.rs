//! Audits in the background: their reasons, and when a failed audit is repeated.

use std::collections::BTreeMap;
use std::time::Duration;

use records::ledger::LedgerPosition;
use records::standing::{Marks, Standing, Sums};
use records::{Audit, AuditError};
use tracing::{error, warn};

use super::inbox::AuditReason;
use super::standstill::{Pulse, Standstill};

/// Time before an audit that could not start or could not read the ledger is repeated.
const RETRY_TIME: Duration = Duration::from_secs(10);

/// Number of failed audits in a row after which the answer is withheld, if nothing else is left to do.
const MAX_FAILURES: u32 = 5;

/// After this many failures, time between two audits while units are still counted.
const SLOW_RETRY_TIME: Duration = Duration::from_mins(1);

/// The message about an audit that reads nothing.
const HANGING_AUDIT: &str = "the audit has read nothing for ten seconds; it continues when the disk of \
                             the run answers";

/// The records at the start of this process, as its checkpoint has them.
#[derive(Debug)]
pub(super) struct Opening {
    /// The end of these records.
    pub end: LedgerPosition,
    sums: Sums,
    marks: Marks,
}

impl Opening {
    /// The state at this position of the ledger.
    pub fn of(end: &LedgerPosition, standing: &Standing) -> Self {
        Self { end: end.clone(), sums: standing.sums().clone(), marks: standing.marks().clone() }
    }

    /// Compares the checkpoint with the records that an audit has read up to the same position.
    ///
    /// # Errors
    /// The ledger differs from the checkpoint.
    pub fn compare(&self, audit: &Audit) -> Result<(), AuditError> {
        let found = &audit.standing;
        let is_same = self.sums.agrees_with(found.sums()) && self.marks == *found.marks();
        if is_same { Ok(()) } else { Err(AuditError::Differs) }
    }
}

/// The audits of a run.
#[derive(Debug)]
pub(super) struct Audits {
    /// The records at the start of this process, until their counts have been read. The checkpoint does not contain
    /// them.
    pub opening: Option<Opening>,
    /// The running audits, and whether each makes progress.
    under_way: BTreeMap<AuditReason, Standstill>,
    /// The number of audits in a row that could not read the ledger.
    failures: u32,
    /// The error of the last failed audit.
    trouble: Option<String>,
    /// True if all units were counted at the last failure.
    is_waited_for: bool,
    /// No audit starts before this time.
    next: Duration,
}

impl Audits {
    /// No audits yet. `opening` holds the records at the start, if there are any.
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

    /// True if an audit may start.
    pub fn may_begin(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// Notes that an audit could not start, and delays the next attempt.
    pub fn put_off(&mut self, now: Duration) {
        self.next = now.saturating_add(RETRY_TIME);
    }

    /// Notes that an audit has started. `pulse` shows its progress.
    pub fn begun(&mut self, reason: AuditReason, pulse: Pulse, now: Duration) {
        self.under_way.insert(reason, Standstill::of(pulse, now));
    }

    /// True if an audit with this reason is running.
    pub fn is_under_way(&self, reason: AuditReason) -> bool {
        self.under_way.contains_key(&reason)
    }

    /// Notes that the audit with this reason has ended.
    pub fn ended(&mut self, reason: AuditReason) {
        self.under_way.remove(&reason);
    }

    /// Forgets running audits: the run has ended.
    pub fn forget_running(&mut self) {
        self.under_way.clear();
    }

    /// Notes that an audit has read the ledger.
    pub fn succeeded(&mut self) {
        (self.failures, self.trouble) = (0, None);
    }

    /// Checks the progress of running audits. Returns true if an audit starts or ceases to hang.
    pub fn look(&mut self, now: Duration) -> bool {
        let hung = self.is_one_hanging();
        self.under_way.values_mut().for_each(|audit| audit.look(now));
        if self.is_one_hanging() && !hung {
            error!("{HANGING_AUDIT}");
        }
        self.is_one_hanging() != hung
    }

    fn is_one_hanging(&self) -> bool {
        self.under_way.values().any(Standstill::is_hanging)
    }

    /// The reason why the ledger cannot be read, if it cannot.
    pub fn trouble(&self) -> Option<&str> {
        if self.is_one_hanging() { Some(HANGING_AUDIT) } else { self.trouble.as_deref() }
    }

    /// Notes that an audit failed. Returns true if it is repeated: the disk could not return the ledger, or the audit
    /// crashed, which proves nothing about the ledger. While units are counted, audits are repeated without limit. Once
    /// the run waits only for the audit, the number of attempts is limited.
    pub fn may_repeat(&mut self, now: Duration, is_waited_for: bool, error: &AuditError) -> bool {
        if is_waited_for && !self.is_waited_for {
            self.failures = 0;
        }
        self.is_waited_for = is_waited_for;
        let says_nothing = match error {
            AuditError::Ledger(error) => error.is_passing(),
            AuditError::Died => true,
            _ => false,
        };
        let is_often = self.failures >= MAX_FAILURES;
        if !says_nothing || (is_often && is_waited_for) {
            return false;
        }
        self.failures += 1;
        self.next = now.saturating_add(if is_often { SLOW_RETRY_TIME } else { RETRY_TIME });
        let trouble = format!("cannot audit the ledger, trying again: {error}");
        warn!("{trouble}");
        self.trouble = Some(trouble);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use records::ledger::{LedgerError, LineHash, file_path, read_marks};
    use tempfile::TempDir;

    use super::*;
    use crate::keeper::standstill::{LOOK_INTERVAL, LOOKS_UNTIL_HANGING};

    #[test]
    fn audit_hangs_until_it_reads_again_or_ends() {
        let (mut audits, pulse, mut now) = (Audits::of(None), Pulse::default(), Duration::ZERO);
        audits.begun(AuditReason::Resumption, pulse.clone(), now);
        for is_last in [false, true] {
            pulse.beat();
            for _ in 0..LOOKS_UNTIL_HANGING {
                assert!(!audits.look(now));
                assert_eq!(audits.trouble(), None);
                now += LOOK_INTERVAL;
            }
            assert!(audits.look(now));
            assert_eq!(audits.trouble(), Some(HANGING_AUDIT));
            assert!(!audits.look(now + LOOK_INTERVAL), "that is logged once");
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
            for look in 1..=2 * LOOKS_UNTIL_HANGING {
                now += LOOK_INTERVAL;
                pulse.beat();
                assert_eq!(audits.look(now), look == LOOKS_UNTIL_HANGING);
            }
            audits.ended(reads);
            assert_eq!(audits.trouble(), Some(HANGING_AUDIT));
            audits.forget_running();
            assert_eq!(audits.trouble(), None);
        }
    }

    /// A ledger with a folder in the place of its file, and the error of reading it.
    fn ledger_with_folder_for_a_file() -> (TempDir, AuditError) {
        let folder = TempDir::new().unwrap();
        fs::create_dir(file_path(folder.path(), 1)).unwrap();
        let beginning = LedgerPosition::beginning(LineHash::of(b"run"));
        let error = read_marks(folder.path(), &beginning, |_| ()).unwrap_err();
        assert!(matches!(error, LedgerError::Io { .. }), "{error}");
        (folder, error.into())
    }

    #[test]
    fn crashed_audit_is_retried_and_failed_audit_is_not() {
        let mut audits = Audits::of(None);
        let start = Duration::ZERO;
        let (_folder, replaced) = ledger_with_folder_for_a_file();
        for is_waited_for in [false, true] {
            for error in [&AuditError::Short, &replaced] {
                assert!(
                    !audits.may_repeat(start, is_waited_for, error) && audits.may_begin(start),
                    "{error}"
                );
            }
        }
        for _ in 0..MAX_FAILURES {
            assert!(audits.may_repeat(start, false, &AuditError::Died));
            assert!(!audits.may_begin(start) && audits.may_begin(RETRY_TIME));
        }
        assert!(audits.may_repeat(start, false, &AuditError::Died), "units are counted meanwhile");
        assert!(
            !audits.may_begin(RETRY_TIME) && audits.may_begin(SLOW_RETRY_TIME) && audits.trouble().is_some()
        );
        for _ in 0..MAX_FAILURES {
            assert!(audits.may_repeat(start, true, &AuditError::Died), "it is tried as often once they are");
        }
        assert!(!audits.may_repeat(start, true, &AuditError::Died));
        audits.succeeded();
        assert!(audits.may_repeat(start, true, &AuditError::Died) && audits.may_begin(RETRY_TIME));
    }
}

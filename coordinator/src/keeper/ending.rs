//! The end of a run: the audits, and the answer or the reason to withhold it.

use std::panic;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use domain::counted;
use queens::known::Symmetric;
use queens::{Class, Classified, TallyError};
use records::standing::RecordError;
use records::{Answer, Audit, AuditError, WrongSymmetric, assess, audit_until};
use thiserror::Error;
use tracing::{Level, error};

use super::Keeper;
use super::inbox::{AuditReason, CallError};
use super::other_coordinator::OtherCoordinator;
use super::standstill::Pulse;
use crate::event::Event;

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// All units are counted and the audit of the ledger has succeeded.
    Answered(Box<Answer>),
    /// There is no answer, for this reason.
    Withheld(Withheld),
}

/// Why a run has no answer.
#[derive(Clone, Debug, Error)]
pub enum Withheld {
    /// The audit of the ledger failed.
    #[error(transparent)]
    Audit(Arc<AuditError>),
    /// A record contradicts the ledger.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The sums of a run without a ledger contradict each other.
    #[error(transparent)]
    Sums(#[from] TallyError),
    /// P or R is not the published value.
    #[error(transparent)]
    Symmetric(#[from] WrongSymmetric),
    /// Another coordinator serves the run.
    #[error(transparent)]
    Other(#[from] OtherCoordinator),
}

impl Withheld {
    /// The other coordinator that serves the run, if it is the reason.
    pub fn other_coordinator(&self) -> Option<&OtherCoordinator> {
        if let Self::Other(other) = self { Some(other) } else { None }
    }
}

impl Classified for Withheld {
    fn class(&self) -> Class {
        match self {
            Self::Audit(error) => error.class(),
            Self::Record(_) | Self::Sums(_) | Self::Symmetric(_) => Class::Unsound,
            Self::Other(other) => other.class(),
        }
    }
}

impl From<AuditError> for Withheld {
    fn from(error: AuditError) -> Self {
        Self::Audit(Arc::new(error))
    }
}

/// The stage of the run.
#[derive(Debug)]
pub(super) enum Stage {
    Counting,
    Auditing,
    Ended(Ending),
}

impl Keeper {
    /// True if the run has its answer, so that workers leave.
    ///
    /// # Errors
    /// The answer is withheld. Workers keep their counts and wait for a restarted coordinator.
    pub(super) fn is_answered(&self) -> Result<bool, CallError> {
        match &self.stage {
            Stage::Counting | Stage::Auditing => Ok(false),
            Stage::Ended(Ending::Answered(_)) => Ok(true),
            Stage::Ended(Ending::Withheld(Withheld::Other(other))) => Err(other.clone().into()),
            Stage::Ended(Ending::Withheld(why)) => Err(CallError::Withheld(why.to_string())),
        }
    }

    /// Audits the ledger once all units are counted, and publishes the answer if the audit succeeds.
    pub(super) fn end_if_complete(&mut self) {
        if !matches!(self.stage, Stage::Counting) {
            return;
        }
        if !self.core.is_complete() {
            self.read_in_background();
            return;
        }
        // The answer waits for followers like every acknowledgement. They may leave once they have received it.
        if !self.followers.have_all(self.journal.records()) {
            return;
        }
        if self.journal.is_in_memory() {
            let ending = self.answer_from_memory();
            self.end(ending);
        } else if self.begin_audit(AuditReason::Answer) {
            self.stage = Stage::Auditing;
            // This leaves time for the last checkpoint.
            self.journal.save_soon();
        } else {
            return;
        }
        self.publisher.publish_soon();
    }

    /// Compares P and R with the published values, once, as soon as all symmetric counts stand. Stops the run if they
    /// differ.
    pub(super) fn compare_symmetric(&mut self) {
        if self.is_symmetric_compared || !matches!(self.stage, Stage::Counting) {
            return;
        }
        let Some(found) = self.core.symmetric() else { return };
        self.is_symmetric_compared = true;
        match WrongSymmetric::refuse(self.core.plan().board(), found) {
            Ok(()) => {
                let Symmetric { p, r } = found;
                let text = format!("P = {p} and R = {r} of the whole board agree with the published values");
                self.news.add(Event::new(Level::INFO, "symmetric", text));
            }
            Err(wrong) => self.withhold(wrong),
        }
    }

    /// Withholds the answer and stops counting.
    pub(super) fn withhold(&mut self, why: impl Into<Withheld>) {
        self.end(Ending::Withheld(why.into()));
    }

    /// Moves the checkpoint away if the ledger may be right but this process's state is wrong.
    fn distrust_checkpoint(&mut self, why: &Withheld) {
        let is_of_memory = match why {
            Withheld::Audit(error) => matches!(**error, AuditError::Differs),
            Withheld::Record(_) | Withheld::Sums(_) => true,
            Withheld::Symmetric(_) | Withheld::Other(_) => false,
        };
        if is_of_memory {
            self.journal.distrust_checkpoint(self.clock.since_1970());
        }
    }

    fn end(&mut self, ending: Ending) {
        if let Ending::Withheld(why) = &ending {
            self.distrust_checkpoint(why);
        }
        self.news.add(match &ending {
            Ending::Answered(answer) => {
                let text = format!("the answer is given: {} solutions", answer.totals.solutions());
                Event::new(Level::INFO, "answered", text)
            }
            Ending::Withheld(Withheld::Other(other)) => {
                Event::new(Level::ERROR, "stopped", other.to_string())
            }
            Ending::Withheld(why) => {
                Event::new(Level::ERROR, "withheld", format!("the answer is withheld: {why}"))
            }
        });
        self.stage = Stage::Ended(ending);
        self.audits.forget_running();
        self.publisher.publish_soon();
    }

    /// The answer of a run without a ledger.
    fn answer_from_memory(&mut self) -> Ending {
        let sums = self.core.standing().sums().clone();
        match sums.tally.totals() {
            Ok(totals) => Ending::Answered(Box::new(Answer {
                board: self.core.plan().board(),
                shard: self.core.shard(),
                totals,
                units: self.core.standing().done(),
                threads: self.kernels.threads(),
                kernels: self.kernels.names().clone(),
                elapsed: self.elapsed(),
                cpu: Duration::from_micros(sums.cpu_us()),
                assurance: {
                    let policy = self.core.policy();
                    assess(self.core.standing(), policy)
                },
            })),
            Err(error) => Ending::Withheld(error.into()),
        }
    }

    /// Starts the audit of a run that is not complete. It finds old damage and a wrong checkpoint early, and reads the
    /// counts that the checkpoint does not contain.
    fn read_in_background(&mut self) {
        if self.audits.opening.is_some() && !self.audits.is_under_way(AuditReason::Resumption) {
            self.begin_audit(AuditReason::Resumption);
        }
    }

    /// Starts an audit of the present ledger. Returns false if it could not start.
    fn begin_audit(&mut self, reason: AuditReason) -> bool {
        let now = self.clock.elapsed();
        let ledger = self.journal.ledger().filter(|_| self.audits.may_begin(now));
        let Some((directory, end)) = ledger.map(|(directory, end)| (directory.clone(), end.clone())) else {
            return false;
        };
        let opening = self.audits.opening.as_ref().filter(|_| reason == AuditReason::Resumption);
        let end = opening.map_or(end, |opening| opening.end.clone());
        let (outlet, pulse) = (self.inbox.for_audits(), Pulse::default());
        let reads = pulse.clone();
        let work = move || {
            let read = || audit_until(&directory, &end, |_, _| reads.beat());
            let audit = panic::catch_unwind(read).unwrap_or(Err(AuditError::Died));
            // While units or checks are open, later counts may resolve contradictory sums.
            let audit = if reason == AuditReason::Answer { audit.and_then(Audit::sound) } else { audit };
            outlet.send(reason, audit);
        };
        let begun = thread::Builder::new().name("audit".into()).spawn(work);
        match &begun {
            Ok(_) => self.audits.begun(reason, pulse, now),
            Err(error) => {
                error!("cannot start the audit: {error}");
                self.audits.put_off(now);
            }
        }
        begun.is_ok()
    }

    /// Checks the progress of running audits.
    pub(super) fn look_at_audits(&mut self) {
        if self.audits.look(self.clock.elapsed()) {
            self.publisher.publish_soon();
        }
    }

    pub(super) fn audited(&mut self, reason: AuditReason, found: Result<Audit, AuditError>) {
        let is_answer = reason == AuditReason::Answer;
        self.audits.ended(reason);
        if matches!(self.stage, Stage::Ended(Ending::Withheld(_))) {
            return;
        }
        let (plan, shard) = (Arc::clone(self.core.plan()), self.core.shard());
        let is_counted = self.core.standing().is_counted(&plan, shard);
        match found {
            Err(error) if self.audits.may_repeat(self.clock.elapsed(), is_counted, &error) => {
                if is_answer {
                    self.stage = Stage::Counting;
                }
            }
            Err(error) => self.found_unsound(error),
            Ok(audit) if is_answer => {
                self.audits.succeeded();
                // A late check or conflict recorded during the audit may change the answer.
                let is_current = self.journal.ledger().is_none_or(|(_, end)| *end == audit.tail.end);
                if is_current {
                    let ending = self.answer(&audit);
                    self.end(ending);
                } else {
                    self.adopt(&audit);
                    self.stage = Stage::Counting;
                }
            }
            Ok(audit) => {
                self.audits.succeeded();
                match self.audits.opening.as_ref().map_or(Ok(()), |opening| opening.compare(&audit)) {
                    Ok(()) => {
                        let records = counted(audit.tail.end.mark.records, "record");
                        let text = format!("the audit found the whole ledger sound: {records}");
                        self.news.add(Event::new(Level::INFO, "audited", text));
                        self.adopt(&audit);
                    }
                    Err(error) => self.found_unsound(error),
                }
            }
        }
        self.publisher.publish_soon();
    }

    fn found_unsound(&mut self, error: AuditError) {
        self.news.add(Event::new(Level::ERROR, "unsound", format!("the audit failed: {error}")));
        self.withhold(error);
    }

    /// Adopts the counts recorded before this process started, unless they are known.
    fn adopt(&mut self, audit: &Audit) {
        if self.audits.opening.take().is_some() {
            self.core.standing().adopt_counts(&audit.standing);
            self.core.counts_adopted();
        }
    }

    /// The answer, if the ledger and the core agree.
    fn answer(&mut self, audit: &Audit) -> Ending {
        if audit.missing.is_some() || !audit.standing.sums().agrees_with(self.core.standing().sums()) {
            return Ending::Withheld(AuditError::Differs.into());
        }
        Ending::Answered(Box::new(Answer::of(audit, self.core.plan().board(), self.core.shard())))
    }
}

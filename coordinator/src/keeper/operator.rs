//! Changes by the operator while the run is served. They take effect at once; the answer waits for followers.
//!
//! - The check policy, whose --double-check may only be raised, and the number of required followers. Both go on record
//!   with the reason.
//! - Retraction of counts, and readmission of machines. Both go on record with the reason.
//! - Pause and resumption of the run, which go on record for its history, and draining of a machine's workers.

use std::sync::Arc;

use domain::{PolicyChange, Steering, Takeback, Target, counted};
use records::ledger::{Pause, Policy, Record, Replicas, Resumption};
use records::policy::{PolicyError, possible, raised};
use records::shard::Shard;
use records::standing::Identity;
use records::{DoubleCheck, Extent, NothingToRetract, OwnChecks, retractions};
use tracing::Level;

use super::Keeper;
use super::ending::Stage;
use super::inbox::CallError;
use crate::event::Event;

impl Keeper {
    /// Records the change and applies it, except in a dry run. A value that already holds is not recorded again.
    pub(super) fn change_policy(&mut self, change: &PolicyChange) -> Result<(), CallError> {
        // First commit pending reports: the former policy decided their checks.
        self.commit();
        if matches!(self.stage, Stage::Ended(_)) {
            return Err(PolicyError::HasEnded.into());
        }
        let double_check = change.double_check.as_deref().map(|asked| raised(self.core.policy(), asked));
        let raised = double_check.transpose()?.flatten();
        let replicas = change.replicas.map(possible).transpose()?.filter(|k| *k != self.followers.needed());
        let (at, reason) = (self.clock.unix_time(), Some(change.reason.clone()));
        let before = self.core.require_owners();
        let require_owners = change.require_owners.map_or(before, |owners| Some(owners).filter(|k| *k > 1));
        let share = change.own_checks.as_deref().map(str::parse::<DoubleCheck>).transpose();
        let share = share.map_err(PolicyError::from)?;
        let own_checks = OwnChecks::changed(self.core.own_checks(), share, change.own.as_deref())?;
        if change.dry_run {
            return Ok(());
        }
        let is_own_changed = own_checks.as_ref() != self.core.own_checks();
        let is_changed = raised.is_some() || require_owners != before || is_own_changed;
        let policy = is_changed.then(|| {
            let (double_check, reason) = (raised.unwrap_or(self.core.policy()), reason.clone());
            Record::Policy(Policy { double_check, require_owners, own_checks, reason, at })
        });
        let on_disk = replicas.map(|replicas| Record::Replicas(Replicas { replicas, reason, at }));
        if policy.is_some() || on_disk.is_some() {
            let records: Vec<Record> = self.opening().into_iter().chain(policy).chain(on_disk).collect();
            self.record(&records)?;
            let double_check = raised.map(|policy| format!("--double-check {policy}"));
            let replicas = replicas.map(|replicas| format!("--replicas {replicas}"));
            let owners = change.require_owners.map(|owners| format!("--require-owners {owners}"));
            let own = is_own_changed.then(|| own_options(self.core.own_checks()));
            let options: Vec<_> = double_check.into_iter().chain(replicas).chain(owners).chain(own).collect();
            let text = format!("the operator sets {}: {}", options.join(" "), change.reason);
            self.news.add(Event::new(Level::WARN, "policy changed", text));
        }
        if let Some(replicas) = replicas {
            self.followers.require(replicas);
        }
        Ok(())
    }

    /// Records a retraction by the operator, except in a dry run. Returns its extent. Counts of a machine or an owner
    /// are retracted in the following rounds.
    pub(super) fn retract(&mut self, takeback: &Takeback) -> Result<Extent, CallError> {
        if matches!(self.stage, Stage::Ended(_)) {
            return Err(NothingToRetract::HasEnded.into());
        }
        // First commit pending reports: they may be the counts to be retracted.
        self.commit();
        let (plan, now) = (Arc::clone(self.core.plan()), self.clock.unix_time());
        let standing = self.core.standing();
        let mut records = retractions(&plan, Shard::default(), standing, takeback, now)?;
        let extent = Extent::of(&records, &plan, Shard::default(), standing);
        if takeback.dry_run {
            return Ok(extent);
        }
        records.splice(0..0, self.opening());
        self.record(&records)?;
        let Takeback { target, reason, .. } = takeback;
        self.news.add(match target {
            Target::Admission { .. } => {
                let text = format!("the operator believes {target} again: {reason}");
                Event::new(Level::WARN, "readmitted", text)
            }
            _ => Event::new(Level::WARN, "retracted", format!("the operator takes back {target}: {reason}")),
        });
        Ok(extent)
    }

    /// Executes the operator's command. Returns the number of workers concerned.
    pub(super) fn steer(&mut self, steering: Steering) -> Result<u64, CallError> {
        match steering {
            Steering::Pause { .. } | Steering::Resume if matches!(self.stage, Stage::Ended(_)) => {
                Err(CallError::Ended)
            }
            Steering::Pause { reason } => {
                let workers = self.pause(Some(reason.clone()))?;
                let text = format!("the operator pauses the run: {reason}");
                self.record_steering(Record::Pause(Pause { reason, at: self.clock.unix_time() }));
                self.news.add(Event::new(Level::WARN, "paused", text));
                Ok(workers)
            }
            Steering::Resume => {
                let was_paused = self.core.is_paused();
                let workers = self.pause(None)?;
                if was_paused {
                    self.record_steering(Record::Resume(Resumption { at: self.clock.unix_time() }));
                }
                self.news.add(Event::new(Level::INFO, "resumed", "the operator resumes the run"));
                Ok(workers)
            }
            Steering::Drain { owner, machine } => {
                let (workers, machine) = self.core.drain(&Identity { owner, machine })?;
                let text = format!("the operator asks {} of {machine} to leave", counted(workers, "worker"));
                self.news.add(Event::new(Level::INFO, "draining", text));
                Ok(workers)
            }
        }
    }

    /// Records a pause or its end for the history, while units are counted. A disk that takes no records does not keep the
    /// operator from it.
    fn record_steering(&mut self, record: Record) {
        if matches!(self.stage, Stage::Counting) {
            self.commit();
            let records: Vec<Record> = self.opening().into_iter().chain([record]).collect();
            self.record(&records).ok();
        }
    }

    fn pause(&mut self, reason: Option<String>) -> Result<u64, CallError> {
        self.journal.pause(reason.as_ref())?;
        self.core.pause(self.clock.now(), reason);
        self.waiting.look_soon();
        Ok(self.core.worker_count())
    }
}

/// The options that give these own checks.
fn own_options(own: Option<&OwnChecks>) -> String {
    own.map_or_else(
        || "--own-checks none".to_owned(),
        |OwnChecks { share, owner }| format!("--own-checks {share} --own {owner}"),
    )
}

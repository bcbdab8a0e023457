//! Where the run stands, for those who ask.

use std::time::Duration;

use domain::{Assurance, Phase, RunStatus, Sample, Work};
use records::assess;

use super::Core;
use super::crews::listed;
use super::open::CheckKind;
use super::speed::Rest;
use super::workers::{MOST_LISTED, Methods};

/// At most so many units are named as set aside.
const NAMED: usize = 100;

/// What is told where nobody counts what is left.
const ONE_METHOD: &str = "only checks are left by a method that the cards of the workers here do not build: start a worker without --gpu, \
                          or on another machine";

/// What is told where nobody who is there can decide what is in dispute.
const UNDECIDED: &str = "units are in dispute that nobody here can decide: start a worker on another machine, or of a third owner \
                         where two disagree";

/// The progress of a run that has taken all the work that was expected of it, and more.
const ALMOST: f64 = 0.9999;

impl Core {
    /// Where the run stands; phase, events, other trouble and elapsed time are the caller's to add.
    pub fn status(&self, now: Duration) -> RunStatus {
        let sums = self.standing.sums();
        let machines = self.machines(now);
        let there = machines.iter().filter(|machine| machine.is_there()).count() as u64;
        let is_going_on = there > 0 && self.paused.is_none();
        RunStatus {
            board: self.plan.board(),
            fingerprint: self.plan.fingerprint().clone(),
            units: self.shard.size(self.plan.units()),
            done: self.standing.done(),
            leased: self.leases.to_count() as u64,
            disputed: sums.disputed.len() as u64,
            progress: self.progress(),
            totals: sums.tally.totals().unwrap_or_default(),
            run: None,
            term: None,
            replicas: 0,
            followers: 0,
            elapsed: Duration::ZERO,
            left: if is_going_on { self.speed.left(now, self.rest(now)) } else { None },
            rate: self.units_rate.per_second(now).unwrap_or(0.0),
            phase: Phase::Counting,
            trouble: self.trouble(now).unwrap_or_default(),
            workers: self.workers.status(now, |worker| self.leases.units_of(worker)),
            workers_total: self.workers.len() as u64,
            threads_total: self.workers.threads(),
            assurance: self.assurance(),
            set_aside: self.losses.set_aside().iter().take(NAMED).copied().collect(),
            set_aside_total: self.losses.set_aside().len() as u64,
            work: Work {
                total: core_seconds(self.total_work) * self.relative_work,
                done: core_seconds(self.standing.sums().work) * self.relative_work,
            },
            families: self.families.status(&self.standing),
            history: Vec::new(),
            events: Vec::new(),
            machines_total: machines.len() as u64,
            machines_there: there,
            machines: listed(machines),
            paused: self.paused.clone(),
            double_check: self.policy.to_string(),
            release: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// How the run has come until then, in seconds since 1970 (UTC): while units are to be counted a standstill is part of it.
    pub fn history(&self, unix_time: u64) -> Vec<Sample> {
        let history = &self.standing.sums().history;
        if self.standing.is_counted(&self.plan, self.shard) {
            history.samples(self.total_work, unix_time)
        } else {
            history.samples_until_now(self.total_work, unix_time)
        }
    }

    /// The expected work of the units that are not on record, in nanoseconds of one core: none where there are none, and else some.
    pub(super) fn work_left(&self) -> f64 {
        self.total_work.saturating_sub(self.standing.sums().work) as f64 * self.relative_work
    }

    /// What is left to be counted and checked, and confirmed by another owner at that time.
    pub(super) fn rest(&self, now: Duration) -> Rest {
        let open = self.symmetric_counts.iter().filter(|unit| !self.standing.is_done(**unit));
        let symmetric = open.map(|unit| self.plan.mean_weight(*unit) as f64).sum::<f64>();
        let (units, done) = (self.shard.size(self.plan.units()), self.standing.done());
        // So many of the counts that are still to come will be checked, at least.
        let share = self.policy.strength().min(1.0);
        let confirmations = if self.awaits_confirmations(now) { self.unconfirmed() } else { 0 };
        let checks =
            (self.standing.pending(self.policy) + confirmations) as f64 + share * (units - done) as f64;
        let completions = (self.work_left() - symmetric).max(0.0) + self.mean_work * checks;
        Rest { symmetric: symmetric / 1e9, completions: completions / 1e9 }
    }

    /// How much of the work is done, from 0 to 1. What is expected is not exact: until all is counted there is some left.
    fn progress(&self) -> f64 {
        if self.standing.done() >= self.shard.size(self.plan.units()) {
            return 1.0;
        }
        let done = self.standing.sums().work as f64 / (self.total_work as f64).max(1.0);
        done.min(ALMOST)
    }

    /// What double-checking says so far; of those who are not believed as many are named as fit a message.
    fn assurance(&self) -> Assurance {
        let mut assurance = assess(&self.standing, self.policy);
        assurance.quarantined.truncate(MOST_LISTED);
        assurance.expelled.truncate(MOST_LISTED);
        assurance
    }

    /// What keeps the run from its end, if anything.
    fn trouble(&self, now: Duration) -> Option<String> {
        if self.open_counts() > 0 || self.leases.to_count() > 0 {
            self.undecided(now)
        } else {
            self.only_lost_units().or_else(|| self.only_other_methods(now))
        }
    }

    /// Whether disputes are left, and nobody who is there has been of use for them: nobody was lent any, or who was has decided nothing.
    fn undecided(&self, now: Duration) -> Option<String> {
        let are_left = !self.standing.sums().disputed.is_empty()
            && (self.is_nobody_of_use(now)
                || (self.is_counted_in_vain() && self.have_machines_had_their_time(now)));
        are_left.then(|| UNDECIDED.to_owned())
    }

    fn only_lost_units(&self) -> Option<String> {
        let aside = self.losses.set_aside();
        let left = self.shard.size(self.plan.units()) - self.standing.done();
        let pending = self.standing.pending(self.policy);
        let checks = aside.iter().filter(|unit| self.standing.is_pending(**unit, self.policy)).count() as u64;
        let is_all_aside = left > 0 || (pending > 0 && pending == checks);
        (!aside.is_empty() && is_all_aside).then(|| format!(
            "only units are left that were lost with five workers each ({}): one is tried again an hour after the last was lost; see what becomes of it, or restart the coordinator to try them at once",
            aside.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ))
    }

    /// Whether nobody who is there counts by the method that is left: nothing is lent, and everybody has had his time.
    fn only_other_methods(&self, now: Duration) -> Option<String> {
        let is_possible = |kind: &CheckKind| {
            let machine = self.standing.sums().machines.get(kind.counted);
            !kind.by_kernel || self.workers.all().any(|worker| !worker.identity.is(machine))
        };
        let is_stuck = self.have_machines_had_their_time(now)
            && self.leases.is_empty()
            && !self.workers.is_empty()
            && self.workers.all().all(|worker| worker.methods == Methods::Own)
            && !self.open.checks.keys().any(is_possible);
        is_stuck.then(|| ONE_METHOD.to_owned())
    }
}

/// Nanoseconds as seconds.
fn core_seconds(work: u128) -> f64 {
    work as f64 / 1e9
}

//! The status of the run.

use std::time::Duration;

use domain::{Assurance, Credits, Incident, Owner, Phase, RunStatus, Sample, Work};
use queens::UnitId;
use records::standing::Degree;
use records::{OwnChecks, assess};

use super::Core;
use super::members::{MAX_LISTED, Member, Methods, known_machines, listed};
use super::progress::RemainingWork;
use super::votes::CheckKind;

/// Maximum number of set-aside units named in a status.
const MAX_NAMED_UNITS: usize = 100;

/// Maximum number of incidents in a status.
const MAX_INCIDENTS: usize = 100;

/// Number of disputes that are searched for an undecidable dispute.
const MAX_DISPUTES_TRIED: usize = 10;

/// The message if the connected cards cannot make the remaining checks.
const MISSING_METHOD: &str = "only checks are left by a method that the cards of the workers here do not build: start a worker without --gpu, \
                          or on another machine";

/// The progress shown while units are left although the expected work is done.
const MAX_UNFINISHED_PROGRESS: f64 = 0.9999;

impl Core {
    /// The status of the run. The caller adds phase, events, other trouble and elapsed time.
    pub fn status(&self, now: Duration) -> RunStatus {
        let standing = self.votes.standing();
        let sums = standing.sums();
        let machines = known_machines(&self.members, &sums.machines, now);
        let there = machines.iter().filter(|machine| machine.is_connected()).count() as u64;
        let is_going_on = there > 0 && self.paused.is_none();
        RunStatus {
            board: self.plan().board(),
            fingerprint: self.plan().fingerprint().clone(),
            units: self.work.units(),
            done: standing.done(),
            leased: self.leases.to_count() as u64,
            disputed: sums.disputed.len() as u64,
            progress: self.share_done(),
            totals: sums.tally.totals().unwrap_or_default(),
            run: None,
            term: None,
            replicas: 0,
            followers: 0,
            elapsed: Duration::ZERO,
            left: if is_going_on { self.progress.left(now, self.remaining_work()) } else { None },
            rate: self.progress.rate(now),
            phase: Phase::Counting,
            trouble: self.trouble(now).unwrap_or_default(),
            workers: self.members.status(now, |worker| self.leases.units_of(worker)),
            workers_total: self.members.len() as u64,
            threads_total: self.members.threads(),
            assurance: self.assurance(),
            set_aside: self.schedule.set_aside().take(MAX_NAMED_UNITS).collect(),
            set_aside_total: self.schedule.set_aside().len() as u64,
            work: Work {
                total: core_seconds(self.work.scaled(self.work.total())),
                done: core_seconds(self.work.scaled(sums.work)),
            },
            families: self.families.status(standing),
            history: Vec::new(),
            events: Vec::new(),
            incidents: Vec::new(),
            incidents_total: 0,
            head: None,
            machines_total: machines.len() as u64,
            machines_there: there,
            machines: listed(machines),
            credits: Credits::default(),
            paused: self.paused.clone(),
            double_check: self.policy().to_string(),
            require_owners: self.require_owners().unwrap_or(1),
            release: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The history of the run until this time, in seconds since 1970 (UTC). While units are to be counted, it includes
    /// a standstill.
    pub fn history(&self, unix_time: u64) -> Vec<Sample> {
        let standing = self.votes.standing();
        let history = &standing.sums().history;
        if standing.is_counted(self.plan(), self.shard()) {
            history.samples(self.work.total(), unix_time)
        } else {
            history.samples_until_now(self.work.total(), unix_time)
        }
    }

    /// What the owners gave until this time, in seconds since 1970 (UTC).
    pub fn credits(&self, unix_time: u64) -> Credits {
        self.votes.standing().sums().credits.status(unix_time, MAX_LISTED)
    }

    /// The last incidents, and the number of all.
    pub fn incidents(&self) -> (Vec<Incident>, u64) {
        self.votes.standing().sums().incidents.status(MAX_INCIDENTS)
    }

    /// The remaining work of counts and checks.
    pub(super) fn remaining_work(&self) -> RemainingWork {
        let standing = self.votes.standing();
        let symmetric = self.work.symmetric_left(standing);
        // The number of checks of future counts, at least.
        let share = self.policy().strength().min(1.0);
        let to_come = (self.work.units() - standing.done()) as f64;
        let checks = standing.pending(self.policy()) as f64 + share * to_come;
        let completions = (self.work.left(standing) - symmetric).max(0.0) + self.work.mean_unit() * checks;
        RemainingWork { symmetric: core_seconds(symmetric), completions: core_seconds(completions) }
    }

    /// The completed share of the work, from 0 to 1. The expected work is an estimate, so the share stays below 1 until
    /// every unit is counted.
    fn share_done(&self) -> f64 {
        let standing = self.votes.standing();
        if standing.done() >= self.work.units() {
            return 1.0;
        }
        let done = standing.sums().work as f64 / (self.work.total() as f64).max(1.0);
        done.min(MAX_UNFINISHED_PROGRESS)
    }

    /// The results of double-checking. The lists of quarantined machines and expelled owners are cut to fit a message.
    fn assurance(&self) -> Assurance {
        let mut assurance = assess(self.votes.standing(), self.policy());
        assurance.quarantined.truncate(MAX_LISTED);
        assurance.expelled.truncate(MAX_LISTED);
        assurance
    }

    /// The obstacle to the end of the run, if there is one: what the run waits for, and the way out.
    fn trouble(&self, now: Duration) -> Option<String> {
        let suspension = self.votes.standing().suspension();
        if suspension.is_some() {
            suspension
        } else if self.votes.has_only_checks_left(&self.work) {
            self.undecided(now).or_else(|| self.unchecked(now)).or_else(|| self.only_lost_units())
        } else {
            self.only_lost_units()
        }
    }

    /// The message about a dispute that no connected worker can help to decide.
    fn undecided(&self, now: Duration) -> Option<String> {
        let disputed = self.votes.disputed();
        let is_stuck = |unit: &&UnitId| {
            !self.leases.contains(**unit)
                && !self.votes.is_recording(**unit)
                && self.is_undecidable(now, **unit)
        };
        let unit = *disputed.iter().take(MAX_DISPUTES_TRIED).find(is_stuck)?;
        let others = match disputed.len() {
            1 => String::new(),
            several => format!(" ({several} units are in dispute)"),
        };
        Some(self.undecidable(unit, &others))
    }

    /// True if no connected worker can help to decide the dispute about the unit.
    pub(super) fn is_undecidable(&self, now: Duration, unit: UnitId) -> bool {
        let can_help = |worker: &Member| {
            let Member { identity, kernel, methods, .. } = worker;
            self.variant_to_decide(now, identity, *kernel, *methods, unit).is_some()
        };
        !self.members.all().filter(|worker| !worker.drains).any(can_help)
    }

    /// The message about such a dispute. `others` are words about other disputes.
    pub(super) fn undecidable(&self, unit: UnitId, others: &str) -> String {
        let ballot = self.votes.ballot(&self.work, unit);
        let said = ballot.summary();
        let whom = match self.own_checks() {
            Some(own) if ballot.opposes_operator() => format!("on another machine of {}", own.owner),
            _ if ballot.is_among_owners() => "of another owner".to_owned(),
            _ => "on another machine".to_owned(),
        };
        format!(
            "unit {unit} is in dispute{others}, and nobody here can decide it: {said}; start a worker {whom}, or take a wrong count back with diadem retract"
        )
    }

    /// The message about checks that no connected worker may make.
    fn unchecked(&self, now: Duration) -> Option<String> {
        let waits = |kind: &CheckKind| !self.may_anybody_check(now, *kind, |worker| worker.methods);
        let mut kinds = self.schedule.kinds_of_checks();
        if self.leases.has_unbacked() || self.members.is_empty() || kinds.clone().any(|kind| !waits(&kind)) {
            return None;
        }
        self.check_waits_for(now, kinds.find(waits)?)
    }

    /// True if a connected worker may make such checks with these methods.
    fn may_anybody_check(
        &self,
        now: Duration,
        kind: CheckKind,
        methods: impl Fn(&Member) -> Methods,
    ) -> bool {
        let mut workers = self.members.all().filter(|worker| !worker.drains);
        workers.any(|worker| self.may_check(now, &worker.identity, methods(worker), kind))
    }

    /// What such checks wait for; none if a connected worker may make them.
    pub(super) fn check_waits_for(&self, now: Duration, kind: CheckKind) -> Option<String> {
        if self.may_anybody_check(now, kind, |worker| worker.methods) {
            return None;
        }
        if self.may_anybody_check(now, kind, |_| Methods::Both) {
            return Some(MISSING_METHOD.to_owned());
        }
        if let Some(own) = self.own_checks().filter(|_| kind.is_own) {
            let OwnChecks { owner, .. } = own;
            return Some(format!(
                "own checks are left, which only machines of {owner} may make: start a worker of {owner}, or lift them with \
                 diadem policy --own-checks none"
            ));
        }
        let machines = &self.votes.standing().sums().machines;
        let machine = machines.get(kind.counted);
        let whom = match self.required_degree(now, kind.counted) {
            Degree::OtherOwner => format!("another owner than {}", Owner::new(&machine.owner).typed()),
            _ => format!("another machine than {}", machine.title()),
        };
        let way_out = match self.independence.next_step(now) {
            Some(left) => format!("in {} s less independent checks are accepted", left.as_secs()),
            None if self.require_owners().is_some() => {
                "the run requires two owners: diadem policy --require-owners 1 lifts that".to_owned()
            }
            // The run is paused, or its next tick starts the clock.
            None => return None,
        };
        Some(format!("the checks that are left wait for {whom}; start a worker there, or wait: {way_out}"))
    }

    fn only_lost_units(&self) -> Option<String> {
        if self.open_counts() > 0 || self.leases.to_count() > 0 {
            return None;
        }
        let (standing, aside) = (self.votes.standing(), || self.schedule.set_aside());
        let left = self.work.units() - standing.done();
        let pending = standing.pending(self.policy());
        let checks = aside().filter(|unit| standing.is_pending(*unit, self.policy())).count() as u64;
        let is_all_aside = left > 0 || (pending > 0 && pending == checks);
        (aside().len() > 0 && is_all_aside).then(|| format!(
            "only units are left that were lost with five workers each ({}): they are retried one by one, within an hour; restart the coordinator to retry at once",
            aside().take(MAX_NAMED_UNITS).map(|unit: UnitId| unit.to_string()).collect::<Vec<_>>().join(", ")

        ))
    }

    /// The number of units that have no count, are not being written, are not lent and are not set aside.
    pub(super) fn open_counts(&self) -> u64 {
        let standing = self.votes.standing();
        let is_open = |unit: UnitId| !self.leases.contains(unit) && !standing.is_done(unit);
        let recording = self.votes.recording().filter(|unit| is_open(**unit)).count() as u64;
        let is_aside = |unit: &UnitId| is_open(*unit) && !self.votes.is_recording(*unit);
        let aside = self.schedule.set_aside().filter(is_aside).count() as u64;
        let gone = standing.done() + self.leases.to_count() as u64 + recording + aside;
        self.work.units().saturating_sub(gone)
    }
}

/// Nanoseconds as seconds.
fn core_seconds(work: f64) -> f64 {
    work / 1e9
}

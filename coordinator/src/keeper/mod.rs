//! The keeper: the one thread that owns core, ledger and checkpoint.
//!
//! ```text
//! until it is closed, or nobody is left who could ask:
//!     wait for a request; take all that have come meanwhile
//!     let the core judge them, and collect the records: of so many counts at a time
//!     commit the records: one write and two syncs for all of them
//!     only now answer the reports
//!     lend to those who wait, save the checkpoint and publish a snapshot from time to time
//! ```

mod audits;
mod awaited;
mod ending;
mod events;
mod inbox;
mod lending;
mod policy;
mod recording;
mod registration;
mod replicas;
mod retraction;
mod snapshot;
mod standstill;
mod steering;
mod strangers;
mod terms;
mod watchdog;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use domain::{Owner, Renewal};
use records::ledger::{CommitMark, LedgerPosition, LineHash};
use records::store::Store;
use records::{Clock, counted};
use tokio::sync::watch;
use tracing::{Level, info, warn};

use crate::core::Core;
use crate::event::Event;
use crate::log_lines::LogLines;
use audits::{Audits, Opening};
use awaited::Awaited;
use ending::Stage;
use events::Events;
use inbox::Inbox;
use lending::Waiting;
use recording::PendingReport;
use replicas::{Answer, Replication};
use strangers::Strangers;
use terms::Terms;
use watchdog::Watchdog;

pub use ending::{Ending, Withheld};
pub use inbox::{CallError, Misfit};
pub(crate) use inbox::{FollowCall, LeaseCall, Outlet, ReplyTo, Request};
pub use snapshot::Snapshot;
pub(crate) use strangers::Stranger;

/// The longest time without a look at leases, waiting workers and checkpoint.
const TICK: Duration = Duration::from_millis(200);

/// About so many counts are judged in one round, after which others are answered and lent to.
const JUDGED_IN_A_ROUND: usize = 20_000;

/// Between two saves of the checkpoint lies at least this time.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// The same after a save that failed.
const SAVE_AGAIN: Duration = Duration::from_mins(5);

pub(crate) struct Keeper {
    core: Core,
    /// None for a run in memory.
    store: Option<Store>,
    /// Likewise: memory never hangs.
    watchdog: Option<Watchdog>,
    clock: Arc<dyn Clock>,
    /// For how long nobody could be heard, because the disk was slow.
    stalled: Duration,
    inbox: Inbox,
    snapshots: watch::Sender<Snapshot>,
    /// Where the ledger ends, for those who follow it.
    ends: watch::Sender<LedgerPosition>,
    /// When the next snapshot is due.
    publish_next: Duration,
    /// When the next checkpoint is due.
    save_next: Duration,
    /// Requests for units.
    waiting: Waiting,
    /// When all of them are looked at again, for those that have waited long enough.
    look_next: Duration,
    /// Reports that wait for the commit of their records.
    reports: Vec<PendingReport>,
    replicas: Replication,
    /// None where nobody else could serve the run: it is in memory only, or in one process.
    terms: Option<Terms>,
    /// None where nobody could wait for the answer: it is in memory only, or in one process.
    awaited: Option<Awaited>,
    stage: Stage,
    audits: Audits,
    trouble: String,
    /// Elapsed time and peak threads of earlier sessions.
    earlier: CommitMark,
    threads: u32,
    /// The kernels of all workers that have registered.
    kernels: BTreeSet<String>,
    /// Lines of the log that owners give occasion to.
    log_lines: LogLines,
    /// Workers of another version that were turned away.
    strangers: Strangers,
    /// The machines of which it was said that they are quarantined,
    quarantined: BTreeSet<String>,
    /// and how often it had changed then who is believed.
    trust_changes: u64,
    events: Events,
}

/// The ways to a keeper.
pub(crate) struct Channels {
    pub requests: Outlet,
    pub snapshots: watch::Receiver<Snapshot>,
    pub ends: watch::Receiver<LedgerPosition>,
}

/// Starts the keeper of a run, in which so many followers must have a record before it is acknowledged, if any can be there: whoever has the outlet can ask it, and all see its snapshots.
///
/// # Errors
/// The system gives no thread.
pub(crate) fn start(
    core: Core,
    store: Option<Store>,
    clock: Arc<dyn Clock>,
    replicas: Option<u32>,
) -> std::io::Result<Channels> {
    let (keeper, channels) = keeper(core, store, clock, replicas)?;
    thread::Builder::new().name("keeper".into()).spawn(|| keeper.run())?;
    Ok(channels)
}

/// The keeper before its first round, and the ways to it.
fn keeper(
    mut core: Core,
    store: Option<Store>,
    clock: Arc<dyn Clock>,
    replicas: Option<u32>,
) -> std::io::Result<(Keeper, Channels)> {
    let (requests, inbox) = inbox::inbox();
    let terms = store.as_ref().map(Terms::of);
    let (snapshots, published) = watch::channel(Snapshot::first(&core, terms.as_ref()));
    let nowhere = || LedgerPosition::beginning(LineHash::of(b"in memory"));
    let (ends, end) = watch::channel(store.as_ref().map_or_else(nowhere, |store| store.end().clone()));
    let replicas = Replication::of(replicas, store.as_ref());
    if replicas.is_settled() {
        core.expect_nobody();
    } else if replicas.needed().is_some() {
        core.expect_back(clock.now());
    }
    let (plan, shard) = (Arc::clone(core.plan()), core.shard());
    let is_counted = core.standing().is_counted(&plan, shard);
    let served = store.as_ref().filter(|_| replicas.needed().is_some());
    let awaited = served.map(|store| Awaited::of(store, is_counted));
    let watchdog = store.is_some().then(|| Watchdog::start(snapshots.clone())).transpose()?;
    let opened = store.as_ref().filter(|store| store.mark().records > 0);
    let audits = Audits::of(opened.map(|store| Opening::of(store.end(), core.standing())));
    let keeper = Keeper {
        terms,
        replicas,
        ends,
        earlier: store.as_ref().map(Store::mark).unwrap_or_default(),
        core,
        store,
        watchdog,
        clock,
        stalled: Duration::ZERO,
        inbox,
        snapshots,
        publish_next: Duration::ZERO,
        save_next: SAVE_EVERY,
        waiting: Waiting::default(),
        look_next: Duration::ZERO,
        reports: Vec::new(),
        awaited,
        stage: Stage::Counting,
        audits,
        trouble: String::new(),
        threads: 0,
        kernels: BTreeSet::new(),
        log_lines: LogLines::default(),
        strangers: Strangers::new(),
        quarantined: BTreeSet::new(),
        trust_changes: 0,
        events: Events::default(),
    };
    Ok((keeper, Channels { requests, snapshots: published, ends: end }))
}

impl Keeper {
    fn run(mut self) {
        let term = self.terms.as_ref().map(|terms| terms.own.number);
        let text = term.map_or("the count began".into(), |term| format!("the coordinator began term {term}"));
        self.happened(Event::new(Level::INFO, "began", text));
        while let Some(requests) = self.inbox.take(self.waiting.rest()) {
            let (mut close, mut judged) = (None, 0);
            for request in requests {
                // With each of them: many take long together, and it is not the disk then.
                self.watchdog.as_ref().inspect(|watchdog| watchdog.pulse.beat());
                judged += request.counts();
                if let Request::Close(reply) = request {
                    close = Some(reply);
                } else {
                    self.handle(request);
                }
                if judged >= JUDGED_IN_A_ROUND {
                    self.round(false);
                    judged = 0;
                }
            }
            self.watchdog.as_ref().inspect(|watchdog| watchdog.pulse.beat());
            self.round(close.is_some());
            if let Some(reply) = close {
                self.forget_awaited();
                drop(self.store.take());
                reply.send(()).ok();
                return;
            }
        }
        self.round(true);
    }

    /// Does what follows from the requests, and from the time.
    fn round(&mut self, closing: bool) {
        self.commit();
        self.acknowledge();
        self.take_back();
        for unit in self.core.tick(self.now()) {
            let text = format!("unit {unit} was lost with five workers and is set aside");
            let kind = "units were lost with five workers each and are set aside";
            self.happened(Event::counted_by_name(Level::ERROR, kind, unit, text));
        }
        for (owner, event) in self.core.take_events() {
            match owner {
                Some(owner) => self.happened_by(&owner, event),
                None => self.happened(event),
            }
        }
        self.end_if_complete();
        self.look_at_audits();
        self.serve_waiting();
        self.save_checkpoint(closing);
        self.publish(closing);
    }

    /// The time that the core is told: it stands still while nobody can be heard, so that a slow disk does not
    /// make workers seem lost.
    fn now(&self) -> Duration {
        self.clock.now().saturating_sub(self.stalled)
    }

    fn handle(&mut self, request: Request) {
        let now = self.now();
        let Some(request) = self.refuse_if_superseded(request) else { return };
        match request {
            Request::Register(registration, reply) => self.register(registration, reply),
            Request::Lease(call) => self.ask(call),
            Request::Renew { owner, worker, held, reply } => {
                let is_owner = self.core.check_owner(worker, &owner);
                let lost = is_owner.and_then(|()| self.core.renew(now, worker, &held));
                let renewal = lost.map_err(CallError::from).and_then(|lost| {
                    Ok(Renewal { lost, finished: self.is_answered()?, drain: self.core.drains(worker) })
                });
                reply.send(renewal).ok();
            }
            Request::Release { owner, worker, held, leaving, reply } => {
                let is_owner = self.core.check_owner(worker, &owner);
                let title = self.core.title(worker);
                let released = is_owner.and_then(|()| self.core.release(now, worker, &held, leaving));
                if leaving && released.is_ok() {
                    let text = format!("worker {title} left");
                    self.list_event(Event::counted_by_name(Level::INFO, "workers left", &title, text));
                    if self.may_log(&owner) {
                        info!(%worker, units = held.len(), "worker left");
                    }
                }
                reply.send(released.map_err(CallError::from)).ok();
            }
            Request::Report { owner, report, reply } => match self.core.check_owner(report.worker, &owner) {
                Ok(()) => self.judge(&owner, report, reply),
                Err(refusal) => {
                    reply.send(Err(refusal.into())).ok();
                }
            },
            Request::StrikeOff(owner) => {
                let workers = self.core.strike_off(now, &owner);
                if workers > 0 {
                    let workers = counted(workers as u64, "worker");
                    let text = format!("{owner} was revoked, and {workers} struck off");
                    self.happened(Event::new(Level::WARN, "revoked", text));
                }
            }
            Request::TurnedAway(stranger) => self.hear_of_stranger(stranger),
            Request::Follow(call) => self.follow(call),
            Request::Followed { follower, call, records } => self.replicas.have(follower, call, records),
            Request::Unfollowed { owner, follower, call } => {
                if self.replicas.leave(follower, call) {
                    let event = Event::counted(Level::INFO, "followers left", "a follower left");
                    self.happened_by(&owner, event);
                }
            }
            Request::Retract(takeback, reply) => match self.retract(&takeback) {
                Ok(units) => self.answer_when_copied(Answer::Retraction { units, reply }),
                Err(error) => drop(reply.send(Err(error))),
            },
            Request::ChangePolicy(change, reply) => match self.change_policy(&change) {
                Ok(double_check) => self.answer_when_copied(Answer::Policy { double_check, reply }),
                Err(error) => drop(reply.send(Err(error))),
            },
            Request::Steer(steering, reply) => {
                reply.send(self.steer(steering)).ok();
            }
            Request::Status(reply) => {
                reply.send(self.status()).ok();
            }
            Request::Audited(reason, found) => self.audited(reason, *found),
            Request::Close(_) => unreachable!("the loop keeps this one for itself"),
        }
    }

    /// Logs the event and adds it to the list of events.
    fn happened(&mut self, event: Event) {
        event.log();
        self.list_event(event);
    }

    /// The same for an event that an owner caused. It is logged only while the owner's share of the log lasts.
    fn happened_by(&mut self, owner: &Owner, event: Event) {
        if self.may_log(owner) {
            event.log();
        }
        self.list_event(event);
    }

    /// Adds the event to the list of events.
    fn list_event(&mut self, event: Event) {
        self.events.add(self.unix_time(), event);
    }

    /// Whether one more line about what the owner does may be logged. Says how many were left out before it.
    fn may_log(&mut self, owner: &Owner) -> bool {
        let left_out = self.log_lines.take(self.clock.now(), owner);
        if let Some(lines @ 1..) = left_out {
            warn!(%owner, lines, "lines of the log were left out");
        }
        left_out.is_some()
    }

    /// Saves the checkpoint, where it is time to or at the close. Of a run whose answer is withheld there is nothing to be kept: the next
    /// start would begin with what was found to be wrong.
    fn save_checkpoint(&mut self, closing: bool) {
        if matches!(self.stage, Stage::Ended(Ending::Withheld(_))) {
            return;
        }
        let now = self.clock.now();
        let Some(store) = &mut self.store else { return };
        if closing || now >= self.save_next {
            let rest = match store.save(self.core.standing()) {
                Ok(rest) => rest.max(SAVE_EVERY),
                Err(why) => {
                    warn!("the checkpoint is not up to date, the ledger is: {why}");
                    SAVE_AGAIN
                }
            };
            self.save_next = now + rest;
        }
    }
}

#[cfg(test)]
mod replica_tests;
#[cfg(test)]
mod round_tests;
#[cfg(test)]
mod tests;

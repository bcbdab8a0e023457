//! The keeper: the one thread that owns core, ledger and checkpoint.
//!
//! ```text
//! until the keeper is closed or its last outlet is dropped:
//!     wait for a request; take all requests that have arrived
//!     let the core judge them, up to a number of counts, and collect the records
//!     commit the records: one write and two syncs for all of them
//!     only now answer the reports
//!     lend to waiting workers; save the checkpoint and publish a snapshot if they are due
//! ```

mod audits;
mod ending;
mod events;
mod followers;
mod inbox;
mod journal;
mod lending;
mod membership;
mod news;
mod operator;
mod other_coordinator;
mod publisher;
mod recording;
mod run_clock;
mod snapshot;
mod standstill;
mod watchdog;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use records::Clock;
use records::ledger::LedgerPosition;
use records::store::Store;
use tokio::sync::watch;
use tracing::Level;

use crate::core::Core;
use crate::event::Event;
use audits::{Audits, Opening};
use ending::Stage;
use followers::{Answer, Followers};
use inbox::Inbox;
use journal::Journal;
use lending::Waiting;
use membership::Kernels;
use news::News;
use publisher::Publisher;
use recording::PendingReport;
use run_clock::RunClock;

pub use ending::{Ending, Withheld};
pub use inbox::CallError;
pub(crate) use inbox::{FollowCall, LeaseCall, Outlet, ReplyTo, Request};
pub(crate) use news::TurnedAway;
pub use other_coordinator::OtherCoordinator;
pub use snapshot::Snapshot;

/// The longest time without a look at leases, waiting workers and checkpoint.
const TICK: Duration = Duration::from_millis(200);

/// Approximate number of counts judged in one round. Then other callers are answered and served.
const MAX_COUNTS_PER_ROUND: usize = 20_000;

/// The state of the keeper's thread. Each field has its rules in its own file; the keeper combines them.
pub(crate) struct Keeper {
    core: Core,
    clock: RunClock,
    inbox: Inbox,
    journal: Journal,
    followers: Followers,
    /// Requests for units.
    waiting: Waiting,
    /// Reports whose records are not committed yet.
    reports: Vec<PendingReport>,
    audits: Audits,
    stage: Stage,
    /// True if P and R were compared with the published values.
    is_symmetric_compared: bool,
    kernels: Kernels,
    news: News,
    publisher: Publisher,
}

/// The channels to a keeper.
pub(crate) struct Channels {
    pub requests: Outlet,
    pub snapshots: watch::Receiver<Snapshot>,
    pub ends: watch::Receiver<LedgerPosition>,
}

/// Starts the keeper of a run. Holders of the outlet can send requests and see its snapshots. If the run can be
/// followed, `replicas` followers must have a record before it is acknowledged.
///
/// # Errors
/// The system cannot start a thread.
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

/// The keeper before its first round, and its channels.
fn keeper(
    mut core: Core,
    store: Option<Store>,
    clock: Arc<dyn Clock>,
    replicas: Option<u32>,
) -> std::io::Result<(Keeper, Channels)> {
    let (requests, inbox) = inbox::inbox();
    let followers = Followers::new(replicas);
    let opened = store.as_ref().filter(|store| store.mark().records > 0);
    let audits = Audits::of(opened.map(|store| Opening::of(store.end(), core.standing())));
    let journal = Journal::new(store);
    let mut publisher = Publisher::new(Snapshot::first(&core, &journal));
    if !journal.is_in_memory() {
        publisher.watch_keeper()?;
    }
    let channels = Channels { requests, snapshots: publisher.snapshots(), ends: journal.ends() };
    let keeper = Keeper {
        core,
        clock: RunClock::new(Arc::clone(&clock)),
        inbox,
        journal,
        followers,
        waiting: Waiting::default(),
        reports: Vec::new(),
        audits,
        stage: Stage::Counting,
        is_symmetric_compared: false,
        kernels: Kernels::default(),
        news: News::new(clock),
        publisher,
    };
    Ok((keeper, channels))
}

impl Keeper {
    fn run(mut self) {
        let text = match self.journal.term() {
            Some(term) => format!("the coordinator began term {}", term.number),
            None => "the count began".into(),
        };
        self.news.add(Event::new(Level::INFO, "began", text));
        while let Some(requests) = self.inbox.take(self.waiting.rest()) {
            let (mut close, mut judged) = (None, 0);
            for request in requests {
                // After each request: many requests together may take long, although the disk does not hang.
                self.publisher.beat();
                judged += request.counts();
                if let Request::Close(reply) = request {
                    close = Some(reply);
                } else {
                    self.handle(request);
                }
                if judged >= MAX_COUNTS_PER_ROUND {
                    self.round(false);
                    judged = 0;
                }
            }
            self.publisher.beat();
            self.round(close.is_some());
            if let Some(reply) = close {
                self.journal.close();
                reply.send(()).ok();
                return;
            }
        }
        self.round(true);
    }

    /// Handles the effects of the requests and of the time.
    fn round(&mut self, closing: bool) {
        self.commit();
        self.followers.answer(self.clock.elapsed());
        self.take_back();
        self.tick_core();
        self.compare_symmetric();
        self.end_if_complete();
        self.look_at_audits();
        self.serve_waiting();
        self.save_checkpoint(closing);
        self.publish(closing);
    }

    fn handle(&mut self, request: Request) {
        match request {
            Request::Register(registration, reply) => self.register(registration, reply),
            Request::Lease(call) => self.ask(call),
            Request::Renew { owner, worker, held, reply } => {
                reply.send(self.renew(&owner, worker, &held)).ok();
            }
            Request::Release { owner, worker, held, leaving, reply } => {
                reply.send(self.release(&owner, worker, &held, leaving)).ok();
            }
            Request::Report { owner, report, reply } => self.report(&owner, report, reply),
            Request::StrikeOff(owner) => self.strike_off(&owner),
            Request::TurnedAway(caller) => self.news.turned_away(caller),
            Request::Met(term, reply) => {
                reply.send(self.handle_term(&term)).ok();
            }
            Request::Follow(call) => self.follow(call),
            Request::Followed { follower, call, records } => self.followers.have(follower, call, records),
            Request::Unfollowed { owner, follower, call } => self.unfollow(&owner, follower, call),
            Request::Retract(takeback, reply) => match self.retract(&takeback) {
                Ok(extent) => self.answer_when_copied(Answer::Retraction { extent, reply }),
                Err(error) => drop(reply.send(Err(error))),
            },
            Request::ChangePolicy(change, reply) => match self.change_policy(&change) {
                Ok(()) => {
                    let require_owners = self.core.require_owners().unwrap_or(1);
                    let (double_check, own_checks) = (self.core.policy(), self.core.own_checks().cloned());
                    let answer = Answer::Policy { double_check, require_owners, own_checks, reply };
                    if change.dry_run {
                        answer.give(self.followers.copies(0));
                    } else {
                        self.answer_when_copied(answer);
                    }
                }
                Err(error) => drop(reply.send(Err(error))),
            },
            Request::Steer(steering, reply) => {
                reply.send(self.steer(steering)).ok();
            }
            Request::Status(reply) => {
                reply.send(self.status()).ok();
            }
            Request::Explain(subject, reply) => {
                reply.send(Ok(self.core.explain(self.clock.now(), &subject))).ok();
            }
            Request::Audited(reason, found) => self.audited(reason, *found),
            Request::Close(_) => unreachable!("the loop keeps this one for itself"),
        }
    }

    /// Sends the answer when enough followers have all records up to now.
    fn answer_when_copied(&mut self, answer: Answer) {
        self.followers.wait(self.clock.elapsed(), self.journal.records(), answer);
    }

    /// Advances the core to the present time, and reports its events.
    fn tick_core(&mut self) {
        for unit in self.core.tick(self.clock.now()) {
            let text = format!("unit {unit} was lost with five workers and is set aside");
            let kind = "units were lost with five workers each and are set aside";
            self.news.add(Event::counted_by_name(Level::ERROR, kind, unit, text));
        }
        for (owner, event) in self.core.take_events() {
            match owner {
                Some(owner) => self.news.add_by(&owner, event),
                None => self.news.add(event),
            }
        }
    }

    /// Saves the checkpoint if it is due. A run with a withheld answer keeps no checkpoint, because the next start
    /// would use a wrong state.
    fn save_checkpoint(&mut self, closing: bool) {
        if !matches!(self.stage, Stage::Ended(Ending::Withheld(_))) {
            self.journal.save(self.core.standing(), self.clock.elapsed(), closing);
        }
    }
}

#[cfg(test)]
mod follower_tests;
#[cfg(test)]
mod round_tests;
#[cfg(test)]
mod tests;

//! The life of a worker: register, lease, count, report, and leave.
//!
//! ```text
//! until it is to leave, or has drained, or the coordinator says that all is counted:
//!     hold enough units for the time ahead        (one request at a time, waiting at the coordinator)
//!     report what has been counted                (one report at a time, with all that is there)
//!     renew the leases of what is held
//!     when the coordinator does not know us: register again, and name what we hold
//! stop the pool, report what is there, give back the rest, leave
//! where another run of the plan is counted for now: begin anew, and hold nothing
//! ```
//!
//! Calls run as tasks of their own and come back as events, so that nothing waits for anything else. A count is
//! kept until the coordinator has acknowledged it.

mod calls;
mod counting;
mod draining;
mod error;
mod held_leases;
mod hung_threads;
mod known_board;
mod leaving;
mod replies;
mod reporting;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use domain::{LeaseReply, Renewal, Verdict, Welcome, WorkerId};
use queens::Plan;
use queens::kernel::Kernel;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use crate::coordinator::{CoordinatorError, Lender};
use crate::outage::{Hopeful, Outage};
use crate::pool::{Pool, ThreadedPool, UnitOutcome, is_card};
use counting::Counting;
pub use error::WorkerError;
use held_leases::HeldLeases;
pub use known_board::TEST_HANGS;
use reporting::Reporting;

/// What makes a worker.
#[derive(Clone)]
pub struct Config {
    /// What people call it.
    pub name: String,
    /// The machine that it runs on, as people call it.
    pub machine: String,
    /// How many units it counts at a time; at least 1.
    pub threads: u32,
    /// What it counts with.
    pub kernel: Arc<dyn Kernel>,
    /// How long it waits for a coordinator that does not answer; `None` for ever.
    pub give_up_after: Option<Duration>,
    /// Workers that share this give up together: none as long as another is answered.
    pub hopeful: Hopeful,
    /// How long it waits for a coordinator that answers and cannot record; `None` for ever.
    pub give_up_unrecorded_after: Option<Duration>,
    /// Whether it counts to the end what it holds before it gives up.
    pub finishes_when_lost: bool,
    /// For how long it holds units ahead: through an outage as long as this it goes on counting, where it had been lent
    /// as much.
    pub ahead: Duration,
    /// For how long it goes on, when it drains, with what its threads count.
    pub drain: Duration,
}

/// What is wanted of a worker; later ones prevail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// It is to work.
    #[default]
    Stay,
    /// It is to finish what its threads count, give back the rest, and leave.
    Drain,
    /// It is to leave within two seconds.
    Leave,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Units whose counts were acknowledged.
    pub units: u64,
    /// Whether all units of the run have been counted, by whomever.
    pub finished: bool,
    /// Units that it began, and gave back uncounted when it left.
    pub broken_off: u64,
    /// Counts that it had, and that nobody had acknowledged when it left: their units are counted again.
    pub unacknowledged: u64,
}

/// Runs a worker until all is counted, it has to leave, or it is wished to.
///
/// # Errors
/// If its kernel miscounts, the system gives it no threads, the coordinator refuses it, or does not answer for longer
/// than the worker was to wait.
pub async fn run(
    coordinator: Arc<dyn Lender>,
    plan: Arc<Plan>,
    config: Config,
    mut wish: watch::Receiver<Wish>,
) -> Result<Summary, WorkerError> {
    let self_test = tokio::select! {
        solutions = known_board::solutions(Arc::clone(&config.kernel), plan.board()) => solutions?,
        // Whatever is wished, it leaves.
        Ok(()) = wish.changed() => {
            info!("draining: asked to end before it was lent anything");
            return Ok(Summary::default());
        }
    };
    let mut summary = Summary::default();
    loop {
        let (outcomes_in, outcomes) = unbounded_channel();
        let kernel = Arc::clone(&config.kernel);
        let pool = ThreadedPool::new(config.threads, Arc::clone(&plan), kernel, outcomes_in)?;
        let (events_in, events) = unbounded_channel();
        let (coordinator, plan, config) = (Arc::clone(&coordinator), Arc::clone(&plan), config.clone());
        let counting = Counting::new(Arc::clone(&plan), pool, outcomes, config.threads, config.ahead);
        let mut worker = WorkerLoop::new(coordinator, plan, config, self_test, counting, events_in);
        worker.summary = summary;
        match worker.work(events, &mut wish).await {
            // Of the other run it holds nothing and knows nothing.
            Err(WorkerError::OtherRun) => summary = worker.summary,
            ended => return ended,
        }
    }
}

/// What a worker knows while it works.
struct WorkerLoop<P> {
    coordinator: Arc<dyn Lender>,
    plan: Arc<Plan>,
    config: Config,
    /// The solutions of the known board.
    self_test: u64,
    counting: Counting<P>,
    outage: Outage,
    reporting: Reporting,
    events: UnboundedSender<Answer>,
    membership: Membership,
    /// The number under which it was lent what it holds.
    former: Option<WorkerId>,
    held: HeldLeases,
    leasing: bool,
    renewing: bool,
    /// Why it is to drain, where it was just asked to.
    asked_to_drain: Option<&'static str>,
    /// Until when it drains.
    drains_until: Option<Instant>,
    summary: Summary,
}

/// Whether the coordinator knows the worker.
enum Membership {
    None,
    Asked,
    Member { worker: WorkerId, renew_every: Duration, renew_next: Instant },
}

/// A call has come back, which was to be answered from then on.
struct Answer {
    due: Instant,
    event: LoopEvent,
}

/// What a call has brought.
enum LoopEvent {
    Registered(Result<Welcome, CoordinatorError>),
    Leased(Result<LeaseReply, CoordinatorError>),
    Reported(Result<Vec<Verdict>, CoordinatorError>),
    Renewed(Result<Renewal, CoordinatorError>),
}

impl<P: Pool> WorkerLoop<P> {
    fn new(
        coordinator: Arc<dyn Lender>,
        plan: Arc<Plan>,
        config: Config,
        self_test: u64,
        counting: Counting<P>,
        events: UnboundedSender<Answer>,
    ) -> Self {
        let outage = Outage::new(config.give_up_after, config.hopeful.clone());
        Self {
            coordinator,
            plan,
            reporting: Reporting::new(outage.of_records(config.give_up_unrecorded_after)),
            outage,
            config,
            self_test,
            counting,
            events,
            membership: Membership::None,
            former: None,
            held: HeldLeases::default(),
            leasing: false,
            renewing: false,
            asked_to_drain: None,
            drains_until: None,
            summary: Summary::default(),
        }
    }

    async fn work(
        &mut self,
        mut events: UnboundedReceiver<Answer>,
        wish: &mut watch::Receiver<Wish>,
    ) -> Result<Summary, WorkerError> {
        let mut ended = Ok(());
        while ended.is_ok() {
            self.call_where_due();
            let wake = self.wake();
            tokio::select! {
                biased;
                // Nobody is left to wish anything: it goes on.
                Ok(()) = wish.changed() => {
                    if *wish.borrow_and_update() == Wish::Leave {
                        break;
                    }
                    self.asked_to_drain = Some("asked to end; a second signal ends it now");
                }
                Some(answer) = events.recv() => ended = self.take(answer),
                outcomes = self.counting.outcomes() => self.take_outcomes(outcomes),
                () = sleep_until(wake) => {}
            }
            if let Some(why) = self.asked_to_drain.take() {
                self.drain(why);
            }
            if self.summary.finished || self.counting.do_all_threads_hang() || self.has_drained() {
                break;
            }
        }
        self.leave(&mut events).await;
        let units = self.reporting.unacknowledged() as u64;
        self.summary.unacknowledged += units;
        if matches!(ended, Err(WorkerError::OtherRun)) && self.drains_until.is_some() {
            ended = Ok(());
        }
        let ended =
            ended.and_then(|()| match (self.counting.do_all_threads_hang(), is_card(&*self.config.kernel)) {
                (false, _) => Ok(self.summary),
                (true, true) => Err(WorkerError::CardHung),
                (true, false) => Err(WorkerError::Hung(self.config.threads)),
            });
        if ended.is_err() && units > 0 {
            warn!(
                units,
                "counted, and nobody has acknowledged it: these units are counted again, unless only the answer was lost"
            );
        }
        ended
    }

    /// When something is due although nothing happens.
    fn wake(&self) -> Instant {
        let far = Instant::now() + Duration::from_mins(1);
        let far = self.drains_until.map_or(far, |until| until.min(far));
        if let Some(until) = self.outage.until() {
            return until.min(far);
        }
        // What waits for an answer wakes nobody before that comes.
        let Membership::Member { renew_next, .. } = self.membership else { return far };
        let renew = if self.renewing { far } else { renew_next };
        renew.min(self.reporting.due().unwrap_or(far)).min(far)
    }

    /// Whether nothing can be reported at the moment.
    fn is_cut_off(&self) -> bool {
        self.outage.until().is_some() || self.reporting.is_blocked()
    }

    /// Whether there are counts that the coordinator has not acknowledged.
    fn has_unacknowledged(&self) -> bool {
        self.reporting.unacknowledged() > 0
    }

    fn take_outcomes(&mut self, outcomes: Vec<UnitOutcome>) {
        for outcome in outcomes {
            match outcome {
                UnitOutcome::Counted(count) => self.reporting.add(self.held.take_counted(count)),
                UnitOutcome::Stopped => {}
                UnitOutcome::Beyond(lease) => self.held.set_uncountable(&lease),
            }
        }
    }
}

//! The worker's loop: its events and their handling.

use std::sync::Arc;
use std::time::Duration;

use domain::{Lease, LeaseReply, Owner, Registration, Renewal, Welcome};
use queens::Plan;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{info, warn};

use super::config::{Config, Summary, Wish};
use super::connection::{CallAnswer, CallReply, Connection};
use super::counting::Counting;
use super::error::WorkerError;
use super::held_leases::HeldLeases;
use super::reporting::Reporting;
use super::self_test;
use crate::coordinator::{CoordinatorError, Lender};
use crate::outage::Outage;
use crate::pool::{Pool, ThreadedPool, UnitOutcome, is_card};

/// How long a worker that leaves waits for its pool and for its last reports.
const POOL_END: Duration = Duration::from_millis(500);
const LAST_REPORTS: Duration = Duration::from_millis(900);

/// Runs a worker until all is counted, it has to leave, or it is wished to.
///
/// # Errors
/// Its kernel miscounts, the system gives it no threads, the coordinator refuses it, or does not answer for longer than the
/// worker waits.
pub async fn run(
    coordinator: Arc<dyn Lender>,
    plan: Arc<Plan>,
    config: Config,
    mut wish: watch::Receiver<Wish>,
) -> Result<Summary, WorkerError> {
    let self_test = tokio::select! {
        solutions = self_test::solutions(Arc::clone(&config.kernel), plan.board()) => solutions?,
        // In any case the worker leaves.
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
        let (coordinator, plan, config) = (Arc::clone(&coordinator), Arc::clone(&plan), config.clone());
        let counting = Counting::new(Arc::clone(&plan), pool, outcomes, config.threads, config.ahead);
        let mut worker = WorkerLoop::new(coordinator, plan, config, self_test, counting, summary);
        match worker.work(&mut wish).await {
            // The worker starts over, without units of the other run.
            Err(WorkerError::OtherRun) => summary = Summary { finished: false, ..worker.summary },
            ended => return ended,
        }
    }
}

pub struct WorkerLoop<P> {
    plan: Arc<Plan>,
    config: Config,
    /// The kernel's count of the known board.
    self_test: u64,
    connection: Connection,
    held: HeldLeases,
    counting: Counting<P>,
    reporting: Reporting,
    stage: WorkStage,
    summary: Summary,
}

enum WorkStage {
    Working,
    /// Finishes its running units.
    Draining {
        until: Instant,
    },
    Leaving,
}

impl<P: Pool> WorkerLoop<P> {
    /// A worker that has done `summary` already, for another run.
    pub fn new(
        coordinator: Arc<dyn Lender>,
        plan: Arc<Plan>,
        config: Config,
        self_test: u64,
        counting: Counting<P>,
        summary: Summary,
    ) -> Self {
        let outage = Outage::new(config.give_up_after, config.hopeful.clone());
        Self {
            reporting: Reporting::new(outage.of_records(config.give_up_unrecorded_after)),
            connection: Connection::new(coordinator, outage),
            plan,
            config,
            self_test,
            held: HeldLeases::default(),
            counting,
            stage: WorkStage::Working,
            summary,
        }
    }

    /// Works until all is counted, the worker has to leave, or it is wished to; then leaves.
    pub async fn work(&mut self, wish: &mut watch::Receiver<Wish>) -> Result<Summary, WorkerError> {
        let mut ended = Ok(());
        while ended.is_ok() && !self.is_done() {
            self.make_due_calls();
            let next_call = self.next_call();
            tokio::select! {
                biased;
                // If no command can arrive any more, the worker continues.
                Ok(()) = wish.changed() => match *wish.borrow_and_update() {
                    Wish::Leave => break,
                    Wish::Drain | Wish::Stay => self.drain("asked to end; a second signal ends it now"),
                },
                Some(answer) = self.connection.answer() => ended = self.take_answer(answer),
                outcomes = self.counting.outcomes() => self.take_outcomes(outcomes),
                () = sleep_until(next_call) => {}
            }
        }
        if matches!((&ended, &self.stage), (Err(WorkerError::OtherRun), WorkStage::Draining { .. })) {
            ended = Ok(());
        }
        self.leave().await;
        let units = self.reporting.unacknowledged() as u64;
        self.summary.unacknowledged += units;
        if ended.is_ok() && self.counting.do_all_threads_hang() {
            let is_card = is_card(&*self.config.kernel);
            let hung = WorkerError::Hung(self.config.threads);
            ended = Err(if is_card { WorkerError::CardHung } else { hung });
        }
        if ended.is_err() && units > 0 {
            warn!(
                units,
                "these counts were not acknowledged: their units are counted again, unless only the \
                 answer was lost"
            );
        }
        ended.map(|()| self.summary)
    }

    /// Whether all units are counted, all threads hang, or the worker has drained.
    fn is_done(&self) -> bool {
        let has_drained = match self.stage {
            WorkStage::Draining { until } => {
                let is_idle = !self.counting.is_busy() && self.reporting.unacknowledged() == 0;
                is_idle || Instant::now() >= until
            }
            WorkStage::Working | WorkStage::Leaving => false,
        };
        self.summary.finished || self.counting.do_all_threads_hang() || has_drained
    }

    fn make_due_calls(&mut self) {
        if self.connection.may_register() {
            let registration = self.registration();
            self.connection.register(registration);
        }
        let Some(worker) = self.connection.worker() else { return };
        if let Some(counts) = self.reporting.next_report() {
            self.connection.report(worker, counts);
        }
        if matches!(self.stage, WorkStage::Working)
            && self.connection.may_lease()
            && let Some(want) =
                self.held.wanted(self.reporting.held(), self.counting.target(), self.counting.least())
        {
            self.connection.lease(worker, want);
        }
        if let Some(renew_every) = self.connection.due_renewal() {
            // Leases that are not renewed end.
            // An external program has a time limit of its own.
            if !self.config.kernel.name().is_external() {
                self.held.give_up(&self.counting.find_hung(renew_every));
            }
            self.connection.release(self.held.take_uncountable());
            self.connection.renew(worker, self.leases());
        }
    }

    /// When a call or the end is due although nothing happens.
    fn next_call(&self) -> Instant {
        let at_latest = Instant::now() + Duration::from_mins(1);
        let drained = if let WorkStage::Draining { until } = self.stage { Some(until) } else { None };
        let report = self.connection.worker().and_then(|_| self.reporting.due());
        [drained, self.connection.next_call(), report].into_iter().flatten().fold(at_latest, Instant::min)
    }

    fn registration(&self) -> Registration {
        let leases = self.leases();
        Registration {
            owner: Owner::default(),
            fingerprint: self.plan.fingerprint().clone(),
            name: self.config.name.clone(),
            machine: self.config.machine.clone(),
            self_test: self.self_test,
            threads: self.config.threads,
            kernel: self.config.kernel.name(),
            held: leases.iter().map(|lease| lease.unit).collect(),
            leases,
            // The connection adds the number. The task that forwards this to a coordinator adds the term that it met.
            former: None,
            met: None,
        }
    }

    /// All leases, starting with leases of counts: the coordinator may refuse the last ones.
    fn leases(&self) -> Vec<Lease> {
        self.reporting.leases().chain(self.held.leases()).collect()
    }

    fn take_answer(&mut self, CallAnswer { due, reply }: CallAnswer) -> Result<(), WorkerError> {
        let result = match reply {
            CallReply::Registered(result) => result.map(|Welcome { worker, leases, .. }| {
                let kernel = self.config.kernel.name();
                info!(%worker, %kernel, again = leases.len(), "registered");
                self.take_leases(leases);
            }),
            CallReply::Leased(result) => result.map(|reply| match reply {
                LeaseReply::Finished => self.summary.finished = true,
                LeaseReply::Granted(leases) => {
                    self.take_leases(leases);
                    self.held.set_full(self.reporting.held());
                }
            }),
            CallReply::Reported(Ok(verdicts)) => {
                self.summary.units += self.reporting.judged(&verdicts);
                Ok(())
            }
            CallReply::Reported(Err(CoordinatorError::Unavailable(why))) => {
                if !self.reporting.is_failing() {
                    // The reply shows whether the coordinator is away, or cannot record.
                    self.connection.renew_now();
                }
                return Ok(self.reporting.not_recorded(due, &why)?);
            }
            CallReply::Reported(Err(error)) => {
                self.reporting.failed();
                Err(error)
            }
            CallReply::Renewed(result) => result.map(|Renewal { lost, finished, drain }| {
                // A worker that still counts units which others have counted leases nothing. Here it learns that all
                // units are counted.
                self.summary.finished |= finished;
                if !finished {
                    self.held.log_lost(&lost, self.reporting.leases());
                }
                if drain {
                    self.drain("the operator asked for it");
                }
            }),
        };
        match self.connection.call_ended(due, result) {
            Err(WorkerError::GaveUp(_)) if self.config.finishes_when_lost && !self.held.is_empty() => Ok(()),
            ended => ended,
        }
    }

    /// Counts leased units that the worker does not hold. A held unit is counted once and reported under the later
    /// token. The check of a count that is still being reported is another variant, so it is counted too. A draining
    /// worker returns units that it does not hold, possibly once more.
    fn take_leases(&mut self, mut leases: Vec<Lease>) {
        let units = self.plan.units();
        leases.retain(|lease| lease.unit.0 < units);
        let new = self.reporting.update_tokens(self.held.update_tokens(leases));
        if !matches!(self.stage, WorkStage::Working) {
            return self.connection.release(new);
        }
        for lease in new {
            if self.held.add(lease) {
                self.counting.start(lease);
            }
        }
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

    /// Starts no further unit, and returns units that no thread has started. A second command to drain changes nothing.
    fn drain(&mut self, why: &str) {
        if !matches!(self.stage, WorkStage::Working) {
            return;
        }
        self.stage = WorkStage::Draining { until: Instant::now() + self.config.drain };
        let (begun, outcomes) = self.counting.finish();
        self.take_outcomes(outcomes);
        let not_begun = self.held.take_not_begun(&begun);
        let seconds = self.config.drain.as_secs();
        info!(counting = begun.len(), not_begun = not_begun.len(), seconds, "draining: {why}");
        self.connection.release(not_begun);
    }

    /// Stops the pool, reports the finished counts, returns the rest and leaves, within two seconds.
    async fn leave(&mut self) {
        let begun = self.counting.stop();
        let pool_end = async {
            while self.counting.is_busy() {
                let outcomes = self.counting.outcomes().await;
                self.take_outcomes(outcomes);
            }
        };
        timeout(POOL_END, pool_end).await.ok();
        self.summary.broken_off += self.held.count(&begun) as u64;
        if self.connection.worker().is_none() {
            return;
        }
        self.stage = WorkStage::Leaving;
        let last_reports = async {
            let is_cut_off = |worker: &Self| worker.connection.is_away() || worker.reporting.is_blocked();
            while self.reporting.unacknowledged() > 0 && !is_cut_off(self) {
                if !self.reporting.is_under_way() {
                    self.make_due_calls();
                }
                let Some(answer) = self.connection.answer().await else { break };
                // Units that are leased now go back when the coordinator strikes the worker off.
                let is_lease = matches!(answer.reply, CallReply::Leased(_));
                if !is_lease && self.take_answer(answer).is_err() {
                    break;
                }
            }
        };
        timeout(LAST_REPORTS, last_reports).await.ok();
        self.connection.leave(self.leases()).await;
    }
}

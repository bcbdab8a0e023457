//! The pool's work: its unfinished units, its speed, and its hanging threads.

use std::sync::Arc;
use std::time::Duration;

use domain::Lease;
use queens::Plan;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};
use tracing::{debug, error};

use super::hung_threads::HungThreads;
use crate::pace::AskingPace;
use crate::pool::{Pool, UnitOutcome, UnitVariant};

/// Outcomes are gathered in the pool for a quarter of the worker's age, within these limits, unless the pool runs dry.
/// Waking the loop costs more than the smallest units, and every report costs the coordinator two syncs. But a short
/// run must not end with all its counts in one report.
const GATHERING_TIMES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(250)];

/// The pool, and the worker's view of it.
pub struct Counting<P> {
    plan: Arc<Plan>,
    pool: P,
    outcomes: UnboundedReceiver<UnitOutcome>,
    pace: AskingPace,
    /// How many outcomes the pool still owes.
    owed: usize,
    hung: HungThreads,
    begun: Instant,
    gather_until: Instant,
}

impl<P: Pool> Counting<P> {
    /// A pool with this number of threads, whose outcomes come from `outcomes`. It gets units for the time `ahead`.
    pub fn new(
        plan: Arc<Plan>,
        pool: P,
        outcomes: UnboundedReceiver<UnitOutcome>,
        threads: u32,
        ahead: Duration,
    ) -> Self {
        let mean_weight = plan.total_weight() as f64 / plan.units().max(1) as f64;
        let pace = AskingPace::new(threads, mean_weight, ahead);
        pool.set_low(pace.low());
        let (owed, hung, begun) = (0, HungThreads::default(), Instant::now());
        Self { plan, pool, outcomes, pace, owed, hung, begun, gather_until: begun }
    }

    pub fn start(&mut self, lease: Lease) {
        self.owed += 1;
        self.pool.count(lease);
    }

    /// Waits for outcomes, and gathers them for a while. Cancelled, it has taken none.
    pub async fn outcomes(&mut self) -> Vec<UnitOutcome> {
        tokio::select! {
            () = self.pool.running_dry() => {}
            () = sleep_until(self.gather_until) => {}
        }
        let mut outcomes = Vec::new();
        self.outcomes.recv_many(&mut outcomes, usize::MAX).await;
        self.gather_until =
            Instant::now() + (self.begun.elapsed() / 4).clamp(GATHERING_TIMES[0], GATHERING_TIMES[1]);
        self.took(outcomes)
    }

    fn took(&mut self, outcomes: Vec<UnitOutcome>) -> Vec<UnitOutcome> {
        self.owed -= outcomes.len();
        for outcome in &outcomes {
            let UnitOutcome::Counted(count) = outcome else { continue };
            let unit = count.lease.unit;
            debug!(%unit, cpu = count.cpu.as_secs_f64(), completions = count.completions, "counted");
            // By another kernel it takes several times as long.
            if !count.lease.variant.other_kernel {
                self.pace.counted(self.plan.weight(unit) as f64, count.cpu);
            }
        }
        self.pool.set_low(self.pace.low());
        outcomes
    }

    pub fn is_busy(&self) -> bool {
        self.owed > 0
    }

    /// How many units to hold, so that the pool does not run dry.
    pub fn target(&self) -> usize {
        self.pace.target()
    }

    /// With fewer units than this a thread may soon be idle.
    pub fn least(&self) -> usize {
        self.pace.least()
    }

    /// Begins no unit more. Returns the units in threads, and the outcomes so far: a begun unit is among the former or the
    /// latter.
    pub fn finish(&mut self) -> (Vec<UnitVariant>, Vec<UnitOutcome>) {
        self.pool.finish();
        // In this order: a unit that leaves its thread meanwhile is found among the outcomes.
        let begun = self.begun_units();
        let outcomes = std::iter::from_fn(|| self.outcomes.try_recv().ok()).collect();
        (begun, self.took(outcomes))
    }

    /// Ends all units soon. Returns the units in threads.
    pub fn stop(&mut self) -> Vec<UnitVariant> {
        let begun = self.begun_units();
        self.pool.stop();
        self.gather_until = Instant::now();
        begun
    }

    fn begun_units(&self) -> Vec<UnitVariant> {
        self.pool.counting().into_iter().flatten().collect()
    }

    /// Looks at the threads, `elapsed` after the last look. Returns the units that were found to hang since then. A unit that
    /// is counted after all is still reported.
    pub fn find_hung(&mut self, elapsed: Duration) -> Vec<UnitVariant> {
        let (limit, threads) = (self.pace.hung(), self.pool.counting());
        let found = self.hung.look(elapsed, self.pool.processor_time(), &threads, limit);
        for (unit, _) in &found {
            let minutes = limit.as_secs() / 60;
            error!(%unit, minutes, "a thread hangs: its unit takes longer than any should, and is given \
                                    back");
        }
        found
    }

    pub fn do_all_threads_hang(&self) -> bool {
        self.hung.are_all()
    }
}

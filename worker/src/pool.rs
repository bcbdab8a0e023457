//! The threads that count, apart from those that talk.

use std::sync::Arc;

use cpu_time::ThreadTime;
use proto::{Lease, UnitCount};
use queens::Plan;
use queens::kernel::{Kernel, Stop};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::sync::mpsc::UnboundedSender;

/// What became of a unit in the pool.
#[derive(Clone, Copy, Debug)]
pub enum Outcome {
    /// It was counted.
    Counted(UnitCount),
    /// It was not, because the pool was stopped.
    Stopped,
}

/// A rayon pool that counts units in the order in which they come.
pub struct Pool {
    threads: ThreadPool,
    plan: Arc<Plan>,
    kernel: Arc<dyn Kernel>,
    stop: Arc<Stop>,
    outcomes: UnboundedSender<Outcome>,
}

impl Pool {
    /// A pool of that many threads that tells each outcome to `outcomes`.
    pub fn new(
        threads: u32,
        plan: Arc<Plan>,
        kernel: Arc<dyn Kernel>,
        outcomes: UnboundedSender<Outcome>,
    ) -> Result<Self, ThreadPoolBuildError> {
        let name = |index| format!("count-{index}");
        let threads = ThreadPoolBuilder::new().num_threads(threads as usize).thread_name(name).build()?;
        Ok(Self { threads, plan, kernel, stop: Arc::new(Stop::new()), outcomes })
    }

    /// Puts a unit in line.
    pub fn count(&self, lease: Lease) {
        let (plan, kernel) = (Arc::clone(&self.plan), Arc::clone(&self.kernel));
        let (stop, outcomes) = (Arc::clone(&self.stop), self.outcomes.clone());
        self.threads.spawn_fifo(move || {
            let outcome = if stop.is_stopped() { None } else { count(&plan, &*kernel, lease, &stop) };
            // Nobody listens any more when the worker has left; then nobody needs to know.
            outcomes.send(outcome.map_or(Outcome::Stopped, Outcome::Counted)).ok();
        });
    }

    /// Has all units end soon, counted or not.
    pub fn stop(&self) {
        self.stop.stop();
    }
}

fn count(plan: &Plan, kernel: &dyn Kernel, lease: Lease, stop: &Stop) -> Option<UnitCount> {
    let begun = ThreadTime::now();
    let count = plan.unit(lease.unit).count(kernel, stop)?;
    let cpu = begun.elapsed();
    Some(UnitCount { lease, completions: count.completions, nodes: count.nodes, cpu })
}

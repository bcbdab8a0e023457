//! The life of a worker: register, lease, count, report, and leave.
//!
//! ```text
//! until the worker is to leave, or has drained, or the coordinator says that all is counted:
//!     hold enough units for the time ahead        (one request at a time, waiting at the coordinator)
//!     report what is counted                      (one report at a time, with all that is there)
//!     renew the leases of what is held
//!     if the coordinator does not know the worker: register again, and name what is held
//! stop the pool, report what is counted, give back the rest, leave
//! if another run of the plan is counted there now: begin anew, and hold nothing
//! ```

mod config;
mod connection;
mod counting;
mod error;
mod held_leases;
mod hung_threads;
mod reporting;
mod self_test;
#[cfg(test)]
mod tests;
mod worker_loop;

use std::sync::Arc;

use queens::Plan;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::watch;
use tracing::info;

use crate::coordinator::Lender;
use crate::pool::ThreadedPool;
pub use config::{Config, Summary, Wish};
use counting::Counting;
pub use error::WorkerError;
pub use self_test::TEST_HANGS;
use worker_loop::WorkerLoop;

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
        solutions = self_test::solutions(Arc::clone(&config.kernel), plan.board()) => solutions?,
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
        let (coordinator, plan, config) = (Arc::clone(&coordinator), Arc::clone(&plan), config.clone());
        let counting = Counting::new(Arc::clone(&plan), pool, outcomes, config.threads, config.ahead);
        let mut worker = WorkerLoop::new(coordinator, plan, config, self_test, counting, summary);
        match worker.work(&mut wish).await {
            // The worker begins anew: of the other run it holds nothing.
            Err(WorkerError::OtherRun) => summary = Summary { finished: false, ..worker.summary() },
            ended => return ended,
        }
    }
}

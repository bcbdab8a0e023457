//! How a worker drains: what its threads count is finished and reported, all else goes back at once for others to count.

use std::sync::Arc;

use domain::Lease;
use tokio::time::Instant;
use tracing::info;

use super::{Membership, WorkerLoop};
use crate::pool::Pool;

impl<P: Pool> WorkerLoop<P> {
    /// Begins nothing more, and gives back what no thread has begun. A second wish to drain changes nothing.
    pub(super) fn drain(&mut self, why: &str) {
        if self.drains_until.is_some() {
            return;
        }
        self.drains_until = Some(Instant::now() + self.config.drain);
        let (begun, outcomes) = self.counting.finish();
        self.take_outcomes(outcomes);
        let idle = self.held.take_not_begun(&begun);
        let seconds = self.config.drain.as_secs();
        info!(counting = begun.len(), not_begun = idle.len(), seconds, "draining: {why}");
        self.give_back(idle);
    }

    /// Gives units back that are not counted. Should that not arrive, they go back when the worker leaves, or when their
    /// leases end.
    pub(super) fn give_back(&self, leases: Vec<Lease>) {
        if let Membership::Member { worker, .. } = self.membership
            && !leases.is_empty()
        {
            let coordinator = Arc::clone(&self.coordinator);
            tokio::spawn(async move { coordinator.release(worker, leases, false).await });
        }
    }

    /// Whether nothing is left to be counted or acknowledged, or the time is over.
    pub(super) fn has_drained(&self) -> bool {
        let is_done = !self.counting.is_busy() && !self.has_unacknowledged();
        self.drains_until.is_some_and(|until| is_done || Instant::now() >= until)
    }
}

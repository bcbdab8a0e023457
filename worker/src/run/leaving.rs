//! How a worker leaves: within two seconds, with everything reported that can be.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::{Answer, LoopEvent, Membership, WorkerLoop};
use crate::pool::Pool;

/// Leaving takes no longer than the pool's end, a report and a farewell, each bounded.
const POOL_END: Duration = Duration::from_millis(500);
const LAST_REPORT: Duration = Duration::from_millis(900);
const FAREWELL: Duration = Duration::from_millis(300);

impl<P: Pool> WorkerLoop<P> {
    /// Stops the pool, reports what is there, gives back the rest, takes leave.
    pub(super) async fn leave(&mut self, events: &mut UnboundedReceiver<Answer>) {
        let begun = self.counting.stop();
        let pool_end = async {
            while self.counting.is_busy() {
                let outcomes = self.counting.outcomes().await;
                self.take_outcomes(outcomes);
            }
        };
        timeout(POOL_END, pool_end).await.ok();
        self.summary.broken_off += self.held.count(&begun) as u64;
        if !matches!(self.membership, Membership::Member { .. }) || self.outage.until().is_some() {
            return;
        }
        // No more units: those that a request on its way still brings go back when the worker is struck off.
        self.leasing = true;
        let last_reports = async {
            while self.has_unacknowledged() && !self.is_cut_off() {
                if !self.reporting.is_under_way() {
                    self.call_where_due();
                }
                let Some(answer) = events.recv().await else { break };
                let is_lease = matches!(answer.event, LoopEvent::Leased(_));
                if !is_lease && self.take(answer).is_err() {
                    break;
                }
            }
        };
        timeout(LAST_REPORT, last_reports).await.ok();
        // A coordinator that was started again meanwhile knows it by another number.
        let Membership::Member { worker, .. } = self.membership else { return };
        let held = self.leases();
        timeout(FAREWELL, self.coordinator.release(worker, held, true)).await.ok();
    }
}

//! Workers keep alive what they hold.

use std::time::Duration;

use proto::{Lease, WorkerId};
use queens::UnitId;

use super::{Core, LEASE_TIME, Refusal};

impl Core {
    /// Keeps the worker's leases alive and names those that it has lost.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, held: &[Lease]) -> Result<Vec<UnitId>, Refusal> {
        self.workers.heard_of(now, worker)?;
        let mut lost = Vec::new();
        for lease in held {
            // A lease also ends with the record of its count; that is no loss.
            let renewed = self.leases.renew(lease.unit, worker, now.saturating_add(LEASE_TIME));
            if !renewed && !self.recording.contains_key(&lease.unit) && !self.has_count(lease.unit) {
                lost.push(lease.unit);
            }
        }
        Ok(lost)
    }
}

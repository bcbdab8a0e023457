//! Workers keep alive what they hold.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Lease, WorkerId};
use queens::UnitId;

use super::{Core, Refusal};

impl Core {
    /// Keeps the worker's leases alive and names those that it has lost. What it was lent and does not name, again and
    /// again, it does not have: that is open again.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, held: &[Lease]) -> Result<Vec<UnitId>, Refusal> {
        self.workers.heard_of(now, worker)?;
        let named: BTreeSet<UnitId> = held.iter().map(|lease| lease.unit).collect();
        let omitted = self.leases.renew(now, worker, &named);
        self.leave_to_others(now, worker, &omitted);
        omitted.into_iter().for_each(|unit| self.reopen(unit));
        // A lease also ends with the record of its count; that is no loss.
        let is_lost = |unit: &UnitId| !self.recording.contains_key(unit) && !self.has_count(*unit);
        Ok(self.leases.not_held(worker, &named).into_iter().copied().filter(is_lost).collect())
    }
}

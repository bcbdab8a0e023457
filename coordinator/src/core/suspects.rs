//! How units are lent that may have killed workers (`losses`): one at a time, to who has nothing else to count.

use std::time::Duration;

use domain::Lease;

use super::Core;
use super::task::Borrower;

impl Core {
    /// Lends a suspect that the worker can count, unless it has one.
    pub(super) fn lend_suspect(&mut self, now: Duration, borrower: &Borrower) -> Option<Lease> {
        if self.open.suspects.is_empty() || self.leases.units_of(borrower.worker) > 0 {
            return None;
        }
        let suspect = self.open.suspects.iter().find(|unit| self.task(now, borrower, **unit).is_some());
        let Some(unit) = suspect.copied() else { return self.lend_set_aside(now, borrower) };
        self.open.suspects.remove(&unit);
        self.lend(now, borrower, unit)
    }

    /// Lends a unit that was set aside once more, where it is time for that and nobody has anything else to count.
    fn lend_set_aside(&mut self, now: Duration, borrower: &Borrower) -> Option<Lease> {
        if !self.leases.is_empty() || self.open.has_uncounted(self.plan.units()) {
            return None;
        }
        let task_of = |unit| Some((unit, self.task_though_lost(now, borrower, unit)?));
        let (unit, task) = self.losses.may_be_tried(now).find_map(task_of)?;
        self.losses.try_again(unit);
        self.open.suspects.remove(&unit);
        Some(self.lend_to_do(now, borrower, unit, task))
    }
}

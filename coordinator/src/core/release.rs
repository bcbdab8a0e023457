//! Workers give units back, leave, or are not heard of any more.

use std::time::Duration;

use domain::{Lease, Owner, WorkerId};
use queens::UnitId;

use super::{Core, Refusal};

/// A worker that is not heard of for this long is forgotten, and its units are open again.
pub(super) const SILENCE: Duration = Duration::from_mins(10);

impl Core {
    /// Takes units back that will not be counted, and strikes the worker off if it leaves. Who gives back what he was to count by
    /// the other method, and stays, counts by one only.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn release(
        &mut self,
        now: Duration,
        worker: WorkerId,
        held: &[Lease],
        leaving: bool,
    ) -> Result<(), Refusal> {
        self.workers.heard_of(now, worker)?;
        // Whatever else is named, it was not lent, and need not be in the plan.
        let ended: Vec<Lease> = held.iter().copied().filter(|lease| self.leases.end(*lease)).collect();
        if !leaving && ended.iter().any(|lease| self.wants_other_kernel(lease.unit, lease.variant)) {
            self.workers.has_one_method(worker);
        }
        let mut units: Vec<UnitId> = ended.iter().map(|lease| lease.unit).collect();
        if leaving {
            units.extend(self.leases.end_all_of(worker));
        }
        self.leave_to_others(now, worker, &units);
        if leaving {
            self.note_machines(now);
            self.workers.remove(worker);
            self.note_threads(now);
        }
        units.into_iter().for_each(|unit| self.reopen(unit));
        Ok(())
    }

    /// Whether calls of that owner may name the worker.
    ///
    /// # Errors
    /// It is not there, or it is another owner's.
    pub fn check_owner(&self, worker: WorkerId, owner: &Owner) -> Result<(), Refusal> {
        if self.workers.is_of(worker, owner) { Ok(()) } else { Err(Refusal::UnknownWorker(worker)) }
    }

    /// Strikes off all workers of an owner who is let in no longer; what they held is open again. Says how many.
    pub fn strike_off(&mut self, now: Duration, owner: &Owner) -> usize {
        self.note_machines(now);
        let workers = self.workers.of(owner);
        for worker in &workers {
            self.workers.remove(*worker);
            self.leases.end_all_of(*worker).into_iter().for_each(|unit| self.reopen(unit));
        }
        workers.len()
    }

    /// Time has passed: workers that have been silent for long are forgotten. Gives the units that are set aside since
    /// this was last asked, because they were lost with too many.
    pub fn tick(&mut self, now: Duration) -> Vec<UnitId> {
        self.note_machines(now);
        for worker in self.workers.silent(now.saturating_sub(SILENCE)) {
            let units = self.leases.end_all_of(worker);
            self.lose(now, worker, &units);
            self.workers.remove(worker);
        }
        self.note_threads(now);
        self.note_checks_left(now);
        self.note_disputes();
        self.hurry(now);
        self.came_back.retain(|_, (_, until)| now < *until);
        self.in_vain.retain(|_, until| now < *until);
        std::mem::take(&mut self.given_up)
    }
}

//! What the operator wishes: that nothing is lent for a while, or that a machine's workers leave.

use std::time::Duration;

use domain::WorkerId;
use records::standing::Identity;

use super::Core;
use super::refusal::NoWorker;

impl Core {
    /// Lends nothing for that reason, or lends again. What is lent may be counted to its end.
    pub fn pause(&mut self, now: Duration, reason: Option<String>) {
        let was_paused = std::mem::replace(&mut self.paused, reason).is_some();
        self.speed.resume(now);
        if was_paused && self.paused.is_none() {
            self.await_confirmations_anew(now);
        }
    }

    /// Lends nothing more to the workers that are there of this machine, and has them leave; gives their number, and the
    /// machine with its owner, who need not be named where only one has a machine of that name.
    ///
    /// # Errors
    /// Nobody is there of that name, or several machines are.
    pub fn drain(&mut self, machine: &Identity) -> Result<(u64, Identity), NoWorker> {
        self.workers.drain(machine)
    }

    /// Whether the worker was asked to leave.
    pub fn drains(&self, worker: WorkerId) -> bool {
        self.workers.get(worker).is_some_and(|worker| worker.drains)
    }

    /// How many workers are there.
    pub fn worker_count(&self) -> u64 {
        self.workers.len() as u64
    }
}

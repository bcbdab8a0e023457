//! Workers introduce themselves, and take up again what they hold from before.

use std::time::Duration;

use proto::{Owner, Registration, Welcome, WorkerId};
use queens::{UnitId, self_test};

use super::workers::MOST_OF_AN_OWNER;
use super::{Core, LEASE_TIME, Refusal};

impl Core {
    /// A worker introduces itself; units that it holds from before are leased to it again.
    ///
    /// # Errors
    /// The worker's plan is another, its kernel miscounts, its machine is quarantined, or its owner has too many.
    pub fn register(&mut self, now: Duration, registration: Registration) -> Result<Welcome, Refusal> {
        let Registration { fingerprint, name, machine, self_test: found, held, .. } = &registration;
        if fingerprint != self.plan.fingerprint() {
            return Err(Refusal::OtherPlan {
                run: self.plan.fingerprint().clone(),
                worker: fingerprint.clone(),
            });
        }
        let expected = self_test::expected();
        if *found != expected {
            let (worker, machine, found) = (name.clone(), machine.clone(), *found);
            return Err(Refusal::SelfTest { worker, machine, found, expected });
        }
        if self.is_quarantined(machine) {
            return Err(Refusal::Quarantined(machine.clone()));
        }
        self.make_room(now, &registration.owner)?;
        let mut wanted = held.clone();
        wanted.sort_unstable();
        wanted.dedup();
        let worker = self.workers.add(now, registration);
        self.note_machines(now);
        self.hand_over(worker, &wanted);
        let borrower = self.borrower(now, worker)?;
        let leases = wanted.into_iter().filter_map(|unit| self.lend(now, &borrower, unit)).collect();
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases })
    }

    /// Sees that one more worker of the owner can be registered: where it has as many as it may, the one that has been
    /// silent for the longest is taken for lost.
    fn make_room(&mut self, now: Duration, owner: &Owner) -> Result<(), Refusal> {
        if self.workers.has_room(owner) {
            return Ok(());
        }
        let silent = self.workers.most_silent(owner, now.saturating_sub(LEASE_TIME));
        let silent = silent.ok_or(Refusal::TooManyWorkers(MOST_OF_AN_OWNER))?;
        self.workers.remove(silent);
        let units = self.leases.end_all_of(silent);
        self.lose(&units);
        Ok(())
    }

    /// Ends the leases of units that the worker had under another number: the answer to its first registration was lost
    /// on the way, or the coordinator has not noticed yet that it was started again.
    fn hand_over(&mut self, worker: WorkerId, held: &[UnitId]) {
        for unit in held {
            if self.leases.holder(*unit).is_some_and(|holder| self.workers.are_namesakes(holder, worker)) {
                self.leases.end_unit(*unit);
            }
        }
    }
}

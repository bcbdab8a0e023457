//! Workers introduce themselves, and take up again what they hold from before.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Lease, Owner, Registration, Welcome};
use queens::{UnitId, self_test};
use records::standing::Identity;

use super::lease::MOST_LENT;
use super::leases::LeasePurpose;
use super::task::Borrower;
use super::workers::MOST_OF_AN_OWNER;
use super::{Core, LEASE_TIME, Refusal};

impl Core {
    /// A worker introduces itself. What it holds is leased to it again; what it was lent before, by this process or by another
    /// one, or only says that it holds, as far as anybody may hold at this time. What it was lent can be reported in any case.
    ///
    /// # Errors
    /// The worker's plan is another, its kernel miscounts, its machine is quarantined, or its owner has too many.
    pub fn register(&mut self, now: Duration, registration: Registration) -> Result<Welcome, Refusal> {
        let Registration { owner, fingerprint, name, machine, self_test: found, .. } = &registration;
        if fingerprint != self.plan.fingerprint() {
            return Err(Refusal::OtherPlan {
                run: self.plan.fingerprint().clone(),
                worker: fingerprint.clone(),
            });
        }
        let identity = Identity { owner: owner.clone(), machine: machine.clone() };
        let expected = self_test::expected();
        if *found != expected {
            let (worker, machine, found) = (name.clone(), identity.to_string(), *found);
            return Err(Refusal::SelfTest { worker, machine, found, expected });
        }
        if let Some(why) = self.distrust(&identity) {
            return Err(Refusal::Quarantined(identity.to_string(), why));
        }
        self.make_room(now, owner)?;
        let proven = self.proven(&registration, &identity);
        let mut claimed: BTreeSet<UnitId> = registration.held.iter().copied().collect();
        let worker = self.workers.add(now, registration);
        self.note_machines(now);
        self.note_threads(now);
        let borrower = self.borrower(now, worker)?;
        let mut leases = Vec::new();
        let share = self.share(&borrower);
        for (lease, due) in proven {
            claimed.remove(&lease.unit);
            // Leases of before can be gathered: who gives units back knows their tokens.
            let may_hold = due.is_some() || self.has_share_left(&borrower, &share);
            leases.push(self.lend_again(now, &borrower, lease, may_hold));
            // Who registers again and again has no more time than others.
            due.into_iter().for_each(|due| self.leases.hurry(lease.unit, due));
        }
        for unit in claimed.into_iter().take(MOST_LENT as usize) {
            if !self.has_share_left(&borrower, &share) {
                break;
            }
            if !self.has_count(unit) && !self.is_disputed(unit) {
                leases.extend(self.lend(now, &borrower, unit));
            }
        }
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases, term: None })
    }

    /// Sees that one more worker of the owner can be registered: where it has as many as it may, the one that has been
    /// silent for the longest is taken for lost.
    fn make_room(&mut self, now: Duration, owner: &Owner) -> Result<(), Refusal> {
        if self.workers.has_room(owner) {
            return Ok(());
        }
        let silent = self.workers.most_silent(owner, now.saturating_sub(LEASE_TIME));
        let silent = silent.ok_or(Refusal::TooManyWorkers(MOST_OF_AN_OWNER))?;
        let units = self.leases.end_all_of(silent);
        self.lose(now, silent, &units);
        self.workers.remove(silent);
        Ok(())
    }

    /// The leases that the worker can prove, which end for the number that it had, and when those units should have been
    /// counted.
    fn proven(&mut self, registration: &Registration, identity: &Identity) -> Vec<(Lease, Option<Duration>)> {
        let Some(former) = registration.former else { return Vec::new() };
        let is_given = |lease: &Lease| self.key.has_given(lease, former, identity);
        let given: Vec<Lease> = registration.leases.iter().copied().filter(is_given).collect();
        let mut proven = Vec::with_capacity(given.len());
        for lease in given {
            let mut due = None;
            // Or it was registered once more since, and the answer was lost on the way.
            let is_own = |holder| {
                holder == former
                    || self.workers.get(holder).is_some_and(|worker| {
                        worker.identity == *identity && worker.name == registration.name
                    })
            };
            if self.leases.holder(lease.unit).is_some_and(is_own) {
                due = self.leases.due(lease.unit);
                self.leases.end_unit(lease.unit);
            }
            proven.push((lease, due));
        }
        proven
    }

    /// Leases again what the worker holds, as it was lent: it may be half counted, or wait to be reported. What others were lent
    /// meanwhile, or nobody wants any more, is theirs, and what it may not hold is for whoever asks: the worker is only given the token
    /// by which its count can be judged.
    fn lend_again(&mut self, now: Duration, borrower: &Borrower, lease: Lease, may_hold: bool) -> Lease {
        let Lease { unit, variant, .. } = lease;
        let task = self.task(now, borrower, unit).filter(|_| may_hold).filter(|(purpose, task)| {
            let is_first_count = *purpose == LeasePurpose::Count && !self.is_disputed(unit);
            // A first count may be made in any variant; a check or a further vote not just as the first was.
            is_first_count || variant == *task || variant.mirrored == task.mirrored
        });
        if let Some((purpose, _)) = task {
            return self.lend_as(now, borrower, unit, (purpose, variant));
        }
        self.release_one(unit);
        Lease { token: self.key.token(unit, variant, borrower.worker, &borrower.identity), ..lease }
    }

    /// The unit, if nobody has it, is found by those who ask.
    fn release_one(&mut self, unit: UnitId) {
        if unit.0 < self.plan.units() && self.shard.contains(unit) && !self.leases.contains(unit) {
            self.reopen(unit);
        }
    }
}

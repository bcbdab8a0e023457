//! Registration of workers, renewal and release of leases, and the loss of silent workers.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Lease, Owner, Registration, Welcome, WorkerId, counted};
use queens::{UnitId, self_test};
use records::standing::Identity;
use tracing::Level;

use super::allowance::{Borrower, usual_speed};
use super::leases::{LEASE_TIME, Purpose};
use super::lending::MAX_LEASES_PER_CALL;
use super::members::{Distrust, MAX_WORKERS_PER_OWNER, NoWorker};
use super::{Core, Refusal};
use crate::event::Event;

/// A worker that is silent for this long is removed.
pub(super) const SILENCE: Duration = Duration::from_mins(10);

impl Core {
    /// Registers a worker and leases its units to it again:
    ///
    /// - The worker keeps the units that it holds now.
    /// - Units that it held before, or only claims to hold, are leased up to its share.
    /// - Every unit with a valid token can be reported, even beyond its share.
    ///
    /// # Errors
    /// The worker's plan differs, its kernel miscounts, its machine is quarantined, or its owner has too many workers.
    pub fn register(&mut self, now: Duration, registration: Registration) -> Result<Welcome, Refusal> {
        let Registration { owner, fingerprint, name, machine, self_test: found, .. } = &registration;
        let run = self.work.plan().fingerprint();
        if fingerprint != run {
            return Err(Refusal::OtherPlan { run: run.clone(), worker: fingerprint.clone() });
        }
        let identity = Identity { owner: owner.clone(), machine: machine.clone() };
        let expected = self_test::expected();
        if *found != expected {
            let (worker, machine, found) = (name.clone(), identity.to_string(), *found);
            return Err(Refusal::SelfTest { worker, machine, found, expected });
        }
        if let Some(why) = Distrust::of(&identity, &self.votes.standing().sums().machines) {
            return Err(Refusal::Quarantined(identity.to_string(), why));
        }
        self.make_room(now, owner)?;
        let proven = self.end_proven(&registration, &identity);
        let mut claimed: BTreeSet<UnitId> = registration.held.iter().copied().collect();
        let worker = self.members.add(now, registration);
        self.note_threads(now);
        let borrower = self.borrower(now, worker)?;
        let mut leases = Vec::new();
        let allowance = self.allowance(&borrower);
        for (lease, renewable_until) in proven {
            claimed.remove(&lease.unit);
            // A worker that gives units back still knows their tokens, so it could collect leases.
            let may_hold = renewable_until.is_some() || allowance.has_room(&self.leases, &borrower);
            let lease = self.lend_again(now, &borrower, lease, may_hold);
            // Repeated registration must not extend the time for a unit.
            renewable_until
                .into_iter()
                .for_each(|until| self.leases.limit_renewal(lease.unit, worker, until));
            leases.push(lease);
        }
        for unit in claimed.into_iter().take(MAX_LEASES_PER_CALL as usize) {
            if !allowance.has_room(&self.leases, &borrower) {
                break;
            }
            if !self.has_count(unit) && !self.votes.is_disputed(unit) {
                leases.extend(self.lend(now, &borrower, unit));
            }
        }
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases, term: None })
    }

    /// Makes room for one more worker of the owner. If the owner has its maximum, the worker that has been silent
    /// longest is removed.
    fn make_room(&mut self, now: Duration, owner: &Owner) -> Result<(), Refusal> {
        if self.members.has_room(owner) {
            return Ok(());
        }
        let silent = self.members.most_silent(owner, now.saturating_sub(LEASE_TIME));
        self.forget(now, silent.ok_or(Refusal::TooManyWorkers(MAX_WORKERS_PER_OWNER))?);
        Ok(())
    }

    /// Ends the leases that the worker proves with tokens of its former number. Returns each lease, and the time until
    /// which it was renewable if the worker still held it.
    fn end_proven(
        &mut self,
        registration: &Registration,
        identity: &Identity,
    ) -> Vec<(Lease, Option<Duration>)> {
        let Some(former) = registration.former else { return Vec::new() };
        let is_given = |lease: &Lease| self.key.has_given(lease, former, identity);
        let given: Vec<Lease> = registration.leases.iter().copied().filter(is_given).collect();
        let mut proven = Vec::with_capacity(given.len());
        for lease in given {
            // The worker may have registered again since, and the reply was lost.
            let is_own = |holder: &WorkerId| {
                *holder == former
                    || self.members.get(*holder).is_some_and(|worker| {
                        worker.identity == *identity && worker.name == registration.name
                    })
            };
            let holder = self.leases.holders(lease.unit).find(is_own);
            let renewable_until = holder.and_then(|holder| self.leases.renewable_until(lease.unit, holder));
            holder.into_iter().for_each(|holder| _ = self.leases.end_of(lease.unit, holder));
            proven.push((lease, renewable_until));
        }
        proven
    }

    /// Leases a unit again in the same variant, because the worker may have counted half of it or all of it. If another
    /// worker holds the unit, if no count is needed, or beyond the worker's share, the worker gets only a token with
    /// which it can report its count.
    fn lend_again(&mut self, now: Duration, borrower: &Borrower, lease: Lease, may_hold: bool) -> Lease {
        let Lease { unit, variant, .. } = lease;
        let task = self.open_task(now, borrower, unit).filter(|_| may_hold).filter(|(purpose, task)| {
            let is_first_count = *purpose == Purpose::Count && !self.votes.is_disputed(unit);
            // A first count may be made in any variant; a check or a further vote not just as the first was.
            is_first_count || variant == *task || variant.mirrored == task.mirrored
        });
        if let Some((purpose, _)) = task {
            return self.lend_as(now, borrower, unit, (purpose, variant));
        }
        self.reopen(unit);
        Lease { token: self.key.token(unit, variant, borrower.worker, &borrower.identity), ..lease }
    }

    /// Renews the worker's leases and returns the units that it has lost. A lease that the worker does not name
    /// expires.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, held: &[Lease]) -> Result<Vec<UnitId>, Refusal> {
        self.members.note_call(now, worker)?;
        let named: BTreeSet<UnitId> = held.iter().map(|lease| lease.unit).collect();
        self.leases.renew(now, worker, &named);
        // A lease that ended because its count was recorded is not lost.
        let is_lost = |unit: &UnitId| !self.votes.is_recording(*unit) && !self.has_count(*unit);
        Ok(self.leases.not_held(worker, &named).into_iter().copied().filter(is_lost).collect())
    }

    /// Takes back units that the worker will not count, and removes the worker if it leaves. A worker that stays but
    /// returns a unit for the other method gets only units for its own method from then on.
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
        self.members.note_call(now, worker)?;
        // Other leases were never given. Their units need not be in the plan.
        let ended: Vec<Lease> = held.iter().copied().filter(|lease| self.leases.end(*lease)).collect();
        if !leaving && ended.iter().any(|lease| self.work.wants_other_kernel(lease.unit, lease.variant)) {
            self.members.limit_to_own_method(worker);
        }
        let mut units: Vec<UnitId> = ended.iter().map(|lease| lease.unit).collect();
        if leaving {
            units.extend(self.leases.end_all_of(worker));
            self.members.remove(worker);
            self.note_threads(now);
        }
        units.into_iter().for_each(|unit| self.reopen(unit));
        Ok(())
    }

    /// Checks that the worker belongs to this owner.
    ///
    /// # Errors
    /// The worker is not registered, or belongs to another owner.
    pub fn check_owner(&self, worker: WorkerId, owner: &Owner) -> Result<(), Refusal> {
        if self.members.belongs_to(worker, owner) { Ok(()) } else { Err(Refusal::UnknownWorker(worker)) }
    }

    /// Removes all workers of a revoked owner and reopens their units. Returns the number of workers.
    pub fn strike_off(&mut self, owner: &Owner) -> usize {
        let workers = self.members.of(owner);
        workers.iter().for_each(|worker| self.remove(*worker));
        workers.len()
    }

    /// Removes the worker and reopens its units.
    pub(super) fn remove(&mut self, worker: WorkerId) {
        self.members.remove(worker);
        self.leases.end_all_of(worker).into_iter().for_each(|unit| self.reopen(unit));
    }

    /// Advances the time: leases expire, silent workers are removed, and checks relax. Returns the units that were set
    /// aside since the last call.
    pub fn tick(&mut self, now: Duration) -> Vec<UnitId> {
        for (worker, units) in self.leases.expire(now) {
            // A worker that still calls has not lost these units. Either the reply with their leases was lost, or the
            // renewal limit is reached.
            if self.members.is_alive(worker, now.saturating_sub(LEASE_TIME)) {
                units.into_iter().for_each(|unit| self.reopen(unit));
            } else {
                self.lose(now, worker, &units);
            }
        }
        for worker in self.members.silent(now.saturating_sub(SILENCE)) {
            self.forget(now, worker);
        }
        self.note_threads(now);
        let are_left = self.paused.is_none() && self.votes.has_only_checks_left(&self.work);
        self.independence.note_only_checks(now, are_left);
        self.schedule.take_newly_set_aside()
    }

    /// Removes a worker that is presumed lost.
    fn forget(&mut self, now: Duration, worker: WorkerId) {
        let units = self.leases.end_all_of(worker);
        self.lose(now, worker, &units);
        self.members.remove(worker);
    }

    /// Reopens units that were lost with a worker, unless they are now set aside.
    fn lose(&mut self, now: Duration, worker: WorkerId, units: &[UnitId]) {
        let Some(lost) = self.members.get(worker) else {
            units.iter().for_each(|unit| self.reopen(*unit));
            return;
        };
        let (worker, owner) = (lost.title(), lost.identity.owner.clone());
        let event = if units.is_empty() {
            let text = format!("worker {worker} was silent and is forgotten");
            Event::counted_by_name(Level::INFO, "workers were silent and are forgotten", &worker, text)
        } else {
            let units = counted(units.len() as u64, "unit");
            let text = format!("worker {worker} was silent and lost {units}");
            Event::counted_by_name(Level::WARN, "workers were silent and lost their units", &worker, text)
        };
        self.events.push((Some(owner.clone()), event));
        let has_other_owners = self.members.has_another_owner(now, &owner);
        self.schedule.note_lost(now, units, &owner, has_other_owners);
        for unit in units {
            self.reopen(*unit);
            self.schedule.move_to_end(*unit);
        }
    }

    /// Updates the number and the speed of the connected threads.
    fn note_threads(&mut self, now: Duration) {
        self.progress.note_threads(now, self.members.believed_threads());
        self.members.update_speeds(usual_speed(self.votes.standing()));
    }

    /// Pauses lending for this reason, or resumes it. Units that are lent may still be counted.
    pub fn pause(&mut self, now: Duration, reason: Option<String>) {
        self.paused = reason;
        self.progress.resume(now);
    }

    /// True while lending is paused.
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// Drains the connected workers of this machine: they get no more leases and leave. Returns their number and the
    /// full identity of the machine. The owner may be omitted if only one owner has a machine of this name.
    ///
    /// # Errors
    /// No connected worker has this name, or machines of several owners have it.
    pub fn drain(&mut self, machine: &Identity) -> Result<(u64, Identity), NoWorker> {
        self.members.drain(machine)
    }

    /// True if the worker is draining.
    pub fn drains(&self, worker: WorkerId) -> bool {
        self.members.get(worker).is_some_and(|worker| worker.drains)
    }

    /// The number of registered workers.
    pub fn worker_count(&self) -> u64 {
        self.members.len() as u64
    }

    /// The number of threads of all registered workers.
    pub fn threads(&self) -> u32 {
        u32::try_from(self.members.threads()).unwrap_or(u32::MAX)
    }

    /// The display name of the worker; empty if it is not registered.
    pub fn title(&self, worker: WorkerId) -> String {
        self.members.get(worker).map_or_else(String::new, super::members::Member::title)
    }

    /// True if no worker is registered.
    pub fn has_no_workers(&self) -> bool {
        self.members.is_empty()
    }
}

//! Workers introduce themselves, keep alive what they hold, give units back, leave, or are not heard of any more.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{Lease, Owner, Registration, Welcome, WorkerId, counted};
use queens::{UnitId, self_test};
use records::standing::Identity;
use tracing::Level;

use super::leases::{LEASE_TIME, Purpose};
use super::lending::MOST_LENT;
use super::members::{Distrust, MOST_OF_AN_OWNER, NoWorker};
use super::share::{Borrower, usual_speed};
use super::{Core, Refusal};
use crate::event::Event;

/// A worker that is not heard of for so long is forgotten.
pub(super) const SILENCE: Duration = Duration::from_mins(10);

impl Core {
    /// A worker introduces itself. What it holds is leased to it again; what it was lent before, by this process or by another
    /// one, or only says that it holds, as far as anybody may hold at this time. What it was lent can be reported in any case.
    ///
    /// # Errors
    /// The worker's plan is another, its kernel miscounts, its machine is quarantined, or its owner has too many.
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
        let share = self.share(&borrower);
        for (lease, renewable_until) in proven {
            claimed.remove(&lease.unit);
            // Leases of before can be gathered: who gives units back knows their tokens.
            let may_hold = renewable_until.is_some() || share.has_room(&self.leases, &borrower);
            let lease = self.lend_again(now, &borrower, lease, may_hold);
            // Who registers again and again has no more time than others.
            renewable_until.into_iter().for_each(|until| self.leases.shorten(lease.unit, worker, until));
            leases.push(lease);
        }
        for unit in claimed.into_iter().take(MOST_LENT as usize) {
            if !share.has_room(&self.leases, &borrower) {
                break;
            }
            if !self.has_count(unit) && !self.votes.is_disputed(unit) {
                leases.extend(self.lend(now, &borrower, unit));
            }
        }
        Ok(Welcome { worker, lease_time: LEASE_TIME, leases, term: None })
    }

    /// Sees that one more worker of the owner can be registered: where it has as many as it may, the one that has been
    /// silent for the longest is taken for lost.
    fn make_room(&mut self, now: Duration, owner: &Owner) -> Result<(), Refusal> {
        if self.members.has_room(owner) {
            return Ok(());
        }
        let silent = self.members.most_silent(owner, now.saturating_sub(LEASE_TIME));
        self.forget(now, silent.ok_or(Refusal::TooManyWorkers(MOST_OF_AN_OWNER))?);
        Ok(())
    }

    /// Ends the leases that the worker can prove under the number that it had, and gives them, and until when they could be renewed if
    /// it still had them.
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
            // Or it was registered once more since, and the answer was lost on the way.
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

    /// Leases again what the worker holds, as it was lent: it may be half counted, or wait to be reported. What others were lent
    /// meanwhile, or nobody wants any more, is theirs, and what it may not hold is for whoever asks: the worker is only given the token
    /// by which its count can be judged.
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

    /// Keeps the worker's leases alive and names those that it has lost. What it was lent and does not name expires.
    ///
    /// # Errors
    /// The worker is not registered.
    pub fn renew(&mut self, now: Duration, worker: WorkerId, held: &[Lease]) -> Result<Vec<UnitId>, Refusal> {
        self.members.heard_of(now, worker)?;
        let named: BTreeSet<UnitId> = held.iter().map(|lease| lease.unit).collect();
        self.leases.renew(now, worker, &named);
        // A lease also ends with the record of its count; that is no loss.
        let is_lost = |unit: &UnitId| !self.votes.is_recording(*unit) && !self.has_count(*unit);
        Ok(self.leases.not_held(worker, &named).into_iter().copied().filter(is_lost).collect())
    }

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
        self.members.heard_of(now, worker)?;
        // Whatever else is named, it was not lent, and need not be in the plan.
        let ended: Vec<Lease> = held.iter().copied().filter(|lease| self.leases.end(*lease)).collect();
        if !leaving && ended.iter().any(|lease| self.work.wants_other_kernel(lease.unit, lease.variant)) {
            self.members.has_one_method(worker);
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

    /// Whether calls of that owner may name the worker.
    ///
    /// # Errors
    /// It is not there, or it is another owner's.
    pub fn check_owner(&self, worker: WorkerId, owner: &Owner) -> Result<(), Refusal> {
        if self.members.is_of(worker, owner) { Ok(()) } else { Err(Refusal::UnknownWorker(worker)) }
    }

    /// Strikes off all workers of an owner who is let in no longer; what they held is open again. Says how many.
    pub fn strike_off(&mut self, owner: &Owner) -> usize {
        let workers = self.members.of(owner);
        workers.iter().for_each(|worker| self.remove(*worker));
        workers.len()
    }

    /// Strikes off the worker; what it held is open again.
    pub(super) fn remove(&mut self, worker: WorkerId) {
        self.members.remove(worker);
        self.leases.end_all_of(worker).into_iter().for_each(|unit| self.reopen(unit));
    }

    /// Time has passed: leases end, workers that have been silent for long are forgotten, and checks relax. Gives the units that are
    /// set aside since this was last asked, because they were lost with too many workers.
    pub fn tick(&mut self, now: Duration) -> Vec<UnitId> {
        for (worker, units) in self.leases.expire(now) {
            // A worker that is heard of renews what it has: the answer that lent it these units was lost, or it had its time.
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
        self.schedule.take_given_up()
    }

    /// The worker is taken for lost.
    fn forget(&mut self, now: Duration, worker: WorkerId) {
        let units = self.leases.end_all_of(worker);
        self.lose(now, worker, &units);
        self.members.remove(worker);
    }

    /// These units were lost with a worker and are open again, unless they are set aside from now on.
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
        self.schedule.lost(now, units, &owner, has_other_owners);
        for unit in units {
            self.reopen(*unit);
            self.schedule.put_last(*unit);
        }
    }

    /// Notes how many threads are there at this time, and how fast they are.
    fn note_threads(&mut self, now: Duration) {
        self.progress.follow(now, self.members.believed_threads());
        self.members.look_at_speeds(usual_speed(self.votes.standing()));
    }

    /// Lends nothing for that reason, or lends again. What is lent may be counted to its end.
    pub fn pause(&mut self, now: Duration, reason: Option<String>) {
        self.paused = reason;
        self.progress.resume(now);
    }

    /// Lends nothing more to the workers that are there of this machine, and has them leave; gives their number, and the
    /// machine with its owner, who need not be named where only one has a machine of that name.
    ///
    /// # Errors
    /// Nobody is there of that name, or several machines are.
    pub fn drain(&mut self, machine: &Identity) -> Result<(u64, Identity), NoWorker> {
        self.members.drain(machine)
    }

    /// Whether the worker was asked to leave.
    pub fn drains(&self, worker: WorkerId) -> bool {
        self.members.get(worker).is_some_and(|worker| worker.drains)
    }

    /// How many workers are there.
    pub fn worker_count(&self) -> u64 {
        self.members.len() as u64
    }

    /// The threads of all workers that are there.
    pub fn threads(&self) -> u32 {
        u32::try_from(self.members.threads()).unwrap_or(u32::MAX)
    }

    /// What people are told that the worker is called; nothing if it is not there.
    pub fn title(&self, worker: WorkerId) -> String {
        self.members.get(worker).map_or_else(String::new, super::members::Member::title)
    }

    /// Whether no worker is there.
    pub fn is_deserted(&self) -> bool {
        self.members.is_empty()
    }
}

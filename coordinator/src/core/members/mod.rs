//! The registered workers and the time of their last calls.

use std::cmp::Reverse;
mod machine_list;
mod refusal;
mod thread_speed;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use domain::{Owner, Registration, WorkerId, WorkerStatus, is_meant_by, named};
use queens::UnitId;
use queens::kernel::KernelName;
use rand::RngExt;
use rand::rngs::StdRng;
use records::standing::{Identity, Machine, Machines};

use self::thread_speed::ThreadSpeed;
use super::LEASE_TIME;
use super::independence::Participants;
use super::progress::Rate;

pub use machine_list::{known_machines, listed};
pub use refusal::{Distrust, NoWorker, Refusal};

/// The registered workers.
#[derive(Debug)]
pub struct Members {
    by_id: HashMap<WorkerId, Member>,
    machines: BTreeMap<Identity, Presence>,
    /// How many workers each owner has.
    owners: BTreeMap<Owner, u64>,
    threads: u64,
    /// The threads of workers that have reported a count.
    threads_that_count: u64,
    /// The speed of all workers at the last update, in threads of the mean speed.
    worth: f64,
    numbers: StdRng,
    /// The unquarantined machines that have counted or are registered, once they were looked up.
    participants: OnceCell<Participants>,
}

/// The workers that are registered on a machine.
#[derive(Clone, Copy, Debug, Default)]
struct Presence {
    workers: u64,
    last_word: Duration,
}

/// The connected workers of a machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectedWorkers {
    /// The number of these workers.
    pub workers: u64,
    /// The number of their threads.
    pub threads: u64,
    /// Their recent work per second, in nanoseconds of one core.
    pub work_rate: f64,
}

/// The connected workers of machines, by owner and name of the machine.
pub type WorkersByMachine<'a> = HashMap<(&'a str, &'a str), ConnectedWorkers>;

/// One worker.
#[derive(Debug)]
pub struct Member {
    pub identity: Identity,
    pub name: String,
    pub threads: u32,
    pub kernel: KernelName,
    last_word: Duration,
    done: u64,
    /// Its counts and work per second.
    rate: Rate,
    /// Whether it was asked to leave.
    pub drains: bool,
    thread_speed: ThreadSpeed,
    /// The methods that it supports.
    pub methods: Methods,
    /// The last dispute that it was offered. The next offer starts after it.
    pub last_dispute: UnitId,
}

/// The methods that a worker supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// The method of its kernel and the other method.
    Both,
    /// Only the method of its kernel: it has returned a unit for the other method, which its card cannot build.
    Own,
}

impl Member {
    /// The display name: `owner/name`, or the name alone without an owner.
    pub fn title(&self) -> String {
        self.identity.owner.title(&self.name)
    }

    /// Its speed in threads of the mean speed. `mean` is in expected work per second.
    pub fn worth(&self, mean: f64) -> f64 {
        f64::from(self.threads) * self.thread_speed.relative_to(mean)
    }
}

/// Maximum number of registered workers of one owner.
pub const MAX_WORKERS_PER_OWNER: usize = 4096;

/// Maximum number of workers, and of machines, in a status. It keeps the status within the size limit of a message.
pub const MAX_LISTED: usize = 1000;

impl Members {
    /// No workers. Their numbers will be random: a worker cannot guess the number of another worker, and a restarted
    /// coordinator does not mistake an old worker for a new worker.
    pub fn new(numbers: StdRng) -> Self {
        Self {
            by_id: HashMap::new(),
            machines: BTreeMap::new(),
            owners: BTreeMap::new(),
            threads: 0,
            threads_that_count: 0,
            worth: 0.0,
            numbers,
            participants: OnceCell::new(),
        }
    }

    /// Registers a worker with a new number.
    pub fn add(&mut self, now: Duration, registration: Registration) -> WorkerId {
        let Registration { owner, name, machine, threads, kernel, .. } = registration;
        let id = WorkerId(self.numbers.random());
        let identity = Identity { owner, machine };
        let on_machine = self.machines.entry(identity.clone()).or_default();
        (on_machine.workers, on_machine.last_word) = (on_machine.workers + 1, now);
        *self.owners.entry(identity.owner.clone()).or_default() += 1;
        self.participants.take();
        self.threads += u64::from(threads);
        let worker = Member {
            identity,
            name,
            threads,
            kernel,
            last_word: now,
            done: 0,
            rate: Rate::default(),
            drains: false,
            thread_speed: ThreadSpeed::default(),
            methods: if kernel.is_external() { Methods::Own } else { Methods::Both },
            last_dispute: UnitId(0),
        };
        self.by_id.insert(id, worker);
        id
    }

    /// Notes a call of the worker, and returns the worker.
    ///
    /// # Errors
    /// It is not registered.
    pub fn note_call(&mut self, now: Duration, id: WorkerId) -> Result<&Member, Refusal> {
        let worker = self.by_id.get_mut(&id).ok_or(Refusal::UnknownWorker(id))?;
        worker.last_word = now;
        self.machines.get_mut(&worker.identity).into_iter().for_each(|machine| machine.last_word = now);
        Ok(worker)
    }

    /// The worker, if it is registered.
    pub fn get(&self, id: WorkerId) -> Option<&Member> {
        self.by_id.get(&id)
    }

    /// Notes the last dispute that the worker was offered.
    pub fn note_dispute(&mut self, id: WorkerId, unit: UnitId) {
        self.by_id.get_mut(&id).into_iter().for_each(|worker| worker.last_dispute = unit);
    }

    /// Drains the workers on this machine and on its cards. Returns their number and the machine. The owner may be
    /// omitted if only one owner has a machine of this name. The text of an owner's machine may also be the name of a
    /// machine without an owner.
    ///
    /// # Errors
    /// No worker matches, or workers of several owners do.
    pub fn drain(&mut self, identity: &Identity) -> Result<(u64, Identity), NoWorker> {
        let whole_name = Identity { owner: Owner::default(), machine: identity.to_string() };
        let is_there = |identity: &Identity| self.by_id.values().any(|worker| worker.identity == *identity);
        let Identity { owner, machine } = if is_there(&whole_name) { &whole_name } else { identity };
        let of_name = self.by_id.values().map(|worker| &worker.identity);
        let of_name = of_name.filter(|of| is_meant_by(&of.machine, machine));
        let owners: BTreeSet<&Owner> = of_name.map(|of| &of.owner).collect();
        let owner = match owners.first() {
            Some(only) if owner.is_unnamed() && owners.len() == 1 => (*only).clone(),
            _ if owners.contains(owner) => owner.clone(),
            Some(_) if owner.is_unnamed() => {
                let titles = owners.iter().map(|owner| owner.title(machine));
                return Err(NoWorker::Ambiguous(machine.clone(), named(titles)));
            }
            _ => return Err(self.no_worker(identity)),
        };
        let is_meant = |of: &Identity| of.owner == owner && is_meant_by(&of.machine, machine);
        let on_machine = self.by_id.values_mut().filter(|worker| is_meant(&worker.identity));
        let workers = on_machine.map(|worker| worker.drains = true).count() as u64;
        Ok((workers, Identity { owner, machine: machine.clone() }))
    }

    fn no_worker(&self, wanted: &Identity) -> NoWorker {
        let there: BTreeSet<&Identity> = self.by_id.values().map(|worker| &worker.identity).collect();
        if there.is_empty() {
            return NoWorker::Nobody;
        }
        NoWorker::Unknown(wanted.clone(), named(there.into_iter().map(ToString::to_string)))
    }

    /// True if the worker is registered and belongs to this owner.
    pub fn belongs_to(&self, id: WorkerId, owner: &Owner) -> bool {
        self.by_id.get(&id).is_some_and(|worker| worker.identity.owner == *owner)
    }

    /// The workers of this owner.
    pub fn of(&self, owner: &Owner) -> Vec<WorkerId> {
        self.select(|worker| worker.identity.owner == *owner)
    }

    /// True if the owner may register another worker.
    pub fn has_room(&self, owner: &Owner) -> bool {
        self.owners.get(owner).copied().unwrap_or(0) < MAX_WORKERS_PER_OWNER as u64
    }

    /// The worker of the owner that has been silent longest, if its last call came before `since`.
    pub fn most_silent(&self, owner: &Owner, since: Duration) -> Option<WorkerId> {
        let silent = self.by_id.iter().filter(|(_, w)| w.identity.owner == *owner && w.last_word < since);
        silent.min_by_key(|(id, worker)| (worker.last_word, **id)).map(|(id, _)| *id)
    }

    /// Limits the worker to the method of its kernel.
    pub fn limit_to_own_method(&mut self, id: WorkerId) {
        self.by_id.get_mut(&id).into_iter().for_each(|worker| worker.methods = Methods::Own);
    }

    /// All workers.
    pub fn all(&self) -> impl Iterator<Item = &Member> {
        self.by_id.values()
    }

    /// True if the worker has called since this time.
    pub fn is_alive(&self, id: WorkerId, since: Duration) -> bool {
        self.by_id.get(&id).is_some_and(|worker| worker.last_word > since)
    }

    /// Notes that a count of the worker is on record. `work` is the expected work of its unit in nanoseconds of one
    /// core; `seconds` is the time that it took.
    pub fn note_count(&mut self, now: Duration, id: WorkerId, work: u64, seconds: f64) {
        if let Some(worker) = self.by_id.get_mut(&id) {
            if worker.done == 0 {
                self.threads_that_count += u64::from(worker.threads);
            }
            worker.done += 1;
            worker.rate.add(now, work as f64, seconds, worker.threads.into());
        }
    }

    /// Notes the actual and the expected time of one thread for a unit, in seconds.
    pub fn note_time(&mut self, id: WorkerId, expected: f64, seconds: f64) {
        if let Some(worker) = self.by_id.get_mut(&id) {
            worker.thread_speed.add_unit(expected, seconds);
        }
    }

    /// Updates the speed of all workers. `mean` is the mean speed of a thread in expected work per second.
    pub fn update_speeds(&mut self, mean: f64) {
        self.worth = self.by_id.values().map(|worker| worker.worth(mean)).sum();
    }

    /// The speed of all workers at the last update, in threads of the mean speed.
    pub fn worth(&self) -> f64 {
        self.worth
    }

    /// Removes the worker.
    pub fn remove(&mut self, id: WorkerId) {
        let Some(Member { identity, threads, done, .. }) = self.by_id.remove(&id) else { return };
        self.threads -= u64::from(threads);
        if done > 0 {
            self.threads_that_count -= u64::from(threads);
        }
        if let Some(on_machine) = self.machines.get_mut(&identity) {
            on_machine.workers -= 1;
            if on_machine.workers == 0 {
                self.machines.remove(&identity);
            }
        }
        if let Some(of_owner) = self.owners.get_mut(&identity.owner) {
            *of_owner -= 1;
            if *of_owner == 0 {
                self.owners.remove(&identity.owner);
            }
        }
        self.participants.take();
    }

    /// The workers whose last call came before this time.
    pub fn silent(&self, since: Duration) -> Vec<WorkerId> {
        self.select(|worker| worker.last_word < since)
    }

    /// The workers on machines that satisfy `is_so`.
    pub fn on_machines(&self, is_so: impl Fn(&Identity) -> bool) -> Vec<WorkerId> {
        self.select(|worker| is_so(&worker.identity))
    }

    /// The workers that are meant, by number.
    pub fn select(&self, are_meant: impl Fn(&Member) -> bool) -> Vec<WorkerId> {
        let mut ids: Vec<_> =
            self.by_id.iter().filter(|(_, worker)| are_meant(worker)).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// The machines whose workers have called within one lease time and are not draining.
    pub fn connected(&self, now: Duration) -> impl Iterator<Item = &Identity> {
        let since = now.saturating_sub(LEASE_TIME);
        let is_connected = move |machine: &Presence| machine.last_word >= since;
        let draining: BTreeSet<&Identity> =
            self.by_id.values().filter(|worker| worker.drains).map(|worker| &worker.identity).collect();
        let machines = self.machines.iter().filter(move |(_, machine)| is_connected(machine));
        machines.map(|(identity, _)| identity).filter(move |identity| !draining.contains(identity))
    }

    /// The machines with a worker that supports both methods.
    pub fn with_both_methods(&self) -> BTreeSet<&Identity> {
        let workers = self.by_id.values().filter(|worker| worker.methods == Methods::Both);
        workers.map(|worker| &worker.identity).collect()
    }

    /// The machines with a worker that counts by a kernel of diadem.
    pub fn with_kernel(&self) -> BTreeSet<&Identity> {
        let workers = self.by_id.values().filter(|worker| !worker.kernel.is_external());
        workers.map(|worker| &worker.identity).collect()
    }

    /// True if another owner has a connected machine.
    pub fn has_another_owner(&self, now: Duration, owner: &Owner) -> bool {
        self.connected(now).any(|other| other.owner != *owner)
    }

    /// The unquarantined machines that have counted or are registered.
    pub fn participants(&self, on_record: &Machines) -> &Participants {
        self.participants.get_or_init(|| {
            let believed = on_record.iter().filter(|machine| !machine.is_quarantined()).map(Machine::maker);
            let here = self.machines.keys().map(|identity| (identity.owner.name(), &*identity.machine));
            Participants::of(believed.chain(here))
        })
    }

    /// Marks the participants as changed.
    pub fn invalidate_participants(&mut self) {
        self.participants.take();
    }

    /// The number of owners with registered workers.
    pub fn owners(&self) -> usize {
        self.owners.len()
    }

    /// True if no worker is registered.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The number of threads of all workers.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// The number of threads that are believed. Workers without counts add at most as many threads as workers with
    /// counts have.
    pub fn believed_threads(&self) -> u64 {
        match self.threads_that_count {
            0 => self.threads,
            count => self.threads.min(count.saturating_mul(2)),
        }
    }

    /// The number of registered workers.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The workers of each machine that have called since this time.
    pub fn workers_by_machine(&self, now: Duration, since: Duration) -> WorkersByMachine<'_> {
        let mut workers_by_machine = WorkersByMachine::new();
        for worker in self.by_id.values().filter(|worker| worker.last_word >= since) {
            let Identity { owner, machine } = &worker.identity;
            let connected = workers_by_machine.entry((owner.name(), machine)).or_default();
            connected.workers += 1;
            connected.threads += u64::from(worker.threads);
            connected.work_rate += worker.rate.work_per_second(now).unwrap_or(0.0);
        }
        workers_by_machine
    }

    /// The status of the workers that called most recently, by owner and name. `leased` returns the number of units
    /// that a worker holds.
    pub fn status(&self, now: Duration, leased: impl Fn(WorkerId) -> u64) -> Vec<WorkerStatus> {
        let mut workers: Vec<_> = self.by_id.iter().collect();
        if workers.len() > MAX_LISTED {
            workers.select_nth_unstable_by_key(MAX_LISTED, |(id, worker)| (Reverse(worker.last_word), **id));
            workers.truncate(MAX_LISTED);
        }
        workers.sort_unstable_by_key(|(id, worker)| (&worker.identity, &worker.name, **id));
        let status = |(id, worker): (&WorkerId, &Member)| WorkerStatus {
            owner: worker.identity.owner.clone(),
            name: worker.name.clone(),
            machine: worker.identity.machine.clone(),
            threads: worker.threads,
            kernel: worker.kernel,
            leased: leased(*id),
            done: worker.done,
            rate: worker.rate.per_second(now).unwrap_or(0.0),
            last_word: now.saturating_sub(worker.last_word),
            drains: worker.drains,
        };
        workers.into_iter().map(status).collect()
    }
}

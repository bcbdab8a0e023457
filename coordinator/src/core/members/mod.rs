//! The workers that are there, and when each was last heard of.

use std::cmp::Reverse;
mod machine_list;
mod refusal;
mod thread_speed;

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
use super::progress::Rate;
use super::rules::Participants;

pub use machine_list::{known_machines, listed};
pub use refusal::{Distrust, NoWorker, Refusal};

/// Nobody is looked up yet.
static NOBODY: Participants = Participants::NOBODY;

/// The registered workers.
#[derive(Debug)]
pub struct Members {
    by_id: HashMap<WorkerId, Member>,
    machines: BTreeMap<Identity, Presence>,
    /// How many workers each owner has.
    owners: BTreeMap<Owner, u64>,
    threads: u64,
    /// Those of workers that have counted something.
    threads_that_count: u64,
    /// How many threads of the mean speed all are worth, as when that was last looked at.
    worth: f64,
    numbers: StdRng,
    /// Everybody who has counted and is believed, or is there; none where that is to be looked up again.
    participants: Option<Participants>,
}

/// The workers that are registered on a machine.
#[derive(Clone, Copy, Debug, Default)]
struct Presence {
    workers: u64,
    last_word: Duration,
}

/// The workers of a machine that are there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crew {
    /// How many there are.
    pub workers: u64,
    /// How many units they count at a time.
    pub threads: u64,
    /// Their work a second, lately, in nanoseconds of one core.
    pub work_rate: f64,
}

/// The crews by owner and name of their machines.
pub type Crews<'a> = HashMap<(&'a str, &'a str), Crew>;

/// One worker.
#[derive(Debug)]
pub struct Member {
    pub identity: Identity,
    pub name: String,
    pub threads: u32,
    pub kernel: KernelName,
    last_word: Duration,
    done: u64,
    /// How fast it counts, and what its counts are worth.
    rate: Rate,
    /// Whether it was asked to leave.
    pub drains: bool,
    thread_speed: ThreadSpeed,
    /// By which methods it counts.
    pub methods: Methods,
    /// The dispute that it was last asked about: it is asked about the others first.
    pub last_dispute: UnitId,
}

/// By which methods a worker counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// By its kernel's and by the other one.
    Both,
    /// By its kernel's alone: it has given back what it was to count by the other one, which its card does not build.
    Own,
}

impl Member {
    /// What people are told that it is called: `owner/name`, or the name where there are no owners.
    pub fn title(&self) -> String {
        self.identity.owner.title(&self.name)
    }

    /// How many threads of the mean speed it is worth, where that is so much expected work in a second.
    pub fn worth(&self, mean: f64) -> f64 {
        f64::from(self.threads) * self.thread_speed.beside(mean)
    }
}

/// At most so many workers of an owner are registered.
pub const MOST_OF_AN_OWNER: usize = 4096;

/// At most so many workers, and machines, are listed in a status, so that it stays within the bounds of a message.
pub const MOST_LISTED: usize = 1000;

impl Members {
    /// None. Numbers are drawn at random: nobody can guess that of another, and a restarted coordinator takes no worker
    /// of before for a new one.
    pub fn new(numbers: StdRng) -> Self {
        Self {
            by_id: HashMap::new(),
            machines: BTreeMap::new(),
            owners: BTreeMap::new(),
            threads: 0,
            threads_that_count: 0,
            worth: 0.0,
            numbers,
            participants: None,
        }
    }

    /// Registers a worker under a number that none had before.
    pub fn add(&mut self, now: Duration, registration: Registration) -> WorkerId {
        let Registration { owner, name, machine, threads, kernel, .. } = registration;
        let id = WorkerId(self.numbers.random());
        let identity = Identity { owner, machine };
        let on_machine = self.machines.entry(identity.clone()).or_default();
        (on_machine.workers, on_machine.last_word) = (on_machine.workers + 1, now);
        *self.owners.entry(identity.owner.clone()).or_default() += 1;
        self.participants = None;
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
            methods: Methods::Both,
            last_dispute: UnitId(0),
        };
        self.by_id.insert(id, worker);
        id
    }

    /// The worker, which has just called.
    ///
    /// # Errors
    /// It is not registered.
    pub fn heard_of(&mut self, now: Duration, id: WorkerId) -> Result<&Member, Refusal> {
        let worker = self.by_id.get_mut(&id).ok_or(Refusal::UnknownWorker(id))?;
        worker.last_word = now;
        self.machines.get_mut(&worker.identity).into_iter().for_each(|machine| machine.last_word = now);
        Ok(worker)
    }

    /// The worker, if it is registered.
    pub fn get(&self, id: WorkerId) -> Option<&Member> {
        self.by_id.get(&id)
    }

    /// Notes up to which dispute the worker was asked.
    pub fn note_dispute(&mut self, id: WorkerId, unit: UnitId) {
        self.by_id.get_mut(&id).into_iter().for_each(|worker| worker.last_dispute = unit);
    }

    /// Asks the workers on that machine and on its cards to leave; gives their number, and whose they are. Where no owner
    /// is named and it is none without an owner, it is the only one of that name; what is written as an owner's machine may be the
    /// name of one without an owner.
    ///
    /// # Errors
    /// No worker, or workers of several owners.
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

    /// Whether the worker is there and that owner's.
    pub fn is_of(&self, id: WorkerId, owner: &Owner) -> bool {
        self.by_id.get(&id).is_some_and(|worker| worker.identity.owner == *owner)
    }

    /// The workers of that owner.
    pub fn of(&self, owner: &Owner) -> Vec<WorkerId> {
        self.those(|worker| worker.identity.owner == *owner)
    }

    /// Whether one more worker of the owner can be registered.
    pub fn has_room(&self, owner: &Owner) -> bool {
        self.owners.get(owner).copied().unwrap_or(0) < MOST_OF_AN_OWNER as u64
    }

    /// The worker of the owner that has been silent for the longest, if its last word came before that time.
    pub fn most_silent(&self, owner: &Owner, since: Duration) -> Option<WorkerId> {
        let silent = self.by_id.iter().filter(|(_, w)| w.identity.owner == *owner && w.last_word < since);
        silent.min_by_key(|(id, worker)| (worker.last_word, **id)).map(|(id, _)| *id)
    }

    /// The worker counts by the method of its kernel alone.
    pub fn has_one_method(&mut self, id: WorkerId) {
        self.by_id.get_mut(&id).into_iter().for_each(|worker| worker.methods = Methods::Own);
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Member> {
        self.by_id.values()
    }

    /// Whether the worker has been heard of since that time.
    pub fn is_alive(&self, id: WorkerId, since: Duration) -> bool {
        self.by_id.get(&id).is_some_and(|worker| worker.last_word > since)
    }

    /// A count of the worker has gone on record, of a unit of that expected work in nanoseconds of one core, which took so many seconds.
    pub fn counted(&mut self, now: Duration, id: WorkerId, work: u64, seconds: f64) {
        if let Some(worker) = self.by_id.get_mut(&id) {
            if worker.done == 0 {
                self.threads_that_count += u64::from(worker.threads);
            }
            worker.done += 1;
            worker.rate.add(now, work as f64, seconds, worker.threads.into());
        }
    }

    /// A unit took a thread of the worker so many seconds that was expected to take a core that many.
    pub fn took(&mut self, id: WorkerId, expected: f64, seconds: f64) {
        if let Some(worker) = self.by_id.get_mut(&id) {
            worker.thread_speed.counted(expected, seconds);
        }
    }

    /// Looks at how fast all are, where the mean speed of a thread is so much expected work in a second.
    pub fn look_at_speeds(&mut self, mean: f64) {
        self.worth = self.by_id.values().map(|worker| worker.worth(mean)).sum();
    }

    /// How many threads of the mean speed all were worth when that was last looked at.
    pub fn worth(&self) -> f64 {
        self.worth
    }

    /// Strikes the worker off.
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
        self.participants = None;
    }

    /// The workers whose last word came before that time.
    pub fn silent(&self, since: Duration) -> Vec<WorkerId> {
        self.those(|worker| worker.last_word < since)
    }

    /// The workers on a machine of which that is so.
    pub fn on_machines(&self, is_so: impl Fn(&Identity) -> bool) -> Vec<WorkerId> {
        self.those(|worker| is_so(&worker.identity))
    }

    fn those(&self, are_meant: impl Fn(&Member) -> bool) -> Vec<WorkerId> {
        let mut ids: Vec<_> =
            self.by_id.iter().filter(|(_, worker)| are_meant(worker)).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// The machines with workers that were heard of within a lease time and are not asked to leave.
    pub fn connected(&self, now: Duration) -> impl Iterator<Item = &Identity> {
        let since = now.saturating_sub(LEASE_TIME);
        let is_connected = move |machine: &Presence| machine.last_word >= since;
        let draining: BTreeSet<&Identity> =
            self.by_id.values().filter(|worker| worker.drains).map(|worker| &worker.identity).collect();
        let machines = self.machines.iter().filter(move |(_, machine)| is_connected(machine));
        machines.map(|(identity, _)| identity).filter(move |identity| !draining.contains(identity))
    }

    /// Whether another owner has a machine there.
    pub fn has_another_owner(&self, now: Duration, owner: &Owner) -> bool {
        self.connected(now).any(|other| other.owner != *owner)
    }

    /// Everybody who has counted and is believed, or is there, as last looked up.
    pub fn participants(&self) -> &Participants {
        self.participants.as_ref().unwrap_or(&NOBODY)
    }

    /// Looks up who has counted and is believed, or is there, where that has changed.
    pub fn look_up_participants(&mut self, on_record: &Machines) {
        if self.participants.is_none() {
            let believed = on_record.iter().filter(|machine| !machine.is_quarantined()).map(Machine::maker);
            let here = self.machines.keys().map(|identity| (identity.owner.name(), &*identity.machine));
            self.participants = Some(Participants::of(believed.chain(here)));
        }
    }

    /// Who has counted, or who is believed, has changed.
    pub fn forget_participants(&mut self) {
        self.participants = None;
    }

    /// How many owners have workers.
    pub fn owners(&self) -> usize {
        self.owners.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The threads of all.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// The threads that are believed to be there: what workers say that have counted nothing adds no more than those that have.
    pub fn believed_threads(&self) -> u64 {
        match self.threads_that_count {
            0 => self.threads,
            count => self.threads.min(count.saturating_mul(2)),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Of each machine the workers that were heard of since that time.
    pub fn crews(&self, now: Duration, since: Duration) -> Crews<'_> {
        let mut crews = Crews::new();
        for worker in self.by_id.values().filter(|worker| worker.last_word >= since) {
            let Identity { owner, machine } = &worker.identity;
            let crew = crews.entry((owner.name(), machine)).or_default();
            crew.workers += 1;
            crew.threads += u64::from(worker.threads);
            crew.work_rate += worker.rate.work_per_second(now).unwrap_or(0.0);
        }
        crews
    }

    /// What is to be said of those heard of last, by owner and name; `leased` tells how many units one holds.
    pub fn status(&self, now: Duration, leased: impl Fn(WorkerId) -> u64) -> Vec<WorkerStatus> {
        let mut workers: Vec<_> = self.by_id.iter().collect();
        if workers.len() > MOST_LISTED {
            workers.select_nth_unstable_by_key(MOST_LISTED, |(id, worker)| (Reverse(worker.last_word), **id));
            workers.truncate(MOST_LISTED);
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

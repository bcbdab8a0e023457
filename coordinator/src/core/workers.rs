//! The workers that are there, and when each was last heard of.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use proto::{Owner, Registration, WorkerId, WorkerStatus};
use queens::kernel::KernelName;

use super::Refusal;
use super::rate::Rate;

/// The registered workers.
#[derive(Debug)]
pub struct Workers {
    by_id: HashMap<WorkerId, RegisteredWorker>,
    /// How many of them run on each machine.
    machines: BTreeMap<String, u64>,
    /// The number of the last one that has registered.
    last: u64,
}

/// One worker.
#[derive(Debug)]
pub struct RegisteredWorker {
    pub owner: Owner,
    pub name: String,
    pub machine: String,
    pub threads: u32,
    pub kernel: KernelName,
    last_word: Duration,
    done: u64,
    rate: Rate,
}

/// At most so many workers of an owner are registered.
pub const MOST_OF_AN_OWNER: usize = 4096;

/// At most so many workers are listed in a status, so that it stays within the bounds of a message.
const MOST_LISTED: usize = 1000;

/// A process numbers at most so many workers.
const SESSION_BITS: u32 = 24;

impl Workers {
    /// None. Workers are numbered by session: a restarted coordinator must not take one of before for another.
    pub fn new(session: u32) -> Self {
        Self { by_id: HashMap::new(), machines: BTreeMap::new(), last: u64::from(session) << SESSION_BITS }
    }

    /// Registers a worker under a number that none had before.
    pub fn add(&mut self, now: Duration, registration: Registration) -> WorkerId {
        let Registration { owner, name, machine, threads, kernel, .. } = registration;
        self.last += 1;
        let id = WorkerId(self.last);
        *self.machines.entry(machine.clone()).or_default() += 1;
        let worker = RegisteredWorker {
            owner,
            name,
            machine,
            threads,
            kernel,
            last_word: now,
            done: 0,
            rate: Rate::default(),
        };
        self.by_id.insert(id, worker);
        id
    }

    /// The worker, which has just called.
    ///
    /// # Errors
    /// It is not registered.
    pub fn heard_of(&mut self, now: Duration, id: WorkerId) -> Result<&RegisteredWorker, Refusal> {
        let worker = self.by_id.get_mut(&id).ok_or(Refusal::UnknownWorker(id))?;
        worker.last_word = now;
        Ok(worker)
    }

    /// Whether the worker is there and that owner's.
    pub fn is_of(&self, id: WorkerId, owner: &Owner) -> bool {
        self.by_id.get(&id).is_some_and(|worker| worker.owner == *owner)
    }

    /// The workers of that owner.
    pub fn of(&self, owner: &Owner) -> Vec<WorkerId> {
        self.those(|worker| worker.owner == *owner)
    }

    /// Whether one more worker of the owner can be registered.
    pub fn has_room(&self, owner: &Owner) -> bool {
        self.by_id.values().filter(|worker| worker.owner == *owner).count() < MOST_OF_AN_OWNER
    }

    /// The worker of the owner that has been silent for the longest, if its last word came before that time.
    pub fn most_silent(&self, owner: &Owner, since: Duration) -> Option<WorkerId> {
        let silent = self.by_id.iter().filter(|(_, w)| w.owner == *owner && w.last_word < since);
        silent.min_by_key(|(id, worker)| (worker.last_word, **id)).map(|(id, _)| *id)
    }

    /// Whether two workers have one owner, one name and one machine.
    pub fn are_namesakes(&self, a: WorkerId, b: WorkerId) -> bool {
        let names = |id| {
            let worker: &RegisteredWorker = self.by_id.get(&id)?;
            Some((&worker.owner, &worker.name, &worker.machine))
        };
        names(a).is_some() && names(a) == names(b)
    }

    /// Whether the worker has been heard of since that time.
    pub fn is_alive(&self, id: WorkerId, since: Duration) -> bool {
        self.by_id.get(&id).is_some_and(|worker| worker.last_word > since)
    }

    /// A count of the worker has gone on record.
    pub fn counted(&mut self, now: Duration, id: WorkerId) {
        if let Some(worker) = self.by_id.get_mut(&id) {
            worker.done += 1;
            worker.rate.add(now, 1.0);
        }
    }

    /// Strikes the worker off.
    pub fn remove(&mut self, id: WorkerId) {
        let Some(RegisteredWorker { machine, .. }) = self.by_id.remove(&id) else { return };
        if let Some(workers) = self.machines.get_mut(&machine) {
            *workers -= 1;
            if *workers == 0 {
                self.machines.remove(&machine);
            }
        }
    }

    /// The workers whose last word came before that time.
    pub fn silent(&self, since: Duration) -> Vec<WorkerId> {
        self.those(|worker| worker.last_word < since)
    }

    /// The workers on a machine of which that is so.
    pub fn on_machines(&self, is_so: impl Fn(&str) -> bool) -> Vec<WorkerId> {
        self.those(|worker| is_so(&worker.machine))
    }

    fn those(&self, are_meant: impl Fn(&RegisteredWorker) -> bool) -> Vec<WorkerId> {
        let mut ids: Vec<_> =
            self.by_id.iter().filter(|(_, worker)| are_meant(worker)).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// The machines on which workers are there.
    pub fn machines(&self) -> impl Iterator<Item = &str> {
        self.machines.keys().map(String::as_str)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The threads of all, at least 1.
    pub fn threads(&self) -> u64 {
        self.by_id.values().map(|worker| u64::from(worker.threads)).sum::<u64>().max(1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// What is to be said of those heard of last, by owner and name; `leased` tells how many units one holds.
    pub fn status(&self, now: Duration, leased: impl Fn(WorkerId) -> u64) -> Vec<WorkerStatus> {
        let mut workers: Vec<_> = self.by_id.iter().collect();
        if workers.len() > MOST_LISTED {
            workers.select_nth_unstable_by_key(MOST_LISTED, |(id, worker)| (Reverse(worker.last_word), **id));
            workers.truncate(MOST_LISTED);
        }
        workers.sort_by_key(|(id, worker)| (&worker.owner, &worker.name, **id));
        let status = |(id, worker): (&WorkerId, &RegisteredWorker)| WorkerStatus {
            owner: worker.owner.clone(),
            name: worker.name.clone(),
            machine: worker.machine.clone(),
            threads: worker.threads,
            kernel: worker.kernel,
            leased: leased(*id),
            done: worker.done,
            rate: worker.rate.per_second(now).unwrap_or(0.0),
            last_word: now.saturating_sub(worker.last_word),
        };
        workers.into_iter().map(status).collect()
    }
}

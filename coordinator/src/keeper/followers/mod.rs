//! The followers of a run, the part of the ledger that each has on disk, and the answers that wait for them.
//!
//! A report is acknowledged when the required number of followers has the ledger up to this report. A report that waits
//! too long is answered as unrecorded: its worker keeps the counts and reports them again. Changes by an operator take
//! effect at once; the answer contains the number of followers that have them.

mod answer;

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use domain::Copies;
use tracing::{info, warn};

use super::inbox::CallError;
pub(super) use answer::Answer;

/// The longest time that an answer waits for the followers.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The followers of a run.
#[derive(Debug)]
pub(super) struct Followers {
    /// The number of followers that must have a record before it is acknowledged. None if the run cannot be followed,
    /// as in a single process.
    needed: Option<u32>,
    /// The last call of each follower, by the follower's number.
    calls: BTreeMap<u64, Call>,
    waiting: VecDeque<WaitingAnswer>,
    /// The number of records for which an answer waited too long.
    late: u64,
    /// What was logged last about the lack of followers.
    logged: Option<String>,
}

/// A call of a follower.
#[derive(Debug)]
struct Call {
    /// Tells it from an earlier call, which may end later.
    number: u64,
    /// The records on the follower's disk.
    records: u64,
}

/// An answer whose records are on this machine's disk.
#[derive(Debug)]
struct WaitingAnswer {
    /// The records that followers must have.
    records: u64,
    until: Duration,
    answer: Answer,
}

impl Followers {
    pub fn new(needed: Option<u32>) -> Self {
        Self { needed, calls: BTreeMap::new(), waiting: VecDeque::new(), late: 0, logged: None }
    }

    /// True where the run can be followed.
    pub fn are_possible(&self) -> bool {
        self.needed.is_some()
    }

    /// The number of followers that must have a record before it is acknowledged.
    pub fn needed(&self) -> u32 {
        self.needed.unwrap_or(0)
    }

    /// Sets this number.
    pub fn require(&mut self, needed: u32) {
        self.needed = self.needed.map(|_| needed);
    }

    /// How many followers are connected.
    pub fn connected(&self) -> u32 {
        self.calls.len().try_into().unwrap_or(u32::MAX)
    }

    /// Notes the call of a follower that has this number of records on disk.
    pub fn join(&mut self, follower: u64, call: u64, records: u64) {
        self.calls.insert(follower, Call { number: call, records });
    }

    /// Notes the number of records on a follower's disk.
    pub fn have(&mut self, follower: u64, call: u64, records: u64) {
        if let Some(known) = self.calls.get_mut(&follower).filter(|known| known.number == call) {
            known.records = records.max(known.records);
        }
    }

    /// A follower's call has ended. Returns true if the follower is gone with it.
    pub fn leave(&mut self, follower: u64, call: u64) -> bool {
        let is_last = self.calls.get(&follower).is_some_and(|known| known.number == call);
        if is_last {
            self.calls.remove(&follower);
        }
        is_last
    }

    /// The number of records that the required number of followers has.
    fn replicated(&self) -> u64 {
        let Some(last) = (self.needed() as usize).checked_sub(1) else { return u64::MAX };
        let mut copies: Vec<u64> = self.calls.values().map(|call| call.records).collect();
        copies.sort_unstable_by_key(|records| Reverse(*records));
        copies.get(last).copied().unwrap_or(0)
    }

    /// True if as many followers as are needed have all these records.
    pub fn have_all(&self, records: u64) -> bool {
        self.replicated() >= records
    }

    /// The number of followers that have these records; with 0, of all connected followers.
    pub fn copies(&self, records: u64) -> Copies {
        let have = self.calls.values().filter(|call| call.records >= records).count();
        Copies { followers: have.try_into().unwrap_or(u32::MAX), replicas: self.needed() }
    }

    /// Gives the answer when enough followers have these records. An operator does not wait for followers that are not
    /// connected: the operator may be about to require fewer.
    pub fn wait(&mut self, now: Duration, records: u64, answer: Answer) {
        if self.connected() < self.needed() && answer.is_for_operator() {
            return answer.give(self.copies(records));
        }
        self.waiting.push_back(WaitingAnswer { records, until: now.saturating_add(LONGEST_WAIT), answer });
    }

    /// Sends the answers that have enough followers or waited too long. Logs when acknowledgements stop and when they
    /// resume.
    pub fn answer(&mut self, now: Duration) {
        let replicated = self.replicated();
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| waiting.records <= replicated) {
            waiting.answer.give(self.copies(waiting.records));
        }
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| waiting.until <= now) {
            self.late = self.late.max(waiting.records);
            let trouble = self.trouble().unwrap_or_default();
            waiting.answer.give_late(self.copies(waiting.records), trouble);
        }
        let trouble = self.trouble();
        match (&self.logged, &trouble) {
            (Some(_), None) => info!("followers have all records again, and new records are acknowledged"),
            (logged, Some(trouble)) if logged.as_ref() != Some(trouble) => warn!("{trouble}"),
            _ => {}
        }
        self.logged = trouble;
    }

    /// Answers all waiting requests with this error.
    pub fn refuse(&mut self, error: &CallError) {
        for waiting in self.waiting.drain(..) {
            waiting.answer.refuse(error.clone());
        }
    }

    /// The problem and its solution, if nothing is acknowledged.
    pub fn trouble(&self) -> Option<String> {
        let (connected, needed) = (self.connected(), self.needed());
        let lack = if connected < needed {
            format!(
                "{connected} of {needed} followers are connected; see the log of diadem follow, or start it again"
            )
        } else if self.late > self.replicated() {
            format!(
                "fewer than {needed} of {connected} followers have put the last records on disk; check \
                 their disks and connections"
            )
        } else {
            return None;
        };
        Some(format!(
            "nothing is acknowledged: {lack}, or require fewer with diadem policy URL --replicas K \
             --reason TEXT, with --keys keys/admin if the run has keys"
        ))
    }
}

#[cfg(test)]
mod tests;

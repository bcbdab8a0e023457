//! The followers that are there, how much of the ledger each has on disk, and the answers that wait for them.
//!
//! A report is acknowledged when so many followers as are needed have the ledger as far as it went when the report was
//! judged. One that has waited for too long is answered as if it had not been recorded: its worker keeps the counts and
//! reports them again. What an operator wants has no second time: it is done, and the answer says how many followers have it.

mod answer;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use domain::Copies;
use records::store::Store;
use tracing::{info, warn};

use super::inbox::CallError;
pub(super) use answer::Answer;

/// An answer waits at most so long for the followers.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many followers that have gone are remembered; of more, those with the least: whoever calls may say any number.
const MOST_GONE: usize = 256;

/// The followers of a run.
#[derive(Debug)]
pub(super) struct Replication {
    /// So many must have a record before it is acknowledged; none is needed, whatever the ledger says, where nobody could
    /// follow: what one process counts by itself.
    needed: Option<u32>,
    /// How many records of the ledger each has on disk, by its number and that of its call. A folder that was copied with its number
    /// calls beside the other: both are one follower.
    followers: BTreeMap<(u64, u64), u64>,
    waiting: VecDeque<WaitingAnswer>,
    /// What followers had in those of their calls that have ended, whichever said most.
    ended: HashMap<u64, u64>,
    /// The records for which an answer has waited in vain.
    late: u64,
    /// Since when all is counted, and what the run comes to waits for the followers.
    complete: Option<Duration>,
    /// What was said of that.
    told: Option<String>,
    /// The records of a complete run that as many followers as are needed had, even where they have left since.
    settled: Option<u64>,
}

/// An answer to what was judged, and whose records, if any, are on this machine's disk.
#[derive(Debug)]
struct WaitingAnswer {
    /// The records that followers must have.
    records: u64,
    until: Duration,
    answer: Answer,
}

impl Replication {
    pub fn new(needed: Option<u32>) -> Self {
        Self {
            needed,
            followers: BTreeMap::new(),
            waiting: VecDeque::new(),
            ended: HashMap::new(),
            late: 0,
            complete: None,
            told: None,
            settled: None,
        }
    }

    /// Those of the run in that store: where so many are known to have all of it, none need be there again.
    pub fn of(needed: Option<u32>, store: Option<&Store>) -> Self {
        let mut replicas = Self::new(needed);
        if let Some(store) = store.filter(|store| store.replicated() >= replicas.count().max(1)) {
            replicas.settle(store.mark().records);
        }
        replicas
    }

    /// How many followers must have a record, where somebody could follow.
    pub fn needed(&self) -> Option<u32> {
        self.needed
    }

    /// How many followers must have a record.
    pub fn count(&self) -> u32 {
        self.needed.unwrap_or(0)
    }

    /// So many must have a record from now on.
    pub fn need(&mut self, needed: u32) {
        self.needed = self.needed.map(|_| needed);
    }

    /// As many followers as are needed have these records, which are all of a complete run; says whether that is news.
    pub fn settle(&mut self, records: u64) -> bool {
        self.settled.replace(records) != Some(records)
    }

    /// Whether as many followers as are needed are known to have all of a complete run.
    pub fn is_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// How many there are.
    pub fn there(&self) -> u32 {
        self.copies().len().try_into().unwrap_or(u32::MAX)
    }

    /// A follower has called, with so many records on disk. One that has called before is there once.
    pub fn join(&mut self, follower: u64, call: u64, records: u64) {
        self.ended.remove(&follower);
        self.followers.insert((follower, call), records);
    }

    /// A follower has so many records on disk.
    pub fn have(&mut self, follower: u64, call: u64, records: u64) {
        if let Some(has) = self.followers.get_mut(&(follower, call)) {
            *has = records.max(*has);
        }
    }

    /// A follower's call has ended; says whether it is gone with it.
    pub fn leave(&mut self, follower: u64, call: u64) -> bool {
        let Some(records) = self.followers.remove(&(follower, call)) else { return false };
        let had = self.ended.entry(follower).or_default();
        *had = records.max(*had);
        if self.ended.len() > MOST_GONE
            && let Some(least) = self.ended.iter().min_by_key(|(_, had)| **had).map(|(follower, _)| *follower)
        {
            self.ended.remove(&least);
        }
        !self.is_there(follower)
    }

    fn is_there(&self, follower: u64) -> bool {
        self.followers.range((follower, 0)..=(follower, u64::MAX)).next().is_some()
    }

    /// What each follower has, by whichever of its calls said most.
    fn copies(&self) -> Vec<u64> {
        let calls: Vec<_> = self.followers.iter().collect();
        let most = |calls: &[(&(u64, u64), &u64)]| calls.iter().map(|(_, has)| **has).max().unwrap_or(0);
        calls.chunk_by(|(one, _), (other, _)| one.0 == other.0).map(most).collect()
    }

    /// How many followers were there that may come back, as they have not all of these records.
    pub fn away(&self, records: u64) -> usize {
        let lacks = |(follower, had): &(&u64, &u64)| **had < records && !self.is_there(**follower);
        self.ended.iter().filter(lacks).count()
    }

    /// So many records as many followers have as are needed.
    fn replicated(&self) -> u64 {
        let Some(last) = (self.count() as usize).checked_sub(1) else { return u64::MAX };
        let mut copies = self.copies();
        copies.sort_unstable_by_key(|records| Reverse(*records));
        copies.get(last).copied().max(self.settled).unwrap_or(0)
    }

    /// Whether as many followers as are needed have all these records.
    pub fn have_all(&self, records: u64) -> bool {
        self.replicated() >= records
    }

    /// How many followers have these records: those that are there, or where a complete run is settled as many as are needed.
    fn copied(&self, records: u64) -> Copies {
        let replicas = self.count();
        let have = self.copies().iter().filter(|has| **has >= records).count();
        let have = have.try_into().unwrap_or(u32::MAX);
        Copies { followers: if self.have_all(records) { replicas.max(have) } else { have }, replicas }
    }

    /// That is to be answered when these records are where they must be. An operator does not wait for followers that are not there:
    /// that fewer are needed, say.
    pub fn wait(&mut self, now: Duration, records: u64, answer: Answer) {
        if self.there() < self.count() && answer.is_for_operator() {
            return answer.give(self.copied(records));
        }
        self.waiting.push_back(WaitingAnswer { records, until: now.saturating_add(PATIENCE), answer });
    }

    /// Whether all is counted by now: then it is what the run comes to that waits.
    pub fn expect_end(&mut self, now: Duration, is_complete: bool) {
        self.complete = is_complete.then(|| self.complete.unwrap_or(now));
    }

    /// Gives the answers that need not wait any more, or have waited for too long, and says when that begins and ends.
    /// The ledger has so many records.
    pub fn answer(&mut self, now: Duration, records: u64) {
        let replicated = self.replicated();
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| waiting.records <= replicated) {
            waiting.answer.give(self.copied(waiting.records));
        }
        while let Some(waiting) = self.waiting.pop_front_if(|waiting| waiting.until <= now) {
            self.late = self.late.max(waiting.records);
            let trouble = self.trouble(records).unwrap_or_default();
            waiting.answer.give_late(self.copied(waiting.records), trouble);
        }
        if self.complete.is_some_and(|since| since.saturating_add(PATIENCE) <= now) {
            self.late = self.late.max(records);
        }
        let trouble = self.trouble(records);
        match (&self.told, &trouble) {
            (Some(_), None) => info!("followers have all again, and records are acknowledged"),
            (told, Some(trouble)) if told.as_ref() != Some(trouble) => warn!("{trouble}"),
            _ => {}
        }
        self.told = trouble;
    }

    /// Answers all who wait with that.
    pub fn refuse(&mut self, error: &CallError) {
        for waiting in self.waiting.drain(..) {
            waiting.answer.refuse(error.clone());
        }
    }

    /// What is wrong, and the ways out, if nothing of a ledger with so many records is acknowledged.
    pub fn trouble(&self, records: u64) -> Option<String> {
        let (there, needed) = (self.there(), self.count());
        let lack = if self.settled == Some(records) {
            return None;
        } else if there < needed {
            format!(
                "{there} of {needed} followers are there; see what the log of diadem follow says, or start it again"
            )
        } else if self.late > self.replicated() {
            format!(
                "fewer than {needed} of {there} followers have put the last records on disk; look at their disks and lines"
            )
        } else {
            return None;
        };
        let waits = if self.complete.is_some() {
            "all is counted, and the answer waits for copies"
        } else {
            "nothing is acknowledged"
        };
        Some(format!(
            "{waits}: {lack}, or have fewer waited for: diadem policy URL --replicas K --reason TEXT, with --keys keys/admin \
             where the run has keys"
        ))
    }
}

#[cfg(test)]
mod tests;

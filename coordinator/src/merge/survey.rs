//! What the runs that are to be joined say together: read one after the other, with one of them in memory at a time.

use std::collections::HashMap;
use std::sync::Arc;

use queens::{Plan, UnitId};

use super::{Difference, MergeError};
use crate::double_check::DoubleCheck;
use crate::ledger::{Expulsion, LedgerPosition, MergedRun, Record};
use crate::replay::{Stretch, replay};
use crate::run_directory::RunDirectory;
use crate::standing::{Standing, Vote};

/// No more units may be in dispute: their votes are kept in memory.
const MOST_DISPUTES: usize = 100_000;
/// So many differences are told one by one.
const MOST_TOLD: usize = 8;

/// What is to be told of each unit, and whom nobody believes.
#[derive(Debug)]
pub(super) struct Survey {
    plan: Arc<Plan>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
    /// What stands, what is in dispute, and who is not believed. Nothing is added up.
    pub joint: Standing,
    /// Of each unit that stands, the number of the part that says so.
    sources: Vec<u32>,
    /// What each part is known by, and what its ledger has besides.
    pub origins: Vec<MergedRun>,
    /// Whom the parts do not believe.
    pub struck: Vec<Expulsion>,
    policies: Vec<Option<DoubleCheck>>,
    /// See [`Merged`](super::Merged).
    pub repeated: u64,
    pub left_out: u64,
    pub differences: Vec<Difference>,
}

impl Survey {
    /// Nothing has been read.
    pub fn new(plan: &Arc<Plan>, at: u64) -> Self {
        Self {
            plan: Arc::clone(plan),
            at,
            joint: Standing::new(plan),
            sources: vec![0; plan.units() as usize],
            origins: Vec::new(),
            struck: Vec::new(),
            policies: Vec::new(),
            repeated: 0,
            left_out: 0,
            differences: Vec::new(),
        }
    }

    /// Reads a part. Gives the end of its ledger.
    ///
    /// # Errors
    /// It cannot be read, or does not fit together with those before it.
    pub fn read(&mut self, part: &RunDirectory) -> Result<LedgerPosition, MergeError> {
        let mut own = Standing::new(&self.plan);
        let mut reasons = HashMap::new();
        let tail = replay(part, Stretch::default(), &mut own, |_, record| {
            if let Record::Expel(r) = record {
                reasons.insert((r.owner.clone(), r.machine.clone()), r.reason.clone());
            }
        })?;
        for unit in part.run().shard.units(self.plan.units()) {
            let Some(vote) = own.vote(unit) else { continue };
            if own.is_believed(unit, &vote) {
                self.stands(part, &own, unit, &vote)?;
            } else {
                self.left_out += 1;
            }
        }
        let votes_before = self.votes();
        for (unit, disputed) in &own.sums().disputed {
            for vote in disputed {
                let vote = self.joint.translated(&own, vote)?;
                self.joint.dispute(*unit, vote);
            }
            self.expect_few_disputes(|| format!("unit {unit} is in {}", part.path().display()))?;
        }
        let run = part.run().hash();
        let wrong = |owner: &str, machine: Option<&str>| {
            let given = reasons.get(&(owner.to_owned(), machine.map(ToOwned::to_owned)));
            given
                .cloned()
                .unwrap_or_else(|| format!("was wrong in run {run}, which was merged into this one"))
        };
        for expulsion in own.struck(wrong, self.at) {
            self.joint.strike(&expulsion)?;
            let is_the_same = |other: &Expulsion| {
                (&other.owner, &other.machine, other.lost)
                    == (&expulsion.owner, &expulsion.machine, expulsion.lost)
            };
            if !self.struck.iter().any(is_the_same) {
                self.struck.push(expulsion);
            }
        }
        self.policies.push(own.sums().policy);
        self.origins.push(MergedRun {
            run,
            records: tail.end.mark.records,
            head: tail.end.hash,
            // Each vote about a unit in dispute is a contradiction in the joint ledger.
            conflicts: own.sums().conflicts.saturating_sub(self.votes() - votes_before),
            refuted: own.sums().refuted,
            at: self.at,
        });
        Ok(tail.end)
    }

    /// A part has this count of a unit, and believes it.
    fn stands(
        &mut self,
        part: &RunDirectory,
        own: &Standing,
        unit: UnitId,
        vote: &Vote,
    ) -> Result<(), MergeError> {
        let vote = self.joint.translated(own, vote)?;
        let stood = self.joint.vote(unit);
        match stood.filter(|stood| self.joint.is_believed(unit, stood)) {
            Some(stood) if stood.count != vote.count => return self.differs(part, unit, stood, vote),
            Some(_) => self.repeated += 1,
            None if self.joint.sums().disputed.contains_key(&unit) => self.joint.dispute(unit, vote),
            None => {
                self.left_out += u64::from(stood.is_some());
                self.joint.abandon(unit);
                self.joint.adopt(own, unit, &vote);
                self.sources[unit.0 as usize] = self.origins.len() as u32;
            }
        }
        Ok(())
    }

    /// A part has another count of the unit than the parts before it: it is in dispute.
    fn differs(
        &mut self,
        part: &RunDirectory,
        unit: UnitId,
        stood: Vote,
        vote: Vote,
    ) -> Result<(), MergeError> {
        let machines = &self.joint.sums().machines;
        let [by, standing_by] = [vote, stood].map(|vote| machines.get(vote.origin.machine).title());
        let (path, found, standing) = (part.path().to_owned(), vote.count, stood.count);
        self.joint.dispute(unit, vote);
        if self.differences.len() < MOST_TOLD {
            self.differences.push(Difference { unit, path, found, by, standing, standing_by });
        }
        self.expect_few_disputes(|| self.differences[0].to_string())
    }

    /// All votes about units in dispute.
    fn votes(&self) -> u64 {
        self.joint.sums().disputed.values().map(|votes| votes.len() as u64).sum()
    }

    fn expect_few_disputes(&self, first: impl Fn() -> String) -> Result<(), MergeError> {
        if self.joint.sums().disputed.len() <= MOST_DISPUTES {
            return Ok(());
        }
        Err(MergeError::Disputes { most: MOST_DISPUTES, first: first() })
    }

    /// All parts have been read: what was believed where it was counted and is so no more is left out.
    pub fn conclude(&mut self) {
        for unit in (0..self.plan.units()).map(UnitId) {
            if let Some(vote) = self.joint.vote(unit)
                && !self.joint.is_believed(unit, &vote)
            {
                self.joint.abandon(unit);
                self.left_out += 1;
            }
        }
    }

    /// The number of the part by which the unit stands.
    pub fn source(&self, unit: UnitId) -> usize {
        self.sources[unit.0 as usize] as usize
    }

    /// The weakest policy of all parts. Where one says nothing, nothing is said, unless another has none.
    pub fn policy(&self) -> Option<DoubleCheck> {
        let said = self.policies.iter().copied().flatten();
        let weakest = said.min_by(|a, b| a.strength().total_cmp(&b.strength()))?;
        let is_said = weakest == DoubleCheck::None || self.policies.iter().all(Option::is_some);
        is_said.then_some(weakest)
    }
}

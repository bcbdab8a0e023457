//! What the runs that are to be joined say together: read one after the other, with one of them in memory at a time.

use std::collections::{BTreeMap, HashMap};
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
    /// Whom the parts do not believe: the owner or the machine, and whether that has lost.
    struck: BTreeMap<(String, Option<String>, bool), Expulsion>,
    policies: Vec<Option<DoubleCheck>>,
    /// See [`Merged`](super::Merged).
    pub repeated: u64,
    pub left_out: u64,
    pub differences: Vec<Difference>,
}

impl Survey {
    /// Reads the parts, which are of one plan: first all of them to find out whom nobody believes, then all to say what
    /// stands, so that nothing depends on their order but which of two equal counts is taken. Gives the ends of their ledgers.
    ///
    /// # Errors
    /// One cannot be read, or does not fit together with those before it.
    pub fn of(parts: &[RunDirectory], at: u64) -> Result<(Self, Vec<LedgerPosition>), MergeError> {
        let mut survey = Self::new(parts[0].plan(), at);
        let ends = parts.iter().map(|part| survey.hear(part)).collect::<Result<Vec<_>, _>>()?;
        parts.iter().zip(&ends).try_for_each(|(part, end)| survey.read(part, end))?;
        Ok((survey, ends))
    }

    /// Nothing has been read.
    fn new(plan: &Arc<Plan>, at: u64) -> Self {
        Self {
            plan: Arc::clone(plan),
            at,
            joint: Standing::new(plan),
            sources: vec![0; plan.units() as usize],
            origins: Vec::new(),
            struck: BTreeMap::new(),
            policies: Vec::new(),
            repeated: 0,
            left_out: 0,
            differences: Vec::new(),
        }
    }

    /// Notes whom a part does not believe. Gives the end of its ledger.
    fn hear(&mut self, part: &RunDirectory) -> Result<LedgerPosition, MergeError> {
        let mut own = Standing::new(&self.plan);
        let mut reasons = HashMap::new();
        let tail = replay(part, Stretch::default(), &mut own, |_, record| {
            if let Record::Expel(r) = record {
                reasons.insert((r.owner.clone(), r.machine.clone()), r.reason.clone());
            }
        })?;
        let run = part.run().hash();
        let wrong = |owner: &str, machine: Option<&str>| {
            let given = reasons.get(&(owner.to_owned(), machine.map(ToOwned::to_owned)));
            given
                .cloned()
                .unwrap_or_else(|| format!("was wrong in run {run}, which was merged into this one"))
        };
        for expulsion in own.struck(wrong, self.at) {
            self.joint.strike(&expulsion)?;
            let whom = (expulsion.owner.clone(), expulsion.machine.clone(), expulsion.lost);
            self.struck.entry(whom).or_insert(expulsion);
        }
        Ok(tail.end)
    }

    /// Reads a part up to that end.
    fn read(&mut self, part: &RunDirectory, end: &LedgerPosition) -> Result<(), MergeError> {
        let mut own = Standing::new(&self.plan);
        let tail = replay(part, Stretch { until: Some(end), ..Stretch::default() }, &mut own, |_, _| ())?;
        if tail.end != *end {
            return Err(MergeError::Rewritten(part.path().to_owned()));
        }
        for unit in part.run().shard.units(self.plan.units()) {
            let Some(vote) = own.vote(unit) else { continue };
            let translated = self.joint.translated(&own, &vote)?;
            // Whoever another part does not believe is not believed here either.
            if own.is_believed(unit, &vote)
                && self.joint.believes(translated.origin.machine, own.newest_level(unit))
            {
                self.stands(part, &own, unit, translated)?;
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
        self.policies.push(own.sums().policy);
        self.origins.push(MergedRun {
            run: part.run().hash(),
            records: tail.end.mark.records,
            head: tail.end.hash,
            // Each vote about a unit in dispute is a contradiction in the joint ledger.
            conflicts: own.sums().conflicts.saturating_sub(self.votes() - votes_before),
            refuted: own.sums().refuted,
            at: self.at,
        });
        Ok(())
    }

    /// A part has this count of a unit, by the numbers of the joint run, and all believe it.
    fn stands(
        &mut self,
        part: &RunDirectory,
        own: &Standing,
        unit: UnitId,
        vote: Vote,
    ) -> Result<(), MergeError> {
        match self.joint.vote(unit) {
            Some(stood) if stood.count != vote.count => return self.differs(part, unit, stood, vote),
            Some(_) => self.repeated += 1,
            None if self.joint.sums().disputed.contains_key(&unit) => self.joint.dispute(unit, vote),
            None => {
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

    /// What says that, in the joint ledger.
    pub fn struck(&self) -> impl Iterator<Item = Record> {
        self.struck.values().cloned().map(Record::Expel)
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

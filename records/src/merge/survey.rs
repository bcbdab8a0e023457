//! The combined statements of the runs to be merged. They are read one after the other, with one run in memory at a
//! time.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use domain::seen;
use queens::{Plan, UnitId};

use super::error::{Difference, Disbelief, MergeError};
use crate::checkpoint::acknowledged::{acknowledged, refuse_loss};
use crate::double_check::DoubleCheck;
use crate::ledger::{Expulsion, LedgerPosition, MergedRun, Record};
use crate::replay::{Stretch, replay};
use crate::run_directory::RunDirectory;
use crate::standing::{MachineId, Standing, Vote};

/// No more units may be in dispute: their votes are kept in memory.
const MAX_DISPUTES: usize = 100_000;
/// Maximum number of differences that are listed.
const MAX_LISTED_DIFFERENCES: usize = 8;

/// The result for each unit, and the participants that are not believed.
#[derive(Debug)]
pub(super) struct Survey {
    plan: Arc<Plan>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
    /// Standing counts, disputes and expulsions, without sums.
    pub joint: Standing,
    /// The number of the part with the standing count of each unit.
    sources: Vec<u32>,
    /// The identity of each part, and the further content of its ledger.
    pub origins: Vec<MergedRun>,
    /// The owners and machines that parts do not believe, whether each has lost a dispute or is suspended, and the first
    /// such part.
    struck: BTreeMap<(String, Option<String>, bool), (usize, Expulsion)>,
    policies: Vec<Option<DoubleCheck>>,
    /// The number of owners that each part required for its checked units.
    owners: Vec<Option<u32>>,
    /// The highest number of followers that a part waits for.
    pub replicas: u32,
    /// The number of counts left out, by machine.
    left_out: BTreeMap<MachineId, u64>,
    /// See [`Merged`](super::Merged).
    pub repeated: u64,
    pub differences: Vec<Difference>,
}

impl Survey {
    /// Reads the parts, which have the same plan, in three passes. The first pass finds the untrusted participants, the
    /// second pass the standing counts. The third pass reads the parts with left-out counts again. So the order of the
    /// parts only decides which of two equal counts is taken. Returns the ends of their ledgers.
    ///
    /// # Errors
    /// One cannot be read, or does not fit together with those before it.
    pub fn of(parts: &[RunDirectory], at: u64) -> Result<(Self, Vec<LedgerPosition>), MergeError> {
        let mut survey = Self::new(parts[0].plan(), at);
        let ends = parts.iter().map(|part| survey.note_part(part)).collect::<Result<Vec<_>, _>>()?;
        let mut doubted = Vec::new();
        for (number, (part, end)) in parts.iter().zip(&ends).enumerate() {
            if survey.read(number, part, end)? {
                doubted.push((number, part, end));
            }
        }
        doubted.into_iter().try_for_each(|(number, part, end)| survey.dispute_replaced(number, part, end))?;
        Ok((survey, ends))
    }

    /// A survey of no parts yet.
    fn new(plan: &Arc<Plan>, at: u64) -> Self {
        Self {
            plan: Arc::clone(plan),
            at,
            joint: Standing::new(plan),
            sources: vec![0; plan.units() as usize],
            origins: Vec::new(),
            struck: BTreeMap::new(),
            policies: Vec::new(),
            owners: Vec::new(),
            replicas: 0,
            left_out: BTreeMap::new(),
            repeated: 0,
            differences: Vec::new(),
        }
    }

    /// Notes the identity of the next part, and the participants that it does not believe. Returns the end of its
    /// ledger.
    fn note_part(&mut self, part: &RunDirectory) -> Result<LedgerPosition, MergeError> {
        let mut own = Standing::new(&self.plan);
        let mut reasons = HashMap::new();
        let known = acknowledged(part);
        let tail = replay(part, Stretch::default(), &mut own, |_, record| {
            if let Record::Expel(r) = record {
                reasons.insert((r.owner.clone(), r.machine.clone()), r.reason.clone());
            }
        })?;
        refuse_loss(part, known.as_ref(), &tail.end)?;
        let run = part.run().hash();
        let wrong = |owner: &str, machine: Option<&str>| {
            let given = reasons.get(&(owner.to_owned(), machine.map(ToOwned::to_owned)));
            given
                .cloned()
                .unwrap_or_else(|| format!("was wrong in run {run}, which was merged into this one"))
        };
        for expulsion in own.struck(wrong, self.at) {
            self.joint.strike(&expulsion)?;
            let whom =
                (expulsion.owner.clone(), expulsion.machine.clone(), expulsion.lost || expulsion.suspended);
            self.struck.entry(whom).or_insert((self.origins.len(), expulsion));
        }
        self.origins.push(MergedRun {
            run: part.run().hash(),
            records: tail.end.mark.records,
            head: tail.end.hash,
            conflicts: own.sums().conflicts,
            refuted: own.sums().refuted,
            at: self.at,
        });
        Ok(tail.end)
    }

    /// The standing of the part at this end.
    fn replayed(&self, part: &RunDirectory, end: &LedgerPosition) -> Result<Standing, MergeError> {
        let mut own = Standing::new(&self.plan);
        let tail = replay(part, Stretch { until: Some(end), ..Stretch::default() }, &mut own, |_, _| ())?;
        if tail.end == *end { Ok(own) } else { Err(MergeError::Rewritten(part.path().to_owned())) }
    }

    /// Whether the others believe the unit's count in a part, by the numbers of the joint run.
    fn is_believed(&self, own: &Standing, unit: UnitId, vote: &Vote) -> bool {
        self.joint.believes(vote.origin.machine, own.confirmed_degree(unit))
    }

    /// Reads the part with this number up to this end. Returns true if it believes a count that is left out.
    fn read(&mut self, number: usize, part: &RunDirectory, end: &LedgerPosition) -> Result<bool, MergeError> {
        let own = self.replayed(part, end)?;
        let mut is_doubted = false;
        for unit in part.run().shard.units(self.plan.units()) {
            let Some(vote) = own.vote(unit) else { continue };
            let translated = self.joint.translated(&own, &vote)?;
            let is_believed_there = own.is_believed(unit, &vote);
            // A participant that another part does not believe is not believed here either.
            if is_believed_there && self.is_believed(&own, unit, &translated) {
                self.stands(number, part, &own, unit, translated)?;
            } else {
                is_doubted |= is_believed_there;
                *self.left_out.entry(translated.origin.machine).or_default() += 1;
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
        self.owners.push(own.sums().require_owners);
        self.replicas = self.replicas.max(own.replicas(None));
        // Each vote about a unit in dispute is a contradiction in the joint ledger.
        let votes = self.votes() - votes_before;
        let conflicts = &mut self.origins[number].conflicts;
        *conflicts = conflicts.saturating_sub(votes);
        Ok(is_doubted)
    }

    /// Compares counts that this part believes, and only other parts do not, with the counts that replace them. If they
    /// differ, the unit is disputed. Otherwise a part could replace counts by expelling their machines.
    fn dispute_replaced(
        &mut self,
        number: usize,
        part: &RunDirectory,
        end: &LedgerPosition,
    ) -> Result<(), MergeError> {
        let own = self.replayed(part, end)?;
        for unit in part.run().shard.units(self.plan.units()) {
            let Some(vote) = own.vote(unit).filter(|vote| own.is_believed(unit, vote)) else { continue };
            let vote = self.joint.translated(&own, &vote)?;
            let Some(stood) = self.joint.vote(unit) else { continue };
            if stood.count != vote.count && !self.is_believed(&own, unit, &vote) {
                self.differs(number, part, unit, stood, vote)?;
            }
        }
        Ok(())
    }

    /// Notes a believed count of the part with this number, by the numbers of the merged run.
    fn stands(
        &mut self,
        number: usize,
        part: &RunDirectory,
        own: &Standing,
        unit: UnitId,
        vote: Vote,
    ) -> Result<(), MergeError> {
        match self.joint.vote(unit) {
            Some(stood) if stood.count != vote.count => {
                return self.differs(number, part, unit, stood, vote);
            }
            Some(_) => self.repeated += 1,
            None if self.joint.sums().disputed.contains_key(&unit) => self.joint.dispute(unit, vote),
            None => {
                self.joint.adopt(own, unit, &vote);
                self.sources[unit.0 as usize] = number as u32;
            }
        }
        Ok(())
    }

    /// Marks the unit as disputed: the part with this number has another count than the standing count.
    fn differs(
        &mut self,
        number: usize,
        part: &RunDirectory,
        unit: UnitId,
        stood: Vote,
        vote: Vote,
    ) -> Result<(), MergeError> {
        let machines = &self.joint.sums().machines;
        let [by, standing_by] = [vote, stood].map(|vote| machines.get(vote.origin.machine).title());
        let (path, found, standing) = (part.path().to_owned(), vote.count, stood.count);
        self.joint.dispute(unit, vote);
        // A contradiction without a vote only appears as a number.
        let votes = self.joint.sums().disputed.get(&unit).map_or(0, Vec::len) as u64;
        let conflicts = &mut self.origins[number].conflicts;
        *conflicts = conflicts.saturating_add(2 - votes);
        if self.differences.len() < MAX_LISTED_DIFFERENCES {
            self.differences.push(Difference { unit, path, found, by, standing, standing_by });
        }
        self.expect_few_disputes(|| self.differences[0].to_string())
    }

    /// All votes about units in dispute.
    fn votes(&self) -> u64 {
        self.joint.sums().disputed.values().map(|votes| votes.len() as u64).sum()
    }

    fn expect_few_disputes(&self, first: impl Fn() -> String) -> Result<(), MergeError> {
        if self.joint.sums().disputed.len() <= MAX_DISPUTES {
            return Ok(());
        }
        Err(MergeError::Disputes { most: MAX_DISPUTES, first: first() })
    }

    /// The records of this in the merged ledger.
    pub fn struck(&self) -> impl Iterator<Item = Record> {
        self.struck.values().map(|(_, expulsion)| Record::Expel(expulsion.clone()))
    }

    /// How many counts are left out.
    pub fn left_out(&self) -> u64 {
        self.left_out.values().sum()
    }

    /// The parts that do not believe the machines of left-out counts, up to a limit: the first such part for each.
    pub fn disbeliefs(&self, parts: &[RunDirectory]) -> Vec<Disbelief> {
        let mut told: Vec<Disbelief> = Vec::new();
        for (id, left_out) in &self.left_out {
            let machine = self.joint.sums().machines.get(*id);
            let of_owner = || self.struck.iter().filter(|((owner, ..), _)| *owner == machine.owner);
            let is_it = |of: &Option<String>| of.as_ref().is_none_or(|of| *of == machine.name);
            let itself = of_owner().find(|((_, of, _), _)| is_it(of));
            let whom = match itself {
                Some(((_, Some(_), _), _)) => format!("machine {}", machine.title()),
                _ if machine.owner.is_empty() => "the owner without a name".to_owned(),
                // An owner whose machines lost in several parts, so that no single part expels it.
                _ => format!("owner {}", seen(&machine.owner, &[])),
            };
            let Some((_, (part, _))) = itself.or_else(|| of_owner().next()) else { continue };
            let path = parts[*part].path();
            if let Some(other) = told.iter_mut().find(|other| other.path == path && other.whom == whom) {
                other.left_out += left_out;
            } else if told.len() < MAX_LISTED_DIFFERENCES {
                told.push(Disbelief { path: path.to_owned(), whom, left_out: *left_out });
            }
        }
        told
    }

    /// The number of the part with the standing count of the unit.
    pub fn source(&self, unit: UnitId) -> usize {
        self.sources[unit.0 as usize] as usize
    }

    /// The weakest policy of all parts; none if a part names none, unless another part checks nothing.
    pub fn policy(&self) -> Option<DoubleCheck> {
        let said = self.policies.iter().copied().flatten();
        let weakest = said.min_by(|a, b| a.strength().total_cmp(&b.strength()))?;
        let is_said = weakest == DoubleCheck::None || self.policies.iter().all(Option::is_some);
        is_said.then_some(weakest)
    }

    /// The number of owners that must count each checked unit, if all parts required it.
    pub fn require_owners(&self) -> Option<u32> {
        self.owners.iter().copied().min().flatten()
    }
}

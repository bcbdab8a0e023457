//! Writes the ledger of the merged run from the records of its parts.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use queens::UnitId;

use super::error::MergeError;
use super::survey::Survey;
use crate::double_check::DoubleCheck;
use crate::ledger::{LedgerPosition, Policy, Record, Recount, Replicas, UnitRecord, read};
use crate::replay::beginning;
use crate::run_directory::RunDirectory;
use crate::shard::Shard;
use crate::standing::{Degree, RecordError, Standing, Sums, UnitMark, Vote};
use crate::store::Store;
use crate::system::MOVES_OPEN_FOLDERS;

/// Records of one commit.
const GROUP: usize = 10_000;

/// The joint run while it is written.
#[derive(Debug)]
pub(super) struct JointLedger<'a> {
    survey: &'a Survey,
    store: Store,
    /// The standing of the written records.
    standing: Standing,
    group: Vec<Record>,
    /// Votes about units in dispute that are not written yet.
    votes: BTreeMap<UnitId, Vec<Vote>>,
    /// The counts of the present part that equal the standing counts and come before them.
    early: HashMap<UnitId, Vec<UnitRecord>>,
    /// The part's policy at this place, if it names one.
    policy: Option<DoubleCheck>,
    elapsed: Duration,
    threads: u32,
}

impl<'a> JointLedger<'a> {
    /// The joint ledger, still without records.
    pub fn new(survey: &'a Survey, store: Store, standing: Standing) -> Self {
        let votes = survey.joint.sums().disputed.clone();
        let (group, early, elapsed) = (Vec::new(), HashMap::new(), Duration::ZERO);
        let policy = None;
        Self { survey, store, standing, group, votes, early, policy, elapsed, threads: 1 }
    }

    /// Writes whose key signs for the joint run, which the parts' coordinators did not have.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn begin(&mut self) -> Result<(), MergeError> {
        self.write(self.store.term_record(self.survey.at))
    }

    /// Writes the records of the part with this number, up to this place.
    ///
    /// # Errors
    /// The part cannot be read any more, or the result cannot be written.
    pub fn part(
        &mut self,
        number: usize,
        part: &RunDirectory,
        end: &LedgerPosition,
    ) -> Result<(), MergeError> {
        self.write(Record::Merged(self.survey.origins[number].clone()))?;
        self.policy = None;
        let mut failed = None;
        let tail = read(&part.ledger(), &beginning(part), Some(end), |_, record, _| {
            if failed.is_none() {
                failed = self.record(number, record).err();
            }
            Ok::<_, RecordError>(())
        })?;
        failed.map_or(Ok(()), Err)?;
        if tail.end != *end {
            return Err(MergeError::Rewritten(part.path().to_owned()));
        }
        self.early.clear();
        self.elapsed += end.mark.elapsed();
        self.threads = self.threads.max(end.mark.threads);
        Ok(())
    }

    /// Writes the policy, the expulsions and the remaining records. Returns the standing of the merged run.
    ///
    /// # Errors
    /// The disk would not do it.
    pub fn end(mut self) -> Result<Standing, MergeError> {
        self.check_as(self.survey.policy(), self.survey.require_owners())?;
        let Survey { replicas, at, .. } = *self.survey;
        if replicas > 0 {
            self.write(Record::Replicas(Replicas { replicas, reason: None, at }))?;
        }
        self.survey.struck().try_for_each(|record| self.write(record))?;
        self.commit()?;
        // A checkpoint is open for a while after it is saved, and the directory still gets its name.
        if MOVES_OPEN_FOLDERS {
            self.store.save(&self.standing).ok();
        }
        Ok(self.standing)
    }

    /// Writes a record of a part, as far as the merged run keeps it.
    fn record(&mut self, part: usize, record: &Record) -> Result<(), MergeError> {
        match record {
            Record::Count(r) | Record::Check(r) | Record::Conflict(r) => {
                let machines = &self.survey.joint.sums().machines;
                let origin = machines.find_origin(&r.owner, &r.machine, &r.kernel, r.mirrored);
                let vote = origin.map(|origin| Vote { count: r.count, nodes: r.nodes, origin });
                match self.survey.joint.vote(r.unit) {
                    Some(standing) if self.survey.source(r.unit) == part => {
                        self.counted(r, vote == Some(standing), &standing)
                    }
                    Some(_) => Ok(()),
                    None => self.voted(r, vote),
                }
            }
            Record::Retract(r) => {
                // After a retraction by an operator, or of a wrong machine, the count confirms no other count.
                if let Some(early) = self.early.get_mut(&r.unit).filter(|_| !r.counts_as_vote()) {
                    let is_that = |e: &UnitRecord| {
                        (&e.owner, &e.machine, &e.kernel, e.mirrored, e.count)
                            == (&r.owner, &r.machine, &r.kernel, r.mirrored, r.count)
                    };
                    early.iter().rposition(is_that).map(|at| early.remove(at));
                }
                Ok(())
            }
            Record::Policy(r) => {
                self.policy = Some(r.double_check);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A count of a unit that stands, by this part.
    fn counted(&mut self, r: &UnitRecord, is_standing: bool, standing: &Vote) -> Result<(), MergeError> {
        let is_written = self.standing.is_done(r.unit);
        if is_standing && !is_written {
            let (of, of_owner) = (None, String::new());
            self.check_as(self.policy, None)?;
            self.write(Record::Count(UnitRecord { recount: self.recount(r), of, of_owner, ..r.clone() }))?;
            let early = self.early.remove(&r.unit).unwrap_or_default();
            return early.iter().try_for_each(|r| self.confirmed(r, standing));
        }
        if is_standing || r.count != standing.count {
            return Ok(());
        }
        if is_written {
            return self.confirmed(r, standing);
        }
        if self.survey.joint.confirmed_degree(r.unit) > Degree::Once {
            self.early.entry(r.unit).or_default().push(r.clone());
        }
        Ok(())
    }

    /// A second count, equal to the one that stands. It is written if it says more than those before it, and no more
    /// than the part says.
    fn confirmed(&mut self, r: &UnitRecord, standing: &Vote) -> Result<(), MergeError> {
        let joint = &self.survey.joint;
        let by = joint.sums().machines.get(standing.origin.machine);
        let second = (&*r.owner, &*r.machine);
        let degree = Degree::between(by.maker(), second);
        let plan = self.store.directory().plan();
        let proves =
            self.standing.vote(r.unit).is_some_and(|written| self.standing.proves(plan, r, &written));
        if !proves
            || degree <= self.standing.confirmed_degree(r.unit)
            || degree > joint.confirmed_degree(r.unit)
        {
            return Ok(());
        }
        let (of, of_owner) = (Some(by.name.clone()), by.owner.clone());
        self.write(Record::Check(UnitRecord { recount: None, of, of_owner, ..r.clone() }))
    }

    /// A count of a unit that does not stand: a vote, if it is in dispute.
    fn voted(&mut self, r: &UnitRecord, vote: Option<Vote>) -> Result<(), MergeError> {
        let Some(votes) = self.votes.get_mut(&r.unit) else { return Ok(()) };
        let Some(at) = votes.iter().position(|other| Some(*other) == vote) else { return Ok(()) };
        votes.swap_remove(at);
        let (of, of_owner) = (None, String::new());
        self.write(Record::Conflict(UnitRecord { recount: None, of, of_owner, ..r.clone() }))
    }

    /// The reason to check the count, so that it is due or sampled here as in the part.
    fn recount(&self, r: &UnitRecord) -> Option<Recount> {
        let is = |mark| self.survey.joint.is(mark, r.unit);
        let other = r.recount.filter(|recount| *recount != Recount::Sample);
        match () {
            () if is(UnitMark::Sampled) => Some(Recount::Sample),
            () if is(UnitMark::Due) => Some(other.unwrap_or(Recount::All)),
            () if is(UnitMark::Checked) => other,
            () => None,
        }
    }

    /// Writes the policy under which the next counts were sampled; the default policy if the part names none.
    fn check_as(&mut self, said: Option<DoubleCheck>, require_owners: Option<u32>) -> Result<(), MergeError> {
        let Sums { policy: in_force, require_owners: required, .. } = *self.standing.sums();
        let double_check = said.unwrap_or_default();
        let is_policy_in_force = in_force == Some(double_check) || (in_force, said) == (None, None);
        if is_policy_in_force && required == require_owners {
            return Ok(());
        }
        let at = self.survey.at;
        self.write(Record::Policy(Policy {
            double_check,
            require_owners,
            own_checks: None,
            reason: None,
            at,
        }))
    }

    fn write(&mut self, record: Record) -> Result<(), MergeError> {
        let directory = self.store.directory();
        self.standing.apply(directory.plan(), Shard::default(), &record)?;
        self.group.push(record);
        if self.group.len() >= GROUP { self.commit() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), MergeError> {
        self.store.commit(&self.group, self.elapsed, self.threads)?;
        self.group.clear();
        Ok(())
    }
}

//! Applies one record: the fold over a ledger.

use domain::Term;
use queens::Summand;
use queens::kernel::{Isa, Method};
use queens::{Plan, UnitId};

use super::{Degree, MOST_COMPLETIONS, MachineId, RecordError, Standing, Trust, UnitMark, Vote};
use crate::ledger::{Record, Recount, Restoration, Retraction, TermRecord, UnitRecord};
use crate::shard::Shard;

impl Standing {
    /// Adds one record.
    ///
    /// # Errors
    /// The record is not valid at this place. The standing must not be used any more.
    pub fn apply(&mut self, plan: &Plan, shard: Shard, record: &Record) -> Result<(), RecordError> {
        let (term, is_counted) = (self.term(), !self.sums.history.is_empty());
        self.sums.incidents.note(record, term, is_counted);
        self.sums.machines.struck.clear();
        self.fold(plan, shard, record)?;
        if let Some(at) = judged_at(record) {
            for struck in self.sums.machines.struck.drain(..) {
                self.sums.incidents.quarantine(struck, at);
            }
        }
        Ok(())
    }

    fn fold(&mut self, plan: &Plan, shard: Shard, record: &Record) -> Result<(), RecordError> {
        let in_run = |unit: UnitId| {
            let is_in_run = unit.0 < plan.units() && shard.contains(unit);
            if is_in_run { Ok(()) } else { Err(RecordError::ForeignUnit(unit)) }
        };
        match record {
            Record::Count(r) => in_run(r.unit).and_then(|()| self.stand(plan, r)),
            Record::Check(r) => in_run(r.unit).and_then(|()| self.check(plan, r)),
            Record::Conflict(r) => in_run(r.unit).and_then(|()| self.contradict(plan, r)),
            Record::Retract(r) => in_run(r.unit).and_then(|()| self.retract(plan, r)),
            Record::Restore(r) => in_run(r.unit).and_then(|()| self.restore(plan, r)),
            Record::Expel(r) => self.sums.machines.strike(r),
            Record::Admit(r) => self.sums.machines.admit(&r.owner, r.machine.as_deref()),
            Record::Policy(r) => {
                self.sums.policy = Some(r.double_check);
                self.sums.require_owners = r.require_owners;
                self.change_own_checks(r.own_checks.as_ref());
                Ok(())
            }
            Record::Draw(r) => self.draw(r),
            Record::Term(r) => self.begin_term(r),
            Record::Replicas(r) => {
                self.sums.replicas = Some(r.replicas);
                Ok(())
            }
            Record::Merged(r) => {
                self.sums.conflicts = self.sums.conflicts.saturating_add(r.conflicts);
                self.sums.refuted = self.sums.refuted.saturating_add(r.refuted);
                Ok(())
            }
            Record::Loss(_) | Record::Pause(_) | Record::Resume(_) | Record::Mark(_) => Ok(()),
        }
    }

    fn begin_term(&mut self, r: &TermRecord) -> Result<(), RecordError> {
        let last = self.term();
        if r.term <= last {
            return Err(RecordError::TermNotHigher { term: r.term, last });
        }
        if r.term >= Term::END {
            return Err(RecordError::TermTooHigh(r.term));
        }
        self.sums.term = Some((r.term, r.coordinator.to_string()));
        Ok(())
    }

    fn vote_of(&mut self, plan: &Plan, r: &UnitRecord) -> Result<Vote, RecordError> {
        match self.sums.took.get_mut(&r.owner) {
            Some(took) => took.add(plan, r),
            None => self.sums.took.entry(r.owner.clone()).or_default().add(plan, r),
        }
        let origin = self.sums.machines.origin((&r.owner, &r.machine), &r.kernel, r.mirrored)?;
        Ok(Vote { count: r.count, nodes: r.nodes, origin })
    }

    fn stand(&mut self, plan: &Plan, r: &UnitRecord) -> Result<(), RecordError> {
        let (unit, vote) = (r.unit, self.vote_of(plan, r)?);
        self.take_in(plan, unit, &vote, (r.recount, r.at))?;
        self.sums.machines.get_mut(vote.origin.machine).trials +=
            u64::from(r.recount == Some(Recount::Trial));
        self.decide(plan, unit, &vote, r.at);
        Ok(())
    }

    /// The unit, which had no standing count, has this one since that time.
    fn take_in(
        &mut self,
        plan: &Plan,
        unit: UnitId,
        vote: &Vote,
        (recount, at): (Option<Recount>, u64),
    ) -> Result<(), RecordError> {
        if vote.count > MOST_COMPLETIONS {
            return Err(RecordError::Impossible { unit, count: vote.count });
        }
        if !self.marks.of_mut(UnitMark::Done).insert(unit.0) {
            return Err(RecordError::Repeated(unit));
        }
        self.counts.set(unit, vote);
        let work = plan.mean_weight(unit);
        self.sums.work += u128::from(work);
        self.sums.history.count(at, work);
        let machine = self.sums.machines.get_mut(vote.origin.machine);
        machine.counts += 1;
        machine.unverified += 1;
        self.sums.credits.add(&machine.owner, plan, (unit, vote.count), 1, at);
        if recount.is_some() {
            self.marks.of_mut(UnitMark::Due).insert(unit.0);
        }
        self.sums.draws.stood(self.policy(), recount);
        if recount == Some(Recount::Sample) {
            self.marks.of_mut(UnitMark::Sampled).insert(unit.0);
        }
        let tally = &mut self.sums.tally;
        tally.add(plan, unit, vote.count)?;
        if let Summand::Symmetric(member, _) = plan.summand(unit)
            && tally.is_complete(member)
        {
            let (is_so, contradictory) = (tally.is_contradicted(member), &mut self.sums.contradictory);
            if is_so {
                contradictory.insert(member)
            } else {
                contradictory.remove(&member)
            };
        }
        Ok(())
    }

    fn restore(&mut self, plan: &Plan, r: &Restoration) -> Result<(), RecordError> {
        let machines = &self.sums.machines;
        let origin = machines.find_origin(&r.owner, &r.machine, &r.kernel, r.mirrored);
        let vote =
            Vote { count: r.count, nodes: r.nodes, origin: origin.ok_or(RecordError::Opposed(r.unit))? };
        let agrees = |other: &Vote| machines.agree(other, &vote);
        let all = self.sums.disputed.get(&r.unit).ok_or(RecordError::Opposed(r.unit))?;
        let was_opposed = !all.iter().all(agrees);
        let is_said = self.votes(r.unit).any(|other| *other == vote) && self.votes(r.unit).all(agrees);
        if !was_opposed || !is_said {
            return Err(RecordError::Opposed(r.unit));
        }
        self.take_in(plan, r.unit, &vote, (r.recount, r.at))?;
        self.sums.disputed.entry(r.unit).or_default().retain(|other| *other != vote);
        self.decide(plan, r.unit, &vote, r.at);
        Ok(())
    }

    fn check(&mut self, plan: &Plan, r: &UnitRecord) -> Result<(), RecordError> {
        let vote = self.vote_of(plan, r)?;
        let standing = self.expect_standing(r.unit, r.count)?;
        let of = r.of.as_deref().and_then(|of| self.sums.machines.number(&r.of_owner, of));
        let is_its_maker = |of: &MachineId| standing.is_none_or(|standing| standing.origin.machine == *of);
        let of = of.filter(is_its_maker).ok_or(RecordError::UnknownOrigin(r.unit))?;
        self.sums.checks += 1;
        if standing.is_none_or(|standing| self.proves(plan, r, &standing)) {
            self.confirm(plan, (r.unit, r.count), of, vote.origin.machine, r.at);
            if self.is_external(&vote) {
                self.marks.of_mut(UnitMark::External).insert(r.unit.0);
            }
        }
        Ok(())
    }

    /// True if a second count is a confirmation according to its own line: it is equal, and was made in another way.
    /// Workers are only asked for such counts.
    pub(crate) fn proves(&self, plan: &Plan, second: &UnitRecord, standing: &Vote) -> bool {
        self.equals(plan, second, standing)
            && self.sums.machines.is_made_in_other_way(standing, second.making())
    }

    /// True if a second count of a unit equals the standing count: in completions, and in nodes if they are comparable.
    ///
    /// The nodes are unconfirmed if two machines have counted with different methods. For units cut for halves that
    /// meet, the nodes of a search depend on the release, so a difference proves nothing.
    pub fn equals(&self, plan: &Plan, second: &UnitRecord, standing: &Vote) -> bool {
        let is_for_search = plan.spec().method() == Method::Search;
        if self.is(UnitMark::TwoMachines, second.unit) || !is_for_search {
            standing.count == second.count
        } else {
            self.sums.machines.matches_vote(standing, second.count, second.nodes, &second.kernel)
        }
    }

    /// The unit's standing count, made by one machine, was made again by the other, or by the same, at this time.
    pub(super) fn confirm(
        &mut self,
        plan: &Plan,
        (unit, count): (UnitId, u64),
        of: MachineId,
        by: MachineId,
        at: u64,
    ) {
        self.marks.of_mut(UnitMark::Due).remove(unit.0);
        let is_first = self.marks.of_mut(UnitMark::Checked).insert(unit.0);
        if is_first && self.is(UnitMark::Sampled, unit) {
            self.sums.sampled += 1;
        }
        let machines = &mut self.sums.machines;
        let degree = machines.degree_between(of, by);
        if is_first || degree == Degree::OtherOwner {
            self.sums.credits.add(&machines.get(by).owner, plan, (unit, count), 1, at);
        }
        // Symmetric counts are made by a card's host, and so always on a processor.
        if machines.get(of).hardware().differs_from(machines.get(by).hardware())
            && !plan.summand(unit).is_symmetric_count()
        {
            self.marks.of_mut(UnitMark::TwoKinds).insert(unit.0);
        }
        if degree >= Degree::OtherMachine && self.marks.of_mut(UnitMark::TwoMachines).insert(unit.0) {
            let machine = machines.get_mut(of);
            machine.unverified = machine.unverified.saturating_sub(1);
            machine.internal += 1;
            machine.verified += 1;
            machines.get_mut(by).verified += 1;
        }
        if degree == Degree::OtherOwner && self.marks.of_mut(UnitMark::Independent).insert(unit.0) {
            let machine = machines.get_mut(of);
            machine.internal = machine.internal.saturating_sub(1);
            self.counts.confirm(unit, by);
        }
        self.note_own_check(unit, by);
    }

    /// True if an external program made this count.
    pub(super) fn is_external(&self, vote: &Vote) -> bool {
        self.sums.machines.kernel(vote.origin.kernel) == Isa::External.to_string()
    }

    fn contradict(&mut self, plan: &Plan, r: &UnitRecord) -> Result<(), RecordError> {
        let (unit, vote) = (r.unit, self.vote_of(plan, r)?);
        // A `merged` record may have any number.
        self.sums.conflicts = self.sums.conflicts.saturating_add(1);
        let standing = self.vote(unit).map(|standing| self.sums.machines.get(standing.origin.machine));
        let of_owner = standing.map_or(&r.of_owner, |maker| &maker.owner);
        if self.is(UnitMark::Independent, unit) {
            // Two owners have already returned another count. The operator decides about the owners whom an own check
            // contradicts, and so about this machine.
            if !(self.is_operator(&r.owner) && self.sums.machines.is_contradicted(of_owner)) {
                self.sums.machines.lose(vote.origin.machine, true);
            }
        } else if self.is(UnitMark::TwoMachines, unit) && r.owner == *of_owner {
            // Two machines of this owner have returned another count.
            self.sums.machines.lose(vote.origin.machine, false);
        } else {
            self.sums.disputed.entry(unit).or_default().push(vote);
        }
        Ok(())
    }

    fn retract(&mut self, plan: &Plan, r: &Retraction) -> Result<(), RecordError> {
        let unit = r.unit;
        let standing = self.expect_standing(unit, r.count)?;
        let origin = self.sums.machines.origin((&r.owner, &r.machine), &r.kernel, r.mirrored)?;
        let told = Vote { count: r.count, nodes: r.nodes, origin };
        if standing.is_some_and(|standing| standing != told) {
            return Err(RecordError::OtherVote(unit));
        }
        if r.contradiction && !self.is_contradicted(plan, unit) {
            return Err(RecordError::NotContradicted(unit));
        }
        let trust = self.sums.machines.get(origin.machine).trust;
        if self.is_beyond_doubt(r, trust) {
            return Err(RecordError::Confirmed(unit));
        }
        if r.quarantine && matches!(trust, Trust::Believed | Trust::Suspended) {
            return Err(RecordError::NotQuarantined(unit));
        }
        let [is_on_two_machines, is_independent] =
            [UnitMark::TwoMachines, UnitMark::Independent].map(|mark| self.is(mark, unit));
        let machine = self.sums.machines.get_mut(origin.machine);
        machine.counts = machine.counts.saturating_sub(1);
        if !is_on_two_machines {
            machine.unverified = machine.unverified.saturating_sub(1);
        } else if !is_independent {
            machine.internal = machine.internal.saturating_sub(1);
        }
        // Without a check of another owner, the first check was of the same owner.
        let is_own_check = self.is(UnitMark::Checked, unit) && !is_independent;
        let times = 1 + i64::from(is_own_check);
        self.sums.credits.add(&r.owner, plan, (unit, r.count), -times, r.at);
        if self.is(UnitMark::Sampled, unit) {
            self.sums.sampled -= u64::from(self.is(UnitMark::Checked, unit));
            self.sums.refuted = self.sums.refuted.saturating_add(r.counts_as_vote().into());
        }
        if self.is(UnitMark::Drawn, unit) {
            self.sums.own_refuted = self.sums.own_refuted.saturating_add(r.counts_as_vote().into());
        }
        for mark in UnitMark::ALL {
            self.marks.of_mut(mark).remove(unit.0);
        }
        self.counts.forget(unit);
        if r.counts_as_vote() {
            // The count was made before the counts that contradict it.
            self.sums.disputed.entry(unit).or_default().insert(0, told);
        }
        if r.contradiction
            && let Summand::Symmetric(member, _) = plan.summand(unit)
        {
            self.sums.contradicted.insert(member);
        }
        let work = plan.mean_weight(unit);
        // A checkpoint may have come from a machine that expected a little less.
        self.sums.work = self.sums.work.saturating_sub(work.into());
        self.sums.history.retract(r.at, work);
        Ok(self.sums.tally.remove(plan, unit, r.count)?)
    }

    /// True if the count is confirmed too well for this retraction: by another owner, or by another machine of its
    /// owner. The latter does not count if the owner is not believed or another owner contradicts the count.
    fn is_beyond_doubt(&self, r: &Retraction, trust: Trust) -> bool {
        if r.reason.is_some() || r.contradiction || !self.is(UnitMark::TwoMachines, r.unit) {
            return false;
        }
        let machines = &self.sums.machines;
        let is_of_another = |vote: &Vote| machines.get(vote.origin.machine).owner != r.owner;
        if r.quarantine && trust == Trust::Refuted {
            return false;
        }
        let is_doubted = if r.quarantine {
            trust == Trust::Expelled
        } else {
            self.sums.disputed.get(&r.unit).into_iter().flatten().any(is_of_another)
        };
        !is_doubted || self.is(UnitMark::Independent, r.unit)
    }

    /// Whether the unit is of a constellation with symmetry whose counts contradicted each other when all were there, and are
    /// not all there again.
    fn is_contradicted(&self, plan: &Plan, unit: UnitId) -> bool {
        let Summand::Symmetric(member, _) = plan.summand(unit) else { return false };
        self.sums.contradictory.contains(&member)
    }

    /// The standing count, if it is known and is this count.
    fn expect_standing(&self, unit: UnitId, count: u64) -> Result<Option<Vote>, RecordError> {
        match self.vote(unit) {
            Some(standing) if standing.count != count => {
                Err(RecordError::OtherCount { unit, standing: standing.count, said: count })
            }
            standing if self.is_done(unit) => Ok(standing),
            _ => Err(RecordError::NotCounted(unit)),
        }
    }
}

/// The time of a record by which a machine may lose a dispute, in seconds since 1970 (UTC).
fn judged_at(record: &Record) -> Option<u64> {
    match record {
        Record::Count(r) | Record::Check(r) | Record::Conflict(r) => Some(r.at),
        Record::Retract(r) => Some(r.at),
        Record::Restore(r) => Some(r.at),
        _ => None,
    }
}

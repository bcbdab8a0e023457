//! Disputed units, and the losers once a dispute is decided.

use std::collections::BTreeSet;

use queens::{Plan, UnitId};

use super::{Degree, MachineId, Machines, Standing, UnitMark, Vote};
use crate::ledger::{Record, Retraction};

impl Standing {
    /// The disputed unit's counts from machines that can be believed.
    pub fn votes(&self, unit: UnitId) -> impl Iterator<Item = &Vote> {
        let votes = self.sums.disputed.get(&unit).into_iter().flatten();
        votes.filter(|vote| !self.sums.machines.get(vote.origin.machine).is_quarantined())
    }

    /// Whether the unit's standing count is believed: its machine is, or others have confirmed it.
    pub fn is_believed(&self, unit: UnitId, vote: &Vote) -> bool {
        self.believes(vote.origin.machine, self.confirmed_degree(unit))
    }

    /// True if a count of this machine with this confirmation is believed.
    pub(crate) fn believes(&self, machine: MachineId, confirmed: Degree) -> bool {
        self.sums.machines.believes(machine, confirmed)
    }

    /// The machines with the trust that they have after these records. Records that do not apply change nothing.
    pub(crate) fn machines_after(&self, records: &[Record]) -> Machines {
        let mut machines = self.sums.machines.clone();
        for record in records {
            match record {
                Record::Expel(r) => machines.strike(r).unwrap_or_default(),
                Record::Admit(r) => machines.admit(&r.owner, r.machine.as_deref()).unwrap_or_default(),
                _ => {}
            }
        }
        machines
    }

    /// The retraction of the unit's standing count, which another count contradicts.
    pub fn retraction(&self, unit: UnitId, vote: &Vote, at: u64) -> Retraction {
        let machines = &self.sums.machines;
        let machine = machines.get(vote.origin.machine);
        Retraction {
            unit,
            count: vote.count,
            nodes: vote.nodes,
            owner: machine.owner.clone(),
            machine: machine.name.clone(),
            kernel: machines.kernel(vote.origin.kernel).to_owned(),
            mirrored: vote.origin.mirrored,
            quarantine: false,
            contradiction: false,
            reason: None,
            at,
        }
    }

    /// The count of a disputed unit that stands again: those that say otherwise all come from machines that are not
    /// believed any more.
    pub fn unopposed(&self, unit: UnitId) -> Option<Vote> {
        let machines = &self.sums.machines;
        let all = self.sums.disputed.get(&unit).filter(|_| !self.is_done(unit))?;
        let first = self.votes(unit).next()?;
        let agrees = |vote: &Vote| machines.agree(vote, first);
        let was_opposed = all.iter().any(|vote| !agrees(vote));
        (was_opposed && self.votes(unit).all(agrees)).then_some(*first)
    }

    /// Ends the dispute about a unit, if there was one, by its new standing count at this time.
    ///
    /// An equal count of another owner decides against all other values. An equal count of another machine of the same
    /// owner decides if no other owner has counted the unit.
    pub(super) fn decide(&mut self, plan: &Plan, unit: UnitId, vote: &Vote, at: u64) {
        let machines = &self.sums.machines;
        let own = vote.origin.machine;
        let believed: Vec<Vote> = self.votes(unit).copied().collect();
        let voters = believed.iter().chain([vote]).map(|voter| voter.origin.machine);
        let is_among_owners = machines.are_of_several_owners(voters);
        let agreeing: Vec<Vote> = believed.into_iter().filter(|other| machines.agree(other, vote)).collect();
        // Two machines of one owner do not outvote another.
        let counts = |degree: &Degree| !(is_among_owners && *degree == Degree::OtherMachine);
        let deciding: Vec<(&Vote, Degree)> = agreeing
            .iter()
            .map(|other| (other, machines.degree_between(own, other.origin.machine)))
            .filter(|(_, degree)| counts(degree))
            .collect();
        let confirming: Vec<MachineId> = deciding
            .iter()
            .filter(|(other, _)| machines.is_made_in_other_way(other, machines.making(vote)))
            .map(|(other, _)| other.origin.machine)
            .collect();
        let degree = deciding.into_iter().map(|(_, degree)| degree).max().unwrap_or(Degree::Once);
        let votes = self.sums.disputed.remove(&unit).unwrap_or_default();
        let counted = (unit, vote.count);
        confirming.into_iter().for_each(|other| self.confirm(plan, counted, own, other, at));
        if agreeing.iter().any(|other| self.is_external(other) != self.is_external(vote)) {
            self.marks.of_mut(UnitMark::External).insert(unit.0);
        }
        if degree < Degree::OtherMachine {
            let machines = &mut self.sums.machines;
            if votes.iter().any(|other| other.origin.machine == own && !machines.agree(other, vote)) {
                machines.contradicts_itself(own);
            }
            return;
        }
        let losers = votes.iter().filter(|other| self.loses(other, vote, &agreeing));
        let losers: BTreeSet<_> = losers.map(|other| other.origin.machine).collect();
        let is_to_others = degree == Degree::OtherOwner;
        losers.into_iter().for_each(|loser| self.sums.machines.lose(loser, is_to_others));
    }

    /// True if a vote loses to the decisive vote and the votes that agree with it. A machine with an agreeing vote does
    /// not lose by its nodes: one vote may use another method, and then nodes are not compared.
    fn loses(&self, vote: &Vote, decisive: &Vote, agreeing: &[Vote]) -> bool {
        let machine = vote.origin.machine;
        let is_winner = machine == decisive.origin.machine
            || agreeing.iter().any(|other| other.origin.machine == machine);
        vote.count != decisive.count || (!self.sums.machines.agree(vote, decisive) && !is_winner)
    }
}

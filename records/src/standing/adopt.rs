//! Adopts results of other runs of the plan without records, for merging.

use queens::UnitId;

use super::machine::Machine;
use super::{Degree, RecordError, Standing, Trust, UnitMark, Vote};
use crate::ledger::Expulsion;

impl Standing {
    /// A vote of another standing, by the numbers that its machine and kernel have here.
    ///
    /// # Errors
    /// There are too many machines or kernels.
    pub(crate) fn translated(&mut self, other: &Standing, vote: &Vote) -> Result<Vote, RecordError> {
        let machines = &other.sums.machines;
        let Machine { owner, name, .. } = machines.get(vote.origin.machine);
        let kernel = machines.kernel(vote.origin.kernel);
        let origin = self.sums.machines.origin((owner, name), kernel, vote.origin.mirrored)?;
        Ok(Vote { origin, ..*vote })
    }

    /// Copies the unit's state, with a [translated](Self::translated) vote. Adds nothing to the totals.
    pub(crate) fn adopt(&mut self, other: &Standing, unit: UnitId, vote: &Vote) {
        for mark in UnitMark::ALL {
            if other.is(mark, unit) {
                self.marks.of_mut(mark).insert(unit.0);
            }
        }
        self.counts.set(unit, vote);
    }

    /// The unit has no standing count any more.
    fn abandon(&mut self, unit: UnitId) {
        UnitMark::ALL.into_iter().for_each(|mark| _ = self.marks.of_mut(mark).remove(unit.0));
        self.counts.forget(unit);
    }

    /// Marks the unit as disputed: its former standing count is one vote, and this count is another vote. An untrusted
    /// participant gets no vote. Its vote would leave the other count [unopposed](Self::unopposed), so the unit would
    /// not be counted again.
    pub(crate) fn dispute(&mut self, unit: UnitId, vote: Vote) {
        let stood = self.vote(unit);
        self.abandon(unit);
        let votes = self.sums.disputed.entry(unit).or_default();
        for vote in stood.into_iter().chain([vote]) {
            if !self.sums.machines.get(vote.origin.machine).is_quarantined() && !votes.contains(&vote) {
                votes.push(vote);
            }
        }
    }

    /// Adopts the expulsions and quarantines of another standing.
    ///
    /// # Errors
    /// There are too many machines.
    pub(crate) fn strike(&mut self, expulsion: &Expulsion) -> Result<(), RecordError> {
        self.sums.machines.strike(expulsion)
    }

    /// The untrusted owners, and the untrusted machines of other owners.
    pub(crate) fn struck(&self, reason: impl Fn(&str, Option<&str>) -> String, at: u64) -> Vec<Expulsion> {
        let machines = &self.sums.machines;
        let owners = machines.expelled().map(|owner| (owner, None, false));
        let single = machines.iter().filter(|machine| machine.trust == Trust::Quarantined);
        let single = single.map(|machine| {
            let id = machines.number(&machine.owner, &machine.name).expect("it is in the list");
            (&*machine.owner, Some(&*machine.name), machines.has_lost_to_others(id))
        });
        let expulsion = |(owner, machine, lost): (&str, Option<&str>, bool)| Expulsion {
            owner: owner.to_owned(),
            machine: machine.map(ToOwned::to_owned),
            lost,
            suspended: false,
            reason: reason(owner, machine),
            at,
        };
        let suspended = machines.suspended().map(|owner| (owner, None, false));
        let suspended = suspended.map(|whom| Expulsion { suspended: true, ..expulsion(whom) });
        owners.chain(single).map(expulsion).chain(suspended).collect()
    }

    /// How far the unit's standing count has been confirmed.
    pub fn confirmed_degree(&self, unit: UnitId) -> Degree {
        match () {
            () if self.is(UnitMark::Independent, unit) => Degree::OtherOwner,
            () if self.is(UnitMark::TwoMachines, unit) => Degree::OtherMachine,
            () if self.is(UnitMark::Checked, unit) => Degree::SameMachine,
            () => Degree::Once,
        }
    }
}

//! Units about which counts disagree, and who was wrong once one of them is decided.

use queens::UnitId;

use super::{Standing, Vote};

impl Standing {
    /// The disputed unit's counts from machines that can be believed.
    pub fn votes(&self, unit: UnitId) -> impl Iterator<Item = &Vote> {
        let votes = self.sums.disputed.get(&unit).into_iter().flatten();
        votes.filter(|vote| !self.sums.machines.get(vote.origin.machine).is_quarantined())
    }

    /// Ends the dispute about a unit, if there was one, by its new standing count.
    pub(super) fn decide(&mut self, unit: UnitId, vote: &Vote) {
        let believed: Vec<Vote> =
            self.votes(unit).filter(|other| self.sums.machines.agree(other, vote)).copied().collect();
        let votes = self.sums.disputed.remove(&unit).unwrap_or_default();
        let another = believed.iter().find(|other| other.origin.machine != vote.origin.machine);
        if let Some(another) = another {
            self.confirm(unit, vote.origin.machine, another.origin.machine);
            let mut losers: Vec<_> = votes
                .iter()
                .filter(|other| self.loses(other, vote, &believed))
                .map(|v| v.origin.machine)
                .collect();
            losers.sort_unstable();
            losers.dedup();
            losers.into_iter().for_each(|loser| self.sums.machines.get_mut(loser).wrong += 1);
        } else if !believed.is_empty() {
            self.confirm(unit, vote.origin.machine, vote.origin.machine);
        }
    }

    /// Whether a vote was wrong, now that another and those who agree with it have decided. Nodes say nothing against
    /// a machine that is among these: one of them may have counted by another method, and its nodes are not compared.
    fn loses(&self, vote: &Vote, decisive: &Vote, believed: &[Vote]) -> bool {
        let machine = vote.origin.machine;
        let is_winner = machine == decisive.origin.machine
            || believed.iter().any(|other| other.origin.machine == machine);
        vote.count != decisive.count || (!self.sums.machines.agree(vote, decisive) && !is_winner)
    }
}

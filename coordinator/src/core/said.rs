//! Who has said what about a unit, and what each may still be asked: it decides who helps in a dispute, and to whom a unit is left.

use domain::{Owner, Variant};
use queens::UnitId;
use records::standing::{Identity, Machine, Machines, Vote};

use super::Core;
use super::task::ORBITS;

/// What is asked about a unit, in this order: a symmetric count in dispute is decided by both algorithms, so everybody may say
/// something by each.
const BY_BOTH: [Variant; 2] =
    [Variant { mirrored: true, other_kernel: true }, Variant { mirrored: true, other_kernel: false }];

/// The counts of a unit from machines that can be believed: the one that stands, or those that disagree.
pub(super) struct Said<'a> {
    votes: Vec<Vote>,
    machines: &'a Machines,
    /// Whether each may say something by both algorithms.
    is_by_both: bool,
}

impl Core {
    /// What was said about the unit.
    pub(super) fn said(&self, unit: UnitId) -> Said<'_> {
        let standing = self.standing.vote(unit);
        Said {
            votes: standing.into_iter().chain(self.standing.votes(unit).copied()).collect(),
            machines: &self.standing.sums().machines,
            is_by_both: self.is_disputed(unit) && self.is_symmetric_count(unit),
        }
    }
}

impl Said<'_> {
    /// The owners who have said something, each as often as they have.
    pub fn owners(&self) -> impl Iterator<Item = &str> {
        self.votes.iter().map(|vote| &*self.machines.get(vote.origin.machine).owner)
    }

    /// The first thing that nobody of that owner has said yet, if there is one.
    pub fn left_to_owner(&self, owner: &Owner) -> Option<Variant> {
        self.left_to(|voter| voter.owner == owner.name())
    }

    /// The first thing that the machine has not said yet, if there is one.
    pub fn left_to_machine(&self, machine: &Identity) -> Option<Variant> {
        self.left_to(|voter| machine.is(voter))
    }

    fn left_to(&self, is_one_of_these: impl Fn(&Machine) -> bool) -> Option<Variant> {
        let is_theirs = |vote: &&Vote| is_one_of_these(self.machines.get(vote.origin.machine));
        let is_said =
            |asked: &Variant| self.votes.iter().filter(is_theirs).any(|vote| self.answers(vote, *asked));
        let asked = if self.is_by_both { &BY_BOTH[..] } else { &BY_BOTH[1..] };
        asked.iter().find(|asked| !is_said(asked)).copied()
    }

    fn answers(&self, vote: &Vote, asked: Variant) -> bool {
        !self.is_by_both || (self.machines.kernel(vote.origin.kernel) == ORBITS) == asked.other_kernel
    }

    /// What the machine has said by that kernel, mirrored or not.
    pub fn by(&self, machine: &Identity, kernel: &str, mirrored: bool) -> Option<&Vote> {
        let Identity { owner, machine } = machine;
        let origin = self.machines.find_origin(owner.name(), machine, kernel, mirrored)?;
        self.votes.iter().find(|vote| vote.origin == origin)
    }
}

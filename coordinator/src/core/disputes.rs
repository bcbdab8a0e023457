//! Owners who contradict many counts, and nobody has decided who is right.

use std::collections::HashMap;

use super::Core;

/// An owner who has begun more disputes than this that are undecided is lent no checks: each is kept in memory and in the
/// checkpoint until somebody decides it.
const MOST_UNDECIDED: usize = 1000;

impl Core {
    /// Notes who has begun too many disputes. The first vote is that of who contradicted the standing count.
    pub(super) fn note_disputes(&mut self) {
        let sums = self.standing.sums();
        let mut begun: HashMap<&str, usize> = HashMap::new();
        if sums.disputed.len() > MOST_UNDECIDED {
            let first_votes = sums.disputed.values().filter_map(|votes| votes.first());
            first_votes.for_each(|vote| {
                *begun.entry(&sums.machines.get(vote.origin.machine).owner).or_default() += 1
            });
        }
        let too_many = begun.into_iter().filter(|(_, disputes)| *disputes > MOST_UNDECIDED);
        self.quarrelsome = too_many.map(|(owner, _)| owner.to_owned()).collect();
    }
}

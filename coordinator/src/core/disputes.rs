//! Owners who contradict many counts, and nobody has decided who is right.

use std::collections::HashMap;
use std::time::Duration;

use domain::WorkerId;
use queens::UnitId;
use records::standing::Identity;

use super::Core;
use super::machines::ALONE;
use super::task::Borrower;

/// An owner who has begun more disputes than this that are undecided is lent no checks: each is kept in memory and in the
/// checkpoint until somebody decides it.
const MOST_UNDECIDED: usize = 1000;

/// Who has counted a disputed unit in vain is not asked again for so long.
const PAUSE: Duration = Duration::from_mins(1);

/// Workers whose last count of a disputed unit has decided nothing and is not kept, and until when they are not asked again.
pub(super) type InVain = HashMap<(UnitId, WorkerId), Duration>;

impl Core {
    /// The worker has said of a disputed unit what decides nothing, and its machine or its owner too many such things before. What
    /// agrees with another count may decide as soon as the others have left.
    pub(super) fn note_in_vain(&mut self, now: Duration, unit: UnitId, worker: WorkerId, agrees: bool) {
        self.in_vain.insert((unit, worker), now.saturating_add(if agrees { ALONE } else { PAUSE }));
    }

    /// Whether that was so lately of any unit that is in dispute.
    pub(super) fn is_counted_in_vain(&self) -> bool {
        self.in_vain.keys().any(|(unit, _)| self.is_disputed(*unit))
    }

    /// Whether that was so lately.
    pub(super) fn was_in_vain(&self, borrower: &Borrower, unit: UnitId) -> bool {
        self.in_vain.contains_key(&(unit, borrower.worker))
    }

    /// Whether what the machine says decides anything where nobody else is there: it has not contradicted itself too often.
    pub(super) fn may_decide_alone(&self, identity: &Identity) -> bool {
        let machines = &self.standing.sums().machines;
        identity.number(machines).is_none_or(|number| machines.get(number).may_decide_alone())
    }

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

//! The probabilities with which counts were sampled, and the resulting bound for unchecked counts.

use serde::{Deserialize, Serialize};

use crate::bound::wrong_at_most;
use crate::double_check::DoubleCheck;
use crate::ledger::Recount;

/// The sampling shares in force when counts were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Draws {
    /// Counts that could not be drawn: the policy was to check none.
    undrawn: u64,
    /// The lowest and the highest share of all other counts; none without such counts.
    shares: Option<(DoubleCheck, DoubleCheck)>,
}

impl Draws {
    /// Adds a standing count under this policy. It is checked for its own reason, was sampled, or was not sampled.
    pub(super) fn stood(&mut self, policy: DoubleCheck, recount: Option<Recount>) {
        match (recount, policy) {
            (None, DoubleCheck::None) => self.undrawn += 1,
            (None | Some(Recount::Sample), DoubleCheck::Share(_)) => {
                let (lowest, highest) = self.shares.get_or_insert((policy, policy));
                *lowest = if policy.strength() < lowest.strength() { policy } else { *lowest };
                *highest = if policy.strength() > highest.strength() { policy } else { *highest };
            }
            _ => {}
        }
    }

    /// The upper bound of the share of wrong counts among all `done` standing counts, from the numbers of checked
    /// samples and wrong samples. None if it is unknown.
    ///
    /// If counts were recorded under several shares, the checks count as if all had been recorded under the lowest
    /// share. Counts that could not be sampled may all be wrong.
    pub fn wrong_at_most(&self, done: u64, checks: u64, wrong: u64) -> Option<f64> {
        let (lowest, highest) = self.shares?;
        // Shares are not exact in binary: a number of checks that is whole up to rounding counts as whole.
        let as_under_the_lowest = checks as f64 * lowest.strength() / highest.strength() + 1e-6;
        let bound = wrong_at_most(as_under_the_lowest as u64, wrong)?;
        let undrawn = self.undrawn.min(done) as f64 / done.max(1) as f64;
        Some(undrawn + bound * (1.0 - undrawn))
    }

    /// Whether the shares are such.
    pub(super) fn fits(&self) -> bool {
        let is_share = |policy| matches!(policy, DoubleCheck::Share(_));
        self.shares.is_none_or(|(lowest, highest)| is_share(lowest) && is_share(highest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(stood: &[(u64, DoubleCheck, Option<Recount>)]) -> Draws {
        let mut draws = Draws::default();
        for (counts, policy, recount) in stood {
            (0..*counts).for_each(|_| draws.stood(*policy, *recount));
        }
        draws
    }

    #[test]
    fn error_bound_covers_counts_of_every_policy() {
        let [low, high] = [DoubleCheck::Share(0.01), DoubleCheck::Share(0.1)];
        let sample = Some(Recount::Sample);
        let of_one_share = after(&[(990, low, None), (10, low, sample)]).wrong_at_most(1000, 10, 0).unwrap();
        assert_eq!(Some(of_one_share), wrong_at_most(10, 0));

        // About 10 of 1,000 counts were sampled under the low share, and 100 of 1,000 under the high share.
        let raised = after(&[(990, low, None), (10, low, sample), (900, high, None), (100, high, sample)]);
        assert_eq!(raised.wrong_at_most(2000, 110, 0), wrong_at_most(11, 0));
        assert!(raised.wrong_at_most(2000, 110, 1).unwrap() > raised.wrong_at_most(2000, 110, 0).unwrap());

        // A quarter could not be drawn.
        let begun_without = after(&[(500, DoubleCheck::None, None), (1485, low, None), (15, low, sample)]);
        let bound = begun_without.wrong_at_most(2000, 15, 0).unwrap();
        assert!((bound - (0.25 + 0.75 * wrong_at_most(15, 0).unwrap())).abs() < 1e-12, "{bound}");

        // Counts that are checked for another reason were not random, and these policies sample nothing.
        let [all, none] = [DoubleCheck::All, DoubleCheck::None];
        let other = [
            (10, all, Some(Recount::All)),
            (10, none, Some(Recount::Symmetric)),
            (5, high, Some(Recount::Trial)),
        ];
        assert_eq!(after(&other), Draws::default());
        assert_eq!(after(&other).wrong_at_most(25, 0, 0), None);
        assert_eq!(after(&[(10, none, None)]).wrong_at_most(10, 0, 0), None);
    }
}

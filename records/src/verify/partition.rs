//! Random solutions of the board, each looked up in the plan: it must count each of them once.

use queens::plan::{NoPartition, Partition};
use queens::symmetric::Turn;
use queens::{Plan, Solution};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Up to this board all solutions are looked up, one of each orbit: at most 1,787.
const LARGEST_WHOLE: u8 = 12;

/// Random solutions, and random solutions that a turn fixes: few others belong to units of symmetric counts.
const DRAWS: [(Option<Turn>, u64); 3] = [(None, 800), (Some(Turn::Half), 150), (Some(Turn::Quarter), 50)];

/// The solutions that the plan counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionSample {
    /// Solutions that were looked up, each with all its images.
    pub solutions: u64,
    /// How many of them a turn fixes.
    pub symmetric: u64,
    /// Whether they are all solutions of the board, one of each orbit.
    pub is_whole: bool,
}

impl PartitionSample {
    /// Looks up solutions in the plan. The sample follows from the seed.
    ///
    /// # Errors
    /// The plan counts a solution twice, or not at all.
    pub fn check(plan: &Plan, seed: u64) -> Result<Self, NoPartition> {
        let (board, partition) = (plan.board(), Partition::new(plan));
        let is_whole = board.n() <= LARGEST_WHOLE;
        let solutions = if is_whole { Solution::of_orbits(board) } else { random_solutions(plan, seed) };
        let mut sample = Self { is_whole, ..Self::default() };
        for solution in solutions {
            partition.expect_once(&solution)?;
            sample.solutions += 1;
            sample.symmetric += u64::from(solution.is_fixed_by(Turn::Half));
        }
        Ok(sample)
    }

    /// The result in words.
    pub fn words(&self) -> String {
        let Self { solutions, symmetric, is_whole } = self;
        let which = if *is_whole {
            format!("all {solutions} solutions up to symmetry")
        } else {
            format!("{solutions} random solutions, {symmetric} of them symmetric,")
        };
        format!("{which} are each counted once by the units of the plan")
    }
}

fn random_solutions(plan: &Plan, seed: u64) -> Vec<Solution> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut found = Vec::new();
    for (turn, draws) in DRAWS {
        let drawn = (0..draws).map_while(|_| Solution::random(plan.board(), turn, &mut || random.random()));
        found.extend(drawn);
    }
    found
}

#[cfg(test)]
mod tests {
    use queens::{Board, PlanSpec};

    use super::*;

    #[test]
    fn small_boards_are_whole_and_others_sampled() {
        let check = |n, seed| {
            let plan = Plan::derive(PlanSpec::families(Board::new(n).unwrap())).unwrap();
            PartitionSample::check(&plan, seed).unwrap()
        };
        assert_eq!(check(12, 1), PartitionSample { solutions: 1787, symmetric: 22, is_whole: true });
        assert_eq!(check(3, 1), PartitionSample { is_whole: true, ..PartitionSample::default() });
        for n in [16, 18] {
            let sample = check(n, 7);
            // No quarter turn fixes a solution of n = 18.
            assert_eq!(sample.solutions, if n == 16 { 1000 } else { 950 }, "n={n}");
            assert!(!sample.is_whole && sample.symmetric >= sample.solutions - 800, "n={n}");
        }
    }
}

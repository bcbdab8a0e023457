//! The known board that a kernel counts before its machine takes part in a run.

use thiserror::Error;

use crate::kernel::{Kernel, KernelName, Stop};
use crate::known;
use crate::{Board, Plan, PlanSpec, Tally, TallyError, UnitId};

/// The size of the board: solutions of all classes, and a matter of milliseconds.
const N: u8 = 12;

/// A kernel that counts a known board wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the kernel {kernel} {fault} on this machine: it cannot be relied on")]
pub struct SelfTestError {
    /// The kernel.
    pub kernel: KernelName,
    /// What is wrong with its counts.
    pub fault: SelfTestFault,
}

/// What is wrong with the counts of a known board.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelfTestFault {
    /// They add up to another total.
    #[error("finds {found} solutions of n = {N}, where there are {expected}", expected = expected())]
    Wrong {
        /// The total.
        found: u128,
    },
    /// They do not add up at all.
    #[error("finds numbers for n = {N} that cannot be right ({0}), where there are {expected} solutions", expected = expected())]
    Contradictory(#[from] TallyError),
    /// There are none, though nobody stopped the kernel.
    #[error("gives up on n = {N}")]
    Missing,
}

/// The solutions of the known board.
pub fn expected() -> u64 {
    let known = known::totals(known_board());
    known.and_then(|totals| u64::try_from(totals.solutions()).ok()).unwrap_or_default()
}

/// Counts the whole plan of the known board that suits the kernel; gives the solutions if they are right.
///
/// # Errors
/// If the kernel gives other solutions, or none.
pub fn run(kernel: &dyn Kernel) -> Result<u64, SelfTestError> {
    let faulty = |fault| SelfTestError { kernel: kernel.name(), fault };
    let found = solutions(kernel).map_err(faulty)?;
    if found == u128::from(expected()) { Ok(expected()) } else { Err(faulty(SelfTestFault::Wrong { found })) }
}

fn known_board() -> Board {
    Board::new(N).expect("12 is a board size")
}

fn solutions(kernel: &dyn Kernel) -> Result<u128, SelfTestFault> {
    let spec = PlanSpec::for_kernel(known_board(), kernel.name().method);
    let plan = Plan::derive(spec).expect("the default plan of a board is one");
    let mut tally = Tally::new(plan.symmetric_members());
    for unit in (0..plan.units()).map(|id| plan.unit(UnitId(id))) {
        let count = unit.count(kernel, &Stop::new()).ok_or(SelfTestFault::Missing)?;
        tally.add(unit.summand, count.completions)?;
    }
    Ok(tally.totals()?.solutions())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Count, Isa, Method, kernel};
    use crate::position::Position;
    use std::sync::Arc;

    #[test]
    fn every_kernel_of_this_machine_passes() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            for method in Method::ALL {
                assert_eq!(run(&*kernel(method, Some(isa)).unwrap()), Ok(14_200), "{method}/{isa}");
            }
        }
    }

    /// Miscounts positions with a queen in a certain square, or gives nothing for them.
    struct Faulty {
        kernel: Arc<dyn Kernel>,
        surplus: Option<u64>,
    }

    impl Kernel for Faulty {
        fn name(&self) -> KernelName {
            self.kernel.name()
        }

        fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
            let count = self.kernel.count(position, stop)?;
            if position.queens().iter().all(|queen| (queen.row, queen.col) != (0, 2)) {
                return Some(count);
            }
            Some(Count { completions: count.completions + self.surplus?, ..count })
        }
    }

    #[test]
    fn a_kernel_that_miscounts_or_gives_up_fails_in_a_sentence() {
        let message = |surplus| {
            let kernel = kernel(Method::Search, None).unwrap();
            run(&Faulty { kernel, surplus }).unwrap_err().to_string()
        };
        for surplus in [Some(1), Some(8), Some(u64::MAX >> 20)] {
            let message = message(surplus);
            assert!(message.contains("n = 12") && message.contains("14200"), "{message}");
        }
        assert!(message(None).contains("gives up on n = 12"), "{}", message(None));
    }
}

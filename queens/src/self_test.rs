//! The known board that a kernel counts before its machine takes part in a run.

use thiserror::Error;

use crate::kernel::{Kernel, KernelName, Stop};
use crate::known;
use crate::{Board, Plan, PlanSpec, Tally, UnitId};

/// The size of the board: solutions of all classes, and a matter of milliseconds.
const N: u8 = 12;

/// A kernel that counts a known board wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the kernel {kernel} finds {found} solutions of n = {N} on this machine, where there are {expected}: it cannot be relied on"
)]
pub struct SelfTestError {
    /// The kernel.
    pub kernel: KernelName,
    /// What it found.
    pub found: String,
    /// What it should have found.
    pub expected: u64,
}

/// The solutions of the known board.
pub fn expected() -> u64 {
    let known = known::totals(Board::new(N).expect("12 is a board size"));
    known.and_then(|totals| u64::try_from(totals.solutions()).ok()).unwrap_or_default()
}

/// Counts the whole plan of the known board that suits the kernel; gives the solutions if they are right.
pub fn run(kernel: &dyn Kernel) -> Result<u64, SelfTestError> {
    let found = solutions(kernel);
    if found == Ok(u128::from(expected())) {
        return Ok(expected());
    }
    let found = found.map_or_else(|what| what, |solutions| solutions.to_string());
    Err(SelfTestError { kernel: kernel.name(), found, expected: expected() })
}

fn solutions(kernel: &dyn Kernel) -> Result<u128, String> {
    let board = Board::new(N).expect("12 is a board size");
    let spec = PlanSpec::for_kernel(board, kernel.name().method);
    let plan = Plan::derive(spec).map_err(|error| error.to_string())?;
    let mut tally = Tally::new(plan.symmetric_members());
    for unit in (0..plan.units()).map(|id| plan.unit(UnitId(id))) {
        let count = unit.count(kernel, &Stop::new()).ok_or("no count")?;
        tally.add(unit.summand, count.completions).map_err(|error| error.to_string())?;
    }
    Ok(tally.totals().map_err(|_| "contradictory numbers of")?.solutions())
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

    /// Miscounts positions with a queen in a certain square.
    struct Faulty(Arc<dyn Kernel>);

    impl Kernel for Faulty {
        fn name(&self) -> KernelName {
            self.0.name()
        }

        fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
            let count = self.0.count(position, stop)?;
            let wrong = u64::from(position.queens().iter().any(|queen| (queen.row, queen.col) == (0, 2)));
            Some(Count { completions: count.completions + wrong, ..count })
        }
    }

    #[test]
    fn a_kernel_that_miscounts_fails_in_a_sentence() {
        let error = run(&Faulty(kernel(Method::Search, None).unwrap())).unwrap_err().to_string();
        assert!(error.contains("n = 12") && error.contains("14200"), "{error}");
    }
}

//! What a kernel counts before its machine takes part in a run: a known board, and where its run is of a board whose halves are
//! many, a position of which they are, too. Small boards leave out what large ones spend nearly all of their time in.

use thiserror::Error;

use crate::kernel::{Kernel, KernelName, Method, Stop};
use crate::known;
use crate::position::Position;
use crate::{Board, Plan, PlanSpec, Tally, TallyError, UnitId};

/// The size of the board: solutions of all classes, and a matter of milliseconds.
const N: u8 = 12;

/// From this size on it matters that a kernel of halves that meet is right where they are many; smaller boards do without
/// the time that it takes.
const LEAST_WITH_MANY: u8 = 18;

/// The size of the position with many halves: the least that goes through all parts of the kernel.
const MANY_N: u8 = 23;

/// The completions of that position, as the search counts them.
const MANY_COMPLETIONS: u64 = 101_975;

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
    /// Those of the position with many halves are others.
    #[error("finds {found} completions of a position of n = {MANY_N}, where there are {MANY_COMPLETIONS}")]
    WrongOfMany {
        /// How many it finds.
        found: u64,
    },
    /// There are none, though nobody stopped the kernel.
    #[error("gives up on n = {0}")]
    Missing(u8),
}

/// The solutions of the known board.
pub fn expected() -> u64 {
    let known = known::totals(known_board());
    known.and_then(|totals| u64::try_from(totals.solutions()).ok()).unwrap_or_default()
}

/// Counts the whole plan of the known board that suits the kernel, and what else its part in a run of that board is to be
/// trusted for; gives the solutions of the known board if all is right.
///
/// # Errors
/// If the kernel finds something else, or nothing.
pub fn run(kernel: &dyn Kernel, board: Board) -> Result<u64, SelfTestError> {
    let faulty = |fault| SelfTestError { kernel: kernel.name(), fault };
    let found = solutions(kernel).map_err(faulty)?;
    if found != u128::from(expected()) {
        return Err(faulty(SelfTestFault::Wrong { found }));
    }
    if kernel.name().method == Method::Meet && board.n() >= LEAST_WITH_MANY {
        let count = kernel.count(&with_many_halves(), &Stop::new());
        let found = count.ok_or_else(|| faulty(SelfTestFault::Missing(MANY_N)))?.completions;
        if found != MANY_COMPLETIONS {
            return Err(faulty(SelfTestFault::WrongOfMany { found }));
        }
    }
    Ok(expected())
}

/// A position of few sets of rows that have many halves each. Every row is open in one half of the board only, and there on some
/// squares: that leaves so few sets that all is counted in a few hundredths of a second.
fn with_many_halves() -> Position {
    let board = Board::new(MANY_N).expect("23 is a board size");
    let left = (1 << (MANY_N / 2)) - 1;
    board.lines().fold(Position::empty(board), |position, row| {
        let half = if row % 4 % 3 == 0 { left } else { board.full() & !left };
        let some = 0xEDED_B7B7_u32.rotate_left(9 * u32::from(row));
        position.with_row_within(row, half & some)
    })
}

fn known_board() -> Board {
    Board::new(N).expect("12 is a board size")
}

fn solutions(kernel: &dyn Kernel) -> Result<u128, SelfTestFault> {
    let spec = PlanSpec::for_kernel(known_board(), kernel.name().method);
    let plan = Plan::derive(spec).expect("the default plan of a board is one");
    let mut tally = Tally::new(plan.symmetric_members());
    for unit in (0..plan.units()).map(|id| plan.unit(UnitId(id))) {
        let count = unit.count(kernel, &Stop::new()).ok_or(SelfTestFault::Missing(N))?;
        tally.add(unit.summand, count.completions)?;
    }
    Ok(tally.totals()?.solutions())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::meet::Reached;
    use crate::kernel::{Count, Isa, kernel};
    use std::sync::Arc;

    #[test]
    fn every_kernel_of_this_machine_passes() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            for method in Method::ALL {
                let kernel = kernel(method, Some(isa)).unwrap();
                assert_eq!(run(&*kernel, Board::LARGEST), Ok(14_200), "{method}/{isa}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn the_completions_with_many_halves_are_those_that_the_search_counts() {
        let search = kernel(Method::Search, None).unwrap();
        let count = search.count(&with_many_halves(), &Stop::new()).unwrap();
        assert_eq!(count.completions, MANY_COMPLETIONS);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn halves_that_meet_are_tried_in_all_their_parts_where_boards_are_large() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let kernel = kernel(Method::Meet, Some(isa)).unwrap();
            let reached = |n| {
                Reached::forget();
                run(&*kernel, Board::new(n).unwrap()).unwrap();
                Reached::all()
            };
            assert_eq!(reached(28), Reached::ALL.to_vec(), "{isa}");
            assert_eq!(reached(18), Reached::ALL.to_vec(), "{isa}");
            assert_eq!(reached(17), [Reached::Comparison], "{isa}");
        }
    }

    /// Miscounts boards of that size with a queen in a certain square or with none, or gives nothing for them.
    struct Faulty {
        kernel: Arc<dyn Kernel>,
        n: u8,
        surplus: Option<u64>,
    }

    impl Kernel for Faulty {
        fn name(&self) -> KernelName {
            self.kernel.name()
        }

        fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
            let count = self.kernel.count(position, stop)?;
            let queens = position.queens();
            let is_hit = queens.is_empty() || queens.iter().any(|queen| (queen.row, queen.col) == (0, 2));
            if position.board().n() != self.n || !is_hit {
                return Some(count);
            }
            Some(Count { completions: count.completions + self.surplus?, ..count })
        }
    }

    #[test]
    fn a_kernel_that_miscounts_or_gives_up_fails_in_a_sentence() {
        let message = |n, surplus| {
            let kernel = kernel(Method::Meet, None).unwrap();
            run(&Faulty { kernel, n, surplus }, Board::LARGEST).unwrap_err().to_string()
        };
        for surplus in [Some(1), Some(8), Some(u64::MAX >> 20)] {
            let small = message(N, surplus);
            assert!(small.contains("n = 12") && small.contains("14200"), "{small}");
            let large = message(MANY_N, surplus);
            assert!(large.contains("n = 23") && large.contains("101975"), "{large}");
        }
        for n in [N, MANY_N] {
            let message = message(n, None);
            assert!(message.contains(&format!("gives up on n = {n}")), "{message}");
        }
    }
}

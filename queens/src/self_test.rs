//! The self-test of a kernel before its machine joins a run: it counts a known board. For a run of a large
//! board it also counts a position that uses all parts of the kernel, because small boards leave out the
//! parts in which large boards spend nearly all of their time.

use thiserror::Error;

use crate::kernel::{Count, Isa, Kernel, KernelName, Method, Stop};
use crate::known;
use crate::position::Position;
use crate::{Board, Plan, PlanSpec, Tally, TallyError, UnitId};

/// The size of the board: solutions of all classes, and a matter of milliseconds.
const N: u8 = 12;

/// From this size on it matters that a kernel is right in all its parts; smaller boards do without the time that this takes.
const LEAST_OF_LARGE: u8 = 18;

/// The size of the position with many halves: the least that goes through all parts of a kernel of halves that meet.
const MANY_N: u8 = 23;

/// The count of that position; the completions as found by the search.
const WITH_MANY: Count = Count { completions: 101_975, nodes: 184_928 };

/// The size of the board for the search on a device: the smallest for which the device makes states itself
/// and continues from them in more than one launch.
const SEARCHED_N: u8 = 13;

/// The count of that board: the published solutions, and the nodes of processors.
const SEARCHED: Count = Count { completions: 73_712, nodes: 1_543_966 };

/// A kernel that counts a known board wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the kernel {kernel} {fault} on this machine: {}", advice(*kernel))]
pub struct SelfTestError {
    /// The kernel.
    pub kernel: KernelName,
    /// The fault of its counts.
    pub fault: SelfTestFault,
}

fn advice(kernel: KernelName) -> &'static str {
    if kernel.is_external() { "correct the program" } else { "test its memory, or try --isa portable" }
}

/// A fault in the counts of a known board.
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
    /// The position that uses all parts has other counts.
    #[error(
        "finds {} completions and {} nodes of a position of n = {n}, where there are {} and {}",
        found.completions, found.nodes, expected.completions, expected.nodes
    )]
    WrongOfLarge {
        /// The size of its board.
        n: u8,
        /// The count found.
        found: Count,
        /// The right count.
        expected: Count,
    },
    /// The kernel returned no count although nobody stopped it.
    #[error("gives up on n = {0}")]
    Missing(u8),
}

/// The solutions of the known board.
pub fn expected() -> u64 {
    let known = known::totals(known_board());
    known.and_then(|totals| u64::try_from(totals.solutions()).ok()).unwrap_or_default()
}

/// Counts the whole plan of the known board that suits the kernel, and the position that a run of `board`
/// requires. Returns the solutions of the known board if all counts are right.
///
/// # Errors
/// If the kernel finds something else, or nothing.
pub fn run(kernel: &dyn Kernel, board: Board) -> Result<u64, SelfTestError> {
    let faulty = |fault| SelfTestError { kernel: kernel.name(), fault };
    let found = solutions(kernel).map_err(faulty)?;
    if found != u128::from(expected()) {
        return Err(faulty(SelfTestFault::Wrong { found }));
    }
    if board.n() >= LEAST_OF_LARGE
        && let Some((position, expected)) = all_parts(kernel.name())
    {
        let n = position.board().n();
        let found = kernel.count(&position, &Stop::new()).ok_or_else(|| faulty(SelfTestFault::Missing(n)))?;
        if found != expected {
            return Err(faulty(SelfTestFault::WrongOfLarge { n, found, expected }));
        }
    }
    Ok(expected())
}

/// A position that uses all parts of the kernel, and its count. `None` for the search on a processor, which
/// treats small boards like large ones.
fn all_parts(kernel: KernelName) -> Option<(Position, Count)> {
    match (kernel.method, kernel.isa) {
        (Method::Meet, _) => Some((with_many_halves(), WITH_MANY)),
        (Method::Search, Isa::OpenCl) => Some((searched_board(), SEARCHED)),
        (Method::Search, _) => None,
    }
}

fn searched_board() -> Position {
    Position::empty(Board::new(SEARCHED_N).expect("13 is a board size"))
}

/// A position of few sets of rows that have many halves each. Every row is open in one half of the board
/// only, and there on some squares. So there are few sets, and the whole count takes a few hundredths of a
/// second.
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
    let mut tally = Tally::new(&plan);
    for unit in (0..plan.units()).map(|id| plan.unit(UnitId(id))) {
        let count = unit.count(kernel, &Stop::new()).ok_or(SelfTestFault::Missing(N))?;
        tally.add(&plan, unit.id, count.completions)?;
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
    fn self_test_expectations_match_both_kernels() {
        let [meet, search] =
            [Method::Meet, Method::Search].map(|method| kernel(method, Some(Isa::Portable)).unwrap());
        let count = |kernel: &dyn Kernel, position| kernel.count(&position, &Stop::new()).unwrap();
        assert_eq!(count(&*search, with_many_halves()).completions, WITH_MANY.completions);
        assert_eq!(count(&*meet, with_many_halves()), WITH_MANY);
        assert_eq!(count(&*search, searched_board()), SEARCHED);
        let published = known::totals(searched_board().board()).unwrap().solutions();
        assert_eq!(published, SEARCHED.completions.into());
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn self_test_of_large_board_covers_all_meet_parts() {
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

    /// A kernel that miscounts boards of one size if they have a queen in a certain square or none. It
    /// returns another number, or nothing.
    struct Faulty {
        kernel: Arc<dyn Kernel>,
        isa: Isa,
        n: u8,
        surplus: Option<Count>,
    }

    impl Kernel for Faulty {
        fn name(&self) -> KernelName {
            KernelName { isa: self.isa, ..self.kernel.name() }
        }

        fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
            let count = self.kernel.count(position, stop)?;
            let queens = position.queens();
            let is_hit = queens.is_empty() || queens.iter().any(|queen| (queen.row, queen.col) == (0, 2));
            if position.board().n() == self.n && is_hit {
                Some(count.plus(self.surplus?))
            } else {
                Some(count)
            }
        }
    }

    #[test]
    fn self_test_reports_miscounts_and_missing_counts() {
        let tested = |(method, isa, n), surplus| {
            let kernel = kernel(method, None).unwrap();
            let isa: Option<Isa> = isa;
            let isa = isa.unwrap_or(kernel.name().isa);
            run(&Faulty { kernel, isa, n, surplus }, Board::LARGEST).map_err(|error| error.to_string())
        };
        let message = |of, surplus| tested(of, surplus).unwrap_err();
        let [small, large] = [N, MANY_N].map(|n| (Method::Meet, None, n));
        let searched = |isa| (Method::Search, isa, SEARCHED_N);
        let on_device = searched(Some(Isa::OpenCl));
        for completions in [1, 8, u64::MAX >> 20] {
            let surplus = Some(Count { completions, nodes: 0 });
            let said = message(small, surplus);
            assert!(said.contains("n = 12") && said.contains("14200"), "{said}");
            let said = message(large, surplus);
            assert!(said.contains("n = 23") && said.contains("101975"), "{said}");
            let said = message(on_device, surplus);
            assert!(said.contains("n = 13") && said.contains("73712"), "{said}");
            assert_eq!(tested(searched(None), surplus), Ok(14_200), "a processor's search is spared this");
        }
        for of in [large, on_device] {
            let said = message(of, Some(Count { completions: 0, nodes: 1 }));
            assert!(said.contains("nodes of a position"), "{said}");
        }
        for of in [small, large, on_device] {
            let said = message(of, None);
            assert!(said.contains(&format!("gives up on n = {}", of.2)), "{said}");
        }
    }
}

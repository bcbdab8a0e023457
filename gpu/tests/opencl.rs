//! The kernels on every device that OpenCL has here: where there is none this says so and tests nothing, unless
//! `DIADEM_OPENCL=1` demands one (`.ci/run` installs PoCL, which runs them on the processor).

use gpu::{Device, GpuError, GpuSearch, devices};
use proptest::prelude::*;
use queens::kernel::{Count, Kernel, Method, Search, Stop, kernel};
use queens::{Board, Plan, PlanSpec, Position, Square, UnitId, known};

/// The kernel on each device.
fn searches() -> Vec<GpuSearch> {
    let found = devices();
    if let Err(error @ (GpuError::NoOpenCl | GpuError::NoDevices)) = &found {
        assert!(std::env::var_os("DIADEM_OPENCL").is_none(), "{error}");
        println!("nothing is tested: {error}");
        return Vec::new();
    }
    let usable = found.unwrap().into_iter().filter(|device: &Device| device.description().unusable.is_none());
    usable.map(|device| GpuSearch::new(device).unwrap()).collect()
}

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

/// What the processor's search finds.
fn expected(position: &Position) -> Count {
    kernel(Method::Search, None).unwrap().count(position, &Stop::new()).unwrap()
}

fn found(search: &GpuSearch, position: &Position) -> Count {
    let count = search.count(position, &Stop::new());
    count.unwrap_or_else(|| panic!("{:?}", search.failure()))
}

#[test]
fn empty_boards_have_the_published_number_of_solutions() {
    for search in searches() {
        for n in 1..=13 {
            let solutions = known::totals(board(n)).unwrap().solutions();
            let count = found(&search, &Position::empty(board(n)));
            assert_eq!(u128::from(count.completions), solutions, "n = {n} on {}", search.device().title());
            assert_eq!(count, expected(&Position::empty(board(n))), "n = {n}");
        }
    }
}

#[test]
fn units_of_either_scheme_have_the_counts_and_nodes_of_the_processor() {
    for search in searches() {
        for n in 8..=20u8 {
            for spec in [PlanSpec::new(board(n)), PlanSpec::families(board(n))] {
                let plan = Plan::derive(spec).unwrap();
                // A few, far apart; of large boards those of the row-by-row search only, with a few queens more.
                if n > 16 && spec != PlanSpec::new(board(n)) {
                    continue;
                }
                let apart = (plan.units() / 3).max(1);
                for id in (0..3).map(|k| (k * apart + u64::from(n)) % plan.units()) {
                    let unit = plan.unit(UnitId(id));
                    if unit.summand.is_symmetric_count() {
                        continue;
                    }
                    let position = if n > 17 { crowded(unit.position, 15) } else { unit.position };
                    assert_eq!(found(&search, &position), expected(&position), "n = {n}, unit {id}");
                }
            }
        }
    }
}

/// With queens in the first rows, until so many are left.
fn crowded(mut position: Position, free: usize) -> Position {
    let board = position.board();
    for row in board.lines() {
        if usize::from(board.n()) - position.queens().len() <= free {
            break;
        }
        let fits = |queen: &Square| {
            let placed = position.clone().with_queen(*queen);
            position.queens().iter().all(|other| other.row != row) && placed.is_consistent()
        };
        let queen = board.lines().map(|col| Square::new(row, col)).filter(fits).nth(usize::from(row) % 2);
        if let Some(queen) = queen {
            position = position.with_queen(queen);
        }
    }
    position
}

#[test]
fn several_counts_at_a_time_do_not_disturb_each_other() {
    for search in searches() {
        let plan = Plan::derive(PlanSpec::new(board(14))).unwrap();
        std::thread::scope(|scope| {
            for begin in 0..4 {
                let (search, plan) = (&search, &plan);
                scope.spawn(move || {
                    for id in (begin..plan.units()).step_by(plan.units() as usize / 3) {
                        let position = plan.unit(UnitId(id)).position;
                        assert_eq!(found(search, &position), expected(&position), "unit {id}");
                    }
                });
            }
        });
    }
}

#[test]
fn a_search_that_is_stopped_yields_nothing_and_the_next_one_does() {
    for search in searches() {
        let stop = Stop::new();
        stop.stop();
        assert_eq!(search.count(&Position::empty(board(20)), &stop), None);
        let stop = Stop::new();
        let begun = std::time::Instant::now();
        std::thread::scope(|scope| {
            let counting = scope.spawn(|| search.count(&Position::empty(board(20)), &stop));
            std::thread::sleep(std::time::Duration::from_millis(700));
            stop.stop();
            assert_eq!(counting.join().unwrap(), None);
        });
        assert!(begun.elapsed().as_secs_f64() < 3.0, "{:?}", begun.elapsed());
        assert_eq!(search.failure(), None);
        assert_eq!(found(&search, &Position::empty(board(8))).completions, 92);
    }
}

/// Queens anywhere, most of which attack each other, or not, and some squares taken away.
fn positions() -> impl Strategy<Value = Position> {
    let placed = prop::collection::vec((0..16u8, 0..16u8), 0..20);
    let squares = prop::collection::vec((0..16u8, any::<u32>()), 0..3);
    (1..=16u8, placed, squares, any::<bool>()).prop_map(|(n, placed, squares, tame)| {
        let mut position = Position::empty(board(n));
        for (row, col) in placed {
            let queen = Square::new(row % n, col % n);
            if !tame || position.queens().iter().all(|other| !other.attacks(queen)) {
                position = position.with_queen(queen);
            }
        }
        squares.into_iter().fold(position, |p, (row, columns)| p.with_row_within(row % n, columns))
    })
}

#[test]
fn any_placed_queens_have_the_counts_and_nodes_of_the_processor() {
    for search in searches() {
        let portable = Search::new(queens::kernel::Isa::Portable).unwrap();
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(150));
        runner
            .run(&positions(), |position| {
                let free = usize::from(position.board().n()) - position.queens().len().min(16);
                prop_assume!(free <= 11 || !position.is_consistent());
                let processor = portable.count(&position, &Stop::new()).unwrap();
                prop_assert_eq!(found(&search, &position), processor);
                Ok(())
            })
            .unwrap();
    }
}

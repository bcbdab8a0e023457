//! The kernels on every OpenCL device of this machine. Without a device these tests are skipped with a
//! message, unless `DIADEM_TEST_TOOLS` requires a device (`.ci/run` installs PoCL, which runs the kernels on
//! the processor).

use gpu::{Device, DeviceKind, GpuError, GpuKernel, devices};
use proptest::prelude::*;
use queens::kernel::{Count, Kernel, Method, Stop, kernel};
use queens::{Board, BoundaryPairs, Plan, PlanSpec, Position, Square, UnitId, known};

fn usable_devices() -> Vec<Device> {
    let found = devices();
    if let Err(error @ (GpuError::NoOpenCl | GpuError::NoDevices)) = &found {
        assert!(std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "{error}");
        println!("nothing is tested: {error}");
        return Vec::new();
    }
    found.unwrap().into_iter().filter(|device| device.description().unusable.is_none()).collect()
}

/// The kernel of that method on each device.
fn kernels(method: Method) -> Vec<GpuKernel> {
    usable_devices().into_iter().map(|device| GpuKernel::new(device, method).unwrap()).collect()
}

/// The kernels of both methods on each device, and on processors those as they are on cards, too.
fn all_kernels() -> Vec<GpuKernel> {
    let kinds = |device: &Device| {
        let kinds = [DeviceKind::Card, DeviceKind::Processor];
        kinds.into_iter().take(if device.description().is_processor() { 2 } else { 1 })
    };
    let of = |device: Device| {
        kinds(&device)
            .flat_map(|kind| Method::ALL.map(|method| (kind, method)))
            .map(|(kind, method)| GpuKernel::as_kind(device.clone(), method, kind).unwrap())
            .collect::<Vec<_>>()
    };
    usable_devices().into_iter().flat_map(of).collect()
}

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

/// The count of the processor by that kernel's method.
fn expected(own: &GpuKernel, position: &Position) -> Count {
    kernel(own.name().method, None).unwrap().count(position, &Stop::new()).unwrap()
}

fn found(kernel: &GpuKernel, position: &Position) -> Count {
    let count = kernel.count(position, &Stop::new());
    count.unwrap_or_else(|| panic!("{:?}", kernel.failure()))
}

#[test]
fn empty_boards_have_the_published_solutions() {
    for kernel in all_kernels() {
        for n in 1..=13 {
            let position = Position::empty(board(n));
            let solutions = known::totals(board(n)).unwrap().solutions();
            let count = found(&kernel, &position);
            let name = kernel.name();
            assert_eq!(
                u128::from(count.completions),
                solutions,
                "n = {n}, {name} on {}",
                kernel.device().title()
            );
            assert_eq!(count, expected(&kernel, &position), "n = {n}, {name}");
        }
    }
}

/// Units of the plan, far apart, that are counted.
fn some_units(spec: PlanSpec, many: u64) -> Vec<Position> {
    let plan = Plan::derive(spec).unwrap();
    let apart = (plan.units() / many).max(1);
    let ids = (0..many).map(|k| UnitId((k * apart + u64::from(plan.board().n())) % plan.units()));
    let units = ids.map(|id| plan.unit(id)).filter(|unit| !unit.summand.is_symmetric_count());
    units.map(|unit| unit.position).collect()
}

#[test]
fn units_of_both_schemes_match_the_processor() {
    for kernel in all_kernels() {
        for n in 12..=20u8 {
            for spec in [PlanSpec::new(board(n)), PlanSpec::families(board(n))] {
                // Positions of large boards with a few more queens, so that the search is short.
                let searched = kernel.name().method == Method::Search;
                if searched && n > 16 && spec != PlanSpec::new(board(n)) {
                    continue;
                }
                for position in some_units(spec, 3) {
                    let position = if searched && n > 17 { crowded(position, 15) } else { position };
                    let expected = expected(&kernel, &position);
                    assert_eq!(found(&kernel, &position), expected, "{} {position:?}", kernel.name());
                }
            }
        }
    }
}

/// The position with queens in the first rows, until `free` rows are left.
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

/// A quarter of the squares, drawn by a linear congruence (Knuth's constants), and all of the columns beside the cut: half
/// boards that are few and cross many diagonals.
fn thinned(n: u8) -> Position {
    let mut state = u64::from(n);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let beside_the_cut = 0b1111 << (n / 2 - 2);
    let position = Position::empty(board(n)).with_queen(Square::new(0, 2));
    (1..n).fold(position, |position, row| position.with_row_within(row, next() & next() | beside_the_cut))
}

#[test]
fn meet_on_large_boards_matches_the_processor() {
    for kernel in kernels(Method::Meet) {
        for n in 20..=22 {
            let expected = expected(&kernel, &thinned(n));
            assert!(expected.completions > 0, "n = {n}");
            assert_eq!(found(&kernel, &thinned(n)), expected, "n = {n}");
        }
    }
}

#[test]
fn boundary_pairs_of_many_bits_match_the_processor() {
    // Every row of the left boundary goes with other rows of the right one.
    let mut pairs = BoundaryPairs::none();
    (0..20)
        .flat_map(|left| (left..20).map(move |right| (left, right)))
        .for_each(|(left, right)| pairs.allow(left, right));
    let queens = [Square::new(0, 2), Square::new(19, 17)];
    let placed =
        queens.into_iter().fold(Position::empty(board(20)), Position::with_queen).with_boundary(pairs);
    // Some of the rows in one half only: a small part.
    let sides = [0x3ff, 0x3ff << 10].into_iter().cycle();
    let position =
        (2..8).zip(sides).fold(placed, |position, (row, half)| position.with_row_within(row, half));
    for kernel in kernels(Method::Meet) {
        let expected = expected(&kernel, &position);
        assert!(expected.completions > 0);
        assert_eq!(found(&kernel, &position), expected);
    }
}

#[test]
fn second_kernel_of_a_device_fails_with_the_first() {
    for method in Method::ALL {
        for kernel in kernels(method) {
            let other = kernel.other().unwrap();
            assert_eq!(other.name(), kernel.name().other());
            let position = Position::empty(board(12));
            assert_eq!(other.count(&position, &Stop::new()).unwrap().completions, 14200);
            kernel.fail(GpuError::NoDevices);
            assert_eq!(other.count(&position, &Stop::new()), None);
        }
    }
}

#[test]
fn several_counts_at_a_time_do_not_disturb_each_other() {
    for kernel in all_kernels() {
        let plan = Plan::derive(PlanSpec::new(board(14))).unwrap();
        std::thread::scope(|scope| {
            for begin in 0..4 {
                let (kernel, plan) = (&kernel, &plan);
                scope.spawn(move || {
                    for id in (begin..plan.units()).step_by(plan.units() as usize / 3) {
                        let position = plan.unit(UnitId(id)).position;
                        assert_eq!(found(kernel, &position), expected(kernel, &position), "unit {id}");
                    }
                });
            }
        });
    }
}

#[test]
fn stopped_count_returns_none_and_next_count_works() {
    for method in Method::ALL {
        for kernel in kernels(method) {
            let stop = Stop::new();
            stop.stop();
            assert_eq!(kernel.count(&Position::empty(board(20)), &stop), None);
            for n in [20, 27] {
                let stop = Stop::new();
                let begun = std::time::Instant::now();
                std::thread::scope(|scope| {
                    let counting = scope.spawn(|| kernel.count(&Position::empty(board(n)), &stop));
                    std::thread::sleep(std::time::Duration::from_millis(700));
                    stop.stop();
                    assert_eq!(counting.join().unwrap(), None);
                });
                assert!(begun.elapsed().as_secs_f64() < 3.0, "{method}, n = {n}: {:?}", begun.elapsed());
            }
            assert_eq!(kernel.failure(), None);
            assert_eq!(found(&kernel, &Position::empty(board(8))).completions, 92);
        }
    }
}

/// Random positions: some have attacking queens, some have closed squares.
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
fn random_positions_match_the_processor() {
    for kernel in all_kernels() {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(100));
        runner
            .run(&positions(), |position| {
                let free = usize::from(position.board().n()).saturating_sub(position.queens().len());
                prop_assume!(free <= 11 || !position.is_consistent());
                prop_assert_eq!(found(&kernel, &position), expected(&kernel, &position));
                Ok(())
            })
            .unwrap();
    }
}

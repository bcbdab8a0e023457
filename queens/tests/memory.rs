//! The memory of a thread of the method meet while it counts whole units, and the memory of a plan.
//!
//! The system reports the peak memory of the process: with the plan, when one thread has counted, and when
//! two have.
#![cfg(target_os = "linux")]

use queens::kernel::meet::Thinning;
use queens::kernel::{Isa, Kernel, Meet, Stop};
use queens::{Board, Plan, PlanSpec, Position, UnitId};

/// The promised limits, in MiB.
const OF_THREAD: f64 = 64.0;
const OF_PLAN: f64 = 200.0;

/// The boards whose units are counted: the ones with the most halves for a thread, and the largest practical
/// board.
const BOARDS: [u8; 3] = [22, 24, 28];

/// The random units of each plan that are measured. Two light units of the smallest board are counted whole.
/// The lightest units are left out, because some have hardly any completions. Of the two heaviest units of each
/// board some passes are counted.
const LOOKED_AT: u64 = 400;
const LIGHT: std::ops::Range<usize> = 8..10;

/// The most memory that this process ever had, in MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Counts each light position whole and some passes of each heavy one on `threads` threads.
fn count(light: &[Position], heavy: &[Position], threads: usize) {
    let one = || {
        let meet = Meet::new(Isa::best()).unwrap();
        for position in light {
            assert!(meet.count(position, &Stop::new()).unwrap().nodes > 0);
        }
        for position in heavy {
            let thinning = Thinning::new(5000, 1 << 63);
            assert!(
                meet.project(position, thinning, &|| 0.0, &Stop::new(), &Stop::new()).unwrap().nodes > 0.0
            );
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(one))));
}

/// Positions of random units of a plan that are no symmetric counts, the lightest first.
fn positions(plan: &Plan) -> Vec<Position> {
    let random = |k: u64| {
        UnitId(((u128::from(k.wrapping_mul(0x9E37_79B9_7F4A_7C15)) * u128::from(plan.units())) >> 64) as u64)
    };
    let mut units: Vec<UnitId> = (1..=LOOKED_AT).map(random).collect();
    units.retain(|id| !plan.summand(*id).is_symmetric_count());
    units.sort_by_key(|id| plan.weight_alone(*id));
    units.iter().map(|id| plan.unit(*id).position).collect()
}

#[test]
fn threads_and_plans_have_the_memory_that_is_promised() {
    let before = peak();
    let plans = BOARDS.map(|n| Plan::derive(PlanSpec::families(Board::new(n).unwrap())).unwrap());
    let with_plans = peak();
    let positions = plans.each_ref().map(positions);
    let heavy: Vec<Position> =
        positions.iter().flat_map(|of_board| &of_board[of_board.len() - 2..]).cloned().collect();
    let after_plans = peak();
    count(&positions[0][LIGHT], &heavy, 1);
    let one = peak();
    count(&positions[0][LIGHT], &heavy, 2);
    let two = peak();
    println!(
        "the plans {:.1} MiB; one thread {:.1} MiB, another {:.1}",
        with_plans - before,
        one - after_plans,
        two - one
    );
    assert!(with_plans - before <= OF_PLAN);
    assert!(one - after_plans <= OF_THREAD && two - one <= OF_THREAD);
}

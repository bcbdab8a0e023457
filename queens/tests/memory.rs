//! What a thread of halves that meet takes of memory while it counts whole units, and what a plan takes.
//!
//! The system tells the most that the process ever had: with the plan, when one thread has counted, and when two have.
#![cfg(target_os = "linux")]

use queens::kernel::meet::Thinning;
use queens::kernel::{Isa, Kernel, Meet, Stop};
use queens::{Board, Plan, PlanSpec, Position, UnitId};

/// What is promised, in MiB.
const OF_THREAD: f64 = 64.0;
const OF_PLAN: f64 = 200.0;

/// So many random units of the plan are looked at. Two light ones are counted whole, but not the lightest, some of which have
/// next to no completions; of the heaviest two some passes.
const LOOKED_AT: u64 = 400;
const LIGHT: std::ops::Range<usize> = 8..10;

/// The most memory that this process ever had, in MiB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Counts each light position whole and some passes of each heavy one on so many threads.
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

/// The board of 22, or another in `DIADEM_MEMORY_OF`: for n = 28 that takes a quarter of an hour of one core.
#[test]
fn threads_and_plans_have_the_memory_that_is_promised() {
    let n = std::env::var("DIADEM_MEMORY_OF").ok().and_then(|text| text.parse().ok()).unwrap_or(22);
    let before = peak();
    let plan = Plan::derive(PlanSpec::families(Board::new(n).unwrap())).unwrap();
    let with_plan = peak();
    let random = |k: u64| {
        UnitId(((u128::from(k.wrapping_mul(0x9E37_79B9_7F4A_7C15)) * u128::from(plan.units())) >> 64) as u64)
    };
    let mut units: Vec<UnitId> = (1..=LOOKED_AT).map(random).collect();
    units.retain(|id| !plan.summand(*id).is_symmetric_count());
    units.sort_by_key(|id| plan.weight_alone(*id));
    let positions = |ids: &[UnitId]| ids.iter().map(|id| plan.unit(*id).position).collect::<Vec<_>>();
    let (light, heavy) = (positions(&units[LIGHT]), positions(&units[units.len() - 2..]));
    let seconds = units[LIGHT].iter().map(|id| plan.weight_alone(*id) / 1_000_000_000).sum::<u64>();
    println!("n = {n}: the plan {:.1} MiB; units of {seconds} s together", with_plan - before);
    let after_plan = peak();
    count(&light, &heavy, 1);
    let one = peak();
    count(&light, &heavy, 2);
    let two = peak();
    println!("one thread {:.1} MiB, another {:.1} MiB, {two:.1} MiB in all", one - after_plan, two - one);
    assert!(with_plan - before <= OF_PLAN);
    assert!(one - after_plan <= OF_THREAD && two - one <= OF_THREAD);
}

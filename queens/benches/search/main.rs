//! The time of the row-by-row search for each instruction set, compared with the scalar recursion and the
//! yardstick.
//!
//! Throughput is in solutions: completions of asymmetric units, and an eighth of the yardstick's, so that its inverse
//! is the time per fundamental solution and all groups compare.

mod yardstick;

use std::hint::black_box;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use queens::kernel::{Isa, Kernel, Search, Stop, scalar};
use queens::{Board, Plan, PlanSpec, Position, UnitId, known};

/// Every `stride`-th unit of the plan for n, from the middle of the first stride on.
fn sample(n: u8, stride: u64) -> Vec<Position> {
    let plan = Plan::derive(PlanSpec::new(Board::new(n).expect("a board"))).expect("a plan");
    (stride / 2..plan.units()).step_by(stride as usize).map(|id| plan.unit(UnitId(id)).position).collect()
}

fn completions(kernel: &dyn Kernel, positions: &[Position]) -> u64 {
    let stop = Stop::new();
    positions.iter().map(|p| kernel.count(p, &stop).expect("nobody stops it").completions).sum()
}

fn kernels(criterion: &mut Criterion) {
    for (n, stride) in [(16, 20), (18, 80)] {
        let positions = sample(n, stride);
        let mut group = criterion.benchmark_group(format!("n={n}"));
        group.sampling_mode(SamplingMode::Flat).sample_size(10);
        for kernel in Isa::ALL.into_iter().filter_map(|isa| Search::new(isa).ok()) {
            group.throughput(Throughput::Elements(completions(&kernel, &positions)));
            group.bench_function(kernel.name().to_string(), |bench| {
                bench.iter(|| completions(&kernel, black_box(&positions)));
            });
        }
        let stop = Stop::new();
        group.bench_function("scalar recursion", |bench| {
            bench.iter(|| {
                positions
                    .iter()
                    .map(|p| scalar::count(p, &stop).expect("nobody stops it").completions)
                    .sum::<u64>()
            });
        });
        group.finish();
    }
}

fn somers(criterion: &mut Criterion) {
    let n = 13;
    let total = known::totals(Board::new(n).expect("a board")).expect("published").solutions();
    assert_eq!(u128::from(yardstick::solutions(n)), total);
    let mut group = criterion.benchmark_group("yardstick");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.throughput(Throughput::Elements(total as u64 / 8));
    group.bench_function(format!("n={n}"), |bench| bench.iter(|| yardstick::solutions(black_box(n))));
    group.finish();
}

fn plans(criterion: &mut Criterion) {
    let board = Board::new(16).expect("a board");
    criterion
        .bench_function("plan n=16", |bench| bench.iter(|| Plan::derive(PlanSpec::new(black_box(board)))));
}

criterion_group!(benches, kernels, somers, plans);
criterion_main!(benches);

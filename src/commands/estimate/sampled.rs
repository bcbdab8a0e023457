//! The number of solutions from positions drawn at random.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use queens::Plan;
use queens::kernel::{Method, kernel};
use queens::plan::{Sampler, Step};

use super::CountEstimate;
use crate::measurement::{Portion, Start, Task, Timing, UnitSample};

/// How long one position may take: many small ones tell more than a few large ones.
const LIMIT: Duration = Duration::from_millis(8);

/// The estimate after so many seconds by the plan of the best kernel, and from how many positions.
pub fn sample(
    plan: &Plan,
    seconds: f64,
    threads: usize,
    seed: u64,
    interrupted: &AtomicBool,
) -> anyhow::Result<(CountEstimate, usize)> {
    let sampler = Sampler::new(plan);
    if sampler.is_empty() {
        return Ok((CountEstimate { ln: None, error: 0.0, quantile: 0.0 }, 0));
    }
    let task = Task {
        sampler: &sampler,
        start: Start::Parts,
        portion: Portion::Piece(Step::Queens),
        kernel: &*kernel(Method::best(plan.board()), None)?,
        timing: Timing::Processor,
        threads,
        time: Duration::from_secs_f64(seconds),
        limit: LIMIT,
        seed,
        interrupted,
    };
    let samples = task.run().samples;
    Ok((of(&samples), samples.len()))
}

fn of(samples: &[UnitSample]) -> CountEstimate {
    let stands_for = |s: &UnitSample| s.draw.factor * f64::from(s.draw.images) * s.completions;
    let k = samples.len() as f64;
    let mean = samples.iter().map(stands_for).sum::<f64>() / k;
    let squares: f64 = samples.iter().map(|sample| (stands_for(sample) - mean).powi(2)).sum();
    let error = (squares / (k - 1.0) / k).sqrt() / mean;
    // Student's distribution is nearly normal from a few dozen on.
    CountEstimate { ln: (mean > 0.0).then(|| mean.ln()), error, quantile: 1.96 + 2.4 / (k - 1.0) }
}

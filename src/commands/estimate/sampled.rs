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

/// The estimate after so many seconds by the plan of the best kernel, and from how many positions: none where these are too few.
pub fn sample(
    plan: &Plan,
    seconds: f64,
    threads: usize,
    seed: u64,
    interrupted: &AtomicBool,
) -> anyhow::Result<(Option<CountEstimate>, usize)> {
    let sampler = Sampler::new(plan);
    if sampler.is_empty() {
        return Ok((Some(CountEstimate { ln: None, error: 0.0, quantile: 0.0 }), 0));
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

/// Nothing where so few say nothing of the error, as where all of them say that there is no solution.
fn of(samples: &[UnitSample]) -> Option<CountEstimate> {
    let stands_for = |s: &UnitSample| s.draw.factor * f64::from(s.draw.images) * s.completions;
    let k = samples.len() as f64;
    let mean = samples.iter().map(stands_for).sum::<f64>() / k;
    if samples.len() < 2 || mean <= 0.0 {
        return None;
    }
    let squares: f64 = samples.iter().map(|sample| (stands_for(sample) - mean).powi(2)).sum();
    let error = (squares / (k - 1.0) / k).sqrt() / mean;
    // Student's distribution is nearly normal from a few dozen on.
    Some(CountEstimate { ln: Some(mean.ln()), error, quantile: 1.96 + 2.4 / (k - 1.0) })
}

#[cfg(test)]
mod tests {
    use super::super::json_of;
    use super::*;
    use queens::Board;
    use queens::PlanSpec;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn too_few_positions_are_no_estimate() {
        let plan = Plan::derive(PlanSpec::new(Board::new(16).unwrap())).unwrap();
        // It is interrupted before it begins.
        let (estimate, draws) = sample(&plan, 1.0, 1, 1, &AtomicBool::new(true)).unwrap();
        assert!(estimate.is_none() && draws < 2, "{estimate:?} of {draws}");
        let none = json_of(None);
        assert!(none["estimate"].is_null() && none["high"].is_null(), "{none:?}");
        let (estimate, draws) = sample(&plan, 0.5, 1, 1, &AtomicBool::new(false)).unwrap();
        assert!(draws > 1 && estimate.is_some(), "{estimate:?} of {draws}");
    }
}

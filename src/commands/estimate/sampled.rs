//! The number of solutions from positions drawn at random.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use queens::Plan;
use queens::kernel::{Method, kernel};
use queens::plan::{Sampler, Step};

use super::count_estimate::CountEstimate;
use crate::measurement::sample_sums::SampleSums;
use crate::measurement::{Portion, Start, Task, Timing, UnitSample};

/// The longest time for one position: many small positions give a better estimate than a few large ones.
const LIMIT: Duration = Duration::from_millis(8);

/// The least effective number of draws (Kish 1965) for an interval. With fewer draws a few large ones make up
/// most of the number, and until one of them is drawn both number and error are too small. With twenty draws
/// the error is at most 22 %.
const FEWEST: f64 = 20.0;

/// The estimate after this number of seconds, by the plan of the best kernel, and its number of positions.
/// `None` if there are too few positions.
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

/// `None` if the effective number of draws is below [`FEWEST`], as when no draw has a solution.
fn of(samples: &[UnitSample]) -> Option<CountEstimate> {
    let sums = SampleSums(samples);
    let found = |sample: &UnitSample| f64::from(sample.draw.images) * sample.completions;
    let (k, alike) = (samples.len() as f64, sums.effective(found));
    let mean = sums.of(found) / k;
    // The variance of single draws, relative to the square of their mean, is k / alike - 1.
    let error = ((k / alike - 1.0).max(0.0) / (k - 1.0)).sqrt();
    // Student's quantile, to 0.5 % from nineteen degrees of freedom on, where draws count as many as they tell.
    let quantile = 1.96 + 2.4 / (alike - 1.0);
    (alike >= FEWEST).then_some(CountEstimate { ln: Some(mean.ln()), error, quantile })
}

#[cfg(test)]
mod tests {
    use super::super::json_of;
    use super::*;
    use queens::plan::Draw;
    use queens::{Board, PlanSpec, Position};

    /// Draws with these numbers of solutions.
    fn draws(solutions: impl IntoIterator<Item = f64>) -> Vec<UnitSample> {
        let position = Position::empty(Board::new(8).unwrap());
        let draw = Draw { position, factor: 2.0, images: 4, unit: None, depth: 0 };
        let sample = |solutions: f64| UnitSample {
            draw: draw.clone(),
            is_part: true,
            completions: solutions / 8.0,
            nodes: 0.0,
            nanoseconds: 0.0,
        };
        solutions.into_iter().map(sample).collect()
    }

    #[test]
    fn too_few_positions_are_no_estimate() {
        let plan = Plan::derive(PlanSpec::new(Board::new(8).unwrap())).unwrap();
        // It is interrupted before it begins.
        let (estimate, draws) = sample(&plan, 1.0, 1, 1, &AtomicBool::new(true)).unwrap();
        assert!(estimate.is_none() && draws < 2, "{estimate:?} of {draws}");
        let none = json_of(None);
        assert!(none["estimate"].is_null() && none["high"].is_null(), "{none:?}");
        let (estimate, draws) = sample(&plan, 0.5, 1, 1, &AtomicBool::new(false)).unwrap();
        assert!(draws > 20 && estimate.is_some(), "{estimate:?} of {draws}");
    }

    #[test]
    fn interval_needs_enough_informative_draws() {
        let few = [90.0, 97.0, 100.0, 103.0, 110.0];
        assert_eq!(of(&draws(few)), None, "they happen to be near each other");
        assert_eq!(of(&draws(vec![0.0; 100])), None, "nothing was found");
        let one = std::iter::once(1e6).chain(vec![100.0; 100]);
        assert_eq!(of(&draws(one)), None, "nearly all lies in one");
        // By the textbook: a variance of 100 * 1600 / 99, over 100 draws, relative to 100.
        let hundred = of(&draws([60.0, 140.0].repeat(50))).unwrap();
        assert!((hundred.ln.unwrap().exp() - 100.0).abs() < 1e-9, "{hundred:?}");
        assert!((hundred.error - (1600.0f64 / 99.0).sqrt() / 100.0).abs() < 1e-12, "{hundred:?}");
        // Of 86.2 alike draws; Student's with 85 degrees of freedom is 1.988.
        assert!((hundred.quantile - 1.988).abs() < 0.002, "{hundred:?}");
    }
}

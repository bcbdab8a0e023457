//! A study of the search for a first solution: its number of placements, smallest first and at random, the gain of
//! restarts after a limit, and the work of two other methods.
//!
//! The expected work with restarts after L placements follows from the lengths t of runs without restarts.
//! Each attempt costs min(t, L) and succeeds if t <= L, so the work is E[min(t, L)] / P(t <= L). The best
//! limit minimises this among the observed lengths. It was chosen with knowledge of these runs, so it is
//! measured again on new runs.

mod lengths;
mod tail;

use queens::Classified;
use std::ops::RangeInclusive;

use rayon::prelude::*;
use thiserror::Error;

pub use lengths::{Lengths, Mean, PATIENCE};
pub use tail::HeavyTail;

use crate::min_conflicts::min_conflicts;
use crate::restarts::{Found, usual_limit, with_restarts};
use crate::search::{Backtracking, ColumnChoice};

/// The limit of the smallest-first search, in placements. It takes 56 million for n = 30.
pub const DETERMINISTIC_PATIENCE: u64 = 100_000_000;

/// A study to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudySpec {
    /// The boards, from 4 up.
    pub sizes: RangeInclusive<u8>,
    /// Random runs for each board.
    pub runs: u32,
    /// The seed of all random choices.
    pub seed: u64,
    /// The limit whose restarts are looked at besides the best one; `None` takes 5n.
    pub limit: Option<u64>,
}

/// A study that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StudyError {
    /// Boards without a solution, or too large.
    #[error(
        "the boards to study are from {smallest} to {largest}, not {first}..{last}",
        smallest = StudySpec::SMALLEST, largest = StudySpec::LARGEST
    )]
    Sizes {
        /// The first requested board.
        first: u8,
        /// The last one.
        last: u8,
    },
    /// No runs.
    #[error("a study needs 1 to {largest} runs, not {0}", largest = StudySpec::MOST_RUNS)]
    Runs(u32),
    /// A limit that no run can keep.
    #[error(
        "the limit must be at least {n} placements, one for each queen of the largest board, not {limit}"
    )]
    Limit {
        /// The largest board.
        n: u8,
        /// The limit given.
        limit: u64,
    },
}

impl Classified for StudyError {}

impl StudySpec {
    /// The smallest board: smaller ones have no solution.
    pub const SMALLEST: u8 = 4;
    /// The largest board.
    pub const LARGEST: u8 = 200;
    /// The largest number of runs.
    pub const MOST_RUNS: u32 = 1_000_000;

    /// Studies board after board. The same specification gives the same numbers on every machine.
    ///
    /// # Errors
    /// [`StudyError`] if the boards, the runs or the limit are out of range.
    pub fn studies(&self) -> Result<impl Iterator<Item = SizeStudy> + use<>, StudyError> {
        let (first, last) = (*self.sizes.start(), *self.sizes.end());
        if first < Self::SMALLEST || last > Self::LARGEST || first > last {
            return Err(StudyError::Sizes { first, last });
        }
        if !(1..=Self::MOST_RUNS).contains(&self.runs) {
            return Err(StudyError::Runs(self.runs));
        }
        if let Some(limit) = self.limit.filter(|limit| *limit < u64::from(last)) {
            return Err(StudyError::Limit { n: last, limit });
        }
        let spec = self.clone();
        Ok(self.sizes.clone().map(move |n| SizeStudy::of(n, &spec)))
    }
}

/// The results for one board.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeStudy {
    /// The board.
    pub n: u8,
    /// Placements of the smallest-first search, unless it was broken off at 100 million.
    pub deterministic: Option<u64>,
    /// The random runs.
    pub lengths: Lengths,
    /// Restarts after the requested limit.
    pub asked: Restarts,
    /// Restarts after the best limit.
    pub best: Restarts,
    /// Random columns in the [first rows](random_rows) alone, with restarts after the requested limit.
    pub first_rows: Work,
    /// Min-conflicts, with restarts after the requested limit.
    pub min_conflicts: Work,
}

/// The work of a method that begins anew after a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Placements over all attempts.
    pub placements: Mean,
    /// Attempts, the successful one included.
    pub attempts: Mean,
}

/// In how many first rows the columns are random if they are not in all: two thirds. With half of them a search of a
/// large board hardly ends.
pub fn random_rows(n: u8) -> u8 {
    (u16::from(n) * 2 / 3) as u8
}

/// The gain of restarts after a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Restarts {
    /// The limit, in placements.
    pub limit: u64,
    /// The mean number of placements that the runs without restarts let expect.
    pub expected: f64,
    /// The mean number of placements of as many fresh runs with restarts.
    pub measured: Mean,
    /// The chance of success of an attempt, from the runs without restarts.
    pub chance: Mean,
    /// The attempts that a success then takes, by the geometric law.
    pub expected_attempts: Mean,
    /// The attempts that the fresh runs took.
    pub attempts: Mean,
}

/// Streams of random numbers: one for each board, kind of run, and run.
fn stream(n: u8, kind: u64, run: u32) -> u64 {
    u64::from(n) << 40 | kind << 32 | u64::from(run)
}

impl SizeStudy {
    fn of(n: u8, spec: &StudySpec) -> Self {
        let mut search = Backtracking::new(n);
        let deterministic = search.run(&mut ColumnChoice::Smallest, DETERMINISTIC_PATIENCE);
        let lengths = random_lengths(n, spec);
        let restarts = |limit, kind| {
            let anew = |stream| with_restarts(n, &mut ColumnChoice::random(spec.seed, stream), limit);
            let measured = Work::of(n, spec, kind, anew);
            Restarts {
                limit,
                expected: lengths.expected_with_restarts(limit),
                measured: measured.placements,
                chance: lengths.chance(limit),
                expected_attempts: lengths.expected_attempts(limit),
                attempts: measured.attempts,
            }
        };
        let asked = spec.limit.unwrap_or_else(|| usual_limit(n));
        let first_rows = |stream| {
            let mut choice = ColumnChoice::random_in_first_rows(random_rows(n), spec.seed, stream);
            with_restarts(n, &mut choice, asked)
        };
        Self {
            n,
            deterministic: deterministic.map(|_| search.placements()),
            asked: restarts(asked, 1),
            best: restarts(lengths.best_limit().unwrap_or(asked), 2),
            first_rows: Work::of(n, spec, 3, first_rows),
            min_conflicts: Work::of(n, spec, 4, |stream| min_conflicts(n, (spec.seed, stream), asked)),
            lengths,
        }
    }

    /// How many times fewer placements the best restarts take than runs without, in the mean.
    pub fn gain(&self) -> f64 {
        self.lengths.mean().value / self.best.measured.value
    }
}

impl Work {
    /// Measures the runs of a search, each on a stream of random numbers of its own.
    fn of(n: u8, spec: &StudySpec, kind: u64, search: impl Fn(u64) -> Option<Found> + Sync) -> Self {
        let run = |run| {
            let found = search(stream(n, kind, run));
            found.map_or((0, 0), |found| (found.placements, found.attempts))
        };
        let (placements, attempts): (Vec<u64>, Vec<u64>) = (0..spec.runs).into_par_iter().map(run).collect();
        Self { placements: Mean::of(&placements), attempts: Mean::of(&attempts) }
    }
}

/// Runs without restarts.
fn random_lengths(n: u8, spec: &StudySpec) -> Lengths {
    let run = |run| {
        let mut search = Backtracking::new(n);
        let solution = search.run(&mut ColumnChoice::random(spec.seed, stream(n, 0, run)), PATIENCE);
        solution.map(|_| search.placements())
    };
    let runs: Vec<Option<u64>> = (0..spec.runs).into_par_iter().map(run).collect();
    let mut found: Vec<u64> = runs.iter().flatten().copied().collect();
    found.sort_unstable();
    Lengths { broken_off: runs.len() - found.len(), found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn study_is_determined_by_its_seed() {
        let spec = StudySpec { sizes: 8..=10, runs: 50, seed: 1, limit: None };
        let studies = |spec: &StudySpec| spec.studies().unwrap().collect::<Vec<_>>();
        assert_eq!(studies(&spec), studies(&spec));
        assert_ne!(studies(&spec), studies(&StudySpec { seed: 2, ..spec }));
    }

    #[test]
    fn measured_restarts_match_expectation() {
        let spec = StudySpec { sizes: 20..=20, runs: 2_000, seed: 3, limit: Some(100) };
        let study = spec.studies().unwrap().next().unwrap();
        for restarts in [study.asked, study.best] {
            assert!((restarts.measured.value / restarts.expected - 1.0).abs() < 0.15, "{restarts:?}");
            let (expected, attempts) = (restarts.expected_attempts, restarts.attempts);
            let error = expected.error.unwrap().hypot(attempts.error.unwrap());
            assert!((attempts.value - expected.value).abs() < 4.0 * error, "{restarts:?}");
        }
        assert!(study.gain() > 1.0);
    }

    #[test]
    fn random_searches_of_n_4_take_the_worked_out_mean() {
        // Columns 2 and 3 of the first row lead to a solution at once, 4 placements. Columns 1 and 4 lead to none, and are
        // left after 4 placements. A mean of 2/3 of them comes before 2 or 3.
        let spec = StudySpec { sizes: 4..=4, runs: 4_000, seed: 2, limit: Some(1_000) };
        let study = spec.studies().unwrap().next().unwrap();
        for Mean { value, error } in [study.asked.measured, study.first_rows.placements] {
            let error = error.unwrap();
            assert!((value - (4.0 + 4.0 * 2.0 / 3.0)).abs() < 4.0 * error, "{value} +- {error}");
        }
        assert!((study.first_rows.attempts.value - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn min_conflicts_needs_least_on_large_boards() {
        let spec = StudySpec { sizes: 60..=60, runs: 100, seed: 1, limit: None };
        let study = spec.studies().unwrap().next().unwrap();
        let [repair, best] = [study.min_conflicts.placements, study.best.measured].map(|mean| mean.value);
        assert!(repair < best / 3.0 && repair >= 60.0, "{repair} {best}");
        assert_eq!(random_rows(60), 40);
    }

    #[test]
    fn invalid_study_is_refused_with_the_value() {
        let spec = StudySpec { sizes: 3..=8, runs: 10, seed: 1, limit: None };
        let error = |spec: StudySpec| spec.studies().err().unwrap().to_string();
        assert_eq!(error(spec.clone()), "the boards to study are from 4 to 200, not 3..8");
        assert!(error(StudySpec { sizes: 4..=8, runs: 0, ..spec.clone() }).contains("not 0"));
        assert!(error(StudySpec { sizes: 4..=8, limit: Some(7), ..spec }).contains("at least 8"));
    }
}

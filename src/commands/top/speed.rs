//! How fast a run was over its time, from its history.

use domain::{RunStatus, Sample};
use records::standing::usual_step;

/// Samples further apart than this multiple of the usual step have a pause between them.
const PAUSE: f64 = 4.0;

/// The work a second in equal parts of the run's time, oldest first, in cores; nothing before there is a history.
pub fn speeds(status: &RunStatus, parts: usize) -> Vec<f64> {
    let history = &status.history;
    let (Some(first), Some(last)) = (history.first(), history.last()) else { return Vec::new() };
    let seconds = last.at.saturating_sub(first.at) as f64;
    if seconds <= 0.0 || parts == 0 {
        return Vec::new();
    }
    let step = usual_step(history) as f64;
    let width = seconds / parts as f64;
    let curve = Curve { samples: history, pause: PAUSE * step };
    let at = |part: usize| curve.progress(first.at as f64 + part as f64 * width);
    let speed = |part| ((at(part + 1) - at(part)) * status.work.total / width).max(0.0);
    (0..parts).map(speed).collect()
}

/// Progress over time.
struct Curve<'a> {
    samples: &'a [Sample],
    /// In a longer gap nothing happened until its end.
    pause: f64,
}

impl Curve<'_> {
    fn progress(&self, time: f64) -> f64 {
        let after = self.samples.partition_point(|sample| (sample.at as f64) < time);
        let Some(next) = self.samples.get(after) else {
            return self.samples.last().map_or(0.0, |sample| sample.progress);
        };
        let Some(before) = after.checked_sub(1).and_then(|before| self.samples.get(before)) else {
            return next.progress;
        };
        let (begun, ended) = (before.at as f64, next.at as f64);
        let begun = if ended - begun > self.pause { ended - self.pause / PAUSE } else { begun };
        let share = ((time - begun) / (ended - begun)).clamp(0.0, 1.0);
        before.progress + share * (next.progress - before.progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_steady_run_is_as_fast_all_the_time_as_on_average() {
        let sample = |k: u64| Sample { at: 1000 * k, done: k, progress: 0.0004 * k as f64 };
        let status = RunStatus { history: (0..=304).map(sample).collect(), ..samples::running() };
        let (first, last) = (status.history[0], status.history[status.history.len() - 1]);
        let mean = status.work.total * last.progress / (last.at - first.at) as f64;
        for parts in [1, 7, 76, 1000] {
            let speeds = speeds(&status, parts);
            assert_eq!(speeds.len(), parts);
            assert!(speeds.iter().all(|speed| (speed / mean - 1.0).abs() < 1e-6), "{mean}: {speeds:?}");
        }
        assert!(speeds(&samples::empty(), 10).is_empty());
    }

    #[test]
    fn nothing_happened_in_a_pause() {
        let sample = |k: u64, later: u64| Sample { at: 1000 * k + later, done: k, progress: 0.01 * k as f64 };
        let history = (0..10).map(|k| sample(k, 0)).chain((10..20).map(|k| sample(k, 80_000))).collect();
        let status = RunStatus { history, ..samples::running() };
        let speeds = speeds(&status, 99);
        let still = speeds.iter().filter(|speed| **speed == 0.0).count();
        assert!((78..=81).contains(&still), "{still} of 99: {speeds:?}");
    }
}

//! The speed of a run over time, as a step chart: its geometry, independent of the drawing.
//!
//! Each sample of the history is the completed share of the work at a time. The chart has a step between two samples;
//! its height is the work done divided by its length. While the coordinator was away, the step is low.

use domain::Sample;
use serde_json::{Value, json};

use crate::words::{LATEST, figures};

/// The size of the plot, which is stretched to its place on the page.
pub const WIDTH: f64 = 600.0;
pub const HEIGHT: f64 = 180.0;

/// Maximum number of steps. More steps would not be visible.
const MAX_STEPS: u64 = 140;

/// The time units of speeds, with their names.
const SPEED_UNITS: [(f64, &str); 4] =
    [(60.0, "a minute"), (3600.0, "an hour"), (86400.0, "a day"), (7.0 * 86400.0, "a week")];

/// Approximate number of grid lines and of times.
const LINES: f64 = 4.0;

/// Distances of the times below the plot, in seconds.
const DISTANCES: [u64; 19] = [
    1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172_800, 604_800,
    2_592_000,
];

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedChart {
    /// The unit of the heights.
    pub title: String,
    /// The outline of the steps, as the path of an SVG, and that of the area below them.
    pub line: String,
    /// See [`SpeedChart::line`].
    pub area: String,
    /// The times below the plot: their share of its width, and in seconds since 1970.
    pub times: Vec<(f64, u64)>,
    /// The grid lines: their share of the height, from the top, and their labels.
    pub heights: Vec<(f64, String)>,
    /// How long it is from its left edge to its right one, in seconds.
    pub length: u64,
}

impl SpeedChart {
    /// A chart of the samples within `longest` seconds before the last sample; none with fewer than two samples.
    pub fn of(history: &[Sample], longest: u64) -> Option<Self> {
        let history = &history[..history.partition_point(|sample| sample.at <= LATEST)];
        let last = history.last()?.at;
        let first = history.partition_point(|sample| sample.at.saturating_add(longest) < last);
        let samples = merged(&history[first..]);
        let (begin, end) = (samples.first()?.at, samples.last()?.at);
        if begin >= end {
            return None;
        }
        let share = |at: u64| (at - begin) as f64 / (end - begin) as f64;
        let x = |at: u64| WIDTH * share(at);
        let speeds: Vec<f64> = samples.windows(2).map(|pair| speed(&pair[0], &pair[1])).collect();
        let most = speeds.iter().copied().fold(0.0, f64::max);
        let (per, name) = SPEED_UNITS
            .into_iter()
            .find(|(per, _)| most * per >= 0.1)
            .unwrap_or(SPEED_UNITS[SPEED_UNITS.len() - 1]);
        let (scale, heights) = scale(most * per);
        let y = |speed: f64| HEIGHT * (1.0 - speed * per / scale);
        let mut line = String::new();
        for (index, (pair, speed)) in samples.windows(2).zip(&speeds).enumerate() {
            let (from, y) =
                (if index == 0 { format!("M{:.1} ", x(pair[0].at)) } else { "V".into() }, y(*speed));
            line.push_str(&format!("{from}{y:.1}H{:.1}", x(pair[1].at)));
        }
        let area = format!("{line}V{HEIGHT}H0Z");
        let times = times(begin, end).map(|at| (rounded(share(at)), at)).collect();
        Some(Self { title: format!("% of the work {name}"), line, area, times, heights, length: end - begin })
    }

    /// The chart as JSON.
    pub fn json(&self) -> Value {
        let Self { title, line, area, times, heights, length } = self;
        json!({ "title": title, "line": line, "area": area, "times": times, "heights": heights, "length": length })
    }
}

/// Samples with visible distances, including the last sample. A burst of counts after a pause is merged with the pause.
fn merged(samples: &[Sample]) -> Vec<Sample> {
    let [Some(first), Some(last)] = [samples.first(), samples.last()] else { return Vec::new() };
    let apart = ((last.at - first.at) / MAX_STEPS).max(1);
    let mut merged = vec![*last];
    for sample in samples.iter().rev() {
        if merged.last().is_some_and(|later| sample.at + apart <= later.at) {
            merged.push(*sample);
        }
    }
    merged.reverse();
    merged
}

/// Percent of the work a second. Work that was taken back is no speed.
fn speed(from: &Sample, to: &Sample) -> f64 {
    (100.0 * (to.progress - from.progress) / (to.at - from.at) as f64).max(0.0)
}

/// The value at the upper edge of the plot, and the grid lines: multiples of 1, 2 or 5 times a power of ten.
fn scale(most: f64) -> (f64, Vec<(f64, String)>) {
    let most = if most > 0.0 { most } else { 1.0 };
    // A rounding error does not add a line.
    let most = most * (1.0 - 1e-9);
    let rough = most / LINES;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * power);
    let lines = (most / step).ceil();
    let height = |line: f64| rounded(1.0 - line / lines);
    let heights = (0..=lines as u32).map(f64::from).map(|line| (height(line), figures(trimmed(line * step))));
    (lines * step, heights.map(|(y, text)| (y, trim(text))).collect())
}

/// A share with four digits.
fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// Removes the rounding error of a multiple.
fn trimmed(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}

/// Without zeros that say nothing.
fn trim(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Times between two, at a distance that people count in.
fn times(begin: u64, end: u64) -> impl Iterator<Item = u64> {
    let rough = (end - begin) / 5;
    let distance = DISTANCES.into_iter().find(|distance| *distance >= rough);
    let distance = distance.unwrap_or_else(|| rough.next_multiple_of(DISTANCES[DISTANCES.len() - 1]));
    (begin.next_multiple_of(distance)..=end).step_by(distance as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: u64, every: u64) -> Vec<Sample> {
        (0..count)
            .map(|i| Sample { at: 1_700_000_000 + i * every, done: i, progress: i as f64 / count as f64 })
            .collect()
    }

    #[test]
    fn steady_run_is_drawn_as_level_line() {
        // 100 samples of an hour each: 1 % an hour.
        let chart = SpeedChart::of(&samples(100, 3600), u64::MAX).unwrap();
        assert_eq!(chart.title, "% of the work an hour");
        let levels: Vec<&str> = chart.line.split(['V', 'H']).collect();
        let level = |index: usize| levels[index].rsplit(' ').next().unwrap();
        assert_eq!((level(0), level(2)), ("0.0", "0.0"), "{}", chart.line);
        assert!(chart.line.starts_with("M0.0 ") && chart.line.ends_with("H600.0"));
        assert_eq!(chart.heights.last().unwrap(), &(0.0, "1".to_owned()));
    }

    #[test]
    fn chart_of_long_history_stays_small() {
        for (count, every) in [(2, 1), (3, 7), (600, 60), (600, 7200), (600, 86400)] {
            let chart = SpeedChart::of(&samples(count, every), u64::MAX).unwrap();
            assert!(chart.json().to_string().len() < 6000, "{count} {every}");
            assert!(chart.times.len() <= 8 && (3..=7).contains(&chart.heights.len()), "{chart:?}");
            assert!(count * every < 100 || chart.times.len() >= 2, "{chart:?}");
        }
    }

    #[test]
    fn chart_of_recent_history_is_limited_to_its_length() {
        let chart = SpeedChart::of(&samples(600, 3600), 86400).unwrap();
        assert_eq!(chart.length, 86400);
        assert_eq!(SpeedChart::of(&[], 86400), None);
        assert_eq!(SpeedChart::of(&samples(1, 1), 86400), None);
        let same = [samples(1, 1)[0]; 3];
        assert_eq!(SpeedChart::of(&same, 86400), None);
    }

    #[test]
    fn clocks_that_are_wrong_stop_no_chart() {
        let mut history = samples(10, 60);
        history.push(Sample { at: u64::MAX, done: 10, progress: 1.0 });
        assert_eq!(SpeedChart::of(&history, u64::MAX), SpeedChart::of(&history[..10], u64::MAX));
        assert_eq!(SpeedChart::of(&history[10..], u64::MAX), None);
        let ages = [Sample { at: 0, ..history[0] }, Sample { at: LATEST, ..history[9] }];
        assert!((2..=7).contains(&SpeedChart::of(&ages, u64::MAX).unwrap().times.len()));
    }

    #[test]
    fn retracted_work_is_not_drawn_below_the_plot() {
        let mut history = samples(10, 60);
        history[5].progress = 0.0;
        let chart = SpeedChart::of(&history, u64::MAX).unwrap();
        let lowest = chart.line.split(['V', 'H', 'M', ' ']).filter_map(|part| part.parse::<f64>().ok());
        assert!(lowest.fold(0.0, f64::max) <= WIDTH);
        assert!(chart.line.contains("V180.0"), "{}", chart.line);
    }
}

//! The distributions of random runs by their length, one small chart for each board.

use super::chart::{CURVES, Chart, round_step};
use super::error::PictureError;
use super::paint::{FAINT, INK, Paint};
use super::paragraph::Paragraph;
use super::point::{Point, point};
use super::scene::{Anchor, Picture};
use crate::study::SizeStudy;

/// Bars of a histogram for each doubling of the length.
const BARS: f64 = 4.0;

/// The room of one histogram.
const ROOM: (f64, f64) = (320.0, 236.0);

/// The distribution of the random runs of each board by their length, four bars for each doubling, with a line where
/// the smallest-first search ends.
///
/// # Errors
/// [`PictureError::Nothing`] without a study.
pub fn histograms(studies: &[SizeStudy]) -> Result<Picture, PictureError> {
    if studies.is_empty() {
        return Err(PictureError::Nothing("no board was studied".to_owned()));
    }
    let columns = columns_for(studies.len());
    let rows = studies.len().div_ceil(columns);
    let width = columns as f64 * ROOM.0 + 20.0;
    let title = Paragraph::new("Random runs by placements until the first solution", 18.0, width - 20.0);
    let key = "The red line is the smallest-first search, where it ends within the picture.";
    let key = Paragraph::new(key, 13.0, width - 20.0);
    let head = 26.0 + title.height() + key.height();
    let mut picture = Picture::new(width, head + rows as f64 * ROOM.1);
    title.draw(&mut picture, point(width / 2.0, 10.0), INK, Anchor::Middle);
    key.draw(&mut picture, point(width / 2.0, 12.0 + title.height()), FAINT, Anchor::Middle);
    let longest = studies.iter().filter_map(|s| s.lengths.found.last()).max();
    let end = bar(longest.copied().unwrap_or(1)) + 1;
    for (index, study) in studies.iter().enumerate() {
        let at = point(10.0 + ROOM.0 * (index % columns) as f64, head + ROOM.1 * (index / columns) as f64);
        draw_histogram(&mut picture, at, study, end);
    }
    Ok(picture)
}

/// As many columns as make a picture about 4 to 3.
fn columns_for(count: usize) -> usize {
    ((count as f64 * ROOM.1 / ROOM.0 * 4.0 / 3.0).sqrt().ceil() as usize).max(1)
}

/// The number of the bar of a length.
fn bar(length: u64) -> i32 {
    (BARS * (length as f64).log2()).floor() as i32
}

/// Draws the histogram of a board into the room at `at`. Bars go up to `end`.
fn draw_histogram(picture: &mut Picture, at: Point, study: &SizeStudy, end: i32) {
    let begin = bar(4);
    let end = end.max(begin + 1);
    let mut counts = vec![0u32; (end - begin) as usize + 1];
    study.lengths.found.iter().for_each(|length| counts[(bar(*length) - begin) as usize] += 1);
    let highest = f64::from(counts.iter().copied().max().unwrap_or(1).max(1)) * 1.12;
    let median = study.lengths.quantile(0.5).map_or("none".to_owned(), |m| m.to_string());
    let caption = format!("n = {}, median {median}", study.n);
    picture.text(point(at.x + ROOM.0 / 2.0, at.y + 15.0), 15.0, INK, Anchor::Middle, &caption);
    let doublings = |bar: i32| f64::from(bar) / BARS;
    let mut chart = Chart {
        picture,
        at: point(at.x + 48.0, at.y + 40.0),
        width: ROOM.0 - 64.0,
        height: ROOM.1 - 92.0,
        x: doublings(begin)..doublings(end),
        y: 0.0..highest,
        labels: 12.0,
    };
    let step = round_step(highest, 4.0);
    chart.label_y((0..=(highest / step) as u32).map(|k| f64::from(k) * step).map(|y| (y, y.to_string())));
    for (bar, count) in (begin..).zip(&counts).filter(|(_, count)| **count > 0) {
        let gap = 0.08 / BARS;
        let upper = chart.place((doublings(bar) + gap, f64::from(*count)));
        let lower = chart.place((doublings(bar + 1) - gap, 0.0));
        chart.picture.rectangle(upper, lower.x - upper.x, lower.y - upper.y, CURVES[1]);
    }
    let step = round_step(chart.x.end - chart.x.start, 5.0);
    let shown = (0..).map(|k| chart.x.start + f64::from(k) * step).take_while(|x| *x <= chart.x.end);
    let shown: Vec<_> = shown.map(|x| (x, x.exp2().to_string())).collect();
    chart.label_x(shown.into_iter());
    chart.name_axes("placements, logarithmic", "runs");
    if let Some(deterministic) = study.deterministic.filter(|length| bar(*length) < end) {
        let x = (deterministic as f64).log2();
        let line = [chart.place((x, 0.0)), chart.place((x, highest))];
        chart.picture.corners(line, Paint::line(CURVES[0], 2.0));
    }
}

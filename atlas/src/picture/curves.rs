//! Charts of curves on a logarithmic scale: placements against n, and the level sizes of the backtrack tree.

use queens::Board;

use super::chart::{CURVES, Chart, round_step};
use super::error::PictureError;
use super::font;
use super::paint::{Colour, INK};
use super::paragraph::Paragraph;
use super::point::point;
use super::scene::{Anchor, Picture};
use crate::study::SizeStudy;

/// The values of a curve, by x.
type Values = Vec<(f64, f64)>;

/// The values with the logarithms that are drawn.
fn logarithms(values: &[(f64, f64)]) -> Values {
    values.iter().map(|(x, y)| (*x, y.log10())).collect()
}

/// 1, 10, 100, ... as people read them.
fn power(exponent: i32) -> String {
    match exponent {
        0..3 => format!("{}", 10u32.pow(exponent.cast_unsigned())),
        3..6 => format!("{} 000", 10u32.pow(exponent.cast_unsigned() - 3)),
        _ => format!("{} million", 10f64.powi(exponent - 6)),
    }
}

/// The size of a picture of curves.
const SIZE: (f64, f64) = (680.0, 470.0);

/// The labels of a chart: its title, the names of its axes, and x in whole numbers from the first to the
/// last.
struct ChartLabels<'s> {
    title: &'s str,
    x: (&'s str, f64, f64),
    y: &'s str,
    /// The room at the right, for the names of the curves.
    names: f64,
}

/// A chart on a picture of its own, y in powers of ten that reach `highest`.
fn chart<'p>(picture: &'p mut Picture, subject: &ChartLabels<'_>, highest: f64) -> Chart<'p> {
    const LABELS: f64 = 14.0;
    let top = highest.log10().ceil().max(1.0);
    let title = Paragraph::new(subject.title, 18.0, picture.width - 30.0);
    title.draw(picture, point(picture.width / 2.0, 10.0), INK, Anchor::Middle);
    let labels = (0..=top as i32).map(|exponent| (f64::from(exponent), power(exponent)));
    let widest = labels.clone().map(|(_, label)| font::width(&label, LABELS)).fold(0.0, f64::max);
    let at = point(widest + 20.0, 46.0 + title.height());
    let (width, height) = (picture.width - at.x - subject.names, picture.height - at.y - 60.0);
    let (name, first, last) = subject.x;
    let mut chart = Chart { picture, at, width, height, x: first..last, y: 0.0..top, labels: LABELS };
    chart.label_y(labels);
    let step = round_step(last - first, width / 32.0) as usize;
    let whole = (first.ceil() as i32..=last.floor() as i32).step_by(step);
    chart.label_x(whole.map(|x| (f64::from(x), x.to_string())));
    chart.name_axes(name, subject.y);
    chart
}

/// Draws curves with their names at their ends.
fn draw_curves(
    chart: &mut Chart<'_>,
    curves: impl IntoIterator<Item = (String, Colour, Values)>,
    mut names: Vec<(String, Colour, (f64, f64))>,
    room: f64,
) {
    for (name, colour, values) in curves {
        let values = logarithms(&values);
        chart.curve(&values, colour);
        names.extend(values.last().map(|end| (name, colour, *end)));
    }
    chart.name_ends(names, room - 12.0);
}

/// Placements until the first solution against n, on a logarithmic scale. The curves are smallest first,
/// random order (median, and the band from the 5% to the 95% quantile), and the best restarts.
///
/// # Errors
/// [`PictureError::Nothing`] without a study.
pub fn placements(studies: &[SizeStudy]) -> Result<Picture, PictureError> {
    let (Some(first), Some(last)) = (studies.first(), studies.last()) else {
        return Err(PictureError::Nothing("no board was studied".to_owned()));
    };
    let highest = studies.iter().filter_map(|s| s.deterministic.max(s.lengths.quantile(0.95))).max();
    let subject = ChartLabels {
        title: "Placements until the first solution",
        x: ("n: queens and rows of the board", f64::from(first.n) - 0.5, f64::from(last.n) + 0.5),
        y: "placements, logarithmic",
        names: 150.0,
    };
    let mut picture = Picture::new(SIZE.0, SIZE.1);
    let mut chart = chart(&mut picture, &subject, highest.unwrap_or(1_000) as f64);
    let quantiles = |q| -> Values {
        studies.iter().filter_map(|s| Some((f64::from(s.n), s.lengths.quantile(q)? as f64))).collect()
    };
    let band = [quantiles(0.05), quantiles(0.95).into_iter().rev().collect()].concat();
    let band = logarithms(&band).into_iter().map(|value| chart.place(value)).collect::<Vec<_>>();
    let [red, blue, green, ..] = CURVES;
    chart.picture.corners(band, blue.thin(0.16));
    let smallest = studies.iter().filter_map(|s| Some((f64::from(s.n), s.deterministic? as f64)));
    let best = studies.iter().map(|s| (f64::from(s.n), s.best.measured.value));
    let curves = [
        ("smallest first".to_owned(), red, smallest.collect()),
        ("at random: median".to_owned(), blue, quantiles(0.5)),
        ("at random with the best restarts: mean".to_owned(), green, best.collect()),
    ];
    let end = |q| logarithms(&quantiles(q)).last().copied();
    let names = [("95% of the random runs", end(0.95)), ("5% of them", end(0.05))];
    let names = names.into_iter().filter_map(|(name, end)| Some((name.to_owned(), blue, end?)));
    draw_curves(&mut chart, curves, names.collect(), subject.names);
    Ok(picture)
}

/// The number of partial solutions of each number of rows, for several boards, on a logarithmic scale.
///
/// # Errors
/// [`PictureError::Nothing`] without a board.
pub fn level_sizes(trees: &[(Board, Vec<u64>)]) -> Result<Picture, PictureError> {
    let rows = trees.iter().map(|(board, _)| board.n()).max();
    let Some(rows) = rows else { return Err(PictureError::Nothing("no board was asked for".to_owned())) };
    let largest = trees.iter().flat_map(|(_, sizes)| sizes).max().copied().unwrap_or(1);
    let mut picture = Picture::new(SIZE.0, SIZE.1);
    let subject = ChartLabels {
        title: "Partial solutions by the number of rows filled",
        x: ("rows with a queen", 0.0, f64::from(rows)),
        y: "partial solutions, logarithmic",
        names: 78.0,
    };
    let mut chart = chart(&mut picture, &subject, largest as f64);
    let curves = trees.iter().zip(CURVES.into_iter().cycle()).map(|((board, sizes), colour)| {
        let values = (0u32..).zip(sizes).filter(|(_, size)| **size > 0);
        (format!("n = {board}"), colour, values.map(|(row, size)| (f64::from(row), *size as f64)).collect())
    });
    draw_curves(&mut chart, curves, Vec::new(), subject.names);
    Ok(picture)
}

//! Charts of curves on a logarithmic scale: placements against n, and the level sizes of the backtrack tree.

use queens::Board;

use super::chart::{CURVES, Chart, round_step};
use super::error::PictureError;
use super::scene::{Anchor, Colour, INK, Picture, point};
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

/// A chart with its title on a picture of its own: x in whole numbers from `first` to `last`, and y in powers of ten
/// that reach `highest`.
fn chart<'p>(
    picture: &'p mut Picture,
    title: &str,
    (first, last, name): (f64, f64, &str),
    highest: f64,
) -> Chart<'p> {
    let top = highest.log10().ceil().max(1.0);
    let (width, height) = (picture.width, picture.height);
    picture.text(point(width / 2.0, 34.0), 16.0, INK, Anchor::Middle, title);
    picture.text(point(width / 2.0 + 43.0, height - 21.0), 12.0, INK, Anchor::Middle, name);
    let at = point(104.0, 44.0);
    let (width, height) = (width - at.x - 18.0, height - at.y - 64.0);
    let mut chart = Chart { picture, at, width, height, x: first..last, y: 0.0..top, labels: 10.5 };
    chart.label_y((0..=top as i32).map(|exponent| (f64::from(exponent), power(exponent))));
    let step = round_step(last - first, 30.0) as usize;
    let whole = (first.ceil() as i32..=last.floor() as i32).step_by(step);
    chart.label_x(whole.map(|x| (f64::from(x), x.to_string())));
    chart
}

/// Draws curves with their names.
fn draw_curves(chart: &mut Chart<'_>, curves: impl IntoIterator<Item = (String, Colour, Values)>) {
    let mut names = Vec::new();
    for (name, colour, values) in curves {
        chart.curve(&logarithms(&values), colour);
        names.push((name, colour));
    }
    chart.legend(&names);
}

/// Placements until the first solution against n, on a logarithmic scale: smallest first, at random (median, and the
/// band from the 5% to the 95% quantile), and with the best restarts.
///
/// # Errors
/// [`PictureError::Nothing`] without a study.
pub fn placements(studies: &[SizeStudy]) -> Result<Picture, PictureError> {
    let (Some(first), Some(last)) = (studies.first(), studies.last()) else {
        return Err(PictureError::Nothing("no board was studied".to_owned()));
    };
    let highest = studies.iter().filter_map(|s| s.deterministic.max(s.lengths.quantile(0.95))).max();
    let (left, right) = (f64::from(first.n) - 0.5, f64::from(last.n) + 0.5);
    let mut picture = Picture::new(860.0, 540.0);
    let title = "Placements until the first solution";
    let mut chart = chart(&mut picture, title, (left, right, "n"), highest.unwrap_or(1_000) as f64);
    let quantiles = |q| -> Values {
        studies.iter().filter_map(|s| Some((f64::from(s.n), s.lengths.quantile(q)? as f64))).collect()
    };
    let band = [quantiles(0.05), quantiles(0.95).into_iter().rev().collect()].concat();
    let band = logarithms(&band).into_iter().map(|value| chart.place(value)).collect();
    let [red, blue, green, ..] = CURVES;
    chart.picture.corners(band, blue.thin(0.16));
    let smallest = studies.iter().filter_map(|s| Some((f64::from(s.n), s.deterministic? as f64)));
    let best = studies.iter().map(|s| (f64::from(s.n), s.best.measured.value));
    let curves = [
        ("smallest first".to_owned(), red, smallest.collect()),
        ("at random: median, and 5% to 95%".to_owned(), blue, quantiles(0.5)),
        ("at random with the best restarts: mean".to_owned(), green, best.collect()),
    ];
    draw_curves(&mut chart, curves);
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
    let mut picture = Picture::new(860.0, 540.0);
    let title = "Partial solutions by the number of rows filled";
    let mut chart = chart(&mut picture, title, (0.0, f64::from(rows) + 0.4, "rows"), largest as f64);
    let curves = trees.iter().zip(CURVES.into_iter().cycle()).map(|((board, sizes), colour)| {
        let values = (0u32..).zip(sizes).filter(|(_, size)| **size > 0);
        (format!("n = {board}"), colour, values.map(|(row, size)| (f64::from(row), *size as f64)).collect())
    });
    draw_curves(&mut chart, curves);
    Ok(picture)
}

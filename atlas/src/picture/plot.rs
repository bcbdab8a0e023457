//! Plots: placements against n, the distributions behind them, and the level sizes of the backtrack tree.

use std::sync::Once;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use queens::Board;

use super::{FONT, FONT_FAMILY, Picture, PictureError};
use crate::study::SizeStudy;

const SMALLEST_FIRST: RGBColor = RGBColor(178, 64, 46);
const AT_RANDOM: RGBColor = RGBColor(47, 109, 176);
const WITH_RESTARTS: RGBColor = RGBColor(74, 138, 88);
const PALE: RGBColor = RGBColor(226, 226, 230);

/// The points of a curve.
type Points = Vec<(f64, f64)>;

/// The colours of curves that are many.
const CURVES: [RGBColor; 9] = [
    SMALLEST_FIRST,
    AT_RANDOM,
    WITH_RESTARTS,
    RGBColor(196, 130, 38),
    RGBColor(124, 84, 158),
    RGBColor(90, 90, 98),
    RGBColor(34, 142, 150),
    RGBColor(196, 92, 140),
    RGBColor(140, 110, 70),
];

fn drawing(error: impl std::fmt::Display) -> PictureError {
    PictureError::Drawing(error.to_string())
}

/// Draws on an empty white picture of that size.
fn drawn(
    size: (u32, u32),
    draw: impl FnOnce(&DrawingArea<SVGBackend<'_>, plotters::coord::Shift>) -> Result<(), PictureError>,
) -> Result<Picture, PictureError> {
    static FONT_REGISTERED: Once = Once::new();
    FONT_REGISTERED.call_once(|| {
        // The font was embedded with this program; it is one that the library reads.
        assert!(register_font(FONT_FAMILY, FontStyle::Normal, FONT).is_ok(), "the embedded font is one");
    });
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(drawing)?;
        draw(&area)?;
        area.present().map_err(drawing)?;
    }
    Ok(Picture(svg))
}

fn font(size: u32) -> TextStyle<'static> {
    (FONT_FAMILY, size).into_font().color(&RGBColor(42, 42, 46))
}

/// 1, 10, 100, ... as people read them.
fn power(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{} million", v / 1e6),
        v if v >= 1e3 => format!("{} 000", v / 1e3),
        v => format!("{v}"),
    }
}

/// Placements until the first solution against n, on a logarithmic scale: smallest first, at random (median, and the
/// band from the 5% to the 95% quantile), and with the best restarts.
pub fn placements(studies: &[SizeStudy]) -> Result<Picture, PictureError> {
    let (Some(first), Some(last)) = (studies.first(), studies.last()) else {
        return Err(PictureError::Nothing("no board was studied".to_owned()));
    };
    let highest = studies.iter().filter_map(|s| s.deterministic.max(s.lengths.quantile(0.95))).max();
    let (left, right) = (f64::from(first.n) - 0.5, f64::from(last.n) + 0.5);
    let top = 10f64.powf((highest.unwrap_or(1_000) as f64).log10().ceil());
    drawn((860, 540), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption("Placements until the first solution", font(20))
            .margin(18)
            .x_label_area_size(46)
            .y_label_area_size(86)
            .build_cartesian_2d(left..right, (1.0..top).log_scale())
            .map_err(drawing)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(PALE)
            .x_labels(usize::from(last.n - first.n) + 1)
            .x_label_formatter(&|n| if n.fract().abs() < 1e-9 { format!("{n}") } else { String::new() })
            .y_label_formatter(&|value| power(*value))
            .x_desc("n")
            .label_style(font(13))
            .axis_desc_style(font(15))
            .draw()
            .map_err(drawing)?;
        let quantiles =
            |q| studies.iter().filter_map(move |s| Some((f64::from(s.n), s.lengths.quantile(q)? as f64)));
        let band: Vec<_> =
            quantiles(0.05).chain(quantiles(0.95).collect::<Vec<_>>().into_iter().rev()).collect();
        chart.draw_series([Polygon::new(band, AT_RANDOM.mix(0.16))]).map_err(drawing)?;
        let curves: [(&str, RGBColor, Points); 3] = [
            (
                "smallest first",
                SMALLEST_FIRST,
                studies.iter().filter_map(|s| Some((f64::from(s.n), s.deterministic? as f64))).collect(),
            ),
            ("at random: median, and 5% to 95%", AT_RANDOM, quantiles(0.5).collect()),
            (
                "at random with the best restarts: mean",
                WITH_RESTARTS,
                studies.iter().map(|s| (f64::from(s.n), s.best.measured)).collect(),
            ),
        ];
        for (name, colour, points) in curves {
            let line = LineSeries::new(points, colour.stroke_width(2)).point_size(3);
            chart
                .draw_series(line)
                .map_err(drawing)?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
        legend(&mut chart)
    })
}

/// The names of the curves, at the upper left.
fn legend<'a, DB: DrawingBackend + 'a, CT: CoordTranslate>(
    chart: &mut ChartContext<'a, DB, CT>,
) -> Result<(), PictureError> {
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .margin(12)
        .legend_area_size(30)
        .background_style(WHITE.mix(0.85))
        .label_font(font(14))
        .draw()
        .map_err(drawing)
}

/// Bars of a histogram for each doubling of the length.
const BARS: f64 = 4.0;

/// The distribution of the random runs of each board by their length, four bars for each doubling, with a line where
/// the smallest-first search ends.
pub fn histograms(studies: &[SizeStudy]) -> Result<Picture, PictureError> {
    if studies.is_empty() {
        return Err(PictureError::Nothing("no board was studied".to_owned()));
    }
    let columns = studies.len().min(4);
    let rows = studies.len().div_ceil(columns);
    let title = "Random runs by placements until the first solution";
    let size = ((columns as u32 * 290).max(460) + 20, rows as u32 * 210 + 76);
    drawn(size, |area| {
        let area = area.margin(10, 10, 10, 10).titled(title, font(18)).map_err(drawing)?;
        let (head, body) = area.split_vertically(20);
        let key = "the red line is the smallest-first search, where it ends within the picture";
        let centred = font(12).pos(Pos::new(HPos::Center, VPos::Top));
        head.draw(&Text::new(key, ((size.0 / 2).cast_signed() - 10, 0), centred)).map_err(drawing)?;
        let longest = studies.iter().filter_map(|s| s.lengths.found.last()).max();
        let end = bar(longest.copied().unwrap_or(1)) + 1;
        body.split_evenly((rows, columns))
            .iter()
            .zip(studies)
            .try_for_each(|(place, study)| histogram(place, study, end))
    })
}

/// The number of the bar of a length.
fn bar(length: u64) -> i32 {
    (BARS * (length as f64).log2()).floor() as i32
}

fn histogram(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    study: &SizeStudy,
    end: i32,
) -> Result<(), PictureError> {
    let begin = bar(4);
    let mut counts = vec![0u32; (end - begin) as usize + 1];
    study.lengths.found.iter().for_each(|length| counts[(bar(*length) - begin) as usize] += 1);
    let highest = f64::from(counts.iter().copied().max().unwrap_or(1)) * 1.12;
    let median = study.lengths.quantile(0.5).map_or("none".to_owned(), |m| m.to_string());
    let doublings = |bar: i32| f64::from(bar) / BARS;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("n = {}, median {median}", study.n), font(14))
        .margin(6)
        .x_label_area_size(24)
        .y_label_area_size(36)
        .build_cartesian_2d(doublings(begin)..doublings(end), 0.0..highest)
        .map_err(drawing)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(PALE)
        .x_labels(8)
        .x_label_formatter(&|doublings| format!("{:.0}", doublings.exp2()))
        .y_labels(4)
        .y_label_formatter(&|count| format!("{count:.0}"))
        .label_style(font(11))
        .draw()
        .map_err(drawing)?;
    let bars = (begin..).zip(&counts).map(|(bar, count)| {
        let gap = 0.08 / BARS;
        let (left, right) = (doublings(bar) + gap, doublings(bar + 1) - gap);
        Rectangle::new([(left, 0.0), (right, f64::from(*count))], AT_RANDOM.filled())
    });
    chart.draw_series(bars).map_err(drawing)?;
    if let Some(deterministic) = study.deterministic.filter(|length| bar(*length) < end) {
        let x = (deterministic as f64).log2();
        let line = PathElement::new([(x, 0.0), (x, highest)], SMALLEST_FIRST.stroke_width(2));
        chart.draw_series([line]).map_err(drawing)?;
    }
    Ok(())
}

/// The number of partial solutions of each number of rows, for several boards, on a logarithmic scale.
pub fn level_sizes(trees: &[(Board, Vec<u64>)]) -> Result<Picture, PictureError> {
    let rows = trees.iter().map(|(board, _)| board.n()).max();
    let Some(rows) = rows else { return Err(PictureError::Nothing("no board was asked for".to_owned())) };
    let largest = trees.iter().flat_map(|(_, sizes)| sizes).max().copied().unwrap_or(1);
    let top = 10f64.powf((largest as f64).log10().ceil());
    drawn((860, 540), |area| {
        let mut chart = ChartBuilder::on(area)
            .caption("Partial solutions by the number of rows filled", font(20))
            .margin(18)
            .x_label_area_size(46)
            .y_label_area_size(86)
            .build_cartesian_2d(0.0..f64::from(rows) + 0.4, (1.0..top).log_scale())
            .map_err(drawing)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(PALE)
            .x_labels(usize::from(rows) + 1)
            .x_label_formatter(&|row| format!("{row:.0}"))
            .y_label_formatter(&|value| power(*value))
            .x_desc("rows")
            .label_style(font(13))
            .axis_desc_style(font(15))
            .draw()
            .map_err(drawing)?;
        for ((board, sizes), colour) in trees.iter().zip(CURVES.into_iter().cycle()) {
            let points = (0u32..).zip(sizes).filter(|(_, size)| **size > 0);
            let points: Vec<_> = points.map(|(row, size)| (f64::from(row), *size as f64)).collect();
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))
                .map_err(drawing)?
                .label(format!("n = {board}"))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        }
        legend(&mut chart)
    })
}

//! What charts have in common: axes with their labels, lines across, curves and their names.

use std::ops::Range;

use super::font;
use super::scene::{Anchor, Colour, INK, Paint, Picture, Point, WHITE, colour, point};

/// The colours of curves and bars.
pub(super) const CURVES: [Colour; 9] = [
    colour(0xb2_40_2e),
    colour(0x2f_6d_b0),
    colour(0x4a_8a_58),
    colour(0xc4_82_26),
    colour(0x7c_54_9e),
    colour(0x5a_5a_62),
    colour(0x22_8e_96),
    colour(0xc4_5c_8c),
    colour(0x8c_6e_46),
];

const BLACK: Colour = colour(0x00_00_00);
/// Lines across the chart.
const PALE: Colour = colour(0xe2_e2_e6);

/// A chart in its place on a picture. It plots what it is given on linear axes: whoever wants a logarithmic one gives
/// logarithms, and labels them with what they stand for.
pub(super) struct Chart<'p> {
    pub(super) picture: &'p mut Picture,
    /// The upper left corner of the room between the axes.
    pub(super) at: Point,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) x: Range<f64>,
    pub(super) y: Range<f64>,
    /// The size of the labels.
    pub(super) labels: f64,
}

impl Chart<'_> {
    /// Where a value is drawn.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> Point {
        let share = |range: &Range<f64>, value: f64| (value - range.start) / (range.end - range.start);
        point(self.at.x + self.width * share(&self.x, x), self.at.y + self.height * (1.0 - share(&self.y, y)))
    }

    fn line(&mut self, from: Point, to: Point, colour: Colour, width: f64) {
        self.picture.corners(vec![from, to], Paint::line(colour, width));
    }

    /// The y axis, labelled at some of its values, with a line across the chart at each.
    pub(super) fn label_y(&mut self, values: impl Iterator<Item = (f64, String)>) {
        for (value, label) in values {
            let at = self.place((self.x.start, value));
            self.line(at, point(at.x + self.width, at.y), PALE, 1.0);
            self.line(point(at.x - 5.0, at.y), at, BLACK, 1.0);
            let below = point(at.x - 9.0, at.y + 0.36 * self.labels);
            self.picture.text(below, self.labels, INK, Anchor::End, &label);
        }
        self.line(self.at, point(self.at.x, self.at.y + self.height), BLACK, 1.0);
    }

    /// The x axis, labelled at some of its values.
    pub(super) fn label_x(&mut self, values: impl Iterator<Item = (f64, String)>) {
        for (value, label) in values {
            let at = self.place((value, self.y.start));
            self.line(at, point(at.x, at.y + 5.0), BLACK, 1.0);
            let below = point(at.x, at.y + 9.0 + 0.76 * self.labels);
            self.picture.text(below, self.labels, INK, Anchor::Middle, &label);
        }
        let y = self.at.y + self.height;
        self.line(point(self.at.x, y), point(self.at.x + self.width, y), BLACK, 1.0);
    }

    /// A curve through the values, each marked by a ring.
    pub(super) fn curve(&mut self, values: &[(f64, f64)], colour: Colour) {
        let points: Vec<_> = values.iter().map(|value| self.place(*value)).collect();
        for at in &points {
            self.picture.circle(*at, 3.0, Paint::line(colour, 2.0));
        }
        self.picture.corners(points, Paint::line(colour, 2.0));
    }

    /// The names of the curves, at the upper left.
    pub(super) fn legend(&mut self, names: &[(String, Colour)]) {
        const SIZE: f64 = 11.3;
        const STEP: f64 = 17.5;
        let widest = names.iter().map(|(name, _)| font::width(name, SIZE)).fold(0.0, f64::max);
        let at = point(self.at.x + 6.0, self.at.y + 6.0);
        let height = names.len() as f64 * STEP + 14.0;
        self.picture.rectangle(at, widest + 66.0, height, WHITE.thin(0.85));
        for (index, (name, colour)) in names.iter().enumerate() {
            let y = at.y + 16.0 + index as f64 * STEP;
            self.line(point(at.x + 12.0, y), point(at.x + 32.0, y), *colour, 2.0);
            self.picture.text(point(at.x + 42.0, y + 0.36 * SIZE), SIZE, INK, Anchor::Start, name);
        }
    }
}

/// A round step, 1, 2 or 5 times a power of ten, of which at most `most` fill the range.
pub(super) fn round_step(range: f64, most: f64) -> f64 {
    let least = (range / most).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    let fits = |times: &f64| times * power >= least;
    [1.0, 2.0, 5.0].into_iter().find(fits).unwrap_or(10.0) * power
}

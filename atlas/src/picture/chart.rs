//! Charts: axes with their labels, grid lines, curves and their names.

use std::ops::Range;

use super::paint::{Colour, FAINT, INK, Paint, colour};
use super::paragraph::Paragraph;
use super::point::{Point, point};
use super::scene::{Anchor, Picture};

/// The colours of curves and bars, dark enough for words.
pub(super) const CURVES: [Colour; 9] = [
    colour(0xb2_40_2e, 0xee_86_74),
    colour(0x2f_6d_b0, 0x74_ac_e8),
    colour(0x3d_7a_4b, 0x84_c8_94),
    colour(0x94_5e_0e, 0xe4_ae_5e),
    colour(0x7c_54_9e, 0xba_9a_da),
    colour(0x5a_5a_62, 0xb0_b0_ba),
    colour(0x17_76_7e, 0x5c_c6_ce),
    colour(0xb0_44_78, 0xec_98_c2),
    colour(0x7a_5e_36, 0xca_aa_7e),
];

/// Lines across the chart.
const PALE: Colour = colour(0xe2_e2_e6, 0x33_35_3c);

/// A chart in its place on a picture, with linear axes. For a logarithmic axis the caller passes logarithms
/// and labels them with the original values.
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
    /// The place of a value on the picture.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> Point {
        let share = |range: &Range<f64>, value: f64| (value - range.start) / (range.end - range.start);
        point(self.at.x + self.width * share(&self.x, x), self.at.y + self.height * (1.0 - share(&self.y, y)))
    }

    fn line(&mut self, from: Point, to: Point, colour: Colour, width: f64) {
        self.picture.corners([from, to], Paint::line(colour, width));
    }

    /// The y axis, labelled at some of its values, with a line across the chart at each.
    pub(super) fn label_y(&mut self, values: impl Iterator<Item = (f64, String)>) {
        for (value, label) in values {
            let at = self.place((self.x.start, value));
            self.line(at, point(at.x + self.width, at.y), PALE, 1.0);
            self.line(point(at.x - 5.0, at.y), at, INK, 1.0);
            let below = point(at.x - 9.0, at.y + 0.36 * self.labels);
            self.picture.text(below, self.labels, INK, Anchor::End, &label);
        }
        self.line(self.at, point(self.at.x, self.at.y + self.height), INK, 1.0);
    }

    /// The x axis, labelled at some of its values.
    pub(super) fn label_x(&mut self, values: impl Iterator<Item = (f64, String)>) {
        for (value, label) in values {
            let at = self.place((value, self.y.start));
            self.line(at, point(at.x, at.y + 5.0), INK, 1.0);
            let below = point(at.x, at.y + 9.0 + 0.76 * self.labels);
            self.picture.text(below, self.labels, INK, Anchor::Middle, &label);
        }
        let y = self.at.y + self.height;
        self.line(point(self.at.x, y), point(self.at.x + self.width, y), INK, 1.0);
    }

    /// A curve through the values, each marked by a ring.
    pub(super) fn curve(&mut self, values: &[(f64, f64)], colour: Colour) {
        let points: Vec<_> = values.iter().map(|value| self.place(*value)).collect();
        for at in &points {
            self.picture.circle(*at, 3.0, Paint::line(colour, 2.0));
        }
        self.picture.corners(points, Paint::line(colour, 2.0));
    }

    /// Writes the names of the axes: y above its axis, x below.
    pub(super) fn name_axes(&mut self, x: &str, y: &str) {
        let (left, right, below) = (self.at.x, self.at.x + self.width, self.at.y + self.height);
        let size = self.labels;
        self.picture.text(point(left, self.at.y - 0.8 * size), size, FAINT, Anchor::Start, y);
        self.picture.text(point(right, below + 9.0 + 2.2 * size), size, FAINT, Anchor::End, x);
    }

    /// Names beside the ends of their curves, in their colours: moved up or down where they would lie on each other.
    pub(super) fn name_ends(&mut self, mut names: Vec<(String, Colour, (f64, f64))>, room: f64) {
        names.sort_by(|a, b| b.2.1.total_cmp(&a.2.1));
        let mut free = self.at.y - self.labels;
        for (name, colour, end) in names {
            let lines = Paragraph::new(&name, self.labels, room);
            let end = self.place(end);
            let y = (end.y - lines.height() / 2.0).max(free);
            lines.draw(self.picture, point(end.x + 8.0, y), colour, Anchor::Start);
            free = y + lines.height();
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

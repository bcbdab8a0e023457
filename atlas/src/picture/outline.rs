//! The outline of a shape in pixels: closed contours of straight edges, and what they cover of each pixel.
//!
//! Every edge adds to the pixels of its rows how much lies to its right: as far as it is high, and in the pixel that it
//! crosses in proportion. Summed along the row, edges down and edges up cancel out but for what is between them, so a
//! pixel knows exactly how much of it is covered, whatever the shape.

use std::f32::consts::TAU;

/// A point in pixels, right and down.
pub(super) type Spot = (f32, f32);

/// Closed contours. Where they go round the same way they add up to no more than the whole; the other way they are holes.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    contours: Vec<Vec<Spot>>,
}

/// How much of each pixel is covered, from a place on.
pub(super) struct Coverage {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: usize,
    /// Row by row, from 0 to 1.
    pub(super) shares: Vec<f32>,
}

impl Outline {
    /// A contour through these corners and back.
    pub(super) fn contour(&mut self, corners: Vec<Spot>) {
        self.contours.push(corners);
    }

    /// A contour that goes round to the right, whichever way its corners come: many of these lie on each other as one.
    fn round_to_the_right(&mut self, mut corners: Vec<Spot>) {
        let next = corners.iter().cycle().skip(1);
        let area: f32 = corners.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum();
        if area < 0.0 {
            corners.reverse();
        }
        self.contour(corners);
    }

    pub(super) fn rectangle(&mut self, (x, y): Spot, width: f32, height: f32) {
        self.contour(vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height)]);
    }

    pub(super) fn circle(&mut self, (x, y): Spot, radius: f32) {
        let corners = (8.0 + 2.0 * radius).min(120.0) as u16;
        let corner = |k| (TAU * f32::from(k) / f32::from(corners)).sin_cos();
        let corners = (0..corners).map(corner).map(|(sin, cos)| (x + radius * cos, y + radius * sin));
        self.contour(corners.collect());
    }

    /// The line around a circle, half of its width to either side.
    pub(super) fn ring(&mut self, centre: Spot, radius: f32, width: f32) {
        self.circle(centre, radius + width / 2.0);
        self.circle(centre, radius - width / 2.0);
        // What is within is free: it goes round the other way.
        self.contours.last_mut().expect("it was just added").reverse();
    }

    /// The line along these points, of that width; with dashes as long as the gaps between them where these have a length.
    pub(super) fn line(&mut self, points: &[Spot], width: f32, dashes: Option<f32>) {
        let mut walked = 0.0;
        for ends in points.windows(2) {
            let (dx, dy) = (ends[1].0 - ends[0].0, ends[1].1 - ends[0].1);
            let length = dx.hypot(dy);
            let piece = dashes.unwrap_or(f32::INFINITY);
            let mut at = 0.0;
            while at < length {
                let dash = ((walked + at) / piece + 1e-3).floor();
                let end = ((dash + 1.0) * piece - walked).min(length);
                if dash % 2.0 == 0.0 || dashes.is_none() {
                    self.straight(ends[0], (dx / length, dy / length), (at, end), width / 2.0);
                }
                at = end.max(at + 1e-3);
            }
            walked += length;
        }
        if dashes.is_none() && points.len() > 2 {
            points[1..points.len() - 1].iter().for_each(|joint| self.circle(*joint, width / 2.0));
        }
    }

    /// A part of a straight line, `half` to either side.
    fn straight(&mut self, from: Spot, (ux, uy): Spot, (begin, end): (f32, f32), half: f32) {
        let corner =
            |along: f32, side: f32| (from.0 + ux * along - uy * side, from.1 + uy * along + ux * side);
        self.round_to_the_right(vec![
            corner(begin, -half),
            corner(end, -half),
            corner(end, half),
            corner(begin, half),
        ]);
    }

    /// What the contours cover; nothing without a corner.
    pub(super) fn coverage(&self) -> Option<Coverage> {
        let corners = || self.contours.iter().flatten();
        let ends = |line: fn(&Spot) -> f32| {
            let (least, most) =
                (corners().map(line).fold(f32::MAX, f32::min), corners().map(line).fold(f32::MIN, f32::max));
            (least.floor(), most.ceil())
        };
        corners().next()?;
        let ((left, right), (top, bottom)) = (ends(|spot| spot.0), ends(|spot| spot.1));
        // An edge on the right border leaves something to the pixel beyond.
        let (width, height) = ((right - left) as usize + 2, (bottom - top) as usize + 1);
        let mut shares = vec![0.0; width * height];
        for contour in &self.contours {
            let next = contour.iter().cycle().skip(1);
            for (from, to) in contour.iter().zip(next) {
                add_edge(&mut shares, width, (from.0 - left, from.1 - top), (to.0 - left, to.1 - top));
            }
        }
        for row in shares.chunks_mut(width) {
            let mut sum = 0.0f32;
            for share in row {
                sum += *share;
                *share = sum.abs().min(1.0);
            }
        }
        Some(Coverage { left: left as i32, top: top as i32, width, shares })
    }
}

/// Adds what lies to the right of an edge, piece by piece of a row and, in it, of a pixel.
fn add_edge(shares: &mut [f32], width: usize, from: Spot, to: Spot) {
    let (upper, lower, sign) = if from.1 < to.1 { (from, to, 1.0) } else { (to, from, -1.0) };
    let slope = (lower.0 - upper.0) / (lower.1 - upper.1);
    let (leftmost, rightmost) = (from.0.min(to.0), from.0.max(to.0));
    let mut y = upper.1;
    let mut x = upper.0;
    while y < lower.1 {
        let row = y.floor();
        let below = (row + 1.0).min(lower.1);
        let end = if below < lower.1 {
            (upper.0 + slope * (below - upper.1)).clamp(leftmost, rightmost)
        } else {
            lower.0
        };
        let (begin, height) = (row as usize * width, sign * (below - y));
        let (least, most) = (x.min(end), x.max(end));
        let mut at = least;
        loop {
            let pixel = at.floor();
            let until = (pixel + 1.0).min(most);
            let part = if most > least { height * (until - at) / (most - least) } else { height };
            let left_over = f32::midpoint(at, until) - pixel;
            shares[begin + pixel as usize] += part * (1.0 - left_over);
            shares[begin + pixel as usize + 1] += part * left_over;
            at = until;
            if at >= most {
                break;
            }
        }
        (x, y) = (end, below);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over all pixels: the area.
    fn area(outline: &Outline) -> f32 {
        outline.coverage().unwrap().shares.iter().sum()
    }

    #[test]
    fn the_covered_shares_add_up_to_the_area() {
        let mut triangle = Outline::default();
        triangle.contour(vec![(0.25, 0.5), (17.3, 3.1), (5.0, 12.75)]);
        let expected = ((17.3 - 0.25) * (12.75 - 0.5) - (5.0 - 0.25) * (3.1 - 0.5)) / 2.0;
        assert!((area(&triangle) - expected).abs() < 0.01, "{} {expected}", area(&triangle));
        let mut disc = Outline::default();
        disc.circle((-20.0, 30.0), 25.0);
        assert!((area(&disc) / (25.0 * 25.0 * TAU / 2.0) - 1.0).abs() < 0.002, "{}", area(&disc));
        let mut ring = Outline::default();
        ring.ring((5.0, 5.0), 20.0, 2.0);
        assert!((area(&ring) / (40.0 * TAU) - 1.0).abs() < 0.01, "{}", area(&ring));
        disc.contour(vec![(-21.0, 29.0), (-21.0, 31.0), (-19.0, 31.0), (-19.0, 29.0)]);
        assert!((area(&disc) - 25.0 * 25.0 * TAU / 2.0 + 4.0).abs() < 4.0, "a hole goes round the other way");
    }

    #[test]
    fn a_line_covers_its_length_times_its_width_and_no_place_twice() {
        for end in [(10.0, 0.0), (0.0, 10.0), (-6.0, -8.0), (8.0, -6.0)] {
            let mut line = Outline::default();
            line.line(&[(0.3, 0.2), (0.3 + end.0, 0.2 + end.1)], 1.5, None);
            assert!((area(&line) - 15.0).abs() < 0.01, "{end:?}: {}", area(&line));
            let mut dashed = Outline::default();
            dashed.line(&[(0.0, 0.0), end], 2.0, Some(2.0));
            assert!((area(&dashed) - 12.0).abs() < 0.02, "three dashes: {end:?}: {}", area(&dashed));
        }
        let mut there_and_back = Outline::default();
        there_and_back.line(&[(0.0, 0.0), (9.0, 4.0), (0.0, 0.0)], 1.0, None);
        let whole = there_and_back.coverage().unwrap();
        assert!(whole.shares.iter().all(|share| *share <= 1.0));
        assert!(Outline::default().coverage().is_none());
    }
}

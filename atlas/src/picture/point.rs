//! Points of a picture, and their coordinates as SVG writes them.

/// A point, right and down from the top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

impl Point {
    /// The point as SVG writes it.
    pub(super) fn svg(self) -> String {
        format!("{},{}", short(self.x), short(self.y))
    }
}

/// Rounds a coordinate to a tenth: files stay small, and the difference is invisible.
pub(super) fn short(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

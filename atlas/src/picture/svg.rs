//! The few shapes that the pictures are made of, written as SVG text.

use std::fmt::{Display, Write as _};

use super::{FONT_FAMILY, Picture};

/// Ink of text and pieces.
pub(super) const INK: &str = "#2a2a2e";
/// Text of less weight.
pub(super) const FAINT: &str = "#74747c";
/// Light squares.
pub(super) const LIGHT: &str = "#f6f1e7";
/// Dark squares.
pub(super) const DARK: &str = "#dccfb8";

/// A point, right and down from the top left corner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

pub(super) fn point(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// How a text lies at its point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
}

/// An SVG document in the making.
#[derive(Clone, Debug)]
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Coordinates to a tenth: files stay small, and nothing is seen of the rest.
fn short(number: f64) -> impl Display {
    (number * 10.0).round() / 10.0
}

impl Svg {
    /// An empty white picture.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut svg = Self { width, height, body: String::new() };
        svg.rectangle(point(0.0, 0.0), width, height, "#ffffff");
        svg
    }

    pub(super) fn rectangle(&mut self, at: Point, width: f64, height: f64, fill: &str) {
        let (x, y, width, height) = (short(at.x), short(at.y), short(width), short(height));
        let _ =
            writeln!(self.body, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>"#);
    }

    pub(super) fn frame(&mut self, at: Point, width: f64, height: f64, stroke: &str) {
        let (x, y, width, height) = (short(at.x), short(at.y), short(width), short(height));
        let _ = writeln!(
            self.body,
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" stroke="{stroke}"/>"#
        );
    }

    pub(super) fn circle(&mut self, centre: Point, radius: f64, fill: &str) {
        let (x, y, r) = (short(centre.x), short(centre.y), short(radius));
        let _ = writeln!(self.body, r#"<circle cx="{x}" cy="{y}" r="{r}" fill="{fill}"/>"#);
    }

    pub(super) fn line(&mut self, from: Point, to: Point, stroke: &str, dashed: bool) {
        let dashes = if dashed { r#" stroke-dasharray="4 4""# } else { "" };
        let (x1, y1, x2, y2) = (short(from.x), short(from.y), short(to.x), short(to.y));
        let _ = writeln!(
            self.body,
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{stroke}" stroke-width="1.6"{dashes}/>"#
        );
    }

    pub(super) fn polygon(&mut self, points: &[Point], fill: &str) {
        let points: Vec<_> = points.iter().map(|p| format!("{},{}", short(p.x), short(p.y))).collect();
        let _ = writeln!(self.body, r#"<polygon points="{}" fill="{fill}"/>"#, points.join(" "));
    }

    pub(super) fn text(&mut self, at: Point, size: f64, fill: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
        };
        let (x, y, size) = (short(at.x), short(at.y), short(size));
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(
            self.body,
            r#"<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" text-anchor="{anchor}">{text}</text>"#
        );
    }

    /// A shape defined in the document's head, moved to `at` and scaled from 100 units to `size`.
    pub(super) fn piece(&mut self, id: &str, at: Point, size: f64) {
        let (x, y, scale) = (short(at.x), short(at.y), (size * 10.0).round() / 1000.0);
        let _ = writeln!(self.body, r##"<use href="#{id}" transform="translate({x} {y}) scale({scale})"/>"##);
    }

    pub(super) fn finish(self) -> Picture {
        let (width, height) = (short(self.width), short(self.height));
        Picture(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"'{FONT_FAMILY}', sans-serif\">\n{PIECES}{}</svg>\n",
            self.body
        ))
    }
}

/// The pieces, each in a square of 100 units: a crown for all queens, a tower for the rook.
const PIECES: &str = r##"<defs>
<g id="queen" fill="#2a2a2e"><path d="M24 74L14 38L34 56L38 28L50 52L62 28L66 56L86 38L76 74Z"/>
<circle cx="14" cy="34" r="5.5"/><circle cx="38" cy="24" r="5.5"/><circle cx="62" cy="24" r="5.5"/>
<circle cx="86" cy="34" r="5.5"/><path d="M24 78H76V86H24Z"/></g>
<g id="rook" fill="#2a2a2e"><path d="M26 22H36V30H44V22H56V30H64V22H74V42L66 48V68L72 76H28L34 68V48L26 42Z"/>
<path d="M24 79H76V87H24Z"/></g>
</defs>
"##;

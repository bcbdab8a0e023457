//! The embedded font: how wide a text is and what outline it has.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};
use zeno::{Command, PathBuilder as _};

/// The name of the embedded font, for SVG.
pub(super) const FAMILY: &str = "DejaVu Sans";

/// `DejaVu Sans`, reduced to the characters needed; licence in `fonts/LICENSE`.
static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("../../fonts/DejaVuSans-subset.ttf"), 0).expect("the embedded file is a font")
});

/// The glyph of a character; of one that the font lacks, the box that stands for it.
fn glyph(character: char) -> GlyphId {
    FACE.glyph_index(character).unwrap_or(GlyphId(0))
}

/// How far a glyph moves the pen, in units of the font.
fn advance(glyph: GlyphId) -> f32 {
    f32::from(FACE.glyph_hor_advance(glyph).unwrap_or(0))
}

/// The units of a text for each unit of the font.
fn scale(size: f64) -> f32 {
    size as f32 / f32::from(FACE.units_per_em())
}

/// The width of a text of that size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    f64::from(text.chars().map(|c| advance(glyph(c))).sum::<f32>() * scale(size))
}

/// The outline of a text of that size that starts at `x` on the base line `y`.
pub(super) fn outline(text: &str, size: f64, (x, y): (f64, f64)) -> Vec<Command> {
    let mut pen = Pen { x: x as f32, y: y as f32, scale: scale(size), path: Vec::new() };
    for glyph in text.chars().map(glyph) {
        FACE.outline_glyph(glyph, &mut pen);
        pen.x += advance(glyph) * pen.scale;
    }
    pen.path
}

/// Writes glyph after glyph, each from where the one before ended.
struct Pen {
    x: f32,
    y: f32,
    scale: f32,
    path: Vec<Command>,
}

impl Pen {
    /// A point of a glyph, whose y grows upwards.
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.path.move_to(to);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let to = self.at(x, y);
        self.path.line_to(to);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, to) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(control, to);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second, to) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.curve_to(first, second, to);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

//! The embedded font: how wide a text is and what outline it has.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::outline::{Outline, Spot};

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

/// Adds the outline of a text of that size in pixels, that starts there on its base line.
pub(super) fn draw(text: &str, size: f32, at: Spot, outline: &mut Outline) {
    let mut pen = Pen { at, scale: scale(f64::from(size)), contour: Vec::new(), outline };
    for glyph in text.chars().map(glyph) {
        FACE.outline_glyph(glyph, &mut pen);
        pen.at.0 += advance(glyph) * pen.scale;
    }
}

/// The straight edges that stand for a curve: at the sizes of labels nobody sees a corner.
const EDGES: u8 = 8;

/// Writes glyph after glyph, each from where the one before ended.
struct Pen<'o> {
    at: Spot,
    scale: f32,
    contour: Vec<Spot>,
    outline: &'o mut Outline,
}

impl Pen<'_> {
    /// A point of a glyph, whose y grows upwards.
    fn spot(&self, x: f32, y: f32) -> Spot {
        (self.at.0 + x * self.scale, self.at.1 - y * self.scale)
    }
}

/// The point that lies so far on the way from one to the other.
fn between(from: Spot, to: Spot, way: f32) -> Spot {
    (from.0 + (to.0 - from.0) * way, from.1 + (to.1 - from.1) * way)
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.contour = vec![self.spot(x, y)];
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.contour.push(self.spot(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, to) = (self.spot(x1, y1), self.spot(x, y));
        let from = self.contour.last().copied().unwrap_or(control);
        for edge in 1..=EDGES {
            let way = f32::from(edge) / f32::from(EDGES);
            self.contour.push(between(between(from, control, way), between(control, to, way), way));
        }
    }

    /// The embedded font has none of these; their ends would do.
    fn curve_to(&mut self, _: f32, _: f32, _: f32, _: f32, x: f32, y: f32) {
        self.line_to(x, y);
    }

    fn close(&mut self) {
        self.outline.contour(std::mem::take(&mut self.contour));
    }
}

//! The embedded font: how wide a text is.

use std::sync::LazyLock;

use skrifa::MetadataProvider;
use skrifa::prelude::{FontRef, LocationRef, Size};

/// The name of the embedded font, for SVG.
pub(super) const FAMILY: &str = "DejaVu Sans";

/// `DejaVu Sans`, reduced to the characters needed; licence in `fonts/LICENSE`.
pub(super) const FILE: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

static FONT: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::new(FILE).expect("the embedded file is a font"));

/// The width of a text of that size. A character that the font lacks is drawn as a box.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let (characters, metrics) =
        (FONT.charmap(), FONT.glyph_metrics(Size::new(size as f32), LocationRef::default()));
    let advance = |character| metrics.advance_width(characters.map(character).unwrap_or_default());
    text.chars().filter_map(advance).map(f64::from).sum()
}

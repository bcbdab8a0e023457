//! Pictures: everything is drawn as SVG, and SVG is turned into pixels with an embedded font, so that a picture looks
//! the same on every machine and needs nothing of the system.

mod board;
mod constellation;
mod plot;
mod rings;
mod sheet;
mod svg;

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};
use thiserror::Error;

pub use board::board;
pub use constellation::constellation;
pub use plot::{histograms, level_sizes, placements};
pub use rings::rings;
pub use sheet::sheet;

/// The font `DejaVu Sans`, reduced to the characters needed; licence in `fonts/LICENSE`.
static FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// The family name of the embedded font.
const FONT_FAMILY: &str = "DejaVu Sans";

/// A picture as SVG text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture(pub String);

/// A picture that cannot be made.
#[derive(Debug, Error)]
pub enum PictureError {
    /// More boards than a sheet can show.
    #[error("a {what} of {count} would be unreadable; it is made for up to {largest}")]
    TooMany {
        /// What was to be drawn.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        largest: usize,
    },
    /// Nothing to show.
    #[error("there is nothing to draw: {0}")]
    Nothing(String),
    /// The drawing library failed.
    #[error("the picture could not be drawn: {0}")]
    Drawing(String),
}

impl Picture {
    /// The picture in pixels, `scale` of them for each unit of the SVG, as the bytes of a PNG file.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>, PictureError> {
        let drawing = |error: &dyn std::fmt::Display| PictureError::Drawing(error.to_string());
        let mut fonts = Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.set_sans_serif_family(FONT_FAMILY);
        let options =
            Options { fontdb: Arc::new(fonts), font_family: FONT_FAMILY.to_owned(), ..Options::default() };
        let tree = Tree::from_str(&self.0, &options).map_err(|e| drawing(&e))?;
        let pixels = |length: f32| (length * scale).ceil() as u32;
        let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
        let mut pixmap = Pixmap::new(width, height)
            .ok_or_else(|| drawing(&format!("{width} x {height} pixels are no picture")))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
        pixmap.encode_png().map_err(|e| drawing(&e))
    }
}

//! Pictures: each is described once, as a few shapes, and becomes SVG text or, with an embedded font, the pixels of a
//! PNG file.

mod board;
mod chart;
mod constellation;
mod curves;
mod error;
mod font;
mod histograms;
mod pixels;
mod png;
mod rings;
mod scene;
mod sheet;
mod svg;

pub use board::board;
pub use constellation::constellation;
pub use curves::{level_sizes, placements};
pub use error::PictureError;
pub use histograms::histograms;
pub use rings::rings;
pub use scene::Picture;
pub use sheet::sheet;

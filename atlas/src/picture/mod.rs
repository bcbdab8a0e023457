//! Pictures: each is drawn once, as SVG. A PNG file is that SVG, rendered with an embedded font.

mod board;
mod chart;
mod constellation;
mod curves;
mod drawn_board;
mod error;
mod font;
mod histograms;
mod moving;
mod paint;
mod paragraph;
mod pixels;
mod point;
mod ring_layout;
mod rings;
mod scene;
mod sheet;
mod strips;
mod symbol;

pub use board::{board, rectangle, title};
pub use constellation::constellation;
pub use curves::{level_sizes, placements};
pub use error::PictureError;
pub use histograms::histograms;
pub use moving::MovingPicture;
pub use paint::Theme;
pub(crate) use ring_layout::{Link, RingLayout};
pub use rings::rings;
pub use scene::Picture;
pub use sheet::sheets;
pub use strips::strips;
pub(crate) use symbol::QUEEN;

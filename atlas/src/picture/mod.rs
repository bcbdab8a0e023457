//! Pictures: each is described once, as a few shapes, and becomes SVG text or, with an embedded font, the pixels of a
//! PNG file.

mod board;
mod chart;
mod constellation;
mod curves;
mod drawn_board;
mod error;
mod font;
mod histograms;
mod moving;
mod paragraph;
mod pixels;
mod png;
mod ring_layout;
mod rings;
mod scene;
mod sheet;
mod svg;
mod symbol;

pub use board::{board, rectangle};
pub use constellation::constellation;
pub use curves::{level_sizes, placements};
pub use error::PictureError;
pub use histograms::histograms;
pub use moving::MovingPicture;
pub(crate) use ring_layout::{Link, RingLayout};
pub use rings::rings;
pub use scene::{Picture, Theme};
pub use sheet::sheets;
pub(crate) use symbol::QUEEN;

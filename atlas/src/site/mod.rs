//! The atlas of a board as a small self-contained site. It shows the families with all their images, the
//! rings, and a board to play on.

mod drawing;
mod gallery;
mod page;
mod play;
mod rings;

use queens::{Board, Class, Classified};
use thiserror::Error;

use crate::orbits::{SolutionOrbits, TooMany};
use crate::rings::{Shift, ShiftGraph};
use crate::setting::Setting;

pub use page::MARK;

/// The boards that have solutions to look at, and not too many.
const SIZES: std::ops::RangeInclusive<u8> = 4..=10;

/// Why there is no site.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SiteError {
    /// No solutions, or more than a page can show.
    #[error(
        "the pages of an atlas are of a board of {first} to {last} queens, not {0}",
        first = SIZES.start(),
        last = SIZES.end()
    )]
    Size(Board),
    /// More solutions than can be held.
    #[error(transparent)]
    TooMany(#[from] TooMany),
}

impl Classified for SiteError {
    fn class(&self) -> Class {
        match self {
            Self::Size(_) => Class::Usage,
            Self::TooMany(_) => Class::Failed,
        }
    }
}

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// The file name of the page.
    pub name: &'static str,
    /// The content of the file.
    pub text: String,
}

/// All files of the atlas of n queens on the plain board; `index.html` is the first page.
///
/// # Errors
/// [`SiteError`] if the board is too small or too large.
pub fn site(board: Board) -> Result<Vec<SiteFile>, SiteError> {
    if !SIZES.contains(&board.n()) {
        return Err(SiteError::Size(board));
    }
    let setting = Setting::queens(board);
    let orbits = SolutionOrbits::of(setting)?;
    let graph = ShiftGraph::of(setting, &Shift::STRAIGHT)?;
    let file = |name, text| SiteFile { name, text };
    Ok(vec![
        file("index.html", gallery::gallery(&orbits, &graph)),
        file("rings.html", rings::rings(&orbits, &graph)),
        file("play.html", play::play(&orbits)),
        file("atlas.css", include_str!("../../assets/atlas.css").to_owned()),
        file("rings.js", include_str!("../../assets/rings.js").to_owned()),
        file("play.js", include_str!("../../assets/play.js").to_owned()),
    ])
}

//! Why a picture is not made.

use queens::Classified;
use thiserror::Error;

/// A picture that cannot be made.
#[derive(Debug, Error)]
pub enum PictureError {
    /// More boards than a sheet can show.
    #[error("a {what} of {count} would be unreadable; it is made for up to {largest}")]
    TooMany {
        /// The requested picture.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        largest: usize,
    },
    /// There is nothing to draw.
    #[error("there is nothing to draw: {0}")]
    Nothing(String),
    /// No pixels, or more than can be held.
    #[error("{width} x {height} pixels are no picture")]
    Size {
        /// Pixels in a row.
        width: u32,
        /// Pixels in a column.
        height: u32,
    },
}

impl Classified for PictureError {}

//! A placement as typed. Another option gives the lowest number of columns and rows, 0 or 1.

use atlas::{Placement, PlacementError};

/// A text that may be a placement.
#[derive(Clone, Debug)]
pub struct WrittenPlacement(String);

impl WrittenPlacement {
    /// The placement that is meant.
    ///
    /// # Errors
    /// If it is none when it is counted so.
    pub fn counted(&self, from_zero: bool) -> Result<Placement, PlacementError> {
        Placement::read(&self.0, u8::from(!from_zero))
    }
}

impl From<&str> for WrittenPlacement {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

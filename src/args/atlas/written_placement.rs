//! A placement as it is typed: whether it is counted from 0 or from 1 is said by another option.

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

//! A placement as it is typed: whether it is counted from 0 or from 1 is said by another option.

use std::str::FromStr;

use atlas::{Placement, PlacementError};

/// A text that is a placement when it is counted from 1, or from 0.
#[derive(Clone, Debug)]
pub struct WrittenPlacement(String);

impl WrittenPlacement {
    /// The placement that is meant.
    ///
    /// # Errors
    /// If it is one only when counted otherwise.
    pub fn counted(&self, from_zero: bool) -> Result<Placement, PlacementError> {
        Placement::read(&self.0, u8::from(!from_zero))
    }
}

impl FromStr for WrittenPlacement {
    type Err = PlacementError;
    fn from_str(text: &str) -> Result<Self, PlacementError> {
        let from_one = Placement::read(text, 1);
        from_one.or_else(|wrong| Placement::read(text, 0).map_err(|_| wrong))?;
        Ok(Self(text.to_owned()))
    }
}

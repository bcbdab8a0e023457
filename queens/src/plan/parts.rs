//! What a scheme makes of a board: the parts of a plan in the order of their units.

use crate::plan::part::Part;
use crate::symmetry::SymmetryClass;

/// The parts of a plan, and the classes of the constellations with symmetry.
pub struct Parts {
    /// In the order of their units.
    pub parts: Vec<Part>,
    /// By the numbers that summands have for them.
    pub symmetric: Vec<SymmetryClass>,
}

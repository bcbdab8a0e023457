//! The parts of a plan, in the order of their units.

use std::cmp::Reverse;

use crate::plan::part::Part;
use crate::position::Position;
use crate::summand::{Measure, Summand};
use crate::symmetry::SymmetryClass;

/// The parts of a plan as they are made.
pub struct Parts {
    fixed: Vec<Part>,
    completions: Vec<Part>,
    symmetric: Vec<SymmetryClass>,
    /// How many units more there may be.
    left: u64,
}

impl Parts {
    /// No parts yet, and at most `most` units.
    pub fn new(most: u64) -> Self {
        Self { fixed: Vec::new(), completions: Vec::new(), symmetric: Vec::new(), left: most }
    }

    /// How many units more there may be.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Adds the symmetric counts of a constellation of that class and expected work, in nodes, each a unit. Gives the
    /// summand of its completions.
    pub fn add_class(&mut self, class: SymmetryClass, position: &Position, work: f64) -> Option<Summand> {
        let measures: &[Measure] = match class {
            SymmetryClass::Asymmetric => return Some(Summand::Asymmetric),
            SymmetryClass::Full => &[],
            SymmetryClass::Point => &[Measure::HalfTurn],
            SymmetryClass::Rotational => &[Measure::HalfTurn, Measure::QuarterTurn],
        };
        let member = self.symmetric.len() as u32;
        self.symmetric.push(class);
        for measure in measures {
            // A turn halves the number of rows to fill, so the search takes about the root of the nodes. Roots are exact
            // to the last bit on every machine (IEEE 754).
            let part = Part::whole(position.clone(), Summand::Symmetric(member, *measure), work.sqrt());
            self.left = self.left.checked_sub(part.units())?;
            self.fixed.push(part);
        }
        Some(Summand::Symmetric(member, Measure::Completions))
    }

    /// Adds completions. `None` if that makes too many units.
    pub fn add(&mut self, part: Part) -> Option<()> {
        self.left = self.left.checked_sub(part.units())?;
        self.completions.push(part);
        Some(())
    }

    /// The parts in the order of their units, and the classes of the constellations with symmetry by their numbers in
    /// summands. Symmetric counts come first, then completions, heaviest units first, so that the last units of a run are
    /// its smallest and no core is left waiting for long.
    pub fn in_order(self) -> (Vec<Part>, Vec<SymmetryClass>) {
        let Self { fixed: mut parts, mut completions, symmetric, .. } = self;
        completions.sort_by_cached_key(|part| Reverse(part.unit_weight()));
        parts.append(&mut completions);
        (parts, symmetric)
    }
}

//! The sum of a run to which the count of a unit belongs, shared by plans and tallies.

/// Which of the sums a unit's count belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Summand {
    /// The completions of constellations without symmetry.
    Asymmetric,
    /// A sum of one constellation that has a symmetry, by its number among those of the plan.
    Symmetric(u32, Measure),
}

impl Summand {
    /// True if this counts the completions that a turn fixes, by a separate search, instead of all completions.
    pub fn is_symmetric_count(self) -> bool {
        matches!(self, Self::Symmetric(_, Measure::HalfTurn | Measure::QuarterTurn))
    }
}

/// The measure of a constellation with symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// All completions, T.
    Completions,
    /// Completions that the half turn fixes, h = p + r.
    HalfTurn,
    /// Completions that the quarter turn fixes, r.
    QuarterTurn,
}

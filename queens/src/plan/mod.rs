//! Plans: the numbered list of units of a run, the same on every machine.
//!
//! A plan is given by its [`PlanSpec`] and by nothing else, so both ends of a wire derive it and only unit numbers
//! and a fingerprint travel. It keeps one `Part` for each constellation (and symmetric count); a unit
//! is derived from its number alone, by a search in the parts and a short walk within one.

mod border;
mod canonical;
mod constellations;
mod estimate;
mod families;
mod part;
mod parts;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::board::Board;
use crate::kernel::{Count, Kernel, Method, Stop};
use crate::position::Position;
use crate::summand::{Measure, Summand};
use crate::symmetric::{Turn, count_fixed};
use crate::symmetry::SymmetryClass;
pub use border::{Border, Family};
use part::{OuterSplit, Part};
use parts::Parts;

/// The number of a unit in its plan, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnitId(pub u64);

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How the count of a board is cut into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "scheme", rename_all = "lowercase")]
pub enum Scheme {
    /// One boundary constellation of each orbit, split by the queens of further rows.
    Constellations {
        /// The size of a unit in expected search nodes.
        grain: u64,
    },
    /// The constellations that share top and bottom queen together, split by the queens of outer rows.
    Families {
        /// How many further outer rows are split by.
        rows: u8,
        /// The squares of the last of them that go into one unit.
        group: u8,
        /// For how many rows more it is fixed on which side of the cut their queens fall.
        sides: u8,
    },
}

/// All that a plan follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanSpec {
    /// The board.
    pub n: Board,
    /// The scheme with its parameters.
    #[serde(flatten)]
    pub scheme: Scheme,
    /// The version of the scheme's rules. Old versions stay, because runs last for months.
    pub version: u32,
}

/// A specification that gives no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A version from the future.
    #[error(
        "the plan has version {0}; this diadem knows version {CURRENT_VERSION} only: use the release that began the run"
    )]
    UnknownVersion(u32),
    /// A unit must have some work in it.
    #[error("the plan's grain must be at least 1 node, not 0")]
    NoGrain,
    /// A group must have a square in it, and splits have their limits.
    #[error(
        "a plan by families splits by at most 8 outer rows in groups of 1 to 32 squares and by at most 12 sides, \
         not by {rows} rows, groups of {group} and {sides} sides"
    )]
    NoSplit {
        /// The outer rows asked for.
        rows: u8,
        /// The squares in a group.
        group: u8,
        /// The sides.
        sides: u8,
    },
    /// Nobody could count or even number so many pieces.
    #[error("the plan would have about {0} units; split it less, into {MOST_UNITS} at most")]
    TooManyUnits(u64),
}

/// Plans with more units are refused before anything is derived. Those of new runs have some millions at most.
const MOST_UNITS: u64 = 1_000_000_000;

/// The most outer rows and sides that a plan by families is split by.
const MOST_ROWS: u8 = 8;
const MOST_SIDES: u8 = 12;

/// The version of new plans.
const CURRENT_VERSION: u32 = 1;

impl PlanSpec {
    /// The specification of a new run on that board, for the row-by-row search.
    pub fn new(n: Board) -> Self {
        Self {
            n,
            scheme: Scheme::Constellations { grain: constellations::default_grain(n) },
            version: CURRENT_VERSION,
        }
    }

    /// The specification of a new run on that board, for halves that meet.
    pub fn families(n: Board) -> Self {
        let OuterSplit { rows, group, sides } = families::default_split(n);
        let scheme = Scheme::Families { rows: rows as u8, group: group as u8, sides: sides as u8 };
        Self { n, scheme, version: CURRENT_VERSION }
    }

    /// The method whose kernels the plan suits best. Others count it too.
    pub fn method(&self) -> Method {
        match self.scheme {
            Scheme::Constellations { .. } => Method::Search,
            Scheme::Families { .. } => Method::Meet,
        }
    }

    /// Refuses a specification that gives no plan, or one out of all proportion.
    fn check(&self) -> Result<(), PlanError> {
        if self.version != CURRENT_VERSION {
            return Err(PlanError::UnknownVersion(self.version));
        }
        let expected = match self.scheme {
            Scheme::Constellations { grain: 0 } => return Err(PlanError::NoGrain),
            Scheme::Constellations { grain } => constellations::expected_units(self.n, grain),
            Scheme::Families { rows, group, sides }
                if rows > MOST_ROWS || !(1..=32).contains(&group) || sides > MOST_SIDES =>
            {
                return Err(PlanError::NoSplit { rows, group, sides });
            }
            Scheme::Families { rows, group, sides } => {
                families::expected_units(self.n, outer_split(rows, group, sides))
            }
        };
        let expected = expected as u64;
        if expected > MOST_UNITS { Err(PlanError::TooManyUnits(expected)) } else { Ok(()) }
    }

    /// The specification of a new run on that board that suits a method.
    pub fn for_kernel(n: Board, method: Method) -> Self {
        match method {
            Method::Meet => Self::families(n),
            Method::Search => Self::new(n),
        }
    }
}

fn outer_split(rows: u8, group: u8, sides: u8) -> OuterSplit {
    OuterSplit { rows: rows.into(), group: group.into(), sides: sides.into() }
}

/// One piece of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its number.
    pub id: UnitId,
    /// What is to be completed.
    pub position: Position,
    /// Which sum its count belongs to.
    pub summand: Summand,
}

impl Unit {
    /// The unit mirrored left to right: other bits all the way, the same count, and for each method the same nodes.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self { position: self.position.mirrored(), ..*self }
    }

    /// Counts the unit: completions by the kernel, symmetric counts by their own search. Nothing if stopped.
    pub fn count(&self, kernel: &dyn Kernel, stop: &Stop) -> Option<Count> {
        match self.summand {
            Summand::Asymmetric | Summand::Symmetric(_, Measure::Completions) => {
                kernel.count(&self.position, stop)
            }
            Summand::Symmetric(_, Measure::HalfTurn) => count_fixed(&self.position, Turn::Half, stop),
            Summand::Symmetric(_, Measure::QuarterTurn) => count_fixed(&self.position, Turn::Quarter, stop),
        }
    }
}

/// Units with consecutive numbers that have border and summand in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Their border queens.
    pub border: Border,
    /// Which sum their counts belong to.
    pub summand: Summand,
    /// Their numbers.
    pub units: Range<u64>,
}

/// The hash of everything in a plan, 128 bits, written as 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint(String);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<String> for Fingerprint {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// A plan, derived from its specification. Memory grows with the constellations, not with the units.
#[derive(Clone, Debug)]
pub struct Plan {
    spec: PlanSpec,
    fingerprint: Fingerprint,
    parts: Vec<Part>,
    /// The number of each part's first unit, and at the end the number of units.
    firsts: Vec<u64>,
    symmetric: Vec<(SymmetryClass, u64)>,
}

impl Plan {
    /// Derives the plan. Takes milliseconds for n = 16, about a second for n = 28.
    pub fn derive(spec: PlanSpec) -> Result<Self, PlanError> {
        spec.check()?;
        let Parts { parts, symmetric } = match spec.scheme {
            Scheme::Constellations { grain } => constellations::parts(spec.n, grain),
            Scheme::Families { rows, group, sides } => {
                families::parts(spec.n, outer_split(rows, group, sides))
            }
        };
        let mut firsts = vec![0];
        let mut members: Vec<_> = symmetric.into_iter().map(|class| (class, 0)).collect();
        let mut hash = blake3::Hasher::new();
        hash.update(format!("{spec:?}").as_bytes());
        for part in &parts {
            firsts.push(firsts[firsts.len() - 1] + part.units());
            if let Summand::Symmetric(member, _) = part.summand() {
                members[member as usize].1 += part.units();
            }
            part.hash_into(&mut hash);
        }
        let fingerprint = Fingerprint(hash.finalize().to_hex()[..32].to_owned());
        Ok(Self { spec, fingerprint, parts, firsts, symmetric: members })
    }

    /// What the plan was derived from.
    pub fn spec(&self) -> PlanSpec {
        self.spec
    }

    /// The board.
    pub fn board(&self) -> Board {
        self.spec.n
    }

    /// The hash of everything in the plan.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// The number of units.
    pub fn units(&self) -> u64 {
        self.firsts[self.parts.len()]
    }

    /// The unit of that number.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn unit(&self, id: UnitId) -> Unit {
        let (part, index) = self.part_of(id);
        Unit { id, position: part.position_of_unit(index), summand: part.summand() }
    }

    /// Which sum the unit's count belongs to.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn summand(&self, id: UnitId) -> Summand {
        self.part_of(id).0.summand()
    }

    /// The unit's expected work, in search nodes; at least 1.
    ///
    /// # Panics
    /// If the plan has no such unit.
    pub fn weight(&self, id: UnitId) -> u64 {
        self.part_of(id).0.unit_weight()
    }

    /// The expected work of the whole plan, in search nodes.
    pub fn total_weight(&self) -> u128 {
        self.parts.iter().map(|part| u128::from(part.unit_weight()) * u128::from(part.units())).sum()
    }

    /// The pieces that the units fall into, in the order of their numbers: together they are all units.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        self.parts.iter().zip(self.firsts.windows(2)).map(|(part, firsts)| Piece {
            border: part.border(),
            summand: part.summand(),
            units: firsts[0]..firsts[1],
        })
    }

    /// The constellations that have a symmetry: class and number of units (completions and symmetric counts).
    pub fn symmetric_members(&self) -> impl Iterator<Item = (SymmetryClass, u64)> + '_ {
        self.symmetric.iter().copied()
    }

    fn part_of(&self, id: UnitId) -> (&Part, u64) {
        assert!(id.0 < self.units(), "the plan has {} units, no unit {id}", self.units());
        let part = self.firsts.partition_point(|first| *first <= id.0) - 1;
        (&self.parts[part], id.0 - self.firsts[part])
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;

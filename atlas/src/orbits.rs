//! Orbits: the solutions that motions carry into each other. One of them, the smallest, stands for all and is
//! called fundamental.
//!
//! For queens on the plain board these are the orbits under the eight symmetries of the square, and their
//! number is A + P + R. On other boards and for other pieces they are the orbits under the
//! [motions](Setting::motions) of that setting.

use std::collections::BTreeMap;

use queens::{Classified, SymmetryClass, Totals, known};
use thiserror::Error;

use crate::motion::Motion;
use crate::placement::Placement;
use crate::setting::Setting;
use crate::solutions::Solutions;

/// More solutions than a list in memory may have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{setting} have more than {limit} solutions, too many to sort in memory; take a smaller n (diadem atlas orbits --totals \
     counts their families without)"
)]
pub struct TooMany {
    /// The requested setting.
    pub setting: Setting,
    /// The largest list.
    pub limit: usize,
}

impl Classified for TooMany {}

/// The longest list of solutions that is held in memory: enough for n = 14.
const LIMIT: usize = 1_000_000;

/// All solutions of the setting in ascending order, held in memory.
pub(crate) fn listed(setting: Setting) -> Result<Vec<Placement>, TooMany> {
    let too_many = TooMany { setting, limit: LIMIT };
    // For plain queens this is known beforehand: no board with so few solutions has a published count.
    let is_short = |totals: Totals| totals.solutions() <= LIMIT as u128;
    if setting.is_plain_queens() && !known::totals(setting.board).is_some_and(is_short) {
        return Err(too_many);
    }
    let solutions: Vec<_> = Solutions::ascending(setting).take(LIMIT + 1).collect();
    if solutions.len() > LIMIT { Err(too_many) } else { Ok(solutions) }
}

/// A solution within its orbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number of the solution, from 1, in ascending order.
    pub number: usize,
    /// The first motion that leads to it from the orbit's fundamental solution.
    pub motion: Motion,
}

/// Solutions that motions carry into each other.
#[derive(Clone, Debug)]
pub struct SolutionOrbit {
    /// Ascending; the first is the fundamental solution.
    pub members: Vec<Member>,
}

/// All solutions of a setting, in their orbits.
#[derive(Clone, Debug)]
pub struct SolutionOrbits {
    /// The setting of the solutions.
    pub setting: Setting,
    /// All solutions, ascending. Solution number i is at index i - 1.
    pub solutions: Vec<Placement>,
    /// B1, B2, ... in ascending order of their fundamental solutions. Orbit number i is at index i - 1.
    pub orbits: Vec<SolutionOrbit>,
    /// For each solution, the number of its orbit.
    pub orbit_of: Vec<usize>,
}

impl SolutionOrbits {
    /// Finds all solutions and sorts them into orbits.
    ///
    /// # Errors
    /// [`TooMany`] beyond a million solutions.
    pub fn of(setting: Setting) -> Result<Self, TooMany> {
        Self::under(setting, &setting.motions())
    }

    /// The same under these motions alone, a group that begins with the identity.
    ///
    /// # Errors
    /// [`TooMany`] beyond a million solutions.
    pub fn under(setting: Setting, motions: &[Motion]) -> Result<Self, TooMany> {
        let solutions = listed(setting)?;
        let mut orbits: Vec<SolutionOrbit> = Vec::new();
        let mut orbit_of = vec![0; solutions.len()];
        for index in 0..solutions.len() {
            if orbit_of[index] == 0 {
                let orbit = SolutionOrbit::around(setting, motions, &solutions, index);
                let number = orbits.len() + 1;
                orbit.members.iter().for_each(|member| orbit_of[member.number - 1] = number);
                orbits.push(orbit);
            }
        }
        Ok(Self { setting, solutions, orbits, orbit_of })
    }

    /// The fundamental solution of an orbit.
    pub fn fundamental(&self, orbit: &SolutionOrbit) -> &Placement {
        &self.solutions[orbit.members[0].number - 1]
    }

    /// The symmetry class of an orbit of plain queens; nothing in other settings, which have other symmetries.
    pub fn class(&self, orbit: &SolutionOrbit) -> Option<SymmetryClass> {
        self.setting.is_plain_queens().then(|| class_of(orbit.members.len()))
    }
}

/// The symmetry class of an orbit of plain queens with `members` members.
pub(crate) fn class_of(members: usize) -> SymmetryClass {
    match members {
        8 => SymmetryClass::Asymmetric,
        4 => SymmetryClass::Point,
        2 => SymmetryClass::Rotational,
        _ => SymmetryClass::Full,
    }
}

impl SolutionOrbit {
    fn around(setting: Setting, motions: &[Motion], solutions: &[Placement], index: usize) -> Self {
        let mut members: Vec<Member> = Vec::new();
        for &motion in motions {
            let image = motion.image(setting.board, &solutions[index]);
            let number = solutions.binary_search(&image).expect("motions carry solutions to solutions") + 1;
            if members.iter().all(|member| member.number != number) {
                members.push(Member { number, motion });
            }
        }
        members.sort_by_key(|member| member.number);
        Self { members }
    }
}

/// How many solutions a setting has, and how many orbits of each size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrbitCounts {
    /// All solutions.
    pub solutions: u64,
    /// The number of orbits of each size.
    pub orbits: BTreeMap<usize, u64>,
}

impl OrbitCounts {
    /// Counts solution by solution, in constant memory: an orbit is counted at its fundamental solution.
    pub fn of(setting: Setting) -> Self {
        Self::under(setting, &setting.motions())
    }

    /// The same under these motions alone, a group that begins with the identity.
    pub fn under(setting: Setting, motions: &[Motion]) -> Self {
        let mut image = vec![0; usize::from(setting.board.n())];
        let mut counts = Self { solutions: 0, orbits: BTreeMap::new() };
        for solution in Solutions::ascending(setting) {
            counts.solutions += 1;
            let mut fixing = 0;
            let is_fundamental = motions.iter().all(|motion| {
                motion.write_image(setting.board, &solution, &mut image);
                fixing += usize::from(*image == *solution.rows());
                *image >= *solution.rows()
            });
            if is_fundamental {
                *counts.orbits.entry(motions.len() / fixing).or_default() += 1;
            }
        }
        counts
    }

    /// The number of orbits.
    pub fn fundamental(&self) -> u64 {
        self.orbits.values().sum()
    }
}

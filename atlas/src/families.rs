//! Families: the solutions that motions carry into each other. One of them, the smallest, stands for all and is
//! called fundamental.
//!
//! For queens on the plain board these are the orbits under the eight symmetries of the square, whose number is
//! A + P + R; on other boards, or for other pieces, the orbits under that setting's own [motions](Setting::motions).

use std::collections::BTreeMap;

use queens::SymmetryClass;
use thiserror::Error;

use crate::motion::Motion;
use crate::placement::Placement;
use crate::setting::Setting;
use crate::solutions::Solutions;

/// More solutions than a list in memory may have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{setting} have more than {limit} solutions, too many to sort in memory; take a smaller n (families can be counted \
     without: --totals)"
)]
pub struct TooMany {
    /// What was asked for.
    pub setting: Setting,
    /// The largest list.
    pub limit: usize,
}

/// The longest list of solutions that is held in memory: enough for n = 14.
const LIMIT: usize = 1_000_000;

/// All solutions of the setting in ascending order, held in memory.
pub(crate) fn listed(setting: Setting) -> Result<Vec<Placement>, TooMany> {
    let solutions: Vec<_> = Solutions::ascending(setting).take(LIMIT + 1).collect();
    if solutions.len() > LIMIT { Err(TooMany { setting, limit: LIMIT }) } else { Ok(solutions) }
}

/// A solution within its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The number of the solution, from 1, in ascending order.
    pub number: usize,
    /// The first motion that leads to it from the family's fundamental solution.
    pub motion: Motion,
}

/// Solutions that motions carry into each other.
#[derive(Clone, Debug)]
pub struct Family {
    /// Ascending; the first is the fundamental solution.
    pub members: Vec<Member>,
}

/// All solutions of a setting, in their families.
#[derive(Clone, Debug)]
pub struct Families {
    /// What they are solutions of.
    pub setting: Setting,
    /// All solutions, ascending. Solution number i is at index i - 1.
    pub solutions: Vec<Placement>,
    /// B1, B2, ... in ascending order of their fundamental solutions. Family number i is at index i - 1.
    pub families: Vec<Family>,
    /// For each solution, the number of its family.
    pub family_of: Vec<usize>,
}

impl Families {
    /// Finds all solutions and sorts them into families.
    pub fn of(setting: Setting) -> Result<Self, TooMany> {
        let solutions = listed(setting)?;
        let motions = setting.motions();
        let mut families: Vec<Family> = Vec::new();
        let mut family_of = vec![0; solutions.len()];
        for index in 0..solutions.len() {
            if family_of[index] == 0 {
                let family = Family::around(setting, &motions, &solutions, index);
                let number = families.len() + 1;
                family.members.iter().for_each(|member| family_of[member.number - 1] = number);
                families.push(family);
            }
        }
        Ok(Self { setting, solutions, families, family_of })
    }

    /// The fundamental solution of a family.
    pub fn fundamental(&self, family: &Family) -> &Placement {
        &self.solutions[family.members[0].number - 1]
    }

    /// The symmetry class of a family of plain queens; nothing in other settings, which have other symmetries.
    pub fn class(&self, family: &Family) -> Option<SymmetryClass> {
        self.setting.is_plain_queens().then_some(match family.members.len() {
            8 => SymmetryClass::Asymmetric,
            4 => SymmetryClass::Point,
            2 => SymmetryClass::Rotational,
            _ => SymmetryClass::Full,
        })
    }
}

impl Family {
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

/// How many solutions a setting has, and how many families of each size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyCounts {
    /// All solutions.
    pub solutions: u64,
    /// For each size of a family, how many families have it.
    pub families: BTreeMap<usize, u64>,
}

impl FamilyCounts {
    /// Counts solution by solution, in constant memory: a family is counted at its fundamental solution.
    pub fn of(setting: Setting) -> Self {
        let motions = setting.motions();
        let mut image = vec![0; usize::from(setting.board.n())];
        let mut counts = Self { solutions: 0, families: BTreeMap::new() };
        for solution in Solutions::ascending(setting) {
            counts.solutions += 1;
            let mut fixing = 0;
            let is_fundamental = motions.iter().all(|motion| {
                motion.write_image(setting.board, &solution, &mut image);
                fixing += usize::from(*image == *solution.rows());
                *image >= *solution.rows()
            });
            if is_fundamental {
                *counts.families.entry(motions.len() / fixing).or_default() += 1;
            }
        }
        counts
    }

    /// The number of families.
    pub fn fundamental(&self) -> u64 {
        self.families.values().sum()
    }
}

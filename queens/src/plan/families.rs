//! The scheme by families: the constellations that share top and bottom queen together, for halves that meet.
//!
//! A *family* is a position with two queens, top and bottom, and the (left, right) pairs of its constellations. Which
//! of its eight images stands for a constellation ([`canonical`](super::canonical)) is chosen so that families are few and
//! full: the one whose top and bottom queens reach nearest to a corner. A family whose queens are at distance d (or more) from the corners then
//! has all left and right queens at distances greater than d, a full square, and a few of those at distance d.
//!
//! A family is split by the queens of further outer rows, and where a row more would cost more than it saves, by the
//! sides on which queens fall. Constellations with a symmetry of their own are counted apart.

use std::collections::BTreeMap;

use crate::board::{Board, Square};
use crate::constellation::Constellation;
use crate::plan::canonical::is_canonical;
use crate::plan::estimate::Estimate;
use crate::plan::part::{OuterSplit, Part};
use crate::plan::parts::Parts;
use crate::position::{BoundaryPairs, Position};
use crate::rows::free_rows;
use crate::summand::{Measure, Summand};
use crate::symmetry::SymmetryClass;

/// How the families of a board are split by default: into units of about a minute at n = 25 to 27, of ten minutes at
/// n = 28, and into some thousands from n = 16 on.
pub fn default_split(board: Board) -> OuterSplit {
    let (rows, group, sides) = match board.n() {
        0..=11 => (0, 1, 0),
        12..=15 => (0, 1, 2),
        16..=17 => (0, 1, 3),
        18..=19 => (0, 1, 4),
        20..=22 => (1, 1, 2),
        23 => (1, 1, 4),
        24..=25 => (2, 1, 0),
        26 => (3, 1, 0),
        27 => (4, 4, 0),
        28 => (4, 6, 0),
        29..=30 => (4, 10, 0),
        _ => (4, 16, 0),
    };
    OuterSplit { rows, group, sides }
}

/// About how many units a plan with that split has, without deriving it: n squares in each row that it splits by and in
/// the two of the family, an eighth of them for the symmetry.
pub fn expected_units(board: Board, split: OuterSplit) -> f64 {
    let OuterSplit { rows, group, sides } = split;
    let leaves = f64::from(board.n()).powf(rows as f64 + 2.0) / 8.0 / f64::from(group);
    leaves * f64::from(sides).exp2()
}

/// The parts for that split: the symmetric counts, then the completions, heaviest units first.
pub fn parts(board: Board, split: OuterSplit) -> Parts {
    let mut families: BTreeMap<(u8, u8), BoundaryPairs> = BTreeMap::new();
    let mut symmetric = Vec::new();
    let mut counts = Vec::new();
    let mut completions = Vec::new();
    let estimate = Estimate::new(board);
    for representative in Constellation::all(board).filter(|x| is_canonical(board, *x)) {
        let class = representative.class(board);
        if class == SymmetryClass::Asymmetric {
            let family = families.entry((representative.top, representative.bottom));
            family.or_insert_with(BoundaryPairs::none).allow(representative.left, representative.right);
            continue;
        }
        let member = symmetric.len() as u32;
        symmetric.push(class);
        let position = Position::of_constellation(board, representative);
        let work = weight(&estimate, &position);
        let measures: &[Measure] = match class {
            SymmetryClass::Asymmetric | SymmetryClass::Full => &[],
            SymmetryClass::Point => &[Measure::HalfTurn],
            SymmetryClass::Rotational => &[Measure::HalfTurn, Measure::QuarterTurn],
        };
        let fixed = |measure: &Measure| {
            Part::whole(position.clone(), Summand::Symmetric(member, *measure), work.sqrt())
        };
        counts.extend(measures.iter().map(fixed));
        // Four queens are placed already.
        let split = OuterSplit { rows: split.rows.saturating_sub(2), group: 1, sides: 0 };
        let summand = Summand::Symmetric(member, Measure::Completions);
        completions.push(Part::split_outer(position, summand, work, split));
    }
    for ((top, bottom), pairs) in families {
        let last = board.last();
        let queens =
            Position::empty(board).with_queen(Square::new(0, top)).with_queen(Square::new(last, bottom));
        let share = pairs.iter().count() as f64 / pairs_around(board, top, bottom) as f64;
        let work = weight(&estimate, &queens) * share;
        completions.push(Part::split_outer(queens.with_boundary(pairs), Summand::Asymmetric, work, split));
    }
    completions.sort_by_cached_key(|part| std::cmp::Reverse(part.unit_weight()));
    counts.append(&mut completions);
    Parts { parts: counts, symmetric }
}

/// The number of (left, right) pairs that make valid constellations with this top and bottom queen.
fn pairs_around(board: Board, top: u8, bottom: u8) -> usize {
    let rights = |left| board.lines().map(move |right| Constellation { top, bottom, left, right });
    board.lines().flat_map(rights).filter(|x| x.is_valid(board)).count()
}

/// The expected work of a position, in completions.
fn weight(estimate: &Estimate, position: &Position) -> f64 {
    free_rows(position).next().map_or(0.0, |rows| estimate.completions(&rows))
}

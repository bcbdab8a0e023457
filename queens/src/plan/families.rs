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
use crate::plan::geometry::empty_rows;
use crate::plan::part::{OuterSplit, Part};
use crate::plan::parts::Parts;
use crate::position::{BoundaryPairs, Position};
use crate::summand::Summand;
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

/// The parts for that split. Nothing if that makes more than `most` units.
pub fn parts(board: Board, split: OuterSplit, most: u64) -> Option<Parts> {
    let mut families: BTreeMap<(u8, u8), BoundaryPairs> = BTreeMap::new();
    let mut parts = Parts::new(most);
    let estimate = Estimate::new(board);
    // Of a constellation with symmetry four queens are placed already.
    let of_symmetric = OuterSplit { rows: split.rows.saturating_sub(2), group: 1, sides: 0 };
    for representative in Constellation::all(board).filter(|x| is_canonical(board, *x)) {
        let class = representative.class(board);
        if class == SymmetryClass::Asymmetric {
            let family = families.entry((representative.top, representative.bottom));
            family.or_insert_with(BoundaryPairs::none).allow(representative.left, representative.right);
            continue;
        }
        let position = Position::of_constellation(board, representative);
        let work = weight(&estimate, &position);
        let summand = parts.add_class(class, &position, work)?;
        parts.add(Part::split_outer(position, summand, work, of_symmetric, parts.left())?)?;
    }
    for ((top, bottom), pairs) in families {
        let last = board.last();
        let queens =
            Position::empty(board).with_queen(Square::new(0, top)).with_queen(Square::new(last, bottom));
        let share = pairs.iter().count() as f64 / pairs_around(board, top, bottom) as f64;
        let work = weight(&estimate, &queens) * share;
        let position = queens.with_boundary(pairs);
        parts.add(Part::split_outer(position, Summand::Asymmetric, work, split, parts.left())?)?;
    }
    Some(parts)
}

/// The number of (left, right) pairs that make valid constellations with this top and bottom queen.
fn pairs_around(board: Board, top: u8, bottom: u8) -> usize {
    let rights = |left| board.lines().map(move |right| Constellation { top, bottom, left, right });
    board.lines().flat_map(rights).filter(|x| x.is_valid(board)).count()
}

/// The expected work of a position, in completions.
fn weight(estimate: &Estimate, position: &Position) -> f64 {
    estimate.completions(&empty_rows(position.board(), position.queens()))
}

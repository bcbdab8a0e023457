//! The schemes by families: the constellations that share top and bottom queen together, for halves that meet.
//!
//! A *family* is a position with two queens, top and bottom, and the (left, right) pairs of its
//! constellations. [`canonical`](super::canonical) chooses the image of a constellation whose top and bottom
//! queens are nearest to a corner, so that families are few and full. Take a family whose queens are at
//! distance d or more from the corners. Its left and right queens have all distances greater than d, a full
//! square of pairs. A few pairs at distance d come on top.
//!
//! Two schemes split families. The first splits by the queens of further outer rows, and by the sides of
//! outer rows where another row would cost more than it saves. The second splits by the queens of central
//! columns, which belong to neither half and restrict both. It then splits each family by a number of sides
//! that follows from its weight. Constellations with a symmetry of their own are counted apart.

use std::collections::BTreeMap;

use crate::board::{Board, Square};
use crate::constellation::Constellation;
use crate::estimate::Estimate;
use crate::plan::border::Family;
use crate::plan::canonical::is_canonical;
use crate::plan::geometry::empty_rows;
use crate::plan::part::{MOST_SIDES, Part, Split};
use crate::plan::parts::Parts;
use crate::position::{BoundaryPairs, Position};
use crate::summand::Summand;
use crate::symmetry::SymmetryClass;

/// The parts, with each family split in that way; with a grain also by sides. `None` if that makes more than
/// `most` units.
pub fn parts(board: Board, split: Split, grain: Option<u64>, most: u64) -> Option<Parts> {
    let mut families: BTreeMap<(u8, u8), BoundaryPairs> = BTreeMap::new();
    let mut parts = Parts::new(most);
    let estimate = Estimate::new(board);
    let of_symmetric = split_of_constellation(split);
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
        let part = Part::split(position, summand, work, of_symmetric, parts.left())?;
        parts.add(of_one_length(part, work, grain))?;
    }
    for ((top, bottom), pairs) in families {
        let last = board.last();
        let queens =
            Position::empty(board).with_queen(Square::new(0, top)).with_queen(Square::new(last, bottom));
        let share = pairs.iter().count() as f64 / pairs_around(board, top, bottom) as f64;
        let work = weight(&estimate, &queens) * share;
        let position = queens.with_boundary(pairs);
        let part = Part::split(position, Summand::Asymmetric, work, split, parts.left())?;
        parts.add(of_one_length(part, work, grain))?;
    }
    Some(parts)
}

/// The part of expected work `work`, cut by enough sides that its units take about as long as others of this
/// grain. Time goes by the root of the weight. It is longer where the half turn maps top and bottom queen to
/// each other, because boundary pairs are costly there; then one more side is fixed.
fn of_one_length(part: Part, work: f64, grain: Option<u64>) -> Part {
    let Some(grain) = grain else { return part };
    let board = part.position().board();
    let Family { top, bottom } = part.border().family(board);
    let halvings = (0..MOST_SIDES).find(|halvings| part.unit_weight() >> (2 * halvings) <= grain);
    let sides = halvings.unwrap_or(MOST_SIDES) + u32::from(top + bottom == board.last());
    part.cut_by_sides(work, sides.min(MOST_SIDES))
}

/// How a constellation is split where families are split in that way: two queens more are placed already.
fn split_of_constellation(split: Split) -> Split {
    match split {
        Split::Outer { rows, .. } => Split::Outer { rows: rows.saturating_sub(2), group: 1, sides: 0 },
        Split::Centre { columns, .. } => {
            Split::Centre { columns: columns.saturating_sub(2), group: 1, sides: 0 }
        }
        Split::Whole | Split::Rows { .. } => split,
    }
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

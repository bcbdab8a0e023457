//! The scheme by constellations: one representative of each orbit, searched row by row from its best image.
//!
//! An estimate chooses the best image, and must never change: see [`geometry`](super::geometry).

use crate::board::Board;
use crate::constellation::{Constellation, Orbit};
use crate::estimate::Estimate;
use crate::plan::geometry::{EmptyLine, EmptyLines, empty_rows};
use crate::plan::part::Part;
use crate::plan::parts::Parts;
use crate::position::Position;
use crate::symmetry::Symmetry;

/// A minute of one core, in expected nodes of the vectorised search; docs/performance.md has the measurements.
const MINUTE: f64 = 1e11;

/// If units of a minute each would be more than this, the parts are split into at least this many units in
/// all. Squares do not group evenly, which makes up to 1.6 times as many.
const MOST_UNITS: f64 = 6e6;

/// The images that differ in more than left and right: the rows can be searched from each of the four sides. The second
/// of each pair has the rows of the first upside down.
const ORIENTATIONS: [[Symmetry; 2]; 2] =
    [[Symmetry::Identity, Symmetry::MirrorRows], [Symmetry::Transpose, Symmetry::ThreeQuarterTurn]];

/// The default size of a unit in nodes: a minute, or more where that would make too many units.
pub fn default_grain(board: Board) -> u64 {
    let empty = nodes_of_empty(board);
    if empty / MOST_UNITS <= MINUTE {
        return MINUTE as u64;
    }
    let estimate = Estimate::new(board);
    let nodes: f64 = Constellation::orbits(board).map(|orbit| best_image(board, &estimate, orbit).1).sum();
    MINUTE.max(nodes / MOST_UNITS) as u64
}

/// The expected nodes of the search of the empty board: more than those of all orbits, less than eight times as many, and estimated
/// in no time.
fn nodes_of_empty(board: Board) -> f64 {
    Estimate::new(board).nodes(&empty_rows(board, &[]))
}

/// True if units of about `grain` nodes are certainly more than `most`. The answer takes microseconds; the plan might take hours.
///
/// A part has as many units as its nodes hold grains, but no more than there are ways to fill all its rows but one. An eighth of
/// what the empty board has of either is less than all orbits have. So each plan that is refused here exceeds `most`; the plans
/// that exceed it by less are found as they are derived.
pub fn exceeds(board: Board, grain: u64, most: u64) -> bool {
    let ways = Estimate::new(board).completions_but_one(&empty_rows(board, &[]));
    (nodes_of_empty(board) / grain as f64).min(ways) / 8.0 > most as f64
}

/// The parts for units of about `grain` nodes. `None` if that makes more than `most` units.
pub fn parts(board: Board, grain: u64, most: u64) -> Option<Parts> {
    let mut parts = Parts::new(most);
    let estimate = Estimate::new(board);
    for orbit in Constellation::orbits(board) {
        let (best, nodes) = best_image(board, &estimate, orbit);
        let position = Position::of_constellation(board, best);
        let summand = parts.add_class(orbit.class, &position, nodes)?;
        let pieces = (nodes / grain as f64).ceil() as u64;
        parts.add(Part::split_into(position, summand, nodes, pieces, parts.left())?)?;
    }
    Some(parts)
}

/// The image of the orbit whose search is expected to be the cheapest, and its expected nodes.
fn best_image(board: Board, estimate: &Estimate, orbit: Orbit) -> (Constellation, f64) {
    let upside_down = |row: &EmptyLine| EmptyLine { index: board.last() - row.index, ..*row };
    let images = ORIENTATIONS.map(|pair| {
        let [image, other] = pair.map(|symmetry| orbit.representative.image(board, symmetry));
        let rows = empty_rows(board, &image.queens(board));
        let other_rows: EmptyLines = rows.iter().rev().map(upside_down).collect();
        [(image, estimate.nodes(&rows)), (other, estimate.nodes(&other_rows))]
    });
    let [first, rest @ ..] = images.as_flattened() else { unreachable!("there are four") };
    rest.iter().fold(*first, |best, next| if next.1 < best.1 { *next } else { best })
}

//! The scheme by constellations: one representative of each orbit, searched row by row from its best image.

use crate::board::Board;
use crate::constellation::{Constellation, Orbit};
use crate::plan::estimate::Estimate;
use crate::plan::part::Part;
use crate::plan::parts::Parts;
use crate::position::Position;
use crate::rows::{FreeRow, FreeRows, rows_around};
use crate::summand::{Measure, Summand};
use crate::symmetry::{Symmetry, SymmetryClass};

/// A minute of one core, in expected nodes of the vectorised search; docs/performance.md has the measurements.
const MINUTE: f64 = 1e11;

/// The parts are split into at least this many units in all where a minute each would make more; squares do not
/// group evenly, which makes up to 1.6 times as many.
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

/// About how many units a plan of that grain has, without deriving it.
pub fn expected_units(board: Board, grain: u64) -> f64 {
    nodes_of_empty(board) / 8.0 / grain as f64
}

/// The expected nodes of the search of the empty board: about eight times those of all orbits, and estimated in no time.
fn nodes_of_empty(board: Board) -> f64 {
    Estimate::new(board).nodes(&rows_around(board, &[], |_| board.full()))
}

/// The parts for units of about `grain` nodes: the symmetric counts, then the completions, heaviest units first, so
/// that the last units of a run are its smallest and no core is left waiting for long.
pub fn parts(board: Board, grain: u64) -> Parts {
    let mut symmetric = Vec::new();
    let mut counts = Vec::new();
    let mut completions = Vec::new();
    let estimate = Estimate::new(board);
    for orbit in Constellation::orbits(board) {
        let (best, nodes) = best_image(board, &estimate, orbit);
        let position = Position::of_constellation(board, best);
        let member = symmetric.len() as u32;
        let measures: &[Measure] = match orbit.class {
            SymmetryClass::Asymmetric | SymmetryClass::Full => &[],
            SymmetryClass::Point => &[Measure::HalfTurn],
            SymmetryClass::Rotational => &[Measure::HalfTurn, Measure::QuarterTurn],
        };
        // A turn halves the number of rows to fill, so the search takes about the root of the nodes.
        let fixed = |measure: &Measure| {
            Part::whole(position.clone(), Summand::Symmetric(member, *measure), nodes.sqrt())
        };
        counts.extend(measures.iter().map(fixed));
        let summand = if orbit.class == SymmetryClass::Asymmetric {
            Summand::Asymmetric
        } else {
            symmetric.push(orbit.class);
            Summand::Symmetric(member, Measure::Completions)
        };
        let pieces = (nodes / grain as f64).ceil() as u64;
        completions.push(Part::split(position, summand, nodes, pieces));
    }
    completions.sort_by_cached_key(|part| std::cmp::Reverse(part.unit_weight()));
    counts.append(&mut completions);
    Parts { parts: counts, symmetric }
}

/// The image of the orbit whose search is expected to be the cheapest, and its expected nodes.
fn best_image(board: Board, estimate: &Estimate, orbit: Orbit) -> (Constellation, f64) {
    let upside_down = |row: &FreeRow| FreeRow { row: board.last() - row.row, ..*row };
    let images = ORIENTATIONS.map(|pair| {
        let [image, other] = pair.map(|symmetry| orbit.representative.image(board, symmetry));
        let rows = rows_around(board, &image.queens(board), |_| board.full());
        let other_rows: FreeRows = rows.iter().rev().map(upside_down).collect();
        [(image, estimate.nodes(&rows)), (other, estimate.nodes(&other_rows))]
    });
    let [first, rest @ ..] = images.as_flattened() else { unreachable!("there are four") };
    rest.iter().fold(*first, |best, next| if next.1 < best.1 { *next } else { best })
}

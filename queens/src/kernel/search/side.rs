//! From which of its four sides a board is searched.
//!
//! A plan by constellations has chosen that for each of its units. The units of the method meet have many
//! constellations each, and rows fixed to one side of a cut. From the top they have one and a half to three
//! times as many nodes as from the side that the same [estimate](crate::estimate) chooses for each pair of
//! boundary queens.

use crate::bits::set_bits;
use crate::board::Board;
use crate::estimate::{Estimate, Line};
use crate::position::Position;
use crate::rows::{FreeRow, FreeRows, free_rows};

/// The [free rows](free_rows) of the position; with boundary pairs, the lines to search for each pair. They
/// start from the side with the fewest expected nodes, which is the same for a position and its mirror image.
pub fn searched_rows(position: &Position) -> impl Iterator<Item = FreeRows> {
    let board = position.board();
    let estimate = position.boundary().map(|_| Estimate::new(board));
    free_rows(position).map(move |rows| match &estimate {
        Some(estimate) => from_best_side(board, estimate, rows),
        None => rows,
    })
}

/// The lines as they are, or in the order from another side. If two sides promise the same, the lines decide, so that
/// the choice is the same for the mirror image.
fn from_best_side(board: Board, estimate: &Estimate, rows: FreeRows) -> FreeRows {
    let Some(from_left) = columns(&rows) else { return rows };
    let from_right = upside_down(board, &from_left);
    let from_below = upside_down(board, &rows);
    let (one, other) = if from_right < from_left { (from_right, from_left) } else { (from_left, from_right) };
    let mut best = (estimate.nodes(&rows), rows);
    for lines in [from_below, one, other] {
        let nodes = estimate.nodes(&lines);
        if nodes < best.0 {
            best = (nodes, lines);
        }
    }
    best.1
}

/// The columns as rows, with the squares that a queen may take. `None` if no queen can take one of the
/// columns.
fn columns(rows: &FreeRows) -> Option<FreeRows> {
    let open = rows.iter().fold(0u32, |open, row| open | row.open());
    let column = |column: u8| {
        let rows = rows.iter().filter(|row| row.open() >> column & 1 == 1);
        FreeRow { row: column, blocked: !rows.fold(0, |open, row| open | 1 << row.row) }
    };
    (open.count_ones() as usize == rows.len()).then(|| set_bits(open).map(column).collect())
}

/// The lines in the other order.
fn upside_down(board: Board, rows: &FreeRows) -> FreeRows {
    rows.iter().rev().map(|row| FreeRow { row: board.last() - row.row, ..*row }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Isa, Method, Stop, kernel, scalar};
    use crate::{Plan, PlanSpec, Square, UnitId};

    fn board(n: u8) -> Board {
        Board::new(n).unwrap()
    }

    fn counted(rows: impl Iterator<Item = FreeRows>) -> (u64, u64) {
        let count = scalar::sum(rows.map(|rows| scalar::count_rows(&rows, &Stop::new()))).unwrap();
        (count.completions, count.nodes)
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn best_side_keeps_completions_and_mirrored_nodes() {
        for n in [8, 11, 13] {
            let plan = Plan::derive(PlanSpec::families(board(n))).unwrap();
            let apart = plan.units().div_ceil(40);
            for id in (0..plan.units()).step_by(apart as usize) {
                let unit = plan.unit(UnitId(id));
                let [here, mirrored] =
                    [&unit, &unit.mirrored()].map(|unit| counted(searched_rows(&unit.position)));
                assert_eq!(here.0, counted(free_rows(&unit.position)).0, "unit {id} of n = {n}");
                assert_eq!(here, mirrored, "unit {id} of n = {n}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn chosen_side_has_fewer_nodes_for_meet_units() {
        let plan = Plan::derive(PlanSpec::families(board(16))).unwrap();
        let search = kernel(Method::Search, Some(Isa::Portable)).unwrap();
        let nodes = |position: &Position| search.count(position, &Stop::new()).unwrap().nodes;
        let (mut chosen, mut from_above) = (0, 0);
        for id in (0..plan.units()).step_by(plan.units() as usize / 20) {
            let position = plan.unit(UnitId(id)).position;
            let Some(pairs) = position.boundary() else { continue };
            chosen += nodes(&position);
            let placed = |(left, right)| {
                let queens = [Square::new(left, 0), Square::new(right, 15)];
                queens.into_iter().fold(position.clone().without_boundary(), Position::with_queen)
            };
            from_above += pairs.iter().map(placed).map(|placed| nodes(&placed)).sum::<u64>();
        }
        assert!(4 * chosen < 3 * from_above, "{chosen} nodes for {from_above}");
    }

    #[test]
    fn constellation_units_are_searched_without_turning() {
        let plan = Plan::derive(PlanSpec::new(board(10))).unwrap();
        for id in 0..plan.units() {
            let position = plan.unit(UnitId(id)).position;
            assert!(searched_rows(&position).eq(free_rows(&position)));
        }
    }
}

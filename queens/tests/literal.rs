//! The literal method against everything else: look at every solution and at all its images.
//!
//! A solution is kept only if it is the smallest of its images that are compatible with the constellation. It is slow
//! and plain, and shares no shortcut with the counter: it knows nothing of p and r or of dividing by orbit sizes.

use queens::kernel::{Method, Stop, kernel};
use queens::{Board, Constellation, Orbit, Plan, PlanSpec, Square, Symmetry, Tally, Totals, UnitId, known};

/// All solutions that contain the constellation, as column by row.
fn completions(board: Board, constellation: Constellation) -> Vec<Vec<u8>> {
    fn extend(board: Board, fixed: &[Square], columns: &mut Vec<u8>, found: &mut Vec<Vec<u8>>) {
        let row = columns.len() as u8;
        if row == board.n() {
            found.push(columns.clone());
            return;
        }
        for col in board.lines() {
            let queen = Square::new(row, col);
            let above = (0u8..).zip(columns.iter()).map(|(r, c)| Square::new(r, *c));
            let fits_fixed = fixed.iter().all(|q| *q == queen || (q.row != row && !q.attacks(queen)));
            if fits_fixed && above.into_iter().all(|q| !q.attacks(queen)) {
                columns.push(col);
                extend(board, fixed, columns, found);
                columns.pop();
            }
        }
    }
    let mut found = Vec::new();
    extend(board, &constellation.queens(board), &mut Vec::new(), &mut found);
    found
}

fn image(board: Board, solution: &[u8], symmetry: Symmetry) -> Vec<u8> {
    let mut image = vec![0; solution.len()];
    for (row, col) in (0u8..).zip(solution) {
        let square = symmetry.image(board, Square::new(row, *col));
        image[usize::from(square.row)] = square.col;
    }
    image
}

fn literal_totals(board: Board) -> Totals {
    let mut totals = Totals::default();
    for Orbit { representative, .. } in Constellation::orbits(board) {
        let queens = representative.queens(board);
        let compatible = |s: &[u8]| queens.iter().all(|q| s[usize::from(q.row)] == q.col);
        for solution in completions(board, representative) {
            let images = Symmetry::ALL.map(|s| image(board, &solution, s));
            if images.iter().any(|other| compatible(other) && *other < solution) {
                continue;
            }
            match images.iter().filter(|other| **other == solution).count() {
                1 => totals.a += 1,
                2 => totals.p += 1,
                4 => totals.r += 1,
                _ => totals.full += 1,
            }
        }
    }
    totals
}

#[test]
fn unit_counts_match_literal_method_and_known_totals() {
    let search = kernel(Method::Search, None).unwrap();
    for n in 1..=11 {
        let board = Board::new(n).unwrap();
        let plan = Plan::derive(PlanSpec::new(board)).unwrap();
        let mut tally = Tally::new(&plan);
        for id in (0..plan.units()).map(UnitId) {
            let unit = plan.unit(id);
            tally.add(&plan, id, unit.count(&*search, &Stop::new()).unwrap().completions).unwrap();
        }
        let literal = literal_totals(board);
        assert_eq!(tally.totals().unwrap(), literal, "n={n}");
        assert_eq!(known::totals(board), Some(literal), "n={n}");
    }
}

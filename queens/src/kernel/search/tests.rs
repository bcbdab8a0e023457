//! Every instruction set against the scalar recursion, and against each other.

use proptest::prelude::*;

use super::Search;
use crate::board::{Board, Square};
use crate::kernel::{Count, Isa, Kernel, Stop, scalar};
use crate::plan::{Plan, PlanSpec, Scheme};
use crate::position::{BoundaryPairs, Position};
use crate::{UnitId, known};

fn kernels() -> Vec<Search> {
    Isa::ALL.into_iter().filter_map(|isa| Search::new(isa).ok()).collect()
}

/// What all kernels agree on, which has the scalar recursion's completions.
fn agreed(position: &Position) -> Count {
    let stop = Stop::new();
    let counts: Vec<Count> = kernels().iter().map(|kernel| kernel.count(position, &stop).unwrap()).collect();
    let expected = scalar::count(position, &stop).unwrap();
    for (kernel, count) in kernels().iter().zip(&counts) {
        assert_eq!(count.completions, expected.completions, "{} on {position:?}", kernel.name());
        assert_eq!(count.nodes, counts[0].nodes, "{} on {position:?}", kernel.name());
    }
    counts[0]
}

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

fn plan(n: u8, grain: u64) -> Plan {
    let spec = PlanSpec { scheme: Scheme::Constellations { grain }, ..PlanSpec::new(board(n)) };
    Plan::derive(spec).unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn every_isa_matches_recursion_on_units_to_n_13() {
    for n in 4..=13 {
        for grain in [200, u64::MAX] {
            let plan = plan(n, grain);
            (0..plan.units()).for_each(|id| _ = agreed(&plan.unit(UnitId(id)).position));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn every_isa_matches_recursion_on_units_of_n_14_to_20() {
    for n in 14..=20 {
        // Grains of a few milliseconds, and units far apart.
        let plan = plan(n, 200_000);
        let apart = plan.units() / 12;
        (0..12).for_each(|i| _ = agreed(&plan.unit(UnitId(i * apart + u64::from(n) % apart)).position));
    }
}

#[test]
fn empty_boards_have_the_known_totals() {
    for n in 1..=if cfg!(miri) { 7 } else { 12 } {
        let total = known::totals(board(n)).unwrap().solutions();
        assert_eq!(u128::from(agreed(&Position::empty(board(n))).completions), total, "n = {n}");
    }
}

#[test]
fn a_board_filled_by_placed_queens_has_one_completion() {
    let queens = [1, 3, 0, 2].into_iter().zip(0..).map(|(col, row)| Square::new(row, col));
    assert_eq!(agreed(&queens.fold(Position::empty(board(4)), Position::with_queen)).completions, 1);
}

#[test]
fn queens_that_attack_each_other_have_no_completion() {
    let position = Position::empty(board(9)).with_queen(Square::new(2, 2)).with_queen(Square::new(6, 6));
    assert_eq!(agreed(&position).completions, 0);
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn boundary_pairs_divide_the_completions_among_them() {
    let (mut even, mut odd) = (BoundaryPairs::none(), BoundaryPairs::none());
    for (left, right) in (0..9).flat_map(|left| (0..9).map(move |right| (left, right))) {
        if (left + right) % 2 == 0 { even.allow(left, right) } else { odd.allow(left, right) }
    }
    let among = |pairs| agreed(&Position::empty(board(9)).with_boundary(pairs)).completions;
    assert_eq!(among(even) + among(odd), 352);
}

#[test]
fn a_stopped_search_yields_nothing() {
    let stop = Stop::new();
    stop.stop();
    for kernel in kernels() {
        assert_eq!(kernel.count(&Position::empty(board(20)), &stop), None);
    }
}

/// A board with queens anywhere, most of which attack each other, or not, and some squares taken away.
fn positions() -> impl Strategy<Value = Position> {
    let square = (0..32u8, 0..32u8);
    let placed = prop::collection::vec(square, 0..40);
    let squares = prop::collection::vec((0..32u8, any::<u32>()), 0..3);
    (1..=32u8, placed, squares, any::<bool>()).prop_map(|(n, placed, squares, tame)| {
        let mut position = Position::empty(board(n));
        for (row, col) in placed {
            let queen = Square::new(row % n, col % n);
            if !tame || position.queens().iter().all(|other| !other.attacks(queen)) {
                position = position.with_queen(queen);
            }
        }
        squares.into_iter().fold(position, |p, (row, columns)| p.with_row_within(row % n, columns))
    })
}

/// Queens that do not attack each other, placed until at most `free` rows are without, as far as squares allow.
fn crowded() -> impl Strategy<Value = Position> {
    (20..=32u8, 4..=11usize, any::<u64>()).prop_map(|(n, free, seed)| {
        let mut position = Position::empty(board(n));
        let mut random = seed | 1;
        for _ in 0..2000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let queen = Square::new((random >> 33) as u8 % n, (random >> 48) as u8 % n);
            if position.queens().len() + free >= usize::from(n) {
                break;
            }
            if position.queens().iter().all(|other| !other.attacks(queen)) {
                position = position.with_queen(queen);
            }
        }
        position
    })
}

/// Rows left to search; a scalar recursion through more than twelve would take too long.
fn free(position: &Position) -> usize {
    usize::from(position.board().n()).saturating_sub(position.queens().len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn every_isa_matches_recursion_on_random_positions(position in positions()) {
        prop_assume!(free(&position) <= 12 || !position.is_consistent());
        let count = agreed(&position);
        prop_assert_eq!(agreed(&position.mirrored()), count);
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn every_isa_matches_recursion_on_crowded_boards(position in crowded()) {
        prop_assume!(free(&position) <= 16);
        let count = agreed(&position);
        prop_assert_eq!(agreed(&position.mirrored()), count);
    }
}

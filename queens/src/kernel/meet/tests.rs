use proptest::prelude::*;

use super::*;
use crate::board::{Board, Square};
use crate::kernel::scalar;
use crate::known;
use crate::position::BoundaryPairs;

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

/// The kernel on every instruction set of this machine.
fn kernels() -> impl Iterator<Item = Meet> {
    Isa::ALL.into_iter().filter(|isa| isa.is_available()).map(Meet::new)
}

/// The completions by every instruction set, which must visit the same nodes.
fn agreed(position: &Position) -> Count {
    let counts: Vec<_> = kernels().map(|kernel| kernel.count(position, &Stop::new()).unwrap()).collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{position:?}: {counts:?}");
    counts[0]
}

fn searched(position: &Position) -> u64 {
    scalar::count(position, &Stop::new()).unwrap().completions
}

#[test]
fn empty_boards_have_the_published_number_of_solutions() {
    for n in 1..=13 {
        let solutions = known::totals(board(n)).unwrap().solutions();
        assert_eq!(u128::from(agreed(&Position::empty(board(n))).completions), solutions, "n={n}");
    }
}

#[test]
fn a_stopped_count_yields_nothing() {
    let stop = Stop::new();
    stop.stop();
    for kernel in kernels() {
        assert_eq!(kernel.count(&Position::empty(board(14)), &stop), None);
    }
}

#[test]
fn little_memory_changes_nothing_but_time() {
    let position = Position::empty(board(12)).with_queen(Square::new(0, 4));
    for bytes in [0, 1 << 10, 1 << 14] {
        let kernel = Meet::with_memory(Isa::best(), bytes);
        assert_eq!(kernel.count(&position, &Stop::new()), Some(agreed(&position)), "{bytes} bytes");
    }
}

/// Positions that no plan would produce: queens anywhere, attacking or not, rows within some columns, boundary pairs
/// at random.
fn positions(sizes: std::ops::RangeInclusive<u8>) -> impl Strategy<Value = Position> {
    let queens = prop::collection::vec((any::<u8>(), any::<u8>()), 0..5);
    let rows = prop::collection::vec((any::<u8>(), any::<u32>(), any::<u32>()), 0..3);
    let pairs = prop::option::of((prop::array::uniform32(any::<u32>()), any::<u32>()));
    (sizes, queens, rows, pairs).prop_map(|(n, queens, rows, pairs)| {
        let mut position = Position::empty(board(n));
        for (row, col) in queens {
            let queen = Square::new(row % n, col % n);
            if position.queens().len() < 2 || position.clone().with_queen(queen).is_consistent() {
                position = position.with_queen(queen);
            }
        }
        for (row, some, more) in rows {
            position = position.with_row_within(row % n, some | more);
        }
        if let Some((rights, mask)) = pairs {
            let mut pairs = BoundaryPairs::none();
            for (left, right) in (0..n).flat_map(|left| (0..n).map(move |right| (left, right))) {
                if (rights[usize::from(left)] | mask) >> right & 1 == 1 {
                    pairs.allow(left, right);
                }
            }
            position = position.with_boundary(pairs);
        }
        position
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn positions_at_random_have_as_many_completions_as_the_search_finds(position in positions(1..=12)) {
        prop_assert_eq!(agreed(&position).completions, searched(&position));
    }

    #[test]
    fn mirrored_positions_have_the_same_count_and_nodes(position in positions(9..=12)) {
        let (count, mirrored) = (agreed(&position), agreed(&position.mirrored()));
        prop_assert_eq!(count.completions, mirrored.completions);
    }
}

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use proptest::prelude::*;

use super::cut::Cut;
use super::*;
use crate::board::{Board, Square};
use crate::kernel::scalar;
use crate::known;
use crate::plan::{Family, Plan, PlanSpec, Scheme, Unit, UnitId};
use crate::position::BoundaryPairs;
use crate::squares::Squares;
use crate::summand::{Measure, Summand};
use crate::tally::{Tally, Totals};

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

/// The kernel on every instruction set of this machine.
fn kernels() -> impl Iterator<Item = Meet> {
    Isa::ALL.into_iter().filter_map(|isa| Meet::new(isa).ok())
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
fn empty_boards_have_the_published_solutions() {
    for n in 1..=if cfg!(miri) { 7 } else { 13 } {
        let solutions = known::totals(board(n)).unwrap().solutions();
        assert_eq!(u128::from(agreed(&Position::empty(board(n))).completions), solutions, "n={n}");
    }
}

/// The count of a cut of any size.
fn counted<L: CompiledMeet>(isa: L, cut: &Cut, budget: Budget) -> Count {
    let (mut work, mut matcher, mut all) = (Workspace::default(), Matcher::new(isa), Everything::default());
    Passes::new(isa, cut, &mut work, &mut matcher, &mut all, budget, &Stop::new()).run().unwrap();
    Count { completions: matcher.pairs(), nodes: all.halves }
}

/// The count of a cut by an instruction set, with this much memory.
fn counted_by(isa: Detected, cut: &Cut, bytes: usize) -> Count {
    let budget = Budget::of_bytes(bytes);
    on_detected!(isa, isa => counted(isa, cut, budget))
}

/// The common count of a cut by all instruction sets, with and without the sieve, and with much and little
/// memory. They must visit the same nodes.
fn agreed_of_cut(position: &Position) -> Count {
    let mut cut = Cut::new(position).unwrap();
    let mut counts = Vec::new();
    for is_wide in [false, true] {
        cut.is_wide = is_wide;
        let isas = Isa::ALL.into_iter().filter_map(Isa::detect);
        counts.extend(isas.flat_map(|isa| [1 << 20, 0].map(|bytes| counted_by(isa, &cut, bytes))));
    }
    assert!(counts.iter().all(|count| *count == counts[0]), "{position:?}: {counts:?}");
    counts[0]
}

#[test]
fn small_boards_are_counted_right_with_forced_cuts() {
    let pairs = [(1, 2), (1, 4), (3, 0), (3, 5), (4, 1)];
    let allowed = pairs.iter().fold(BoundaryPairs::none(), |mut pairs, (left, right)| {
        pairs.allow(*left, *right);
        pairs
    });
    for n in 6..=if cfg!(miri) { 7 } else { 11 } {
        for position in [
            Position::empty(board(n)),
            Position::empty(board(n + 1)).with_queen(Square::new(0, 2)),
            Position::empty(board(n)).with_boundary(allowed.clone()),
        ] {
            assert_eq!(agreed_of_cut(&position).completions, searched(&position), "{position:?}");
        }
    }
}

/// The estimates of the whole count from blocks of row sets, one for each `stride` of them, for each possible
/// first row set, by a clock that advances by one at each call.
fn projections(
    kernel: Meet,
    position: &Position,
    stride: u64,
    block: u64,
) -> impl Iterator<Item = Projection> {
    (0..stride).map(move |first| {
        let words = Cell::new(0.0);
        let clock = || {
            words.set(words.get() + 1.0);
            words.get()
        };
        let place = (u128::from(first) << 64).div_ceil(stride.into()) as u64;
        let thinning = Thinning::new(stride, place).in_blocks_of(block);
        kernel.project(position, thinning, &clock, &Stop::new(), &Stop::new()).unwrap()
    })
}

#[test]
#[cfg_attr(
    miri,
    ignore = "takes hundreds of counts, of boards that are too large; it is without unsafe code of its own"
)]
fn partial_passes_estimate_without_bias() {
    // One cut; and several, after queens of another row.
    let one = Position::empty(board(11)).with_queen(Square::new(0, 2)).with_queen(Square::new(10, 4));
    for position in [one, Position::empty(board(11)).with_queen(Square::new(0, 1))] {
        let mut counts = Vec::new();
        for kernel in kernels().flat_map(|kernel| [kernel, Meet { budget: Budget::of_bytes(0), ..kernel }]) {
            let count = kernel.count(&position, &Stop::new()).unwrap();
            let whole = projections(kernel, &position, 1, 1).next().unwrap();
            assert_eq!([whole.completions as u64, whole.nodes as u64], [count.completions, count.nodes]);
            counts.push(count);
            for (stride, block) in [(7, 1), (50, 1), (50, 9), (200, 1), (200, 5)] {
                let mut sum = [0.0; 3];
                let mut is_partial = false;
                for Projection { completions, nodes, time, .. } in
                    projections(kernel, &position, stride, block)
                {
                    sum.iter_mut().zip([completions, nodes, time]).for_each(|(sum, part)| *sum += part);
                    is_partial |= (completions - whole.completions).abs() > 0.5;
                }
                for (sum, whole) in sum.into_iter().zip([whole.completions, whole.nodes, whole.time]) {
                    let mean = sum / stride as f64;
                    assert!((mean / whole - 1.0).abs() < 1e-9, "{mean} for {whole} by {block} of {stride}");
                }
                assert!(is_partial || stride < 200, "strides of {stride} leave nothing out");
            }
        }
        assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    }
}

/// Words of a linear congruence (Knuth's constants).
fn random_words(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn boards_with_open_central_columns_match_search() {
    let mut next = random_words(3);
    let mut completions = 0;
    for n in [22, 23, 24] {
        // Three squares in ten, so that the search is short.
        let position = (0..n).fold(Position::empty(board(n)), |position, row| {
            position.with_row_within(row, next() & (next() | next() & next()))
        });
        let count = agreed(&position).completions;
        assert_eq!(count, searched(&position), "n={n}");
        completions += count;
    }
    assert!(completions > 0);
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn cuts_with_many_shared_diagonals_match_search() {
    let mut next = random_words(1);
    let mut completions = 0;
    for col in [2, 9, 20] {
        // The columns beside the cut and a quarter of the others, in every row but the first.
        let position = Position::empty(board(24)).with_queen(Square::new(0, col));
        let position = (1..24)
            .fold(position, |position, row| position.with_row_within(row, next() & next() | 0b1111 << 10));
        let cut = Cut::new(&position).unwrap();
        assert!(cut.is_wide, "{col}");
        let count = counted_by(Isa::best().detect().unwrap(), &cut, Meet::DEFAULT_MEMORY).completions;
        // The kernel itself places more queens before it cuts.
        let in_parts = Meet::new(Isa::best()).unwrap().count(&position, &Stop::new());
        assert_eq!(count, in_parts.unwrap().completions, "{col}");
        completions += count;
    }
    assert!(completions > 0);
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
#[cfg_attr(miri, ignore = "too slow")]
fn interrupt_ends_the_walk_between_cuts() {
    // Half a million cuts without a drawn pass.
    let position = Position::empty(board(32)).with_queen(Square::new(0, 3)).with_queen(Square::new(31, 8));
    let (kernel, thinning) = (Meet::new(Isa::best()).unwrap(), Thinning::new(1 << 60, u64::MAX));
    let (interrupted, begun) = (Stop::new(), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            interrupted.stop();
        });
        assert_eq!(kernel.project(&position, thinning, &|| 0.0, &Stop::new(), &interrupted), None);
    });
    assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn little_memory_changes_nothing_but_time() {
    let position = Position::empty(board(12)).with_queen(Square::new(0, 4));
    for bytes in [0, 1 << 10, 1 << 14] {
        let kernel = Meet::with_memory(Isa::best(), bytes).unwrap();
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
    #[cfg_attr(miri, ignore = "too slow")]
    fn random_positions_match_search(position in positions(1..=12)) {
        prop_assert_eq!(agreed(&position).completions, searched(&position));
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow")]
    fn mirrored_positions_have_the_same_count(position in positions(9..=12)) {
        prop_assert_eq!(agreed(&position).completions, agreed(&position.mirrored()).completions);
    }
}

/// A unit of the plan, drawn by a linear congruence (Knuth's constants).
fn random_units(plan: &Plan, count: usize) -> impl Iterator<Item = Unit> + '_ {
    let draw = |state: &u64| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    };
    std::iter::successors(Some(u64::from(plan.board().n())), draw)
        .skip(1)
        .map(|state| plan.unit(UnitId((state >> 16) % plan.units())))
        .filter(|unit| !unit.summand.is_symmetric_count())
        .take(count)
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn random_units_of_both_schemes_match_search() {
    for n in 12..=15 {
        for spec in [PlanSpec::new(board(n)), PlanSpec::families(board(n))] {
            let plan = Plan::derive(spec).unwrap();
            for unit in random_units(&plan, if n < 15 { 20 } else { 5 }) {
                assert_eq!(
                    agreed(&unit.position).completions,
                    searched(&unit.position),
                    "n={n} unit {}",
                    unit.id
                );
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn random_units_of_large_boards_match_search() {
    // With further rows placed at random, as many as make the search short.
    for (n, rows) in [(18, 4), (20, 6), (22, 8)] {
        let plan = Plan::derive(PlanSpec::families(board(n))).unwrap();
        for unit in random_units(&plan, 4) {
            let position = (0..rows).fold(unit.position, |position, i| {
                let row = next_outer_row(&position).unwrap();
                let open = Squares::of(&position).open_columns(row);
                let nth = (unit.id.0 as u32 + i) % open.count_ones().max(1);
                let rest = (0..nth).fold(open, |open, _| open & open.wrapping_sub(1));
                if rest == 0 {
                    position
                } else {
                    position.with_queen(Square::new(row, rest.trailing_zeros() as u8))
                }
            });
            assert_eq!(agreed(&position).completions, searched(&position), "n={n} unit {}", unit.id);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn mirrored_units_have_equal_count_and_nodes() {
    for n in [13, 16, 18] {
        let plan = Plan::derive(PlanSpec::families(board(n))).unwrap();
        for unit in random_units(&plan, 6) {
            assert_eq!(agreed(&unit.position), agreed(&unit.position.mirrored()), "n={n} unit {}", unit.id);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn sparse_large_boards_are_counted() {
    // The outermost open squares of the first rows, until 14 rows are left.
    for n in [28u8, 31, 32] {
        let mut position = Position::empty(board(n));
        for row in 0..n {
            let open = Squares::of(&position).open_columns(row);
            let left = usize::from(n) - position.queens().len();
            if left <= 14 {
                break;
            }
            if open != 0 {
                let col = if row % 2 == 0 { open.trailing_zeros() } else { open.ilog2() };
                position = position.with_queen(Square::new(row, col as u8));
            }
        }
        assert_eq!(agreed(&position).completions, searched(&position), "n={n}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn only_self_mapped_families_need_many_boundary_bits() {
    for n in [16, 20, 24, 27] {
        let spec = PlanSpec {
            scheme: Scheme::Families { rows: 0, group: 1, sides: 0 },
            ..PlanSpec::families(board(n))
        };
        let plan = Plan::derive(spec).unwrap();
        let mut most = [0; 2];
        for position in (0..plan.units()).map(|id| plan.unit(UnitId(id)).position) {
            let Ok(restriction) = boundary::restrict(&position) else { continue };
            let queens = position.queens();
            let turned = usize::from(queens[0].col + queens[1].col == n - 1);
            most[turned] = most[turned].max(restriction.forbidden.len());
        }
        println!("n={n}: {most:?}");
        assert!(most[0] <= 2 && most[1] <= usize::from(n), "n={n}: {most:?}");
    }
}

/// The plan of n = 28 whose units have four squares of a fourth central column.
fn by_groups_of_a_fourth_column() -> Plan {
    let scheme = Scheme::Centre { columns: 4, group: 4, grain: None };
    Plan::derive(PlanSpec { scheme, ..PlanSpec::families(board(28)) }).unwrap()
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn partly_restricted_column_is_placed_first() {
    let plan = by_groups_of_a_fourth_column();
    let mut units = 0;
    for Unit { position, .. } in random_units(&plan, 40) {
        // Its fourth central column, with at most four squares.
        if position.queens().iter().all(|queen| queen.col != 15) {
            let next = |position| Squares::of(position).next_central_column();
            assert_eq!([next(&position), next(&position.mirrored())], [15, 12], "{position:?}");
            units += 1;
        }
    }
    assert!(units > 20);
}

/// The totals of all units of that family, on two threads.
fn count_family(plan: &Plan, family: Family) -> Totals {
    let of_family = plan.families().filter(|(other, _)| *other == family);
    let units: Vec<u64> = of_family.flat_map(|(_, units)| units).collect();
    let next = AtomicUsize::new(0);
    let counted = || {
        let kernel = Meet::new(Isa::best()).unwrap();
        let units = std::iter::from_fn(|| units.get(next.fetch_add(1, Ordering::Relaxed)));
        let count = |unit: Unit| (unit.id, unit.count(&kernel, &Stop::new()).unwrap().completions);
        units.map(|unit| count(plan.unit(UnitId(*unit)))).collect::<Vec<_>>()
    };
    let mut tally = Tally::new(plan);
    std::thread::scope(|scope| {
        for thread in [(); 2].map(|()| scope.spawn(counted)) {
            for (unit, count) in thread.join().unwrap() {
                tally.add(plan, unit, count).unwrap();
            }
        }
    });
    tally.totals().unwrap()
}

/// Counts the lightest family of a board that has constellations of every symmetry, by the sides of outer
/// rows and by central columns. The board is n = 17, or that in `DIADEM_FAMILY_OF`; n = 24 takes a quarter of
/// an hour on two cores.
#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn a_whole_family_has_the_same_totals_by_both_schemes() {
    let n = std::env::var("DIADEM_FAMILY_OF").ok().and_then(|text| text.parse().ok()).unwrap_or(17);
    let by_rows = Scheme::Families { rows: 0, group: 1, sides: 2 };
    let plans = [by_rows, Scheme::Centre { columns: 1, group: 1, grain: None }]
        .map(|scheme| Plan::derive(PlanSpec { scheme, ..PlanSpec::families(board(n)) }).unwrap());
    let mut work: BTreeMap<Family, u128> = BTreeMap::new();
    let mut members: BTreeMap<Family, HashSet<Option<Measure>>> = BTreeMap::new();
    for range in plans[1].unit_ranges() {
        let family = range.border.family(board(n));
        *work.entry(family).or_default() +=
            range.units.map(|unit| u128::from(plans[1].weight(UnitId(unit)))).sum::<u128>();
        members.entry(family).or_default().insert(match range.summand {
            Summand::Asymmetric => None,
            Summand::Symmetric(_, measure) => Some(measure),
        });
    }
    let of_every_kind = work.into_iter().filter(|(family, _)| members[family].len() == 4);
    let (family, work) = of_every_kind.min_by_key(|(_, work)| *work).unwrap();
    println!("n = {n}: {family:?}, {:.0} s expected", work as f64 / 1e9);
    let [rows, columns] = plans.each_ref().map(|plan| {
        let begun = Instant::now();
        let totals = count_family(plan, family);
        println!("{:?}: {totals:?}, {:.0} s", plan.spec().scheme, begun.elapsed().as_secs_f64());
        totals
    });
    assert!(rows.a > 0 && rows.p > 0 && rows.r > 0, "{rows:?}");
    assert_eq!(rows, columns);
}

#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn positions_too_wide_fall_into_two_that_are_less_so() {
    let plan = by_groups_of_a_fourth_column();
    let mut seen = 0;
    for Unit { position, .. } in random_units(&plan, 60) {
        // As the kernel cuts it: with a queen on the first square of its fourth central column.
        let squares = Squares::of(&position);
        let col = squares.next_central_column();
        let row = squares.open_rows(col).trailing_zeros() as u8;
        let position = position.with_queen(Square::new(row, col));
        if !matches!(Cut::new(&position), Err(uncut::Uncut::TooWide)) {
            continue;
        }
        let Some([left, right]) = narrowed::narrowed(&position) else { continue };
        let [whole, left, right] = [&position, &left, &right].map(Squares::of);
        let mut divided = 0;
        for row in whole.rows() {
            let [open, some, others] = [&whole, &left, &right].map(|squares| squares.open_columns(row));
            assert_eq!((some | others, some & others), (open, if some == others { open } else { 0 }));
            divided += u32::from(some != others);
        }
        assert_eq!(divided, 1, "{position:?}");
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

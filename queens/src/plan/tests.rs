use std::time::Instant;

use proptest::prelude::*;

use super::families::parts as parts_of_families;
use super::*;
use crate::kernel::{Isa, Method};
use crate::known;
use crate::tally::Tally;

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

fn plan(n: u8) -> Plan {
    Plan::derive(PlanSpec::new(board(n))).unwrap()
}

fn finely_split(n: u8, grain: u64) -> Plan {
    let scheme = Scheme::Constellations { grain };
    Plan::derive(PlanSpec { scheme, ..PlanSpec::new(board(n)) }).unwrap()
}

fn families(n: u8, rows: u8, group: u8, sides: u8) -> Plan {
    let scheme = Scheme::Families { rows, group, sides };
    Plan::derive(PlanSpec { scheme, ..PlanSpec::families(board(n)) }).unwrap()
}

fn centre(n: u8, columns: u8, group: u8, grain: Option<u64>) -> Plan {
    let scheme = Scheme::Centre { columns, group, grain };
    Plan::derive(PlanSpec { scheme, ..PlanSpec::families(board(n)) }).unwrap()
}

fn total(plan: &Plan) -> crate::Totals {
    total_by(plan, Method::Search)
}

fn total_by(plan: &Plan, method: Method) -> crate::Totals {
    let kernel = crate::kernel::kernel(method, None).unwrap();
    let mut tally = Tally::new(plan);
    for id in (0..plan.units()).map(UnitId) {
        let unit = plan.unit(id);
        let count = unit.count(&*kernel, &Stop::new()).unwrap();
        tally.add(plan, id, count.completions).unwrap();
    }
    tally.totals().unwrap()
}

#[test]
fn counting_all_units_gives_the_published_totals() {
    for n in 1..=12 {
        assert_eq!(Some(total(&plan(n))), known::totals(board(n)), "n={n}");
    }
}

#[test]
fn totals_are_independent_of_grain() {
    for n in 4..=11 {
        for grain in [1, 7, 50] {
            let plan = finely_split(n, grain);
            assert_eq!(Some(total(&plan)), known::totals(board(n)), "n={n} grain={grain}");
        }
    }
    assert!(finely_split(11, 1).units() > 5 * plan(11).units(), "the grain makes the units");
}

#[test]
fn symmetric_counts_come_first_and_give_p_and_r() {
    for n in 1..=14 {
        let plan = plan(n);
        let mut tally = Tally::new(&plan);
        for unit in (0..plan.symmetric_counts()).map(UnitId) {
            let kernel = crate::kernel::kernel(Method::Search, None).unwrap();
            let count = plan.unit(unit).count(&*kernel, &Stop::new()).unwrap();
            tally.add(&plan, unit, count.completions).unwrap();
        }
        assert_eq!(tally.symmetric(), Some(known::symmetric(plan.board())), "n={n}");
        let behind = (plan.symmetric_counts()..plan.units()).map(UnitId);
        assert!(!behind.into_iter().any(|unit| plan.summand(unit).is_symmetric_count()), "n={n}");
    }
}

#[test]
fn families_give_published_totals_with_both_kernels() {
    for n in 1..=10 {
        let plan = Plan::derive(PlanSpec::families(board(n))).unwrap();
        for method in Method::ALL {
            assert_eq!(Some(total_by(&plan, method)), known::totals(board(n)), "n={n} {method}");
        }
    }
    for n in 11..=14 {
        let plan = Plan::derive(PlanSpec::families(board(n))).unwrap();
        assert_eq!(Some(total_by(&plan, Method::Meet)), known::totals(board(n)), "n={n}");
    }
}

#[test]
fn families_give_published_totals_of_larger_boards() {
    for n in 15..=17 {
        let plan = Plan::derive(PlanSpec::families(board(n))).unwrap();
        assert_eq!(Some(total_by(&plan, Method::Meet)), known::totals(board(n)), "n={n}");
    }
}

#[test]
fn totals_are_independent_of_family_splits() {
    for n in 4..=11 {
        for (rows, group, sides) in [(0, 1, 1), (1, 3, 0), (1, 2, 2), (2, 1, 1), (3, 2, 0)] {
            let plan = families(n, rows, group, sides);
            assert_eq!(
                Some(total_by(&plan, Method::Meet)),
                known::totals(board(n)),
                "n={n} {:?}",
                plan.spec()
            );
        }
    }
}

/// Columns, groups and grains: with more columns than small boards have, too, and with as many sides as they have rows.
const CENTRES: [(u8, u8, Option<u64>); 14] = [
    (0, 1, None),
    (1, 1, None),
    (1, 3, None),
    (2, 1, None),
    (2, 2, None),
    (3, 1, None),
    (8, 32, None),
    (0, 1, Some(1)),
    (1, 1, Some(1)),
    (1, 4, Some(1)),
    (1, 1, Some(3)),
    (2, 1, Some(2)),
    (3, 2, Some(1)),
    (8, 1, Some(1)),
];

#[test]
fn central_columns_give_published_totals() {
    for n in 1..=10 {
        for (columns, group, grain) in CENTRES {
            let plan = centre(n, columns, group, grain);
            for method in Method::ALL {
                assert_eq!(
                    Some(total_by(&plan, method)),
                    known::totals(board(n)),
                    "{:?} {method}",
                    plan.spec()
                );
            }
        }
    }
    for n in 11..=17 {
        let few = [
            (1, 4, None),
            (2, 1, None),
            (3, 2, None),
            (1, 1, Some(500)),
            (2, 1, Some(200)),
            (0, 1, Some(5000)),
        ];
        for (columns, group, grain) in if n < 16 { &few[..] } else { &[(2, 3, None), (1, 1, Some(20_000))] } {
            let plan = centre(n, *columns, *group, *grain);
            assert_eq!(Some(total_by(&plan, Method::Meet)), known::totals(board(n)), "{:?}", plan.spec());
        }
    }
}

#[test]
fn central_column_units_take_the_middle_columns() {
    for (n, middle) in [(27, [13, 12, 14, 11, 15]), (28, [13, 14, 12, 15, 11])] {
        let plan = centre(n, 3, 1, Some(1_000_000_000_000));
        let unit = plan.unit(UnitId(plan.units() / 2));
        let columns: Vec<u8> = unit.position.queens().iter().map(|queen| queen.col).collect();
        let empty = middle.into_iter().filter(|col| !columns[..2].contains(col));
        assert_eq!(columns[2..], empty.take(3).collect::<Vec<_>>(), "n={n}: {:?}", unit.position.queens());
    }
}

#[test]
fn families_have_one_constellation_of_each_orbit() {
    for n in [8, 11, 14, 20] {
        let parts =
            parts_of_families(board(n), Split::Outer { rows: 0, group: 1, sides: 0 }, None, 1_000_000);
        let (parts, _) = parts.unwrap().in_order();
        let completions = parts.iter().map(|part| (part.summand(), part.position_of_unit(0)));
        let constellations: usize = completions
            .filter(|(summand, _)| !summand.is_symmetric_count())
            .map(|(_, position)| position.boundary().map_or(1, |pairs| pairs.iter().count()))
            .sum();
        assert_eq!(constellations, crate::Constellation::orbits(board(n)).count(), "n={n}");
    }
}

#[test]
fn number_of_family_units_stays_within_bounds() {
    for n in 16..=32 {
        let plan = Plan::derive(PlanSpec::families(board(n))).unwrap();
        println!("n={n}: {} units", plan.units());
        let most = if (16..=20).contains(&n) { 100_000 } else { 10_000_000 };
        assert!((500..=most).contains(&plan.units()), "n={n}: {}", plan.units());
        let last = plan.unit(UnitId(plan.units() - 1));
        assert_eq!(last.position.board(), board(n));
    }
}

#[test]
fn card_plans_have_bounded_numbers_of_units() {
    for n in 12..=25 {
        let [cards, others] =
            [PlanSpec::for_cards(board(n), Method::Meet), PlanSpec::for_kernel(board(n), Method::Meet)]
                .map(|spec| Plan::derive(spec).unwrap().units());
        println!("n={n}: {cards} units in place of {others}");
        let most = match n {
            12..=20 => others / 2,
            21 => others,
            22..=23 => 10_000,
            _ => 150_000,
        };
        assert!(cards <= most, "n={n}: {cards}, {others}");
    }
    for n in 18..=20 {
        let [search, meet] =
            [Method::Search, Method::Meet].map(|method| PlanSpec::for_cards(board(n), method));
        assert_eq!(search, meet, "both count the same few units");
    }
    for (n, method) in [
        (11, Method::Meet),
        (26, Method::Meet),
        (28, Method::Meet),
        (17, Method::Search),
        (22, Method::Search),
    ] {
        assert_eq!(PlanSpec::for_cards(board(n), method), PlanSpec::for_kernel(board(n), method));
    }
}

#[test]
fn plan_fingerprint_is_determined_by_its_spec() {
    assert_eq!(plan(10).fingerprint(), plan(10).fingerprint());
    assert_ne!(plan(10).fingerprint(), plan(11).fingerprint());
    assert_ne!(finely_split(10, 50).fingerprint(), finely_split(10, 51).fingerprint());
}

#[test]
fn a_plan_of_another_version_is_refused() {
    for version in [0, 2, u32::MAX] {
        let spec = PlanSpec { version, ..PlanSpec::new(board(8)) };
        let error = Plan::derive(spec).unwrap_err();
        assert_eq!(error, PlanError::UnknownVersion(version));
        assert!(error.to_string().contains("version 1 only"), "{error}");
    }
}

#[test]
fn a_plan_by_too_many_central_columns_is_refused() {
    for ((columns, group, grain), expected) in [
        ((9, 1, None), PlanError::NoCentre { columns: 9, group: 1 }),
        ((1, 0, None), PlanError::NoCentre { columns: 1, group: 0 }),
        ((1, 33, Some(1000)), PlanError::NoCentre { columns: 1, group: 33 }),
        ((1, 1, Some(0)), PlanError::NoGrain),
    ] {
        let scheme = Scheme::Centre { columns, group, grain };
        let spec = PlanSpec { scheme, ..PlanSpec::new(board(20)) };
        assert_eq!(Plan::derive(spec).unwrap_err(), expected);
    }
}

#[test]
fn grain_cuts_units_into_consecutive_units() {
    let kernel = crate::kernel::kernel(Method::Search, None).unwrap();
    let count = |unit: &Unit| unit.count(&*kernel, &Stop::new()).unwrap().completions;
    for (n, columns, group, grain) in [(12, 1, 1, 2), (13, 2, 3, 1)] {
        let [plan, cut] = [None, Some(grain)].map(|grain| centre(n, columns, group, grain));
        let mut seen = BTreeSet::new();
        for range in
            cut.unit_ranges().filter(|range| !range.summand.is_symmetric_count() && !range.units.is_empty())
        {
            let is_same = |other: &UnitRange| (other.border, other.summand) == (range.border, range.summand);
            let whole = plan.unit_ranges().find(is_same).unwrap().units;
            let [many, few] = [&range.units, &whole].map(|units| units.end - units.start);
            let sides = (many / few).ilog2();
            assert_eq!(many, few << sides);
            seen.insert(sides);
            for (first, whole) in (range.units.start..).step_by(1 << sides).zip(whole) {
                let whole = plan.unit(UnitId(whole));
                let pieces: Vec<Unit> =
                    (first..first + (1 << sides)).map(|id| cut.unit(UnitId(id))).collect();
                assert!(pieces.iter().all(|unit| unit.position.queens() == whole.position.queens()));
                assert_eq!(pieces.iter().map(count).sum::<u64>(), count(&whole), "n={n}: {whole:?}");
            }
        }
        assert!(seen.len() > 2, "not all alike: {seen:?}");
    }
}

#[test]
fn unit_counts_keep_their_bounds_for_every_board() {
    for n in [16, 18, 20, 22, 24, 27, 28, 32] {
        let plan = plan(n);
        println!("n={n}: {} units of {:.3e} nodes in all", plan.units(), plan.total_weight() as f64);
        assert!(plan.units() <= 10_000_000, "n={n}: {}", plan.units());
        if (16..=20).contains(&n) {
            assert!((1_000..100_000).contains(&plan.units()), "n={n}: {}", plan.units());
        }
    }
}

#[test]
fn oversized_plans_are_refused_in_about_a_second() {
    let begun = Instant::now();
    let refused = [
        (27, Scheme::Families { rows: 8, group: 1, sides: 12 }),
        (27, Scheme::Families { rows: 6, group: 1, sides: 0 }),
        (32, Scheme::Families { rows: 8, group: 32, sides: 0 }),
        (20, Scheme::Families { rows: 2, group: 1, sides: 12 }),
        (27, Scheme::Constellations { grain: 1 }),
        (32, Scheme::Constellations { grain: 1_000_000_000_000 }),
        (27, Scheme::Centre { columns: 8, group: 1, grain: None }),
        (32, Scheme::Centre { columns: 5, group: 32, grain: None }),
        (28, Scheme::Centre { columns: 3, group: 1, grain: Some(1) }),
    ];
    for (n, scheme) in refused {
        let spec = PlanSpec { scheme, ..PlanSpec::new(board(n)) };
        assert_eq!(Plan::derive(spec).unwrap_err(), spec.too_many_units(), "{spec:?}");
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?} for nine", begun.elapsed());
}

/// The largest grain that is refused for a board without deriving anything.
fn largest_refused_grain(n: u8) -> Option<u64> {
    let exceeds = |grain: &u64| constellations::exceeds(board(n), *grain, spec::MOST_UNITS);
    let power = (0..64).map(|power| 1 << power).take_while(exceeds).last()?;
    Some(
        (0..64)
            .rev()
            .map(|bit| 1 << bit)
            .filter(|bit| *bit < power)
            .fold(power, |grain, bit| if exceeds(&(grain | bit)) { grain | bit } else { grain }),
    )
}

#[test]
fn plans_refused_in_advance_exceed_the_limit() {
    for n in 1..=32 {
        let Some(largest) = largest_refused_grain(n) else {
            assert!(n <= 16, "n = {n}: a grain of 1 is not refused");
            continue;
        };
        let nearly = largest - largest / 10;
        for grain in [largest, nearly, largest / 2].into_iter().filter(|grain| n > 17 || *grain > 4) {
            let parts = constellations::parts(board(n), grain, spec::MOST_UNITS);
            assert!(parts.is_none(), "n = {n}, grain = {grain} derives");
        }
    }
}

#[test]
fn monstrous_plans_are_refused_at_once() {
    for n in 17..=32 {
        let begun = Instant::now();
        let refused =
            PlanSpec { scheme: Scheme::Constellations { grain: 1 }, ..PlanSpec::families(board(n)) };
        assert_eq!(Plan::derive(refused).unwrap_err(), PlanError::GrainTooSmall(1));
        assert!(begun.elapsed().as_millis() < 100, "n = {n}: {:?}", begun.elapsed());
    }
}

#[test]
fn split_beyond_rows_and_sides_counts_nothing_twice() {
    for (n, rows, group, sides) in [(5, 3, 1, 5), (7, 8, 1, 3), (8, 1, 2, 12), (9, 8, 3, 2), (10, 4, 1, 8)] {
        let plan = families(n, rows, group, sides);
        assert_eq!(Some(total(&plan)), known::totals(board(n)), "{:?}", plan.spec());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_split_gives_the_published_totals(
        n in 1..=8u8, rows in 0..=8u8, group in 1..=32u8, sides in 0..=12u8, grain in 1..=100u64,
    ) {
        let by_columns =
            Scheme::Centre { columns: rows, group, grain: Some(grain).filter(|grain| *grain < 50) };
        for scheme in [Scheme::Families { rows, group, sides }, Scheme::Constellations { grain }, by_columns] {
            let plan = Plan::derive(PlanSpec { scheme, ..PlanSpec::new(board(n)) }).unwrap();
            prop_assert_eq!(Some(total(&plan)), known::totals(board(n)));
        }
    }
}

#[test]
fn unit_ranges_are_ordered_and_families_are_shared() {
    for n in [4, 5, 8, 11, 12, 13] {
        let board = Board::new(n).unwrap();
        let plans = [plan(n), Plan::derive(PlanSpec::families(board)).unwrap(), centre(n, 2, 3, Some(10))];
        let families = plans.map(|plan| {
            let mut next = 0;
            let mut families = BTreeSet::new();
            for range in plan.unit_ranges() {
                assert_eq!(range.units.start, next);
                next = range.units.end;
                families.insert(range.border.family(board));
                for unit in range.units.clone().map(UnitId).take(3) {
                    assert_eq!(plan.summand(unit), range.summand);
                    assert_eq!(
                        Border::of(&plan.unit(unit).position).family(board),
                        range.border.family(board)
                    );
                }
            }
            assert_eq!(next, plan.units());
            families
        });
        assert!(families.iter().all(|found| *found == families[0]), "n={n}");
    }
}

/// The basis of double-checking: a unit's mirror image, another instruction set and another method give the
/// same count. With the same method they also give the same nodes.
fn images_and_kernels_agree(unit: &Unit) {
    let mut completions = None;
    for method in Method::ALL {
        let mut counts = Vec::new();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let kernel = crate::kernel::kernel(method, Some(isa)).unwrap();
            counts.push(unit.count(&*kernel, &Stop::new()).unwrap());
            counts.push(unit.mirrored().count(&*kernel, &Stop::new()).unwrap());
        }
        assert!(counts.iter().all(|count| *count == counts[0]), "{unit:?} by {method}: {counts:?}");
        assert_eq!(*completions.get_or_insert(counts[0].completions), counts[0].completions, "{unit:?}");
    }
}

#[test]
fn images_and_kernels_of_a_unit_have_equal_counts() {
    for n in 4..=11 {
        let by_rows = [plan(n), finely_split(n, 30), families(n, 0, 1, 0), families(n, 1, 2, 1)];
        let plans = by_rows.into_iter().chain([centre(n, 1, 2, None), centre(n, 2, 1, Some(1))]);
        for plan in plans {
            (0..plan.units()).for_each(|id| images_and_kernels_agree(&plan.unit(UnitId(id))));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn images_and_kernels_agree_on_larger_boards(n in 12..=16u8, scheme in 0..4, unit: u64) {
        let plan = match scheme {
            0 => plan(n),
            1 => Plan::derive(PlanSpec::families(board(n))).unwrap(),
            2 => centre(n, 2, 1, None),
            _ => centre(n, 1, 1, Some(100)),
        };
        images_and_kernels_agree(&plan.unit(UnitId(unit % plan.units())));
    }
}

#[test]
fn both_methods_agree_on_units_of_boards_up_to_n_22() {
    let by_families = [(17, 8), (18, 8), (19, 6), (20, 4), (21, 1), (22, 1)]
        .map(|(n, units)| (Plan::derive(PlanSpec::families(board(n))).unwrap(), units));
    let by_columns = [
        (18, (2, 1, None), 8),
        (20, (3, 1, None), 6),
        (21, (4, 1, None), 4),
        (22, (4, 1, None), 2),
        (18, (1, 1, Some(20_000)), 8),
        (20, (2, 1, Some(20_000)), 6),
        (22, (3, 1, Some(50_000)), 2),
    ]
    .map(|(n, (columns, group, grain), units)| (centre(n, columns, group, grain), units));
    for (plan, units) in by_families.into_iter().chain(by_columns) {
        let n = plan.board();
        for k in 1..=units {
            // Scattered by the golden ratio.
            let id = UnitId(u64::wrapping_mul(k, 0x9E37_79B9_7F4A_7C15) % plan.units());
            let counts = Method::ALL.map(|method| {
                let kernel = crate::kernel::kernel(method, None).unwrap();
                plan.unit(id).count(&*kernel, &Stop::new()).unwrap().completions
            });
            assert_eq!(counts[0], counts[1], "n = {n}, unit {id}");
        }
    }
}

//! Weights beside what units were measured to take.

use crate::board::Board;
use crate::plan::{Plan, PlanSpec, Scheme, UnitId};
use crate::summand::{Measure, Summand};

fn plan(spec: PlanSpec) -> Plan {
    Plan::derive(spec).unwrap()
}

fn board(n: u8) -> Board {
    Board::new(n).unwrap()
}

#[test]
fn unit_weights_add_up_to_the_total_weight() {
    let sum = |plan: &Plan| (0..plan.units()).map(|id| u128::from(plan.weight(UnitId(id)))).sum::<u128>();
    for n in [1, 2, 4, 9, 16, 17] {
        for spec in [PlanSpec::new(board(n)), PlanSpec::families(board(n))] {
            let plan = plan(spec);
            assert_eq!(sum(&plan), plan.total_weight(), "{spec:?}");
        }
    }
    for n in [19, 20, 24] {
        for spec in [PlanSpec::new(board(n)), PlanSpec::families(board(n))] {
            let plan = plan(spec);
            let ratio = sum(&plan) as f64 / plan.total_weight() as f64;
            assert!((ratio - 1.0).abs() < 0.02, "{ratio} by {spec:?}");
            let means = (0..plan.units()).map(|id| u128::from(plan.mean_weight(UnitId(id))));
            assert_eq!(means.sum::<u128>(), plan.total_weight(), "{spec:?}");
        }
    }
}

#[test]
fn symmetric_weights_match_their_time() {
    for spec in [PlanSpec::new(board(28)), PlanSpec::families(board(28))] {
        let plan = plan(spec);
        let half_turns: Vec<u64> = (0..200).filter(|id| is_half_turn(&plan, *id)).collect();
        let mean =
            half_turns.iter().map(|id| plan.weight(UnitId(*id))).sum::<u64>() / half_turns.len() as u64;
        // Measured: 0.8 to 2.8 s, 2 s on average.
        assert!((1_500_000_000..2_500_000_000).contains(&mean), "{mean} by {spec:?}");
    }
}

#[test]
fn record_size_weights_match_their_time() {
    type Seconds<'a> = &'a [(u64, f64)];
    // Random units and their seconds, estimated from some of their passes (docs/performance.md).
    let centre = |columns, group, grain| Scheme::Centre { columns, group, grain };
    let seconds: [(u8, Scheme, Seconds<'_>); 4] = [
        (
            26,
            centre(2, 1, None),
            &[(17_836, 575.0), (37_099, 399.0), (48_057, 314.0), (26_118, 570.0), (23_317, 568.0)],
        ),
        // These were counted whole.
        (26, centre(2, 1, Some(2_581_259_546)), &[(133_167, 71.3), (328_524, 30.1)]),
        (
            27,
            centre(3, 1, None),
            &[(378_392, 321.9), (779_366, 310.0), (556_662, 352.4), (224_414, 381.7), (1_318_675, 77.0)],
        ),
        (
            28,
            centre(4, 4, None),
            &[(2_146_302, 663.0), (5_706_438, 581.2), (1_295_551, 658.3), (7_486_083, 272.0)],
        ),
    ];
    for (n, scheme, units) in seconds {
        let plan = plan(PlanSpec { scheme, ..PlanSpec::families(board(n)) });
        for &(unit, taken) in units {
            let weight = plan.weight_alone(UnitId(unit)) as f64 / 1e9;
            assert!(
                (0.75..1.35).contains(&(weight / taken)),
                "n = {n}, unit {unit}: {weight} s for {taken} s"
            );
        }
        let board_seconds = plan.total_weight() as f64 / 1e9;
        let measured = [3.08e7, 3.33e8, 4.03e9][usize::from(n - 26)];
        assert!((board_seconds / measured - 1.0).abs() < 0.15, "n = {n}: {board_seconds} s");
    }
}

fn is_half_turn(plan: &Plan, id: u64) -> bool {
    matches!(plan.summand(UnitId(id)), Summand::Symmetric(_, Measure::HalfTurn))
}

#[test]
fn unit_weight_is_independent_of_query_order() {
    let [a, b] = [(); 2].map(|()| plan(PlanSpec::families(board(24))));
    let ids: Vec<u64> = (0..a.units()).step_by(37).collect();
    let forwards: Vec<u64> = ids.iter().map(|id| a.weight(UnitId(*id))).collect();
    let mut backwards: Vec<u64> = ids.iter().rev().map(|id| b.weight(UnitId(*id))).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert!(ids.iter().map(|id| a.weight_alone(UnitId(*id))).eq(forwards.iter().copied()));
    assert!(forwards.iter().any(|weight| *weight != forwards[0]));
}

//! The search on each device that is there, against the processor's; and how many states and how much memory it takes.

use super::*;
use crate::device::devices;
use queens::kernel::{Isa, Kernel, Search};
use queens::{Board, BoundaryPairs, Plan, PlanSpec, UnitId};

fn unit(n: u8) -> Position {
    let plan = Plan::derive(PlanSpec::new(Board::new(n).unwrap())).unwrap();
    plan.unit(UnitId(plan.units() / 2)).position
}

/// A board with a queen in each boundary, for each of some pairs of rows.
fn with_several_descents(n: u8) -> Position {
    let mut pairs = BoundaryPairs::none();
    (1..n).step_by(3).for_each(|left| pairs.allow(left, (left * 2 + 1) % n));
    Position::empty(Board::new(n).unwrap()).with_boundary(pairs)
}

/// As on cards without lockstep, with as many states for each item as there can be.
fn launcher(groups: usize, wished: usize) -> SearchLauncher {
    SearchLauncher {
        shape: GroupShape { group: 32, each: 2, is_in_lockstep: false },
        groups,
        wished,
        lanes: Lanes::default(),
    }
}

/// A session on each device; none where there is no OpenCL, unless it is demanded.
fn sessions() -> Vec<Session> {
    let found = devices();
    assert!(found.is_ok() || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "{found:?}");
    let found = found.unwrap_or_default().into_iter();
    let usable = found.filter(|device| device.description().unusable.is_none());
    usable.map(|device| Session::new(device, &launcher(1, 1).source()).unwrap()).collect()
}

#[test]
fn the_host_makes_few_states_whatever_the_board_is() {
    let stop = Stop::new();
    for position in [16, 20, 24, 27].map(unit) {
        let (_, large) = descents(&position, &stop).unwrap();
        for descent in &large {
            let (passed, front) = expand(descent, STATES_OF_HOST, &stop).unwrap();
            assert!((STATES_OF_HOST..20 * STATES_OF_HOST).contains(&front.states.len()));
            assert!(passed.nodes < 30 * STATES_OF_HOST as u64, "{}", passed.nodes);
        }
    }
}

#[test]
fn states_take_no_more_memory_than_they_may() {
    for words in [0, 1000, 10_000, 8 << 20, 1 << 31] {
        let launcher = launcher(1, states_in(words));
        let bytes = launcher.room() * size_of::<Vector>();
        assert!(launcher.wished > 0 && bytes <= (8 * words).max(ROOM * size_of::<Vector>()));
    }
    assert!(
        states_in(9 << 27) > 132 * GROUPS_OF_CARD * launcher(1, 1).shape.wide() * STATES_ON_CARD,
        "a large card has room for all"
    );
}

#[test]
fn few_states_or_many_little_room_or_much_and_any_number_of_groups_change_nothing_but_time() {
    for position in [unit(15), Position::empty(Board::new(12).unwrap()), with_several_descents(13)] {
        let expected = Search::new(Isa::best()).unwrap().count(&position, &Stop::new()).unwrap();
        assert!(expected.completions > 0);
        for session in sessions() {
            for groups in [1, 3, 100] {
                for wished in [1, 10, 1100, 3000, 40_000, 1 << 20] {
                    let count = launcher(groups, wished).count(&session, &position, &Stop::new());
                    assert_eq!(count.unwrap(), Some(expected), "{groups} groups, {wished} states wished");
                }
            }
        }
    }
}

#[test]
fn a_level_is_moved_on_until_there_are_as_many_as_wished_or_no_room_for_what_becomes_of_it() {
    let (_, large) = descents(&with_several_descents(18), &Stop::new()).unwrap();
    assert!(large.len() > 1);
    let at_least = |wished| expand(&large[1], wished, &Stop::new()).unwrap().1;
    let front = at_least(1000);
    let begun = front.states.len();
    let children = at_least(begun + 1).states.len();
    let [too_few, enough] = [(children - 1) / ROOM, children.div_ceil(ROOM)];
    assert!(begun < too_few);
    for session in sessions() {
        let mut lane = SearchLane::new(&session).unwrap();
        lane.rows.fill(&session, &lane.queue, &packed_rows(&large[1])).unwrap();
        let mut widened = |wished| {
            let launcher = launcher(4, wished);
            for room in &mut lane.states {
                room.reserve(&session, launcher.room()).unwrap();
            }
            lane.states[0].fill(&session, &lane.queue, &front.states).unwrap();
            launcher.widen(&session, &mut lane, &front).unwrap()
        };
        let as_begun = Level { place: front.level, states: begun, room: 0 };
        let moved_on = Level { place: front.level + 1, states: children, room: 1 };
        assert_eq!(widened(begun), (0, as_begun), "as many as wished");
        assert_eq!(widened(too_few), (0, as_begun), "no room");
        assert_eq!(widened(enough), (children as u64, moved_on));
        let (nodes, level) = widened(1 << 20);
        assert!(level.place > moved_on.place && level.room == (level.place - front.level) % 2, "{level:?}");
        assert!(level.states >= 1 << 20 && nodes >= (children + level.states) as u64, "{nodes}");
    }
}

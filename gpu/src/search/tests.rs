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

fn launcher(items: usize, wished: usize) -> SearchLauncher {
    SearchLauncher { items, wished, lanes: Lanes::default() }
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
        let launcher = launcher(GROUP, states_in(words));
        let bytes = (launcher.room() + launcher.wished) * size_of::<Vector>();
        assert!(launcher.wished > 0 && bytes <= (8 * words).max((GROUP * ROWS + 2) * size_of::<Vector>()));
    }
    assert!(states_in(9 << 27) > 132 * ITEMS_OF_CARD * STATES_OF_CARDS_ITEM, "a large card has room for all");
}

#[test]
fn few_states_or_many_little_room_or_much_and_any_number_of_counters_change_nothing_but_time() {
    for position in [unit(15), Position::empty(Board::new(12).unwrap()), with_several_descents(13)] {
        let expected = Search::new(Isa::best()).unwrap().count(&position, &Stop::new()).unwrap();
        assert!(expected.completions > 0);
        for session in sessions() {
            for items in [GROUP, 3 * GROUP * GROUPS_OF_COUNTER] {
                for wished in [1, 10, 1100, 3000, 40_000, 1 << 20] {
                    let count = launcher(items, wished).count(&session, &position, &Stop::new());
                    assert_eq!(count.unwrap(), Some(expected), "{items} items, {wished} states wished");
                }
            }
        }
    }
}

#[test]
fn a_level_that_has_not_enough_room_is_moved_on_in_part_and_has_as_many_states_as_wished() {
    let (_, large) = descents(&with_several_descents(14), &Stop::new()).unwrap();
    assert!(large.len() > 1);
    let (_, front) = expand(&large[1], 3000, &Stop::new()).unwrap();
    for session in sessions() {
        let launcher = launcher(4 * GROUP, front.states.len() + 1);
        let mut lane = SearchLane::new(&session).unwrap();
        lane.rows.fill(&session, &lane.queue, &packed_rows(&large[1])).unwrap();
        lane.states[0].fill(&session, &lane.queue, &front.states).unwrap();
        lane.states[1].reserve(&session, launcher.room() + launcher.wished).unwrap();
        lane.made.fill(&session, &lane.queue, &[0; MADE * ROWS]).unwrap();
        let level = Level { place: front.level, front: front.states.len(), behind: 0, depth: 9 };
        let level = launcher.widen(&session, &mut lane, &level).unwrap();
        assert!((launcher.wished..=launcher.room()).contains(&level.front), "{}", level.front);
        assert!((1..launcher.wished).contains(&level.behind), "{}", level.behind);
        assert_eq!((level.place, level.depth), (front.level + 1, 9));
    }
}

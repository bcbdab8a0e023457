//! The search on each device, compared with the processor's, and its use of states and memory.

use super::lane::{MemoryShare, RAISE_SHARE_AFTER};
use super::*;
use std::sync::Mutex;

use crate::device::devices;
use queens::kernel::{Isa, Kernel, KernelName, Method, Search};
use queens::{Board, BoundaryPairs, Plan, PlanSpec, UnitId, self_test};

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

const ON_CARDS: GroupShape = GroupShape { group: 32, each: 1, is_in_lockstep: false };
const ON_PROCESSORS: GroupShape = GroupShape { group: 1, each: 64, is_in_lockstep: false };

fn launcher(shape: GroupShape, groups: usize, wished: usize) -> SearchLauncher {
    SearchLauncher { shape, groups, wished, fewest_passes: FEWEST_PASSES, lanes: Lanes::default() }
}

/// PoCL runs the items of a group one after the other between two barriers: in their order, or in this order.
const REVERSED: &str = "#undef LOCAL_INDEX\n#define LOCAL_INDEX (GROUP - 1 - (uint)get_local_id(0))\n";

/// A session on each device; none without OpenCL, unless it is required.
fn sessions(shape: GroupShape, before: &str) -> Vec<Session> {
    let found = devices();
    assert!(found.is_ok() || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "{found:?}");
    let found = found.unwrap_or_default().into_iter();
    let usable = found.filter(|device| device.description().unusable.is_none());
    let source = KernelSource { text: &format!("{before}{SEARCH}"), macros: shape.macros() };
    usable.map(|device| Session::new(device, &source).unwrap()).collect()
}

#[test]
fn host_makes_few_states_for_any_board() {
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
        let wished = states_in(words);
        let bytes = wished * ROOM * size_of::<Vector>();
        assert!(wished > 0 && bytes <= (8 * words).max(ROOM * size_of::<Vector>()));
    }
    assert!(states_in(9 << 27) > 132 * GROUPS_OF_CARD * 64 * STATES_ON_CARD, "a large card has room for all");
}

#[test]
fn launch_length_follows_load_and_time() {
    let (all, half, few) = (100, 50, 49);
    let next = |taken, busy| next_passes(1000, taken, busy, 100);
    for busy in [all, half, few] {
        assert_eq!(next(2 * LAUNCH, busy), 500);
    }
    assert_eq!([all, half, few].map(|busy| next(LAUNCH / 4, busy)), [2000, 1000, 1000]);
    assert_eq!([all, half, few].map(|busy| next(LAUNCH / 20, busy)), [2000, 2000, 1000]);
    assert_eq!(next(LAUNCH * 2 / 3, all), 1500);
}

#[test]
fn count_is_independent_of_groups_and_state_room() {
    for position in [unit(15), Position::empty(Board::new(12).unwrap()), with_several_descents(13)] {
        let expected = Search::new(Isa::best()).unwrap().count(&position, &Stop::new()).unwrap();
        assert!(expected.completions > 0);
        for session in sessions(ON_CARDS, "") {
            for groups in [1, 3, 100] {
                for wished in [1, 10, 1100, 3000, 40_000, 1 << 20] {
                    let count = launcher(ON_CARDS, groups, wished).count(&session, &position, &Stop::new());
                    assert_eq!(count.unwrap(), Some(expected), "{groups} groups, {wished} states wished");
                }
            }
        }
    }
}

#[test]
fn count_is_independent_of_item_order_and_launch_end() {
    let position = with_several_descents(11);
    assert!(launcher(ON_CARDS, 3, 40_000).together() > 1, "descents are searched together");
    let expected = Search::new(Isa::best()).unwrap().count(&position, &Stop::new()).unwrap();
    assert!(expected.completions > 0);
    let with_two = GroupShape { each: 2, ..ON_CARDS };
    let with_half = GroupShape { each: 32, ..ON_PROCESSORS };
    for shape in [ON_CARDS, with_two, ON_PROCESSORS, with_half] {
        for before in ["", REVERSED] {
            for session in sessions(shape, before) {
                for (groups, wished, fewest_passes) in
                    [(1, 1, 1), (2, 100, 2), (3, 1, 3), (2, 30, 17), (3, 3000, 1), (3, 40_000, 2)]
                {
                    let launcher = SearchLauncher { fewest_passes, ..launcher(shape, groups, wished) };
                    let count = launcher.count(&session, &position, &Stop::new());
                    assert_eq!(
                        count.unwrap(),
                        Some(expected),
                        "{shape:?}, {groups} groups, {fewest_passes} passes, {before}"
                    );
                }
            }
        }
    }
}

#[test]
fn skipped_launches_and_groups_are_detected() {
    // Its descents begin with few states, which the device makes more of.
    let position = with_several_descents(15);
    for session in sessions(ON_CARDS, "") {
        let launcher = launcher(ON_CARDS, 3, 40_000);
        let count = || launcher.count(&session, &position, &Stop::new()).map_err(|error| error.to_string());
        let with = |change: &dyn Fn(&mut SearchLane)| {
            let changed = |lane: &mut SearchLane| {
                change(lane);
                Ok(())
            };
            launcher.lanes.with(|| SearchLane::new(&session, FEWEST_PASSES), changed).unwrap();
        };
        for some in ["1", "GROUP_INDEX == 0"] {
            let left_out = |kernel: &str, text: &str| {
                assert_eq!(SEARCH.matches(text).count(), 1, "{text}");
                let text = SEARCH.replace(text, &format!("if ({some}) return; {text}"));
                let session =
                    session.beside(&KernelSource { text: &text, macros: ON_CARDS.macros() }).unwrap();
                session.kernel(kernel).unwrap()
            };
            // The results of an earlier count are still in the buffer.
            count().unwrap();
            with(&|lane| lane.search = left_out("search", "uint descent = is_begun"));
            let failure = count().unwrap_err();
            assert!(failure.contains("it returned an impossible result (found in launch "), "{failure}");
            with(&|lane| lane.widen = left_out("widen", "const uint place ="));
            let failure = count().unwrap_err();
            assert!(failure.contains("it returned an impossible result (groups that ended: "), "{failure}");
        }
    }
}

#[test]
fn impossible_state_numbers_of_a_device_are_rejected() {
    let (_, large) = descents(&unit(18), &Stop::new()).unwrap();
    let front = expand(&large[0], 100, &Stop::new()).unwrap().1;
    let begun = OnDevice::begun(&front, 0, 0);
    let (level, room) = (front.level, 1 << 20);
    let widened = |change: &dyn Fn(&mut [cl_uint])| {
        let mut made = begun.made;
        change(&mut made);
        begun.widened(&made, front.descent, 0, room)
    };
    let (nodes, as_begun) = widened(&|_| {}).unwrap();
    assert_eq!((nodes, as_begun.place as usize, as_begun.states), (0, level, begun.states));
    let (nodes, moved_on) = widened(&|made| made[level + 1] = 7).unwrap();
    assert_eq!((nodes, moved_on.place as usize, moved_on.states), (7, level + 1, 7));
    assert_eq!(widened(&|made| made.fill(0)), None, "what the host made is gone");
    assert_eq!(widened(&|made| made.fill(u32::MAX)), None);
    assert_eq!(widened(&|made| made[level + 1] = 32 * made[level] + 1), None, "more than there are columns");
    assert_eq!(
        widened(&|made| made[level + begun.rows as usize + 1] = 1),
        None,
        "beyond the last that is moved on"
    );
    assert_eq!(widened(&|made| made[level + 2] = 1), None, "of none");
}

#[test]
fn descents_widen_to_the_wished_number_or_room() {
    let (_, large) = descents(&with_several_descents(18), &Stop::new()).unwrap();
    assert!(large.len() > 1);
    let at_least = |wished| {
        let expanded = |descent| expand(descent, wished, &Stop::new()).unwrap().1;
        large.iter().map(expanded).collect::<Vec<_>>()
    };
    // The first has a level more behind it than the others.
    let mut fronts = at_least(1000);
    fronts[0] = at_least(fronts[0].states.len() + 1).remove(0);
    let states = |fronts: &[Front<'_>]| fronts.iter().map(|front| front.states.len()).collect::<Vec<_>>();
    let begun = states(&fronts);
    let children: Vec<_> = begun
        .iter()
        .zip(&large)
        .map(|(&states, descent)| expand(descent, states + 1, &Stop::new()).unwrap().1.states.len())
        .collect();
    let most = *children.iter().max().unwrap();
    let (least_begun, most_begun) = (*begun.iter().min().unwrap(), *begun.iter().max().unwrap());
    for session in sessions(ON_CARDS, "") {
        let mut lane = SearchLane::new(&session, FEWEST_PASSES).unwrap();
        let mut widened = |wished, room| {
            let launcher = launcher(ON_CARDS, 4, large.len() << 18);
            let part = lane.reserve(&session, launcher.wishes(&fronts)).unwrap().unwrap();
            assert!(room <= part.room);
            launcher.widen(&session, &mut lane, &fronts, DescentRoom { wished, room }).unwrap()
        };
        let told = |descents: &[OnDevice]| {
            descents
                .iter()
                .map(|&OnDevice { place, states, room, first, .. }| {
                    [place, states, room, first].map(|word| word as usize)
                })
                .collect::<Vec<_>>()
        };
        let firsts = begun.iter().scan(0, |first, states| Some(std::mem::replace(first, *first + states)));
        let as_begun: Vec<_> = fronts
            .iter()
            .zip(firsts)
            .map(|(front, first)| [front.level, front.states.len(), 0, first])
            .collect();
        let (nodes, descents) = widened(least_begun, most);
        assert_eq!((nodes, told(&descents)), (0, as_begun.clone()), "as many as wished");
        let least = *children.iter().min().unwrap();
        let (nodes, descents) = widened(most_begun + 1, least - 1);
        assert_eq!((nodes, told(&descents)), (0, as_begun), "no room");
        let (nodes, descents) = widened(most_begun + 1, most);
        let moved_on: Vec<_> = fronts
            .iter()
            .zip(&children)
            .enumerate()
            .map(|(index, (front, &states))| [front.level + 1, states, 1, index * most])
            .collect();
        assert_eq!((nodes, told(&descents)), (children.iter().sum::<usize>() as u64, moved_on));
        let room = 1 << 20;
        let (nodes, descents) = widened(1 << 16, room);
        let last: usize = descents.iter().map(|descent| descent.states as usize).sum();
        assert!(nodes >= (children.iter().sum::<usize>() + last) as u64, "{nodes}");
        for (index, (descent, front)) in descents.iter().zip(&fronts).enumerate() {
            let moved = descent.place as usize - front.level;
            assert!(moved > 1 && descent.room as usize == 2 - moved % 2, "{descent:?}");
            assert!(descent.states >= 1 << 16 && descent.first as usize == index * room, "{descent:?}");
        }
    }
}

#[test]
fn joint_and_separate_descents_have_equal_counts() {
    let (_, large) = descents(&with_several_descents(15), &Stop::new()).unwrap();
    let at_least = |index: usize, wished| expand(&large[index], wished, &Stop::new()).unwrap().1;
    let fronts = [at_least(0, 10), at_least(1, 1000)];
    let part = DescentRoom { wished: fronts[1].states.len(), room: 1 << 18 };
    for session in sessions(ON_CARDS, "") {
        let mut lane = SearchLane::new(&session, FEWEST_PASSES).unwrap();
        let launcher = launcher(ON_CARDS, 3, 1 << 17);
        let mut found = |fronts: &[Front<'_>]| {
            lane.reserve(&session, launcher.wishes(fronts)).unwrap().unwrap();
            let (nodes, widened) = launcher.widen(&session, &mut lane, fronts, part).unwrap();
            let found = launcher.search(&session, &mut lane, &widened, &Stop::new()).unwrap().unwrap();
            (widened, found.plus(Count { completions: 0, nodes }))
        };
        let (widened, together) = found(&fronts);
        assert!(
            widened[0].place > fronts[0].level as u32 + 1,
            "the device makes states of the one in both rooms"
        );
        assert_eq!(widened[1].room, 0, "and none of the other");
        let apart = fronts.iter().map(|front| found(std::slice::from_ref(front)).1);
        assert_eq!(together, apart.fold(Count::default(), Count::plus));
    }
}

#[test]
fn device_without_room_searches_half_of_the_descents() {
    let (_, large) = descents(&with_several_descents(9), &Stop::new()).unwrap();
    let front = expand(&large[0], 1, &Stop::new()).unwrap().1;
    for session in sessions(ON_CARDS, "") {
        // Some drivers allocate larger buffers than their stated limit, but none larger than the memory.
        let memory = session.device().description().memory as usize / size_of::<Vector>();
        let many = vec![front.clone(); memory / LEAST_ROOM + 1];
        let mut lane = SearchLane::new(&session, FEWEST_PASSES).unwrap();
        let launcher = launcher(ON_CARDS, 2, 40_000);
        assert!(
            lane.reserve(&session, launcher.wishes(&many)).unwrap().is_none(),
            "{} are too many",
            many.len()
        );
        let mut found = |fronts: &[Front<'_>]| {
            launcher.count_on_device(&session, &mut lane, fronts, &Stop::new()).unwrap().unwrap()
        };
        let (one, all) = (found(&many[..1]), found(&many));
        assert!(one.completions > 0);
        let times = many.len() as u64;
        assert_eq!((all.completions, all.nodes), (one.completions * times, one.nodes * times));
    }
}

#[test]
fn device_with_room_for_fewer_states_counts_right() {
    let position = unit(15);
    let expected = Search::new(Isa::best()).unwrap().count(&position, &Stop::new()).unwrap();
    for session in sessions(ON_CARDS, "") {
        let largest = session.device().description().largest_buffer as usize / size_of::<Vector>();
        // Four times and a million times more than the room of any buffer.
        for wished in [largest, largest << 18] {
            let launcher = launcher(ON_CARDS, 2, wished);
            assert_eq!(launcher.count(&session, &position, &Stop::new()).unwrap(), Some(expected));
            let lane = || SearchLane::new(&session, FEWEST_PASSES);
            let share = |lane: &mut SearchLane| Ok(lane.share);
            let share = launcher.lanes.with(lane, share).unwrap();
            let there = share.of(wished);
            assert!((largest / ROOM / 4..=largest / ROOM).contains(&there), "{there} of {largest}");
            assert!(share.since.is_some() && share.of(1) == 1, "{share:?}");
        }
    }
}

#[test]
fn halved_memory_share_is_raised_again_after_a_while() {
    let mut share = MemoryShare::default();
    assert!(share.halve(1000) && share.halve(1000) && share.of(1000) == 250);
    share.try_more();
    assert_eq!(share.of(1000), 250, "not at once");
    share.since = Instant::now().checked_sub(RAISE_SHARE_AFTER + Duration::from_secs(1));
    share.try_more();
    assert_eq!(share.of(1000), 1000);
    assert!(!share.halve(1), "there is no less");
}

/// Counts on the processor as a device is to, and keeps the position that it counted last.
struct Last(Search, Mutex<Option<(Position, Count)>>);

impl Kernel for Last {
    fn name(&self) -> KernelName {
        KernelName { method: Method::Search, isa: Isa::OpenCl }
    }

    fn count(&self, position: &Position, stop: &Stop) -> Option<Count> {
        let count = self.0.count(position, stop)?;
        *self.1.lock().unwrap() = Some((position.clone(), count));
        Some(count)
    }
}

#[test]
fn self_test_of_large_board_covers_all_search_parts() {
    let kernel = Last(Search::new(Isa::best()).unwrap(), Mutex::default());
    self_test::run(&kernel, Board::LARGEST).unwrap();
    let (position, expected) = kernel.1.into_inner().unwrap().unwrap();
    let (_, large) = descents(&position, &Stop::new()).unwrap();
    let [descent] = &large[..] else { panic!("there is one") };
    let (passed, front) = expand(descent, STATES_OF_HOST, &Stop::new()).unwrap();
    for (session, units) in sessions(ON_CARDS, "").iter().flat_map(|session| [(session, 2), (session, 170)]) {
        let groups = units * GROUPS_OF_CARD;
        let launcher = launcher(ON_CARDS, groups, groups * ON_CARDS.wide() * STATES_ON_CARD);
        let mut lane = SearchLane::new(session, FEWEST_PASSES).unwrap();
        let fronts = [front.clone()];
        let part = lane.reserve(session, launcher.wishes(&fronts)).unwrap().unwrap();
        let (nodes, widened) = launcher.widen(session, &mut lane, &fronts, part).unwrap();
        let (place, states) = (widened[0].place as usize, widened[0].states as usize);
        assert!(place > front.level, "the device makes states");
        assert!(descent.steps[place].left > 6, "children with any number of rows left are looked at");
        // A launch takes so many candidates at most: there are more, of the levels that become larger and of the last one alone.
        let groups = groups.min(states.div_ceil(ON_CARDS.wide()));
        let taken = groups * FEWEST_PASSES as usize * ON_CARDS.wide();
        let (mut candidates, mut wished, mut is_last) = (0, states, false);
        while !is_last {
            let (_, front) = expand(descent, wished, &Stop::new()).unwrap();
            candidates +=
                front.states.iter().map(|[.., squares]| squares.count_ones() as usize).sum::<usize>();
            (is_last, wished) = (front.states.len() < wished, front.states.len() + 1);
        }
        assert!(candidates > taken, "{candidates} candidates are taken in one launch by {groups} groups");
        let below = expected.nodes - passed.nodes - nodes;
        let found = launcher.search(session, &mut lane, &widened, &Stop::new()).unwrap().unwrap();
        assert_eq!((found.nodes, found.completions), (below, expected.completions));
    }
}

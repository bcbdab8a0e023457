use queens::kernel::{Isa, Kernel, Meet, Stop};
use queens::{Board, Position, Square};

use super::lists::StateBuffer;
use super::*;
use crate::device::{Device, devices};
use crate::error::GpuError;

/// The usable devices; none without OpenCL, unless it is required.
fn usable_devices() -> Vec<Device> {
    let found = devices();
    assert!(found.is_ok() || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "{found:?}");
    found.unwrap_or_default().into_iter().filter(|device| device.description().unusable.is_none()).collect()
}

/// The count by launches of that shape.
fn counted(device: &Device, shape: MeetShape, position: &Position) -> Result<Count, GpuError> {
    let launcher = MeetLauncher { shape, lanes: Lanes::default() };
    let session = Session::new(device.clone(), &launcher.source())?;
    let count = launcher.count(&session, position, &Stop::new())?;
    Ok(count.expect("nobody stops it"))
}

/// The shapes of launches, with initial and largest room of a buffer, in states.
fn shapes(device: &Device, [room, most]: [usize; 2]) -> [MeetShape; 2] {
    [DeviceKind::Card, DeviceKind::Processor].map(|kind| MeetShape {
        room,
        most,
        ..MeetShape::new(device.description(), kind)
    })
}

/// A board with a queen in its first and last row.
fn position(n: u8) -> Position {
    let queens = [Square::new(0, 2), Square::new(n - 1, 9)];
    queens.into_iter().fold(Position::empty(Board::new(n).unwrap()), Position::with_queen)
}

fn expected(position: &Position) -> Count {
    Meet::new(Isa::best()).unwrap().count(position, &Stop::new()).unwrap()
}

#[test]
fn little_memory_changes_nothing_but_time() {
    let position = position(16);
    let expected = expected(&position);
    for device in usable_devices() {
        for rooms in [[1 << 10, 1 << 20], [1 << 10, 1 << 12], [1 << 12, 1 << 15], [1 << 18, 1 << 18]] {
            for shape in shapes(&device, rooms) {
                assert_eq!(counted(&device, shape, &position), Ok(expected), "{shape:?}");
            }
        }
    }
}

#[test]
fn tables_of_any_width_match_comparison() {
    // Long lists of halves whose last queens share a row: a row of the left half in the middle makes them few.
    let position = position(18).with_row_within(8, 0x1ff);
    let expected = expected(&position);
    for device in usable_devices() {
        for shape in shapes(&device, [1 << 20; 2]) {
            for width in [1, shape.width] {
                let shape = MeetShape { width, direct: 0, ..shape };
                assert_eq!(counted(&device, shape, &position), Ok(expected), "{shape:?}");
            }
        }
    }
}

#[test]
fn groups_sharing_a_row_set_count_like_a_single_group() {
    let position = position(18).with_row_within(8, 0x1ff);
    let expected = expected(&position);
    for device in usable_devices() {
        for shape in shapes(&device, [1 << 20; 2]) {
            // All sets at once, and few at a time, of which each has up to so many groups; with parts of one word, and with those
            // that are worth tabulating. By tables, and one by one.
            for (groups, together) in [(40_000, 3), (64, 64)] {
                for (set_up, direct) in [(1, 0), (1, 1 << 20), (shape.set_up, shape.direct)] {
                    let shape = MeetShape { groups, together, set_up, direct, ..shape };
                    assert_eq!(counted(&device, shape, &position), Ok(expected), "{shape:?}");
                }
            }
        }
    }
}

#[test]
fn few_sets_are_shared_by_all_groups() {
    let shape = MeetShape::new(&Description { units: 10, ..Description::unknown() }, DeviceKind::Card);
    assert_eq!([1000, 160, 159, 80, 3, 1, 0].map(|sets| shape.parts(sets)), [1, 1, 1, 2, 53, 160, 160]);
    let shape = MeetShape { together: 1, ..shape };
    assert_eq!([1000, 3, 1].map(|sets| shape.parts(sets)), [1; 3]);
}

#[test]
fn lists_grow_within_device_memory_and_keep_content() {
    for device in usable_devices() {
        let shape = MeetShape::new(device.description(), DeviceKind::Card);
        let largest = device.description().largest_buffer as usize / 8;
        assert!(shape.most < largest, "a word more than {} is to fit", shape.most);
        let session = Session::new(device, &shape.source()).unwrap();
        let queue = session.queue().unwrap();
        let mut states = StateBuffer::new(&session, 8).unwrap();
        for (room, expected) in [(16, 16), (4 * largest, 16), (32, 32)] {
            assert_eq!(states.enlarge(&session, &queue, room), Ok(room == expected));
            assert_eq!(states.room, expected);
            session.write(&queue, &mut states.buffer, &vec![1; expected + 1]).unwrap();
        }
    }
}

#[test]
fn lists_shrink_if_others_took_the_memory() {
    for device in usable_devices() {
        let shape = MeetShape::new(device.description(), DeviceKind::Card);
        let largest = device.description().largest_buffer as usize / 8;
        let session = Session::new(device, &shape.source()).unwrap();
        let queue = session.queue().unwrap();
        let mut states = StateBuffer::new(&session, 8).unwrap();
        // Once there was this much room.
        states.room = 2 * largest;
        assert_eq!(states.enlarge(&session, &queue, 4 * largest), Ok(false));
        assert!((1..=largest).contains(&states.room), "{}", states.room);
        session.write(&queue, &mut states.buffer, &[1; 2]).unwrap();
    }
}

#[test]
fn lists_with_less_room_than_at_first_lose_nothing() {
    let position = position(16);
    let expected = expected(&position);
    for device in usable_devices() {
        for shape in shapes(&device, [1 << 20; 2]) {
            let session = Session::new(device.clone(), &shape.source()).unwrap();
            let mut lane = MeetLane::new(&session, &MeetShape { room: 1 << 10, ..shape }).unwrap();
            let stop = Stop::new();
            let count = count_by_cuts(&position, &stop, &mut |cut| {
                Halving::new(&session, &shape, &mut lane, cut, &stop).count().unwrap()
            });
            assert_eq!(count, Some(expected), "{shape:?}");
        }
    }
}

/// The kernel whose first group, or all of whose groups, do nothing from there on in its text.
fn left_out(
    session: &Session,
    shape: &MeetShape,
    kernel: &str,
    text: &str,
    some: &str,
) -> opencl3::kernel::Kernel {
    let source = shape.source();
    assert_eq!(source.text.matches(text).count(), 1, "{text}");
    let left_out = source.text.replace(text, &format!("if ({some}) return; {text}"));
    let session = session.beside(&KernelSource { text: &left_out, ..source }).unwrap();
    session.kernel(kernel).unwrap()
}

#[test]
fn skipped_launches_and_groups_are_detected() {
    let position = position(16);
    let expected = expected(&position);
    for device in usable_devices() {
        for shape in shapes(&device, [1 << 20; 2]) {
            let session = Session::new(device.clone(), &shape.source()).unwrap();
            // All lists exist from the count before, so leaving out a launch only makes the sum wrong.
            let mut lane = MeetLane::new(&session, &shape).unwrap();
            let stop = Stop::new();
            let count = |lane: &mut MeetLane| {
                let mut failure = None;
                let count = count_by_cuts(&position, &stop, &mut |cut| {
                    let counted = Halving::new(&session, &shape, lane, cut, &stop).count();
                    counted.map_err(|error| failure = Some(error.to_string())).ok().flatten()
                });
                failure.map_or(Ok(count), Err)
            };
            for some in ["1", "GROUP_INDEX == 0"] {
                let [grow, join] = [("grow", "queens += 32 * column;"), ("join", "const uint slice = 64")]
                    .map(|(kernel, text)| left_out(&session, &shape, kernel, text, some));
                assert_eq!(count(&mut lane), Ok(Some(expected)));
                let sound = std::mem::replace(&mut lane.grow, grow);
                let failure = count(&mut lane).unwrap_err();
                assert!(
                    failure.contains("it returned an impossible result (groups that ended: "),
                    "{failure}"
                );
                lane.grow = sound;
                assert_eq!(count(&mut lane), Ok(Some(expected)));
                let sound = std::mem::replace(&mut lane.join, join);
                let failure = count(&mut lane).unwrap_err();
                assert!(
                    failure.contains("it returned an impossible result (groups that ended: "),
                    "{failure}"
                );
                lane.join = sound;
            }
        }
    }
}

#[test]
fn device_sharing_host_memory_takes_a_small_part() {
    for device in usable_devices() {
        let about = device.description();
        let [card, shared] =
            [false, true].map(|shares_memory| Description { shares_memory, ..about.clone() }.room() as u64);
        assert!(80 * shared <= about.memory / 6 && shared <= card, "{shared} of {}", about.memory);
    }
}

#[test]
fn low_memory_and_failed_build_are_reported() {
    let position = Position::empty(Board::new(14).unwrap());
    for device in usable_devices() {
        for shape in shapes(&device, [8, 8]) {
            let error = counted(&device, shape, &position).unwrap_err();
            assert!(matches!(&error, GpuError::TooSmall { .. }), "{error}");
        }
        let source = KernelSource { text: "KERNEL grow(no such type)", macros: vec![("GROUP", 1)] };
        let Err(error) = Session::new(device.clone(), &source) else { panic!("it was built") };
        assert!(error.to_string().contains("cannot build the kernels"), "{error}");
    }
}

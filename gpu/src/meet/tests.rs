use queens::kernel::{Isa, Kernel, Meet, Stop};
use queens::{Board, Position, Square};

use super::*;
use crate::device::devices;
use crate::error::GpuError;

/// The devices that can be used; none where there is no OpenCL, unless it is demanded.
fn usable_devices() -> Vec<Device> {
    let found = devices();
    assert!(found.is_ok() || std::env::var_os("DIADEM_TEST_TOOLS").is_none(), "{found:?}");
    found.unwrap_or_default().into_iter().filter(|device| device.description().unusable.is_none()).collect()
}

/// What is counted with room for so many states in a buffer, first and at most.
fn counted(
    device: &Device,
    shape: Shape,
    [room, most]: [usize; 2],
    position: &Position,
) -> Result<Count, GpuError> {
    let mut shape = MeetShape::new(device, shape);
    (shape.room, shape.most) = (room, most);
    let launcher = MeetLauncher { shape, lanes: Lanes::default() };
    let session = Session::new(device.clone(), &launcher.source())?;
    let count = launcher.count(&session, position, &Stop::new())?;
    Ok(count.expect("nobody stops it"))
}

#[test]
fn little_memory_changes_nothing_but_time() {
    let position =
        Position::empty(Board::new(16).unwrap()).with_queen(Square::new(0, 2)).with_queen(Square::new(15, 9));
    let expected = Meet::new(Isa::best()).unwrap().count(&position, &Stop::new()).unwrap();
    for device in usable_devices() {
        for rooms in [[1 << 10, 1 << 20], [1 << 10, 1 << 12], [1 << 12, 1 << 15], [1 << 18, 1 << 18]] {
            for shape in [Shape::Card, Shape::Processor] {
                let count = counted(&device, shape, rooms, &position);
                assert_eq!(count, Ok(expected), "{shape:?} {rooms:?}");
            }
        }
    }
}

#[test]
fn too_little_memory_and_a_driver_that_does_not_build_the_code_are_said_in_a_sentence() {
    let position = Position::empty(Board::new(14).unwrap());
    for device in usable_devices() {
        let error = counted(&device, Shape::of(&device), [8, 8], &position).unwrap_err();
        assert!(matches!(&error, GpuError::TooSmall { .. }), "{error}");
        let source = Source { text: "KERNEL grow(no such type)", macros: vec![("GROUP", 1)] };
        let Err(error) = Session::new(device.clone(), &source) else { panic!("it was built") };
        assert!(error.to_string().contains("does not build the kernels"), "{error}");
    }
}

//! How the launches of halves that meet are shaped for a device.

use opencl3::types::{cl_uint, cl_ulong};

use crate::device::{Description, LOCAL_BYTES};
use crate::program::{DeviceKind, KernelSource, kernel_text};

/// The kernels' source.
const MEET: &str = kernel_text!("../kernels/meet.cl");

/// The shape of launches.
#[derive(Clone, Copy, Debug)]
pub struct MeetShape {
    /// Work items of a group that joins, and groups of a launch at most.
    pub group: usize,
    pub groups: usize,
    /// The most groups that join one set together, if there are fewer sets than groups.
    pub together: usize,
    /// The same of groups that grow lists, and items of such a group that read a list together.
    pub grow_group: usize,
    pub grow_groups: usize,
    pub beside: usize,
    /// The states that there is room for in a buffer at the beginning, and at most.
    pub room: usize,
    pub most: usize,
    /// Words of 64 lanes that an item looks up at a time.
    pub vector: usize,
    /// Vectors of an entry of a table at most.
    pub width: usize,
    /// The cost of tabulating, in look-ups, and the cost of a look-up, in pairs compared one by one.
    pub set_up: usize,
    pub direct: usize,
}

/// Groups for each compute unit: more than work at a time, so that large sets do not make a launch wait. Groups that
/// grow lists are smaller, and more of them run at once: most sets are small, and wait for memory.
const GROUPS_OF_UNIT: usize = 16;
const GROW_GROUPS_OF_UNIT: usize = 64;

/// The bytes that one may take of a processor's.
const BYTES_OF_PROCESSOR: u64 = 64 << 20;

/// The initial room, in states.
const ROOM: usize = 1 << 20;

impl MeetShape {
    /// The shape for a device with this description, treated as that kind.
    pub fn new(about: &Description, kind: DeviceKind) -> Self {
        let units = about.units.max(1) as usize;
        let groups = units * GROUPS_OF_UNIT;
        match kind {
            DeviceKind::Card => {
                let most = about.room();
                Self {
                    group: 128,
                    groups,
                    together: groups,
                    grow_group: 64,
                    grow_groups: units * GROW_GROUPS_OF_UNIT,
                    beside: 32,
                    room: ROOM.min(most),
                    most,
                    vector: 2,
                    width: 8,
                    set_up: 256,
                    direct: 160,
                }
            }
            DeviceKind::Processor => {
                let most = (BYTES_OF_PROCESSOR / 8) as usize;
                Self {
                    group: 1,
                    groups,
                    // The groups of a processor do not run at the same time.
                    together: 1,
                    grow_group: 1,
                    grow_groups: groups,
                    beside: 1,
                    room: ROOM.min(most),
                    most,
                    vector: 8,
                    width: 1,
                    set_up: 200,
                    direct: 100,
                }
            }
        }
    }

    /// The kernels' source for this shape.
    pub fn source(&self) -> KernelSource<'static> {
        let macros = vec![
            ("GROUP", self.group),
            ("GROW_GROUP", self.grow_group),
            ("BESIDE", self.beside),
            ("VECTOR", self.vector),
            ("SET_UP", self.set_up),
            ("DIRECT", self.direct),
        ];
        KernelSource { text: MEET, macros }
    }

    /// The number of groups that join one of `sets` sets together.
    pub fn parts(&self, sets: usize) -> usize {
        (self.groups / sets.max(1)).clamp(1, self.together)
    }

    /// The most vectors of an entry of `tables` tables that fit the local memory.
    pub fn width(&self, tables: cl_uint) -> usize {
        let fits = |width: &usize| self.bytes(tables, *width) as u64 <= LOCAL_BYTES;
        std::iter::successors(Some(self.width), |width| (*width > 1).then_some(width / 2))
            .find(fits)
            .unwrap_or(1)
    }

    /// The local memory of a group that joins, in bytes.
    pub fn scratch(&self, tables: cl_uint) -> usize {
        self.bytes(tables, self.width(tables)).max(8 * self.group)
    }

    fn bytes(&self, tables: cl_uint, width: usize) -> usize {
        tables as usize * 32 * width * self.vector * size_of::<cl_ulong>()
    }
}

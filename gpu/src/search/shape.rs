//! The groups of work items that search together, and the local memory that they need.

use opencl3::types::cl_uint;

use super::rows::{VECTORS, Vector};
use crate::device::Description;
use crate::program::DeviceKind;

/// Work items of a card's group: those that are in lockstep on many cards.
const GROUP_OF_CARD: usize = 32;

/// States that a group moves on at a time: two for each of a card's items, for which its cards wait less than for one.
const WIDE: usize = 64;

/// Devices with less local memory move half as many on, lest the pools of large boards have no room.
const ENOUGH_LOCAL_BYTES: u64 = 48 << 10;

/// How a group of work items is made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupShape {
    /// How many they are.
    pub group: usize,
    /// States of each of them that are moved on at a time.
    pub each: usize,
    /// Whether they are in lockstep and can vote.
    pub is_in_lockstep: bool,
}

impl GroupShape {
    /// What suits the device.
    pub fn new(about: &Description, kind: DeviceKind) -> Self {
        let group = match kind {
            DeviceKind::Card => GROUP_OF_CARD,
            DeviceKind::Processor => 1,
        };
        let wide = if about.local_memory < ENOUGH_LOCAL_BYTES { WIDE / 2 } else { WIDE };
        Self { group, each: wide / group, is_in_lockstep: kind == DeviceKind::Card && about.has_warps() }
    }

    /// States that a group moves on at a time.
    pub fn wide(self) -> usize {
        self.group * self.each
    }

    /// States that wait in a pool at most.
    pub fn pool(self) -> usize {
        2 * self.wide()
    }

    /// Bytes of local memory for so many rows: each has its vectors, a pool and how many wait there; then there is a pool behind
    /// the last, where none ever do, the votes of two passes, and what was taken.
    pub fn scratch(self, levels: usize) -> usize {
        let vectors = levels * (VECTORS + self.pool());
        let words = levels + 1 + 2 * 2 * self.each + 1;
        vectors * size_of::<Vector>() + words * size_of::<cl_uint>()
    }

    /// What `search.cl` is told of it.
    pub fn macros(self) -> Vec<(&'static str, usize)> {
        let mut macros = vec![("GROUP", self.group), ("EACH", self.each)];
        macros.extend(self.is_in_lockstep.then_some(("LOCKSTEP", 1)));
        macros
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::LOCAL_BYTES;

    fn shape(local_memory: u64) -> GroupShape {
        GroupShape::new(&Description { local_memory, ..Description::unknown() }, DeviceKind::Card)
    }

    #[test]
    fn the_pools_of_large_boards_have_room_in_what_a_device_has_at_least() {
        // A board of 28, whose four borders have queens, from a level with a thousand states on, which has three at least.
        let levels = 28 - 4 - 1 - 3;
        for local_memory in [LOCAL_BYTES, ENOUGH_LOCAL_BYTES - 1, ENOUGH_LOCAL_BYTES, 1 << 20] {
            let shape = shape(local_memory);
            assert!(shape.scratch(levels) as u64 <= local_memory, "{local_memory}: {shape:?}");
        }
        assert_eq!([shape(LOCAL_BYTES), shape(ENOUGH_LOCAL_BYTES)].map(GroupShape::wide), [32, 64]);
    }
}

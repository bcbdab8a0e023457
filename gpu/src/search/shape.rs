//! The groups of work items that search together, and the local memory that they need.

use opencl3::types::cl_uint;

use super::packed::{VECTORS, Vector};
use crate::device::Description;
use crate::program::DeviceKind;

/// Work items of a card's group: those that are in lockstep on many cards.
const GROUP_OF_CARD: usize = 32;

/// States that a group moves on at a time: two for each of a card's items were measured to be faster than one, on items in lockstep.
const WIDE: usize = 64;

/// The width elsewhere, and with less local memory than this, so that the pools of large boards have room.
const NARROW: usize = 32;
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
    /// The shape that suits the device.
    pub fn new(about: &Description, kind: DeviceKind) -> Self {
        let is_in_lockstep = kind == DeviceKind::Card && about.has_warps;
        let group = match kind {
            DeviceKind::Card => GROUP_OF_CARD,
            DeviceKind::Processor => 1,
        };
        let is_wide = (is_in_lockstep || group == 1) && about.local_memory >= ENOUGH_LOCAL_BYTES;
        Self { group, each: if is_wide { WIDE } else { NARROW } / group, is_in_lockstep }
    }

    /// States that a group moves on at a time.
    pub fn wide(self) -> usize {
        self.group * self.each
    }

    /// States that wait in a pool at most.
    pub fn pool(self) -> usize {
        2 * self.wide()
    }

    /// Bytes of local memory for `levels` rows. Each row has its vectors, a pool and the number of waiting
    /// states. A zero follows for the row behind the last. If items vote by words, the votes of two passes
    /// follow, and two words that one item finds for all.
    pub fn scratch(self, levels: usize) -> usize {
        let vectors = levels * (VECTORS + self.pool());
        let votes = if self.is_in_lockstep || self.group == 1 { 0 } else { 2 * 2 * self.each };
        let words = levels + 1 + votes + 2;
        vectors * size_of::<Vector>() + words * size_of::<cl_uint>()
    }

    /// The macros of `search.cl` for this shape.
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

    fn shape(local_memory: u64, kind: DeviceKind, has_warps: bool) -> GroupShape {
        GroupShape::new(&Description { local_memory, has_warps, ..Description::unknown() }, kind)
    }

    #[test]
    fn pools_of_large_boards_fit_the_least_local_memory() {
        // From a level with a thousand states on, which has three rows at least before it.
        let levels = |rows: usize| rows - 1 - 3;
        for kind in [DeviceKind::Card, DeviceKind::Processor] {
            for has_warps in [false, true] {
                let least = shape(LOCAL_BYTES, kind, has_warps);
                assert!(least.scratch(levels(32)) as u64 <= LOCAL_BYTES, "the empty board of 32: {least:?}");
                let enough = shape(ENOUGH_LOCAL_BYTES, kind, has_warps);
                let borders = enough.scratch(levels(28 - 4)) as u64;
                assert!(borders <= ENOUGH_LOCAL_BYTES, "the borders of 28 have queens: {enough:?}");
            }
        }
    }
}

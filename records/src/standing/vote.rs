//! A vote: one count of a unit with its origin. Votes are compared if a unit is counted more than once.

use serde::{Deserialize, Serialize};

use crate::ledger::UnitRecord;

/// A machine's number, in the order of the first records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MachineId(pub u32);

/// A count with its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// The completions (or symmetric count).
    pub count: u64,
    /// The search nodes visited.
    pub nodes: u64,
    /// The machine and the way of the count.
    pub origin: Origin,
}

/// The origin of a count: its machine and its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The machine.
    pub machine: MachineId,
    /// The kernel's number, in the order of the first records.
    pub kernel: u8,
    /// Whether the unit was mirrored left to right.
    pub mirrored: bool,
}

/// An origin by names: the machine (owner, name), the kernel, and whether the count was mirrored.
pub type Making<'a> = ((&'a str, &'a str), &'a str, bool);

impl UnitRecord {
    /// The machine and the way of the count.
    pub fn making(&self) -> Making<'_> {
        ((&self.owner, &self.machine), &self.kernel, self.mirrored)
    }
}

/// Machines that a run can tell apart, and kernels.
pub const MAX_MACHINES: usize = 1 << 24;
pub const MAX_KERNELS: usize = 1 << 7;

impl Origin {
    /// The origin in 32 bits, because every unit has one.
    pub fn packed(self) -> u32 {
        self.machine.0 << 8 | u32::from(self.kernel) << 1 | u32::from(self.mirrored)
    }

    /// Out of 32 bits.
    pub fn unpacked(bits: u32) -> Self {
        Self { machine: MachineId(bits >> 8), kernel: (bits >> 1 & 0x7F) as u8, mirrored: bits & 1 == 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_come_out_of_their_bits_as_they_went_in() {
        for (machine, kernel, mirrored) in [(0, 0, false), (MAX_MACHINES as u32 - 1, 127, true), (5, 3, true)]
        {
            let origin = Origin { machine: MachineId(machine), kernel, mirrored };
            assert_eq!(Origin::unpacked(origin.packed()), origin);
        }
    }
}

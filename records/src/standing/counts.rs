//! The standing counts that have been read since the process started: 24 bytes for each unit.

use queens::UnitId;

use super::vote::{MachineId, Origin, Vote};

/// The counts of all units with their origins.
#[derive(Clone, Debug)]
pub struct Counts {
    completions: Vec<u64>,
    nodes: Vec<u64>,
    origins: Vec<u32>,
    /// The machine of the other owner that confirmed the count, plus 1; or 0.
    confirmers: Vec<u32>,
}

/// No unit has this many completions.
const UNKNOWN: u64 = u64::MAX;

/// A count that is larger is none.
pub const MOST_COMPLETIONS: u64 = UNKNOWN - 1;

impl Counts {
    /// No counts.
    pub fn new(units: u64) -> Self {
        let units = units as usize;
        Self {
            completions: vec![UNKNOWN; units],
            nodes: vec![0; units],
            origins: vec![0; units],
            confirmers: vec![0; units],
        }
    }

    /// All units.
    pub fn units(&self) -> impl Iterator<Item = UnitId> + use<> {
        (0..self.completions.len() as u64).map(UnitId)
    }

    /// The unit's count, if it is known.
    pub fn count(&self, unit: UnitId) -> Option<u64> {
        Some(self.completions[unit.0 as usize]).filter(|count| *count != UNKNOWN)
    }

    /// The unit's count with its origin, if it is known.
    pub fn vote(&self, unit: UnitId) -> Option<Vote> {
        let count = self.count(unit)?;
        let at = unit.0 as usize;
        Some(Vote { count, nodes: self.nodes[at], origin: Origin::unpacked(self.origins[at]) })
    }

    /// The unit has this count.
    pub fn set(&mut self, unit: UnitId, vote: &Vote) {
        let at = unit.0 as usize;
        (self.completions[at], self.nodes[at], self.origins[at]) =
            (vote.count, vote.nodes, vote.origin.packed());
    }

    /// The unit has no count any more.
    pub fn forget(&mut self, unit: UnitId) {
        self.completions[unit.0 as usize] = UNKNOWN;
        self.confirmers[unit.0 as usize] = 0;
    }

    /// The machine of another owner that confirmed the unit's count, if it is known.
    pub fn confirmer(&self, unit: UnitId) -> Option<MachineId> {
        self.confirmers[unit.0 as usize].checked_sub(1).map(MachineId)
    }

    /// That machine of another owner has confirmed the unit's count.
    pub fn confirm(&mut self, unit: UnitId, by: MachineId) {
        self.confirmers[unit.0 as usize] = by.0 + 1;
    }

    /// Adopts the counts of units that are unknown here.
    pub fn adopt(&mut self, other: &Self) {
        for at in 0..self.completions.len() {
            if self.confirmers[at] == 0 {
                self.confirmers[at] = other.confirmers[at];
            }
            if self.completions[at] == UNKNOWN {
                (self.completions[at], self.nodes[at], self.origins[at]) =
                    (other.completions[at], other.nodes[at], other.origins[at]);
            }
        }
    }
}

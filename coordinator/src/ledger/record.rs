//! What the lines of the ledger say.

use std::time::Duration;

use queens::UnitId;
use serde::{Deserialize, Serialize};

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// The standing count of a unit that had none.
    Count(UnitRecord),
    /// Another worker's count of a unit, equal to the standing one.
    Check(UnitRecord),
    /// Another worker's count of a unit, different from the standing one, or from all others of a disputed unit.
    Conflict(UnitRecord),
    /// The unit's standing count is no longer believed: the unit is open again.
    Retract {
        /// The unit.
        unit: UnitId,
        /// The count that stood.
        count: u64,
        /// When, in seconds since 1970 (UTC).
        at: u64,
    },
    /// The records before this line are on disk.
    Mark(Mark),
}

/// What a worker found in a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitRecord {
    /// The unit.
    pub unit: UnitId,
    /// Its completions (or symmetric count).
    pub count: u64,
    /// Search nodes visited.
    pub nodes: u64,
    /// Processor time in microseconds.
    pub cpu_us: u64,
    /// The worker's name.
    pub worker: String,
    /// Its kernel, as in `search/portable`.
    pub kernel: String,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// A commit mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Records in the ledger so far, marks not counted.
    pub records: u64,
    /// Milliseconds for which the run has been worked on, over all its sessions. A whole number: it is read back as it
    /// was written, and marks can be compared.
    pub elapsed_ms: u64,
    /// The largest number of threads that have worked on it at a time.
    pub threads: u32,
}

impl Mark {
    /// How long the run has been worked on.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed_ms)
    }
}

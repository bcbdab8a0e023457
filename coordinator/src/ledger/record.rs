//! What the lines of the ledger say.

use std::time::Duration;

use queens::UnitId;
use serde::{Deserialize, Serialize};

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// The standing count of a unit that had none. Where the unit was in dispute, this decides it.
    Count(UnitRecord),
    /// A second count of a unit, made on another machine or in another way, equal to the standing one.
    Check(UnitRecord),
    /// A count different from the standing one, or from all others of a disputed unit.
    Conflict(UnitRecord),
    /// The unit's standing count is no longer believed: the unit is open again.
    Retract(Retraction),
    /// The records before this line are on disk.
    Mark(CommitMark),
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
    /// The machine that it ran on.
    pub machine: String,
    /// The kernel that counted, as in `search/portable`.
    pub kernel: String,
    /// Whether it counted the unit mirrored left to right.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mirrored: bool,
    /// Of a count: whether it is to be checked, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recount: Option<Recount>,
    /// Of a check: the machine whose count it confirms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// Why a count is to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recount {
    /// It is one of its machine's first.
    Trial,
    /// It was drawn at random.
    Sample,
    /// All are.
    All,
}

/// A standing count that is no longer believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retraction {
    /// The unit.
    pub unit: UnitId,
    /// The count that stood.
    pub count: u64,
    /// Its search nodes.
    pub nodes: u64,
    /// The machine that had counted it.
    pub machine: String,
    /// With this kernel.
    pub kernel: String,
    /// Whether mirrored left to right.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mirrored: bool,
    /// Whether that is because its machine was wrong elsewhere; otherwise because another count contradicts it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub quarantine: bool,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A commit mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommitMark {
    /// Records in the ledger so far, marks not counted.
    pub records: u64,
    /// Milliseconds for which the run has been worked on, over all its sessions. A whole number: it is read back as it
    /// was written, and marks can be compared.
    pub elapsed_ms: u64,
    /// The largest number of threads that have worked on it at a time.
    pub threads: u32,
}

impl CommitMark {
    /// How long the run has been worked on.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.elapsed_ms)
    }
}

//! The records in the lines of the ledger.

use std::time::Duration;

use queens::UnitId;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::hash::LineHash;
use super::term_record::TermRecord;
use crate::double_check::DoubleCheck;
use crate::own_checks::OwnChecks;

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// The standing count of a unit that had none. If the unit was in dispute, this decides it.
    Count(UnitRecord),
    /// A second count of a unit, made on another machine or in another way, equal to the standing one.
    Check(UnitRecord),
    /// A count different from the standing one, or from all others of a disputed unit.
    Conflict(UnitRecord),
    /// The unit's standing count is no longer believed: the unit is open again.
    Retract(Retraction),
    /// A count that only quarantined machines contradicted stands again.
    Restore(Restoration),
    /// The operator does not believe a machine, or an owner with all machines, any more.
    Expel(Expulsion),
    /// The operator believes a machine, or an owner with all machines, again.
    Admit(Admission),
    /// How counts are checked from here on.
    Policy(Policy),
    /// Units are drawn for own checks.
    Draw(Draw),
    /// A process writes from here on.
    Term(TermRecord),
    /// How many followers must have a record from here on before it is acknowledged.
    Replicas(Replicas),
    /// The counts of another run are taken over.
    Merged(MergedRun),
    /// The operator went on although acknowledged records may be lost.
    Loss(AcceptedLoss),
    /// The operator stops lending.
    Pause(Pause),
    /// The operator lends again.
    Resume(Resumption),
    /// The records before this line are on disk.
    Mark(CommitMark),
}

impl Record {
    /// The unit that it is about, if it is about one.
    pub fn unit(&self) -> Option<UnitId> {
        match self {
            Record::Count(r) | Record::Check(r) | Record::Conflict(r) => Some(r.unit),
            Record::Retract(r) => Some(r.unit),
            Record::Restore(r) => Some(r.unit),
            _ => None,
        }
    }
}

/// A worker's count of a unit.
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
    /// The owner of the machine; empty without authentication.
    #[serde(default, deserialize_with = "name", skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The machine that it ran on, as its owner calls it.
    pub machine: String,
    /// The kernel that counted, as in `search/portable`.
    pub kernel: String,
    /// Whether it counted the unit mirrored left to right.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mirrored: bool,
    /// For a count: the reason to check it, if any.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub recount: Option<Recount>,
    /// For a check: the machine whose count it confirms. For a conflict: the machine whose standing count it
    /// contradicts, if any.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// That machine's owner.
    #[serde(default, deserialize_with = "name", skip_serializing_if = "String::is_empty")]
    pub of_owner: String,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// The reason to check a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recount {
    /// It is one of its machine's first counts.
    Trial,
    /// It was drawn at random.
    Sample,
    /// All counts are checked.
    All,
    /// It is a symmetric count. All symmetric counts are checked, by the second algorithm.
    Symmetric,
}

/// From a text and nothing else: a name alone may stand in an object, too, where this is derived.
impl<'de> Deserialize<'de> for Recount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*String::deserialize(deserializer)? {
            "trial" => Ok(Self::Trial),
            "sample" => Ok(Self::Sample),
            "all" => Ok(Self::All),
            "symmetric" => Ok(Self::Symmetric),
            other => Err(D::Error::custom(format!("no count is checked for the reason {other:?}"))),
        }
    }
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
    /// The owner of the machine that made the count.
    #[serde(default, deserialize_with = "name", skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The machine that had counted it.
    pub machine: String,
    /// With this kernel.
    pub kernel: String,
    /// Whether mirrored left to right.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mirrored: bool,
    /// Whether that is because its machine or owner is quarantined: then the count is no vote. Otherwise it is because
    /// another count contradicts it, and it is one of two votes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub quarantine: bool,
    /// Whether that is because the counts of its constellation cannot be right together; the count is a vote.
    #[serde(default, skip_serializing_if = "is_false")]
    pub contradiction: bool,
    /// The reason of a retraction by the operator. Then the count is no vote.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

impl Retraction {
    /// Whether the count remains as one vote of a dispute.
    pub fn counts_as_vote(&self) -> bool {
        !self.quarantine && self.reason.is_none()
    }
}

/// A count of a disputed unit that stands again: all that contradicted it came from machines that are quarantined now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restoration {
    /// The unit.
    pub unit: UnitId,
    /// Its count.
    pub count: u64,
    /// Search nodes.
    pub nodes: u64,
    /// The owner of the machine that made the count.
    #[serde(default, deserialize_with = "name", skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// The machine that had counted it.
    pub machine: String,
    /// With this kernel.
    pub kernel: String,
    /// Whether mirrored left to right.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mirrored: bool,
    /// The reason to check it, if any.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub recount: Option<Recount>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// A machine or an owner that the run does not believe any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expulsion {
    /// The owner; empty without authentication.
    #[serde(default, deserialize_with = "name", skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// One machine of this owner; all of them if it is missing.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// For a machine: true if it lost against other owners in a run that was merged into this run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lost: bool,
    /// For an owner: true if an own check contradicts the owner, and the operator has not decided yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub suspended: bool,
    /// Why.
    pub reason: String,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// A machine or owner that the operator believes again from here on. Retracted counts stay retracted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Admission {
    /// The owner; empty without authentication.
    #[serde(default, deserialize_with = "name", skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// One machine of this owner; all of them if it is missing.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Why.
    pub reason: String,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// How counts are checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Which counts are made a second time.
    pub double_check: DoubleCheck,
    /// The number of owners that must count each checked unit: 2, or missing if one owner suffices.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub require_owners: Option<u32>,
    /// Which counts the operator's own machines make once more, if they do.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub own_checks: Option<OwnChecks>,
    /// The operator's reason, if it was changed while the run was served.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// A draw for own checks among all standing counts that no draw has covered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Decides which units are drawn. Nobody could know it when the counts were recorded.
    pub seed: LineHash,
    /// Further units: only machines that are not believed any more have counted them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<UnitId>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// A merged run: the source of its counts, and numbers from its ledger that are not copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergedRun {
    /// The run's hash.
    pub run: LineHash,
    /// The records in its ledger.
    pub records: u64,
    /// The hash of its last mark.
    pub head: LineHash,
    /// Its counts that contradicted others.
    pub conflicts: u64,
    /// Units drawn at random there whose standing count was contradicted.
    pub refuted: u64,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// How many followers must have a record on disk before it is acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replicas {
    /// The number of followers.
    pub replicas: u32,
    /// The operator's reason, if it was changed while the run was served.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// What an operator gave up with `--accept-loss`. The units of the lost records are counted again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceptedLoss {
    /// How many records were lost, at most.
    pub records: u64,
    /// The bytes that were cut off at the end of the ledger.
    pub bytes: u64,
    /// How many files were given up.
    pub files: u64,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// A pause by the operator. It is on record for the history alone: notes.json says whether a run is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Why.
    pub reason: String,
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// The end of a pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resumption {
    /// When, in seconds since 1970 (UTC).
    pub at: u64,
}

/// A field that may be left out, but is never null.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    field: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(field).map(Some)
}

/// A name that is omitted if it is empty.
fn name<'de, D: Deserializer<'de>>(field: D) -> Result<String, D::Error> {
    let name = String::deserialize(field)?;
    if name.is_empty() { Err(D::Error::invalid_length(0, &"a name")) } else { Ok(name) }
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

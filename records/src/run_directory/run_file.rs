//! `run.json`: the plan and shard of a run, and the hash with which its ledger starts.

use queens::PlanSpec;
use queens::plan::Fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::ledger::LineHash;
use crate::shard::Shard;

/// The file with the plan and shard of a run.
pub const RUN_FILE: &str = "run.json";

/// What `run.json` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// The specification of the plan.
    pub plan: PlanSpec,
    /// The plan's fingerprint: a release that derives another plan must not touch the run.
    pub fingerprint: Fingerprint,
    /// The part of the plan that the run counts.
    #[serde(default, skip_serializing_if = "Shard::is_whole")]
    pub shard: Shard,
    /// When the run began, in milliseconds since 1970 (UTC).
    pub begun: u64,
}

impl RunFile {
    /// Reads the text of `run.json`.
    pub(crate) fn parse(text: &str) -> Result<Self, RunFileError> {
        let run: Self = serde_json::from_str(text)?;
        // A field that this release does not know may change what is counted. (serde cannot refuse it by itself, because
        // the plan's scheme is flattened into the plan.)
        let known = serde_json::to_value(&run).expect("a run file is plain data");
        let found = serde_json::from_str(text)?;
        if has_list(&found) {
            return Err(RunFileError::List);
        }
        match unknown_field(&found, &known) {
            None => Ok(run),
            Some(name) => Err(RunFileError::UnknownField(name.to_owned())),
        }
    }

    /// The hash that the first line of the run's ledger follows: a ledger of another run does not fit.
    pub fn hash(&self) -> LineHash {
        let Self { plan, fingerprint, shard, begun } = self;
        let fingerprint = fingerprint.to_string();
        let mut bytes = b"diadem run".to_vec();
        bytes.extend(plan.version.to_le_bytes());
        bytes.extend((fingerprint.len() as u64).to_le_bytes());
        bytes.extend(fingerprint.as_bytes());
        bytes.extend(shard.to_bytes());
        bytes.extend(begun.to_le_bytes());
        LineHash::of(&bytes)
    }
}

/// A `run.json` that does not describe a run.
#[derive(Debug, Error)]
pub enum RunFileError {
    /// It is no JSON, or not with these fields.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It is not UTF-8.
    #[error("it is not text")]
    NotText,
    /// Values without their names.
    #[error("it has a list where none belongs")]
    List,
    /// Another build may mean something by it.
    #[error(
        "it has a field {0:?}, which this build does not know: continue it with the build that began it, \
         or count again"
    )]
    UnknownField(String),
}

/// Whether there is a list, at any depth: it is read as the fields of an object in their order otherwise.
fn has_list(value: &Value) -> bool {
    value.is_array() || value.as_object().is_some_and(|object| object.values().any(has_list))
}

/// The first field, at any depth, that `found` has and `known` has not.
fn unknown_field<'a>(found: &'a Value, known: &Value) -> Option<&'a str> {
    let unknown = |(name, value): (&'a String, &'a Value)| match known.get(name) {
        None => Some(name.as_str()),
        Some(known) => unknown_field(value, known),
    };
    found.as_object()?.iter().find_map(unknown)
}

#[cfg(test)]
mod tests {
    use queens::plan::Scheme;

    use super::*;

    /// A run of this shard, started at this time.
    fn run(shard: &str) -> RunFile {
        let plan = r#"{"n":16,"scheme":"constellations","grain":7,"version":1}"#;
        let begun = 1_790_000_000_123u64;
        RunFile::parse(&format!(r#"{{"plan":{plan},"fingerprint":"{:032x}"{shard},"begun":{begun}}}"#, 7))
            .unwrap()
    }

    #[test]
    fn run_hashes_are_stable() {
        for (shard, hash) in [
            ("", "33d7ffddf8b3805a8e345d87ff8c5bf2"),
            (r#","shard":{"index":3,"of":400}"#, "91c4e25031bcf6453e61d3f561615f83"),
            (r#","shard":{"index":1000000,"of":1000000}"#, "3624219c526ad0b472d9389a1a1d273c"),
        ] {
            assert_eq!(run(shard).hash().to_string(), hash, "{shard}");
        }
    }

    #[test]
    fn centre_plan_round_trips_with_optional_grain() {
        let text = |grain: &str| {
            let plan = format!(r#"{{"n":20,"scheme":"centre","columns":2,"group":3,{grain}"version":1}}"#);
            format!(r#"{{"plan":{plan},"fingerprint":"{:032x}","begun":7}}"#, 7)
        };
        for (text_of_grain, grain) in [("", None), (r#""grain":7,"#, Some(7))] {
            let run = RunFile::parse(&text(text_of_grain)).unwrap();
            assert_eq!(run.plan.scheme, Scheme::Centre { columns: 2, group: 3, grain });
            assert_eq!(serde_json::to_string(&run).unwrap(), text(text_of_grain));
        }
        let error = RunFile::parse(&text(r#""sides":1,"#)).unwrap_err();
        assert!(matches!(error, RunFileError::UnknownField(name) if name == "sides"));
        let far = format!(r#"{{"x":1e999,{}"#, &text("")[1..]);
        assert!(matches!(RunFile::parse(&far), Err(RunFileError::Json(_))), "a number that is none");
    }
}

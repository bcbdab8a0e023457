//! `run.json`: what a run counts, and the hash of it that its ledger follows.

use queens::PlanSpec;
use queens::plan::Fingerprint;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::ledger::LineHash;
use crate::shard::Shard;

/// The file that says what a run counts.
pub const RUN_FILE: &str = "run.json";

/// What `run.json` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// What the plan follows from.
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
        if plan.version == 1 {
            let shard = shard.text_of_version_1();
            return LineHash::of(format!("{fingerprint} {shard} {begun}").as_bytes());
        }
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
    #[error("it has a list, and nothing in it is one")]
    List,
    /// A later release may mean something by it.
    #[error("it has a field {0:?}, which this release does not know")]
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

    /// The run of a plan of that version and of that shard, begun at a certain time.
    fn run(version: u32, shard: &str) -> RunFile {
        let plan = format!(r#"{{"n":16,"scheme":"constellations","grain":7,"version":{version}}}"#);
        let begun = 1_790_000_000_123u64;
        RunFile::parse(&format!(r#"{{"plan":{plan},"fingerprint":"{:032x}"{shard},"begun":{begun}}}"#, 7))
            .unwrap()
    }

    #[test]
    fn hashes_of_runs_are_what_they_were() {
        for (version, shard, hash) in [
            (1, "", "f3c07ce20a7bf9054bf78ab77a948853"),
            (1, r#","shard":{"index":3,"of":400}"#, "21efec93a4ce2cf5b150e810e13d6747"),
            (1, r#","shard":{"index":1000000,"of":1000000}"#, "777b25fb3437d42f1ffedbd2ce5adc0a"),
            (2, "", "bb9e7b69db1c2f4e3450c4803d7c9acf"),
            (2, r#","shard":{"index":3,"of":400}"#, "74eda57c46fcc6f04980c419d3049338"),
            (2, r#","shard":{"index":1000000,"of":1000000}"#, "a27639098155023824d5aa2dd905adf7"),
        ] {
            assert_eq!(run(version, shard).hash().to_string(), hash, "version {version} {shard}");
        }
    }

    #[test]
    fn plans_by_central_columns_are_written_with_their_grain_where_they_have_one() {
        let text = |grain: &str| {
            let plan = format!(r#"{{"n":20,"scheme":"centre","columns":2,"group":3,{grain}"version":2}}"#);
            format!(r#"{{"plan":{plan},"fingerprint":"{:032x}","begun":7}}"#, 7)
        };
        for (text_of_grain, grain) in [("", None), (r#""grain":7,"#, Some(7))] {
            let run = RunFile::parse(&text(text_of_grain)).unwrap();
            assert_eq!(run.plan.scheme, Scheme::Centre { columns: 2, group: 3, grain });
            assert_eq!(serde_json::to_string(&run).unwrap(), text(text_of_grain));
        }
        // What is not known there is refused, as an older release refuses a grain.
        let error = RunFile::parse(&text(r#""sides":1,"#)).unwrap_err();
        assert!(matches!(error, RunFileError::UnknownField(name) if name == "sides"));
        let far = format!(r#"{{"x":1e999,{}"#, &text("")[1..]);
        assert!(matches!(RunFile::parse(&far), Err(RunFileError::Json(_))), "a number that is none");
    }
}

//! Recognises a repeated merge: a job that was interrupted before it reported its result tries again.

use std::path::Path;

use super::survey::Survey;
use super::{MergeError, Merged};
use crate::ledger::{MergedRun, Record};
use crate::replay::{Stretch, replay};
use crate::run_directory::RunDirectory;
use crate::standing::Standing;

/// The result of the earlier merge into `out`, if it merged exactly these runs in their present state.
///
/// # Errors
/// They cannot be read.
pub(super) fn repeated_merge(out: &Path, parts: &[RunDirectory]) -> Result<Option<Merged>, MergeError> {
    let plan = parts[0].plan();
    let Ok(joint) = RunDirectory::open_beside(out, Some(plan)) else { return Ok(None) };
    let (mut standing, mut origins) = (Standing::new(plan), Vec::new());
    let read = replay(&joint, Stretch::default(), &mut standing, |_, record| {
        if let Record::Merged(origin) = record {
            origins.push(origin.clone());
        }
    });
    let is_named = |part: &RunDirectory| origins.iter().any(|origin| origin.run == part.run().hash());
    if read.is_err() || origins.len() != parts.len() || !parts.iter().all(is_named) {
        return Ok(None);
    }
    let (survey, _) = Survey::of(parts, 0)?;
    let is_same = |a: &MergedRun, b: &MergedRun| (a.run, a.records, a.head) == (b.run, b.records, b.head);
    let is_as_it_was = |now: &MergedRun| origins.iter().any(|then| is_same(now, then));
    let is_of_these = survey.origins.iter().all(is_as_it_was);
    Ok(is_of_these.then(|| Merged { was_there: true, ..Merged::of(parts, survey, &standing) }))
}

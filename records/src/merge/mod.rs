//! Merges the ledgers of several runs of one plan, usually shards, into a new run directory.
//!
//! ```text
//! survey    read the parts one after the other: untrusted participants, final counts, and comparison of left-out counts
//! copy      read each part again, up to the same mark, and write the records of the merged run
//! rename    give the complete directory its name
//! ```
//!
//! Memory: two standings of all units, for any number of parts.
//!
//! The merged ledger has the records of standing counts, of their confirmations, and of all votes on disputed units.
//! Other contradictions appear as numbers only.
//!
//! A machine that was wrong in one part is believed in none, and has no vote. But only one part claims this. So if the
//! machine's count is left out and another part has a different count, the unit is in dispute.

mod draft;
mod error;
mod joint_ledger;
mod repeated;
mod survey;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use queens::{Plan, UnitId};

use crate::clock::{Clock, SystemClock};
use crate::run_directory::RunDirectory;
use crate::shard::Shard;
use crate::signing::SigningKey;
use crate::standing::Standing;
use crate::store::{OpenOptions, Store};
use draft::Draft;
pub use error::{Difference, Disbelief, MergeError};
use joint_ledger::JointLedger;
use survey::Survey;

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Units of the plan.
    pub units: u64,
    /// Units that have a count now.
    pub done: u64,
    /// Counts that were in more than one run, and agreed.
    pub repeated: u64,
    /// The number of counts left out because their machines are not believed.
    pub left_out: u64,
    /// The owners and machines that some part does not believe, up to a limit.
    pub disbeliefs: Vec<Disbelief>,
    /// Units in dispute.
    pub disputed: u64,
    /// The disputes that the merge has found between runs, up to a limit.
    pub differences: Vec<Difference>,
    /// The highest number of followers that one of the runs waited for. A coordinator of the merged run waits for as
    /// many.
    pub replicas: u32,
    /// The first unit without a count, if any.
    pub missing: Option<UnitId>,
    /// Whether just these runs, as they are now, had been joined there before: nothing was written.
    pub was_there: bool,
}

impl Merged {
    fn of(parts: &[RunDirectory], survey: Survey, standing: &Standing) -> Self {
        let plan = parts[0].plan();
        Self {
            units: plan.units(),
            done: standing.done(),
            repeated: survey.repeated,
            left_out: survey.left_out(),
            disbeliefs: survey.disbeliefs(parts),
            disputed: standing.sums().disputed.len() as u64,
            missing: standing.first_missing(Shard::default()),
            differences: survey.differences,
            replicas: standing.replicas(None),
            was_there: false,
        }
    }
}

/// Merges the runs in `parts` (at least one) into a new run in `out`. The directory gets its name only when it is
/// complete. Until then it is `OUT.merging-` and some digits; the next merge removes the rest of an interrupted merge.
/// If `out` is already the merge of exactly these runs, its result is returned.
///
/// # Errors
/// - `out` holds something else, or cannot be written.
/// - A part cannot be read.
/// - The parts have different plans, are not different runs, or differ in too many units.
pub fn merge(out: &Path, parts: &[PathBuf]) -> Result<Merged, MergeError> {
    let parts = opened(parts)?;
    match merge_anew(out, &parts) {
        Err(occupied @ MergeError::Occupied(_)) => repeated::repeated_merge(out, &parts)?.ok_or(occupied),
        merged => merged,
    }
}

fn merge_anew(out: &Path, parts: &[RunDirectory]) -> Result<Merged, MergeError> {
    let mut draft = Draft::of(out)?;
    let plan = parts[0].plan();
    let at = SystemClock::default().since_1970().as_secs();
    let (survey, ends) = Survey::of(parts, at)?;
    let path = draft.begin()?.to_owned();
    let options = OpenOptions {
        signing_key: Some(SigningKey::file_of_run(&path)),
        path,
        begin: Some((**plan).clone()),
        board: None,
        scheme: None,
        shard: Shard::default(),
        accept_loss: false,
        take_over: false,
    };
    let (store, standing, _) = Store::open(options)?;
    let mut ledger = JointLedger::new(&survey, store, standing);
    ledger.begin()?;
    for (number, (part, end)) in parts.iter().zip(&ends).enumerate() {
        ledger.part(number, part, end)?;
    }
    let standing = ledger.end()?;
    draft.finish()?;
    Ok(Merged::of(parts, survey, &standing))
}

/// The runs, which are all of one plan, and each another one.
fn opened(paths: &[PathBuf]) -> Result<Vec<RunDirectory>, MergeError> {
    let mut parts: Vec<RunDirectory> = Vec::new();
    for path in paths {
        let part = RunDirectory::open_beside(path, parts.first().map(RunDirectory::plan))?;
        if let Some(first) = parts.first()
            && part.plan().fingerprint() != first.plan().fingerprint()
        {
            let is_other_board = part.plan().board() != first.plan().board();
            let named = |plan: &Plan| match plan.spec() {
                spec if is_other_board => format!("board n = {}", spec.n),
                spec => format!("plan {} by {}", plan.fingerprint(), spec.scheme),
            };
            return Err(MergeError::OtherPlan {
                path: path.clone(),
                found: named(part.plan()),
                first: first.path().to_owned(),
                wanted: named(first.plan()),
            });
        }
        if let Some(same) = parts.iter().find(|other| other.run() == part.run()) {
            let (one, share) = (same.path().to_owned(), part.run().shard);
            return Err(MergeError::SameRun { one, other: path.clone(), share });
        }
        parts.push(part);
    }
    Ok(parts)
}

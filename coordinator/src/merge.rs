//! Joins the ledgers of several runs of one plan, shards above all, into a run directory of its own.

use std::path::{Path, PathBuf};

use queens::UnitId;
use queens::plan::Fingerprint;
use thiserror::Error;

use crate::ledger::{self, LedgerError, Record};
use crate::replay::{Stretch, beginning, replay};
use crate::run_directory::{RunDirectory, RunDirectoryError};
use crate::shard::Shard;
use crate::standing::{RecordError, Standing};
use crate::store::{OpenOptions, Store, StoreError};

/// Records of one commit while merging.
const GROUP: usize = 10_000;

/// Runs that cannot be joined.
#[derive(Debug, Error)]
pub enum MergeError {
    /// A part has counts that nobody believes.
    #[error("{} has {counts} counts of quarantined machines that are not counted again yet: go on with it first", .path.display())]
    Unbelieved {
        /// The part.
        path: PathBuf,
        /// How many.
        counts: u64,
    },
    /// A directory is not usable.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// The directory for the result is not.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A ledger is damaged, or cannot be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A run has another plan.
    #[error("{} has plan {found}, but {} has plan {wanted}: only runs of one plan can be joined", .path.display(), .first.display())]
    OtherPlan {
        /// The directory.
        path: PathBuf,
        /// Its plan.
        found: Fingerprint,
        /// The directory whose plan counts.
        first: PathBuf,
        /// That plan.
        wanted: Fingerprint,
    },
    /// Two runs have different counts of a unit.
    #[error("{} counts {found} in unit {unit}, where another run counts {standing}: neither can be believed", .path.display())]
    Disagreement {
        /// The directory.
        path: PathBuf,
        /// The unit.
        unit: UnitId,
        /// Its count there.
        found: u64,
        /// The other count.
        standing: u64,
    },
    /// There is a run in the directory for the result already.
    #[error("{} holds a run already; name a directory that does not", .0.display())]
    Occupied(PathBuf),
}

/// What came of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Units of the plan.
    pub units: u64,
    /// Units that have a count now.
    pub done: u64,
    /// Counts that were in more than one run, and agreed.
    pub repeated: u64,
    /// The first unit without a count, if any.
    pub missing: Option<UnitId>,
}

/// Joins the runs in `parts` (at least one) into a new run in `out`. Where it fails, `out` is left without a run or
/// with a part of the records, never with wrong ones.
///
/// # Errors
/// The parts are not of one plan, disagree, or have counts that nobody believes; or one of them cannot be read, or the
/// result not be written.
pub fn merge(out: &Path, parts: &[PathBuf]) -> Result<Merged, MergeError> {
    if RunDirectory::exists(out) {
        return Err(MergeError::Occupied(out.to_owned()));
    }
    let parts = parts.iter().map(|path| RunDirectory::open(path)).collect::<Result<Vec<_>, _>>()?;
    let plan = parts[0].plan().clone();
    for part in &parts {
        if part.plan().fingerprint() != plan.fingerprint() {
            return Err(MergeError::OtherPlan {
                path: part.path().to_owned(),
                found: part.plan().fingerprint().clone(),
                first: parts[0].path().to_owned(),
                wanted: plan.fingerprint().clone(),
            });
        }
    }
    // First see whether all agree, then write: a disagreement must not leave half a result behind.
    let standings = parts.iter().map(standing_of).collect::<Result<Vec<_>, _>>()?;
    let mut joined = Standing::new(&plan);
    let mut repeated = 0;
    for (part, own) in parts.iter().zip(&standings) {
        if own.unbelieved() > 0 {
            return Err(MergeError::Unbelieved { path: part.path().to_owned(), counts: own.unbelieved() });
        }
        for unit in (0..plan.units()).map(UnitId) {
            match (own.count(unit), joined.count(unit)) {
                (Some(found), None) => joined.adopt_count(unit, found),
                (Some(found), Some(standing)) if found != standing => {
                    let path = part.path().to_owned();
                    return Err(MergeError::Disagreement { path, unit, found, standing });
                }
                (Some(_), Some(_)) => repeated += 1,
                (None, _) => {}
            }
        }
    }
    let options = OpenOptions {
        path: out.to_owned(),
        begin: Some((*plan).clone()),
        board: None,
        shard: Shard::default(),
        accept_loss: false,
    };
    let (mut store, mut standing, _) = Store::open(options)?;
    for (part, own) in parts.iter().zip(&standings) {
        copy(part, own, &mut store, &mut standing)?;
    }
    store.save(&mut standing).ok();
    let missing = standing.first_missing(Shard::default());
    Ok(Merged { units: plan.units(), done: standing.done(), repeated, missing })
}

fn standing_of(part: &RunDirectory) -> Result<Standing, LedgerError> {
    let mut standing = Standing::new(part.plan());
    replay(part, Stretch::default(), &mut standing, |_, _| ())?;
    Ok(standing)
}

/// Writes the standing counts of a part that are not on record yet, and their checks, in groups, so that memory stays small.
fn copy(
    part: &RunDirectory,
    own: &Standing,
    store: &mut Store,
    standing: &mut Standing,
) -> Result<(), MergeError> {
    let plan = part.plan();
    let before = store.mark().elapsed();
    let mut group = Vec::new();
    let mut failed = None;
    let tail = ledger::read(&part.ledger(), &beginning(part), |_, record| {
        let is_wanted = match record {
            Record::Count(r) => own.count(r.unit) == Some(r.count) && !standing.is_done(r.unit),
            Record::Check(r) => {
                own.count(r.unit) == Some(r.count)
                    && standing.vote(r.unit).is_some_and(|vote| {
                        let machine = &standing.sums().machines.get(vote.origin.machine).name;
                        r.of.as_ref() == Some(machine)
                    })
            }
            _ => false,
        };
        if is_wanted {
            standing.apply(plan, Shard::default(), record)?;
            group.push(record.clone());
        }
        if group.len() >= GROUP && failed.is_none() {
            failed = store.commit(&group, before, 1).err();
            group.clear();
        }
        Ok::<_, RecordError>(())
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let elapsed = before + tail.end.mark.elapsed();
    Ok(store.commit(&group, elapsed, tail.end.mark.threads)?)
}

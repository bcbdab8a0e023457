//! The full audit of a run directory: hash chain, CRCs, one standing count for each unit, and sums. The audit uses the
//! ledger alone. The checkpoint, if there is one, only shows whether the ledger lacks acknowledged records.

use std::collections::{BTreeMap, BTreeSet};

use domain::{FamilyStatus, Sample};
use queens::{Class, Classified, TallyError, Totals, UnitId};
use thiserror::Error;

use crate::checkpoint::acknowledged::{acknowledged, refuse_loss};
use crate::families::Families;
use crate::interventions::Interventions;
use crate::ledger::{LedgerError, LedgerPosition, Location, Record, Tail, TermRecord};
use crate::replay::{Stretch, replay};
use crate::run_directory::RunDirectory;
use crate::standing::Standing;

/// The results of an audit of a sound ledger.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The standing that follows from the records.
    pub standing: Standing,
    /// The totals so far; those of the whole board if nothing is missing and the run is no shard.
    pub totals: Totals,
    /// The kernels that counted.
    pub kernels: BTreeSet<String>,
    /// The names of the workers that counted.
    pub workers: BTreeSet<String>,
    /// The public keys of its coordinators, as its terms name them, each with the number of records in front of the first that does.
    pub keys: BTreeMap<String, u64>,
    /// How many standing counts were taken back.
    pub retracted: u64,
    /// What people did to the run apart from counting.
    pub interventions: Interventions,
    /// The end of the ledger, and the data behind it.
    pub tail: Tail,
    /// The first unit that has no standing count, if any.
    pub missing: Option<UnitId>,
    /// How many units have none.
    pub missing_units: u64,
}

impl Audit {
    /// How many standing counts are still to be checked before the run is complete: by the policy on record, if there is one.
    pub fn pending(&self) -> u64 {
        self.standing.pending_on_record()
    }
}

/// A ledger that does not stand up to the audit.
#[derive(Debug, Error)]
pub enum AuditError {
    /// It cannot be read to its end.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Its counts contradict each other.
    #[error("the ledger's counts contradict each other: {0}; diadem verify shows how to count them again")]
    Sums(#[from] TallyError),
    /// The audit has not come to its end, which says nothing of the ledger.
    #[error("the audit failed before it had read the ledger; please report this")]
    Died,
    /// It ends before the record that was written last.
    #[error("the ledger ends before the record that was written last: another program has cut it")]
    Short,
    /// The running coordinator has added up something else than its ledger says.
    #[error("the coordinator's sums differ from its ledger: restart it to continue from the ledger")]
    Differs,
}

impl Classified for AuditError {
    fn class(&self) -> Class {
        match self {
            Self::Ledger(_) | Self::Sums(_) | Self::Short => Class::Unsound,
            Self::Died | Self::Differs => Class::Failed,
        }
    }
}

/// Reads the whole ledger and adds it up afresh.
///
/// # Errors
/// The ledger is damaged, lacks acknowledged records, or cannot be read, or its counts contradict each other.
pub fn audit(directory: &RunDirectory) -> Result<Audit, AuditError> {
    audit_each(directory, |_, _| ())
}

/// Reads the whole ledger and adds it up afresh, showing every record on the way, marks included.
///
/// # Errors
/// The ledger is damaged, lacks acknowledged records, or cannot be read, or its counts contradict each other.
pub fn audit_each(
    directory: &RunDirectory,
    each: impl FnMut(Location, &Record),
) -> Result<Audit, AuditError> {
    let known = acknowledged(directory);
    let audit = read(directory, None, each)?;
    refuse_loss(directory, known.as_ref(), &audit.tail.end)?;
    audit.sound()
}

/// Reads the ledger up to a mark and passes each record to `each`. A writer may append records meanwhile. The counts
/// may contradict each other.
///
/// # Errors
/// The ledger is damaged or cannot be read, or ends before.
pub fn audit_until(
    directory: &RunDirectory,
    until: &LedgerPosition,
    each: impl FnMut(Location, &Record),
) -> Result<Audit, AuditError> {
    let audit = read(directory, Some(until), each)?;
    if audit.tail.end == *until { Ok(audit) } else { Err(AuditError::Short) }
}

fn read(
    directory: &RunDirectory,
    until: Option<&LedgerPosition>,
    mut each: impl FnMut(Location, &Record),
) -> Result<Audit, AuditError> {
    let (plan, shard) = (directory.plan(), directory.run().shard);
    let mut standing = Standing::new(plan);
    let mut kernels = BTreeSet::new();
    let mut workers = BTreeSet::new();
    let mut keys = BTreeMap::new();
    let (mut records, mut retracted) = (0, 0);
    let mut interventions = Interventions::default();
    let tail = replay(directory, Stretch { from: None, until }, &mut standing, |location, record| {
        each(location, record);
        interventions.note(record);
        if let Record::Count(r) = record
            && !kernels.contains(&r.kernel)
        {
            kernels.insert(r.kernel.clone());
        }
        if let Record::Count(r) | Record::Check(r) | Record::Conflict(r) = record
            && !workers.contains(&r.worker)
        {
            workers.insert(r.worker.clone());
        }
        match record {
            Record::Term(TermRecord { key: Some(key), .. }) if !keys.contains_key(key) => {
                keys.insert(key.clone(), records);
            }
            Record::Retract(_) => retracted += 1,
            _ => {}
        }
        if !matches!(record, Record::Mark(_)) {
            records += 1;
        }
    })?;
    let totals = standing.sums().tally.totals().unwrap_or_default();
    let missing_units = shard.size(plan.units()) - standing.done();
    let missing = if missing_units > 0 { standing.first_missing(shard) } else { None };
    Ok(Audit {
        standing,
        totals,
        kernels,
        workers,
        keys,
        retracted,
        interventions,
        tail,
        missing,
        missing_units,
    })
}

impl Audit {
    /// How far each family of the run is.
    pub fn families(&self, directory: &RunDirectory) -> Vec<FamilyStatus> {
        Families::new(directory.plan(), directory.run().shard).status(&self.standing)
    }

    /// How the run has come until then, in seconds since 1970 (UTC).
    pub fn history(&self, directory: &RunDirectory, now: u64) -> Vec<Sample> {
        self.standing.sums().history.samples(directory.run().shard.work_of(directory.plan()), now)
    }

    /// The audit, if the counts do not contradict each other.
    ///
    /// # Errors
    /// They do.
    pub fn sound(self) -> Result<Self, AuditError> {
        self.standing.sums().tally.totals()?;
        Ok(self)
    }
}

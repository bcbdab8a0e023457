//! What an operator takes back: counts of single units, or all that a machine or an owner has said and nobody else has
//! confirmed. It stands in the ledger with the reason; the units are open again.

use std::path::Path;
use std::time::Duration;

use queens::UnitId;
use thiserror::Error;

use crate::clock::{Clock, SystemClock};
use crate::ledger::{Admission, Expulsion, LedgerError, Record, Retraction};
use crate::replay::{Stretch, replay};
use crate::run_directory::{RunDirectory, RunDirectoryError};
use crate::standing::{Machine, RecordError, Standing};
use crate::store::{OpenOptions, Store, StoreError};

/// Records of one commit.
const GROUP: usize = 10_000;

/// What is to be taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The counts of these units, whoever made and confirmed them.
    Units(Vec<UnitId>),
    /// What this machine has counted and no other machine has confirmed; nothing is lent to it any more.
    Machine {
        /// Who it belongs to; empty where nobody was authenticated.
        owner: String,
        /// What its owner calls it.
        machine: String,
    },
    /// What this owner's machines have counted and no other owner has confirmed; nothing is lent to them any more.
    Owner(String),
    /// Nothing: this owner is believed again, or one machine of this owner.
    Admission {
        /// Empty where nobody was authenticated.
        owner: String,
        /// What its owner calls it, if it is one machine.
        machine: Option<String>,
    },
}

/// A retraction that was not made.
#[derive(Debug, Error)]
pub enum RetractError {
    /// The directory is not usable.
    #[error(transparent)]
    Directory(#[from] RunDirectoryError),
    /// The run cannot be opened, because a coordinator is at work in it, for example.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its ledger cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// There is nothing to take back.
    #[error("unit {unit} has no count that could be taken back; the run has units 0 to {last}")]
    NotCounted {
        /// The unit.
        unit: UnitId,
        /// The last unit of the plan.
        last: u64,
    },
    /// Nobody of that name has counted.
    #[error("nobody called {0:?} has counted in this run; it was {1}")]
    Unknown(String, String),
    /// The records contradict those that are there.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Takes counts back in the run at `path`, which no coordinator may have open. Gives the number of units that are open
/// again.
///
/// # Errors
/// The run cannot be opened, read or written, or there is nothing of that name to take back; then nothing was changed.
pub fn retract(path: &Path, target: &Target, reason: &str) -> Result<u64, RetractError> {
    let shard = RunDirectory::open(path)?.run().shard;
    let options = OpenOptions { path: path.to_owned(), begin: None, board: None, shard, accept_loss: false };
    let (mut store, _, _) = Store::open(options)?;
    let mut standing = Standing::new(store.directory().plan());
    replay(store.directory(), Stretch::default(), &mut standing, |_, _| ())?;
    let at = SystemClock::default().since_1970().as_secs();
    let mut records = match target {
        Target::Units(units) => units_taken_back(&store, &standing, units, reason, at)?,
        Target::Machine { owner, machine } => {
            if standing.sums().machines.number(owner, machine).is_none() {
                return Err(unknown(machine, &standing));
            }
            vec![expulsion(owner, Some(machine), reason, at)]
        }
        Target::Owner(owner) => {
            if standing.sums().machines.iter().all(|machine| machine.owner != *owner) {
                return Err(unknown(owner, &standing));
            }
            vec![expulsion(owner, None, reason, at)]
        }
        Target::Admission { owner, machine } => {
            let (owner, machine, reason) = (owner.clone(), machine.clone(), reason.to_owned());
            vec![Record::Admit(Admission { owner, machine, reason, at })]
        }
    };
    let plan = store.directory().plan().clone();
    let mut apply = |records: &[Record]| {
        records.iter().try_for_each(|record| standing.apply(&plan, shard, record)).map(|()| standing.clone())
    };
    let after = apply(&records)?;
    let unbelieved: Vec<Record> =
        (0..plan.units()).map(UnitId).filter_map(|unit| taken_back(&after, unit, at)).collect();
    let mut standing = apply(&unbelieved)?;
    records.extend(unbelieved);
    let (elapsed, threads): (Duration, u32) = (store.mark().elapsed(), store.mark().threads);
    for group in records.chunks(GROUP) {
        store.commit(group, elapsed, threads)?;
    }
    standing.marks().change_all();
    store.save(&mut standing).ok();
    Ok(records.iter().filter(|record| matches!(record, Record::Retract(_))).count() as u64)
}

fn units_taken_back(
    store: &Store,
    standing: &Standing,
    units: &[UnitId],
    reason: &str,
    at: u64,
) -> Result<Vec<Record>, RetractError> {
    let all = store.directory().plan().units();
    let of_unit = |unit: &UnitId| {
        let vote = (unit.0 < all).then(|| standing.vote(*unit)).flatten();
        let vote = vote.ok_or(RetractError::NotCounted { unit: *unit, last: all - 1 })?;
        let reason = Some(reason.to_owned());
        Ok(Record::Retract(Retraction { reason, ..standing.retraction(*unit, &vote, at) }))
    };
    units.iter().map(of_unit).collect()
}

/// What takes the unit's count back, if it comes from somebody who is not believed and nobody else has confirmed it.
fn taken_back(standing: &Standing, unit: UnitId, at: u64) -> Option<Record> {
    let vote = standing.vote(unit)?;
    let retraction = || Retraction { quarantine: true, ..standing.retraction(unit, &vote, at) };
    (!standing.is_believed(unit, &vote)).then(|| Record::Retract(retraction()))
}

fn expulsion(owner: &str, machine: Option<&String>, reason: &str, at: u64) -> Record {
    Record::Expel(Expulsion {
        owner: owner.to_owned(),
        machine: machine.cloned(),
        lost: false,
        reason: reason.to_owned(),
        at,
    })
}

fn unknown(name: &str, standing: &Standing) -> RetractError {
    const NAMED: usize = 8;
    let machines = standing.sums().machines.iter();
    let mut names: Vec<String> = machines.take(NAMED + 1).map(Machine::title).collect();
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("others".to_owned());
    }
    let names = if names.is_empty() { "nobody yet".to_owned() } else { names.join(", ") };
    RetractError::Unknown(name.to_owned(), names)
}

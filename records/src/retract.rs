//! Retraction by an operator: the counts of single units, or all unconfirmed counts of a machine or an owner. The
//! ledger keeps the reason, and the units are open again.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use domain::{Owner, Takeback, Target, named};
use queens::{Class, Classified, Plan, UnitId};
use thiserror::Error;

use crate::clock::{Clock, SystemClock};
use crate::ledger::{Admission, Expulsion, LedgerError, Record, Retraction};
use crate::replay::{Stretch, replay};
use crate::run_directory::{RunDirectory, RunDirectoryError};
use crate::shard::Shard;
use crate::standing::{Machine, Machines, RecordError, Standing};
use crate::store::{Notice, OpenOptions, Store, StoreError};

/// Records of one commit.
const GROUP: usize = 10_000;

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
    /// There is nothing of the kind to take back.
    #[error(transparent)]
    Nothing(#[from] NothingToRetract),
    /// The new records contradict the existing records.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl Classified for RetractError {
    fn class(&self) -> Class {
        match self {
            Self::Ledger(_) | Self::Record(_) => Class::Unsound,
            Self::Directory(error) => error.class(),
            Self::Store(error) => error.class(),
            Self::Nothing(_) => Class::Failed,
        }
    }
}

/// Why there is nothing to take back.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NothingToRetract {
    /// The unit has no count.
    #[error("unit {unit} has no count that could be taken back; the run has {own}")]
    NotCounted {
        /// The unit.
        unit: UnitId,
        /// The units that the run has, in words.
        own: String,
    },
    /// The origin of the unit's count is not known yet.
    #[error(
        "the ledger is still being read, and who counted unit {0} is not known yet: try again in a minute"
    )]
    NotRead(UnitId),
    /// The run has its answer, or the answer is withheld.
    #[error("the run has ended: stop its coordinator, take back in its directory, and start it again")]
    HasEnded,
    /// No machine or owner of this name has counted; these have.
    #[error("nobody called {0:?} has counted in this run; it was {1}")]
    Unknown(String, String),
    /// The run has no counts.
    #[error("nobody called {0:?} has counted in this run, nor has anybody else")]
    NothingYet(String),
    /// Machines of several owners have the name.
    #[error("{0:?} may be any of {1}: name one of them")]
    Ambiguous(String, String),
    /// No machine or owner of this name is quarantined or expelled.
    #[error("{0}")]
    NotExpelled(String),
}

/// The result of a retraction in a run directory.
#[derive(Debug)]
pub struct Retracted {
    /// The units that are open again, or would be.
    pub extent: Extent,
    /// Notices about the state of the run.
    pub notices: Vec<Notice>,
}

/// How much a retraction takes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The number of units that are open again.
    pub units: u64,
    /// Their share of the run's expected work, from 0 to 1.
    pub share: f64,
}

impl Extent {
    /// The extent of these records, and of the retractions that follow from them.
    ///
    /// The sums of the machines give the number of units. The work is the sum over these units; while their origins
    /// have not been read from the ledger, each unit counts as an average unit.
    pub fn of(records: &[Record], plan: &Plan, shard: Shard, standing: &Standing) -> Self {
        let named = records.iter().filter_map(|record| match record {
            Record::Retract(retraction) => Some(retraction.unit),
            _ => None,
        });
        let named: BTreeSet<UnitId> = named.collect();
        let machines = standing.machines_after(records);
        let unbelieved = machines.iter().map(Machine::unbelieved).sum::<u64>();
        let is_unbelieved = |unit: &UnitId| {
            let origin = standing.vote(*unit).map(|vote| vote.origin.machine);
            origin.is_some_and(|of| !machines.believes(of, standing.confirmed_degree(*unit)))
        };
        let searched = if unbelieved > 0 { plan.units() } else { 0 };
        let struck = (0..searched).map(UnitId).filter(|unit| is_unbelieved(unit) && !named.contains(unit));
        let (known, work) = named
            .iter()
            .copied()
            .chain(struck)
            .fold((0, 0), |(units, work), unit| (units + 1, work + u128::from(plan.mean_weight(unit))));
        let units = unbelieved.max(known);
        let share = if known == units {
            work as f64 / shard.work_of(plan).max(1) as f64
        } else {
            units as f64 / shard.size(plan.units()).max(1) as f64
        };
        Self { units, share: share.min(1.0) }
    }
}

/// Takes counts back in the run at `path`, which no coordinator may have open. In a dry run nothing changes.
///
/// # Errors
/// The run cannot be opened, read or written, or nothing of this name can be retracted. Then nothing has changed.
pub fn retract(path: &Path, takeback: &Takeback) -> Result<Retracted, RetractError> {
    let shard = RunDirectory::open(path)?.run().shard;
    let options = OpenOptions {
        path: path.to_owned(),
        begin: None,
        board: None,
        scheme: None,
        shard,
        accept_loss: false,
        take_over: false,
        signing_key: None,
    };
    let (mut store, found, notices) = Store::open_unsettled(options)?;
    let mut standing = Standing::new(store.directory().plan());
    replay(store.directory(), Stretch::default(), &mut standing, |_, _| ())?;
    let at = SystemClock::default().since_1970().as_secs();
    let plan = store.directory().plan().clone();
    let mut records = retractions(&plan, shard, &standing, takeback, at)?;
    let extent = Extent::of(&records, &plan, shard, &standing);
    if takeback.dry_run {
        return Ok(Retracted { extent, notices });
    }
    apply(&mut standing, &plan, shard, &records)?;
    let unbelieved: Vec<Record> =
        (0..plan.units()).map(UnitId).filter_map(|unit| taken_back(&standing, unit, at)).collect();
    apply(&mut standing, &plan, shard, &unbelieved)?;
    records.extend(unbelieved);
    store.settle(&found)?;
    let (elapsed, threads): (Duration, u32) = (store.mark().elapsed(), store.mark().threads);
    for group in records.chunks(GROUP) {
        store.commit(group, elapsed, threads)?;
    }
    store.save(&standing).ok();
    Ok(Retracted { extent, notices })
}

fn apply(standing: &mut Standing, plan: &Plan, shard: Shard, records: &[Record]) -> Result<(), RecordError> {
    records.iter().try_for_each(|record| standing.apply(plan, shard, record))
}

/// The records of this retraction.
///
/// # Errors
/// Nothing matches the target.
pub fn retractions(
    plan: &Plan,
    shard: Shard,
    standing: &Standing,
    takeback: &Takeback,
    at: u64,
) -> Result<Vec<Record>, NothingToRetract> {
    let machines = &standing.sums().machines;
    let reason = takeback.reason.clone();
    let expulsion = |owner: &str, machine| {
        Record::Expel(Expulsion {
            owner: owner.to_owned(),
            machine,
            lost: false,
            suspended: false,
            reason: reason.clone(),
            at,
        })
    };
    match &takeback.target {
        Target::Units(units) => {
            let units: BTreeSet<UnitId> = units.iter().copied().collect();
            units.into_iter().map(|unit| of_unit(plan, shard, standing, unit, &reason, at)).collect()
        }
        Target::Machine { owner, machine } => {
            let title = || Owner::new(owner).title(machine);
            let meant = meant(machines, owner, machine)?.ok_or_else(|| unknown(&title(), standing))?;
            Ok(vec![expulsion(&meant.owner, Some(meant.name.clone()))])
        }
        Target::Owner(owner) if machines.iter().any(|machine| machine.owner == *owner) => {
            Ok(vec![expulsion(owner, None)])
        }
        Target::Owner(owner) => Err(unknown(Owner::new(owner).typed(), standing)),
        Target::Admission { owner, machine } => {
            let meant = machine.as_deref().map(|name| meant(machines, owner, name)).transpose()?.flatten();
            let owner = meant.map_or(owner, |meant| &meant.owner).clone();
            let machine = meant.map(|meant| meant.name.clone()).or_else(|| machine.clone());
            let admitted = machines.clone().admit(&owner, machine.as_deref());
            admitted.map_err(|error| NothingToRetract::NotExpelled(error.to_string()))?;
            Ok(vec![Record::Admit(Admission { owner, machine, reason, at })])
        }
    }
}

/// The retraction of the unit's count.
fn of_unit(
    plan: &Plan,
    shard: Shard,
    standing: &Standing,
    unit: UnitId,
    reason: &str,
    at: u64,
) -> Result<Record, NothingToRetract> {
    let is_counted = unit.0 < plan.units() && standing.is_done(unit);
    if !is_counted {
        return Err(NothingToRetract::NotCounted { unit, own: shard.units_in_words(plan.units()) });
    }
    let vote = standing.vote(unit).ok_or(NothingToRetract::NotRead(unit))?;
    let reason = Some(reason.to_owned());
    Ok(Record::Retract(Retraction { reason, ..standing.retraction(unit, &vote, at) }))
}

/// The retraction of the unit's count, if its machine is not believed and the count is unconfirmed.
fn taken_back(standing: &Standing, unit: UnitId, at: u64) -> Option<Record> {
    let vote = standing.vote(unit)?;
    let retraction = || Retraction { quarantine: true, ..standing.retraction(unit, &vote, at) };
    (!standing.is_believed(unit, &vote)).then(|| Record::Retract(retraction()))
}

/// The machine with this owner and name, or the machine without an owner whose name equals both together. The owner may
/// be omitted if only one owner has a machine of this name.
///
/// # Errors
/// Several owners have such a machine.
fn meant<'a>(
    machines: &'a Machines,
    owner: &str,
    name: &str,
) -> Result<Option<&'a Machine>, NothingToRetract> {
    let whole_name = Owner::new(owner).title(name);
    if let Some(number) = machines.number(owner, name).or_else(|| machines.number("", &whole_name)) {
        return Ok(Some(machines.get(number)));
    }
    let of_name = machines.iter().filter(|machine| owner.is_empty() && machine.name == name);
    let of_name: Vec<&Machine> = of_name.collect();
    match of_name[..] {
        [] | [_] => Ok(of_name.first().copied()),
        _ => {
            let titles = named(of_name.into_iter().map(Machine::title));
            Err(NothingToRetract::Ambiguous(name.to_owned(), titles))
        }
    }
}

fn unknown(name: &str, standing: &Standing) -> NothingToRetract {
    let names = named(standing.sums().machines.iter().map(Machine::title));
    if names.is_empty() {
        NothingToRetract::NothingYet(name.to_owned())
    } else {
        NothingToRetract::Unknown(name.to_owned(), names)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::signing::SigningKey;
    use crate::testing::known_run;

    #[test]
    fn retraction_reports_cut_tail_and_refusal_is_inert() {
        let run = tempfile::tempdir().unwrap();
        let (mut store, ..) = Store::open(known_run::options(run.path())).unwrap();
        store.commit(&[known_run::record(3)], Duration::ZERO, 1).unwrap();
        drop(store);
        let ledger = run.path().join("ledger").join("000001.jsonl");
        let half = [fs::read(&ledger).unwrap(), b"{\"kind\":\"cou".to_vec()].concat();
        fs::write(&ledger, &half).unwrap();
        let retract_from = |machine: &str| {
            let target = Target::Machine { owner: String::new(), machine: machine.into() };
            retract(run.path(), &Takeback { target, reason: "a test".into(), dry_run: false })
        };
        retract_from("another").unwrap_err();
        assert_eq!(fs::read(&ledger).unwrap(), half);
        let Retracted { extent, notices } = retract_from("machine").unwrap();
        assert!(
            extent.units == 1 && notices.iter().any(|notice| matches!(notice, Notice::TailCut { .. })),
            "{notices:?}"
        );
        assert!(!fs::read(&ledger).unwrap().starts_with(&half));
    }

    #[test]
    fn retraction_creates_no_signing_key() {
        let run = tempfile::tempdir().unwrap();
        let (mut store, ..) = Store::open(known_run::options(run.path())).unwrap();
        store.commit(&[known_run::record(3)], Duration::ZERO, 1).unwrap();
        drop(store);
        let key = SigningKey::file_of_run(run.path());
        fs::remove_file(&key).unwrap();
        let target = Target::Units(vec![UnitId(3)]);
        retract(run.path(), &Takeback { target, reason: "a test".into(), dry_run: false }).unwrap();
        assert!(!key.exists());
    }

    #[test]
    fn machine_name_without_owner_must_be_unambiguous() {
        let mut machines = Machines::default();
        let mut known = |owner, name| _ = machines.origin((owner, name), "search/portable", false).unwrap();
        known("ada", "a");
        known("ada", "both");
        known("ben", "both");
        known("ada", "alone");
        known("", "alone");
        let of = |owner, name| meant(&machines, owner, name).map(|found| found.map(Machine::title));
        let is = |title: &str| Ok(Some(title.to_owned()));
        assert_eq!([of("", "a"), of("ada", "a"), of("ben", "a")], [is("ada/a"), is("ada/a"), Ok(None)]);
        assert_eq!([of("", "alone"), of("ada", "alone")], [is("alone"), is("ada/alone")]);
        assert_eq!(of("ben", "both"), is("ben/both"));
        let ambiguous = of("", "both").unwrap_err().to_string();
        assert_eq!(ambiguous, "\"both\" may be any of ada/both, ben/both: name one of them");
    }
}

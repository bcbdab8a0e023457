//! Runs of n = 8 that are sound, incomplete, or wrong in one count with all CRCs and hashes right.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use queens::UnitId;
use queens::kernel::Method;
use queens::{Measure, Summand};
use tempfile::TempDir;

use super::recount::Means;
use super::{RecountError, SampleRecount, SampleSize, Verification, VerifyError};
use crate::answer::Agreement;
use crate::ledger::Record;
use crate::run_directory::RunDirectory;
use crate::store::Store;
use crate::testing::known_run;

fn run(records: &[Record]) -> (TempDir, RunDirectory) {
    let folder = TempDir::new().unwrap();
    let (mut store, _, _) = Store::open(known_run::options(folder.path())).unwrap();
    store.commit(records, Duration::from_secs(1), 2).unwrap();
    drop(store);
    let directory = RunDirectory::open(folder.path()).unwrap();
    (folder, directory)
}

fn truth() -> Vec<Record> {
    (0..known_run::plan().units()).map(known_run::record).collect()
}

fn summand(unit: UnitId) -> Summand {
    known_run::plan().summand(unit)
}

/// The first unit that is so, and the run in which it has that many more.
fn lie(more: u64, is_so: impl Fn(UnitId) -> bool) -> (UnitId, Vec<Record>) {
    let unit = (0..known_run::plan().units()).map(UnitId).find(|unit| is_so(*unit)).unwrap();
    let mut records = truth();
    records[unit.0 as usize] = Record::Count(known_run::unit_record(unit.0, more, "machine"));
    (unit, records)
}

fn read(directory: &RunDirectory, size: SampleSize) -> Verification<'_> {
    Verification::read(directory, size, Some(7)).unwrap()
}

#[test]
fn a_sound_run_passes_every_step() {
    let (_folder, directory) = run(&truth());
    let run = read(&directory, SampleSize::All);
    assert_eq!(run.audit().totals, known_run::totals());
    run.expect_complete().unwrap();
    assert!(run.identities().unwrap().unwrap().families > 0);
    let counted = AtomicU64::new(0);
    let advance = || _ = counted.fetch_add(1, Ordering::Relaxed);
    let symmetric = run.recount_symmetric(2, &advance).unwrap();
    let sample = run.recount_sample(None, 2, &advance).unwrap();
    assert_eq!((symmetric, sample.units), (run.symmetric_units(), run.sample_units()));
    assert_eq!(symmetric + sample.units, known_run::plan().units());
    assert_eq!(counted.into_inner(), known_run::plan().units(), "each is announced");
    assert_eq!(sample, SampleRecount { units: sample.of, of: sample.of, seed: 7, wrong_at_most: 0.0 });
    assert_eq!(run.expect_published().unwrap(), Agreement::Agrees);
}

#[test]
fn sample_follows_from_seed_and_bounds_errors() {
    let (_folder, directory) = run(&truth());
    let drawn = |seed| {
        let run = Verification::read(&directory, SampleSize::Units(5), seed).unwrap();
        let units: Vec<UnitId> = run.sample.counted().into_iter().map(|(unit, _)| unit).collect();
        let found = run.recount_sample(None, 1, &|| ()).unwrap();
        assert_eq!((units.len() as u64, found.units), (5, 5));
        assert!((found.wrong_at_most - (1.0 - 0.05f64.powf(0.2))).abs() < 1e-9);
        (units, found.seed)
    };
    assert_eq!(drawn(Some(7)), drawn(Some(7)));
    assert_ne!(drawn(Some(7)).0, drawn(Some(8)).0);
    let (units, seed) = drawn(None);
    assert_eq!(drawn(Some(seed)).0, units, "a seed that was drawn gives the same sample again");
    let none = read(&directory, SampleSize::Units(0)).recount_sample(None, 1, &|| ()).unwrap();
    assert_eq!((none.units, none.wrong_at_most.to_bits()), (0, 1f64.to_bits()));
}

#[test]
fn other_kernel_finds_and_locates_wrong_count() {
    let (unit, records) = lie(1, |unit| summand(unit) == Summand::Asymmetric);
    let (_folder, directory) = run(&records);
    let run = read(&directory, SampleSize::All);
    run.expect_complete().unwrap();
    assert!(matches!(run.expect_published(), Err(VerifyError::Published)));
    let error = run.recount_sample(None, 2, &|| ()).unwrap_err();
    let VerifyError::Recount(RecountError::Differs { unit: named, recorded, location, by, found, .. }) =
        &error
    else {
        panic!("{error}")
    };
    assert_eq!((*named, *recorded, *found), (unit, known_run::count(unit) + 1, known_run::count(unit)));
    assert_eq!((location.file, location.line), (1, unit.0 + 1));
    assert!(matches!(by, Means::Mirrored(kernel) if kernel.method == Method::Meet), "{by}");
    let by_search = run.recount_sample(Some(Method::Search), 2, &|| ()).unwrap_err().to_string();
    assert!(by_search.contains("counted by machine with search/portable), search/"), "{by_search}");
    let text = error.to_string();
    assert!(text.starts_with(&format!("unit {unit}: the ledger says ")), "{text}");
    assert!(text.contains("counted by machine with search/portable), meet/"), "{text}");
}

#[test]
fn second_algorithm_finds_wrong_symmetric_count() {
    // Two more completions of the same constellation, so that its sums do not contradict each other.
    let (unit, mut records) =
        lie(2, |unit| matches!(summand(unit), Summand::Symmetric(_, Measure::HalfTurn)));
    let Summand::Symmetric(member, _) = summand(unit) else { unreachable!("it is symmetric") };
    let (whole, with_more) = lie(2, |unit| summand(unit) == Summand::Symmetric(member, Measure::Completions));
    records[whole.0 as usize] = with_more[whole.0 as usize].clone();
    let (_folder, directory) = run(&records);
    let run = read(&directory, SampleSize::Units(0));
    let error = run.recount_symmetric(2, &|| ()).unwrap_err();
    let VerifyError::Recount(RecountError::Differs { unit: named, by, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!((named, by), (unit, Means::SecondAlgorithm));
}

#[test]
fn missing_units_are_reported_as_incomplete() {
    let mut records = truth();
    records.remove(3);
    records.pop();
    let (_folder, directory) = run(&records);
    let error = read(&directory, SampleSize::All).expect_complete().unwrap_err();
    assert!(matches!(error, VerifyError::Incomplete { missing_units: 2, first: UnitId(3) }), "{error}");
}

#[test]
fn unconfirmed_counts_of_quarantined_machine_fail() {
    let lie = known_run::unit_record(0, 1, "liar");
    let retraction = known_run::retraction(&lie);
    let mut records = vec![
        Record::Count(lie),
        Record::Conflict(known_run::unit_record(0, 0, "another")),
        retraction,
        Record::Count(known_run::unit_record(1, 0, "liar")),
        Record::Count(known_run::unit_record(2, 0, "liar")),
    ];
    records.extend(truth().into_iter().enumerate().filter(|(at, _)| ![1, 2].contains(at)).map(|(_, r)| r));
    let (_folder, directory) = run(&records);
    let error = read(&directory, SampleSize::All).expect_complete().unwrap_err();
    assert!(matches!(error, VerifyError::Unbelieved(2)), "{error}");
}

//! Copies of a run: they are exact for any size of pieces and any failure of the disk, and contain nothing that is not
//! in the ledger. Also a coordinator that meets another coordinator.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use domain::{CoordinatorId, FollowedRun, LedgerPiece, Registration, Term};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use records::ledger::{LedgerPosition, Pieces, Record, TermRecord, Writer};
use records::run_directory::secret::lease_key;
use records::run_directory::{LeaseKey, RunDirectory, RunDirectoryError};
use records::shard::Shard;
use records::standing::{RecordError, Standing};
use records::store::{OpenOptions, Store, StoreError, TermError};
use records::testing::{Fault, FaultyDisk, SetClock, known_run};
use records::{CopyError, LedgerCopy, audit, audit_each};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::handle::Handle;
use crate::keeper::{CallError, OtherCoordinator};
use crate::tests::known_worker::{join, lease, registration, replicated, report};

/// A run to be copied, with several files and many groups, and its description by a coordinator.
struct Original {
    folder: TempDir,
    end: LedgerPosition,
    said: FollowedRun,
}

impl Original {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let (store, _, _) = Store::open(known_run::options(folder.path())).unwrap();
        let said = said(folder.path(), store.term());
        let begin = store.end().clone();
        let mut writer = Writer::new(&store.directory().ledger(), begin).with_file_size(6000);
        let records: Vec<Record> = (0..known_run::plan().units()).map(known_run::record).collect();
        for group in records.chunks(7) {
            writer.commit(group, Duration::ZERO, 1).unwrap();
        }
        let end = writer.end().clone();
        assert!(end.file > 2, "several files");
        Self { folder, end, said }
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("ledger")
    }

    /// The pieces from the end of the copy on, of at most `cut` bytes each.
    fn pieces(&self, copy: &mut LedgerCopy, cut: usize) -> Vec<LedgerPiece> {
        let from = copy.request().unwrap().end;
        let mut pieces = Pieces::new(self.ledger(), from.file.max(1), from.offset);
        let mut cut_up = Vec::new();
        while let Some(piece) = pieces.next(&self.end).unwrap() {
            let parts = piece.bytes.chunks(cut).enumerate();
            let last = piece.bytes.len().div_ceil(cut) - 1;
            cut_up.extend(parts.map(|(at, bytes)| LedgerPiece {
                file: piece.file,
                offset: piece.offset + (at * cut) as u64,
                bytes: bytes.to_vec(),
                is_end: piece.is_end && at == last,
            }));
        }
        cut_up
    }

    fn is_copied_to(&self, copy: &Path) {
        assert_eq!(files(&self.ledger()), files(&copy.join("ledger")));
        let run = |folder: &Path| fs::read(folder.join("run.json")).unwrap();
        assert_eq!(run(self.folder.path()), run(copy));
        assert_eq!(lease_key(copy).unwrap().bytes()[..], self.said.lease_key);
        let audit = audit(&RunDirectory::open(copy).unwrap()).unwrap();
        assert_eq!((audit.totals, audit.missing), (known_run::totals(), None));
    }
}

/// A coordinator's description of the run in this folder.
fn said(folder: &Path, term: Term) -> FollowedRun {
    let run_file = fs::read(folder.join("run.json")).unwrap();
    FollowedRun { run_file, lease_key: lease_key(folder).unwrap().bytes().to_vec(), term }
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let ledger = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    let name = |file: &Path| file.file_name().unwrap().to_str().unwrap().to_owned();
    ledger.map(|file| (name(&file), fs::read(&file).unwrap())).collect()
}

#[test]
fn copy_equals_original_for_any_piece_size() {
    let original = Original::new();
    for cut in [1, 13, 200, 5000, 1 << 20] {
        let folder = TempDir::new().unwrap();
        let mut copy = LedgerCopy::open(folder.path()).unwrap();
        assert_eq!(copy.request().unwrap().end.file, 0);
        copy.greet(&original.said).unwrap();
        let mut said = None;
        for piece in original.pieces(&mut copy, cut) {
            said = copy.take(&piece).unwrap();
        }
        let said = said.expect("the last piece is the end");
        assert_eq!(said.end.records, original.end.mark.records);
        copy.finish().unwrap();
        drop(copy);
        original.is_copied_to(folder.path());
        let mut again = LedgerCopy::open(folder.path()).unwrap();
        assert_eq!(again.request().unwrap().end, said.end);
        again.greet(&original.said).unwrap();
        assert!(original.pieces(&mut again, cut).is_empty());
    }
}

#[test]
fn changed_byte_is_refused_and_copying_resumes() {
    let original = Original::new();
    let mut random = StdRng::seed_from_u64(12);
    let folder = TempDir::new().unwrap();
    let mut copy = LedgerCopy::open(folder.path()).unwrap();
    copy.greet(&original.said).unwrap();
    for _ in 0..300 {
        let mut pieces = original.pieces(&mut copy, random.random_range(100..4000));
        let changed = random.random_range(0..pieces.len());
        let at = random.random_range(0..pieces[changed].bytes.len());
        pieces[changed].bytes[at] ^= 1 << random.random_range(0..8);
        let taken: Result<Vec<_>, _> = pieces.iter().map(|piece| copy.take(piece)).collect();
        assert!(matches!(taken, Err(CopyError::NotSound { .. })), "{taken:?}");
        drop(copy);
        copy = LedgerCopy::open(folder.path()).unwrap();
        copy.greet(&original.said).unwrap();
        if copy.records() > original.end.mark.records / 2 {
            drop(copy);
            fs::remove_dir_all(folder.path()).unwrap();
            copy = LedgerCopy::open(folder.path()).unwrap();
            copy.greet(&original.said).unwrap();
        }
    }
    for piece in original.pieces(&mut copy, 999) {
        copy.take(&piece).unwrap();
    }
    original.is_copied_to(folder.path());
}

#[test]
fn copy_with_lost_ledger_is_not_restarted() {
    let original = Original::new();
    let folder = TempDir::new().unwrap();
    let mut copy = LedgerCopy::open(folder.path()).unwrap();
    copy.greet(&original.said).unwrap();
    drop(copy);
    let ledger = folder.path().join("ledger");
    fs::remove_dir_all(&ledger).unwrap();
    let refused = LedgerCopy::open(folder.path()).unwrap_err();
    assert!(matches!(refused, CopyError::Lost(RunDirectoryError::LostLedger(_))), "{refused}");
    let refused = Store::open(known_run::options(folder.path())).unwrap_err();
    assert!(matches!(refused, StoreError::Directory(RunDirectoryError::LostLedger(_))), "{refused}");
    assert!(!ledger.exists());
}

#[test]
fn power_cut_keeps_acknowledged_copy_undamaged() {
    let original = Original::new();
    let mut random = StdRng::seed_from_u64(5);
    let steps = {
        let (folder, disk) = (TempDir::new().unwrap(), FaultyDisk::default());
        let mut copy = LedgerCopy::open_on(Box::new(disk.clone()), folder.path()).unwrap();
        copy.greet(&original.said).unwrap();
        original.pieces(&mut copy, 3000).iter().for_each(|piece| _ = copy.take(piece).unwrap());
        disk.steps()
    };
    for _ in 0..200 {
        let folder = TempDir::new().unwrap();
        let disk = FaultyDisk::with_faults(&[(random.random_range(0..steps), Fault::Crash)]);
        let mut copy = LedgerCopy::open_on(Box::new(disk.clone()), folder.path()).unwrap();
        copy.greet(&original.said).unwrap();
        let mut acknowledged = 0;
        for mut piece in original.pieces(&mut copy, 3000) {
            // At that time the coordinator had only whole groups.
            piece.is_end |= piece.bytes.ends_with(b"\"}\n") && random.random();
            match copy.take(&piece) {
                Ok(said) => acknowledged = said.map_or(acknowledged, |said| said.end.records),
                Err(error) => {
                    assert!(matches!(error, CopyError::NotWritten(_)), "{error}");
                    break;
                }
            }
        }
        drop(copy);
        disk.cut_power(&mut random);
        let mut copy = LedgerCopy::open(folder.path()).unwrap();
        assert!(copy.records() >= acknowledged, "{} of {acknowledged}", copy.records());
        copy.greet(&original.said).unwrap();
        original.pieces(&mut copy, 3000).iter().for_each(|piece| _ = copy.take(piece).unwrap());
        drop(copy);
        original.is_copied_to(folder.path());
    }
}

/// Copies the whole run on this disk in spite of failures. Returns the number of failures.
fn copy_in_spite_of_failures(original: &Original, disk: FaultyDisk, folder: &Path) -> u32 {
    let mut copy = LedgerCopy::open_on(Box::new(disk), folder).unwrap();
    copy.greet(&original.said).unwrap();
    let mut failures = 0;
    while copy.records() < original.end.mark.records {
        if copy.request().is_err() {
            failures += 1;
            continue;
        }
        for piece in original.pieces(&mut copy, 3000) {
            if copy.take(&piece).is_err() {
                failures += 1;
                break;
            }
        }
    }
    failures
}

#[test]
fn copy_resumes_after_full_disk() {
    const FULL: i32 = 28;
    let original = Original::new();
    let folder = TempDir::new().unwrap();
    let disk = FaultyDisk::with_faults(&[
        (20, Fault::Short { errno: FULL }),
        (40, Fault::Error { errno: FULL, steps: 9 }),
    ]);
    let failures = copy_in_spite_of_failures(&original, disk, folder.path());
    assert!(failures > 2, "{failures}");
    original.is_copied_to(folder.path());
}

#[test]
fn power_cut_after_failed_step_loses_nothing_of_copy() {
    const BROKEN: i32 = 5;
    let original = Original::new();
    let steps = {
        let (folder, disk) = (TempDir::new().unwrap(), FaultyDisk::default());
        copy_in_spite_of_failures(&original, disk.clone(), folder.path());
        disk.steps()
    };
    let mut random = StdRng::seed_from_u64(6);
    for step in 0..steps {
        for fault in [Fault::Error { errno: BROKEN, steps: 1 }, Fault::Short { errno: BROKEN }] {
            // The retry fails, too.
            for then in [None, Some(3), Some(5)] {
                let again = then.map(|later| (step + later, Fault::Short { errno: BROKEN }));
                let faults: Vec<_> = std::iter::once((step, fault)).chain(again).collect();
                let (folder, disk) = (TempDir::new().unwrap(), FaultyDisk::with_faults(&faults));
                copy_in_spite_of_failures(&original, disk.clone(), folder.path());
                disk.cut_power(&mut random);
                let copy =
                    LedgerCopy::open(folder.path()).unwrap_or_else(|error| panic!("{faults:?}: {error}"));
                assert_eq!(copy.records(), original.end.mark.records, "{faults:?}");
            }
        }
    }
}

#[test]
fn copy_follows_the_highest_term_of_its_run_only() {
    let (original, other) = (Original::new(), Original::new());
    let folder = TempDir::new().unwrap();
    let mut copy = LedgerCopy::open(folder.path()).unwrap();
    let key = LeaseKey::new(original.said.lease_key[..].try_into().unwrap());
    let hash = RunDirectory::open(original.folder.path()).unwrap().run().hash();
    let with_term = |number, id| {
        let term = key.prove(hash, number, CoordinatorId(id));
        FollowedRun { term, ..original.said.clone() }
    };
    copy.greet(&with_term(3, 1)).unwrap();
    for older in [with_term(2, 1), with_term(3, 2)] {
        let error = copy.greet(&older).unwrap_err();
        assert!(matches!(error, CopyError::Older { .. }), "{error}");
    }
    assert!(matches!(copy.greet(&other.said), Err(CopyError::OtherRun(_) | CopyError::NotProven)));
    let forged = FollowedRun { term: Term { proof: 1, ..with_term(9, 9).term }, ..original.said.clone() };
    assert!(matches!(copy.greet(&forged), Err(CopyError::NotProven)));
    copy.greet(&with_term(1003, 2)).unwrap();
    drop(copy);
    let mut copy = LedgerCopy::open(folder.path()).unwrap();
    assert!(matches!(copy.greet(&with_term(3, 1)), Err(CopyError::Older { .. })));
    drop(copy);
    let open = |take_over| {
        let options = OpenOptions { take_over, ..known_run::options(folder.path()) };
        Store::open(options).map(|(store, _, _)| store)
    };
    let refused = open(false).unwrap_err();
    assert!(matches!(refused, StoreError::Term(TermError::NotOwn { term: 1003, .. })), "{refused}");
    let mut store = open(true).unwrap();
    assert_eq!(store.term().number, 1_001_003);
    store.announce().unwrap();
    drop(store);
    assert_eq!(open(false).unwrap().term().number, 1_001_004, "the copy is a coordinator's own run now");
}

#[test]
fn new_copy_clears_pause_note() {
    let original = Original::new();
    let folder = TempDir::new().unwrap();
    let notes = folder.path().join("notes.json");
    fs::write(&notes, r#"{"paused":"until Tuesday"}"#).unwrap();
    let mut copy = LedgerCopy::open(folder.path()).unwrap();
    copy.greet(&original.said).unwrap();
    assert!(!fs::read_to_string(&notes).unwrap().contains("until Tuesday"));
}

#[test]
fn unreadable_file_of_copy_is_named_in_error() {
    let original = Original::new();
    for name in ["notes.json", "lease.key"] {
        let folder = TempDir::new().unwrap();
        LedgerCopy::open(folder.path()).unwrap().greet(&original.said).unwrap();
        let path = folder.path().join(name);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let said = LedgerCopy::open(folder.path()).unwrap_err().to_string();
        let names_it = said.contains(&format!("{}: it is no regular file", path.display()));
        assert!(said.starts_with("cannot read ") && names_it, "{said}");
    }
}

#[test]
fn term_beyond_maximum_is_no_record() {
    let begins = |term| {
        let record = TermRecord { term, coordinator: CoordinatorId(1), key: None, at: 1 };
        let plan = known_run::plan();
        Standing::new(&plan).apply(&plan, Shard::default(), &Record::Term(record))
    };
    assert_eq!(begins(Term::END - 1), Ok(()));
    for term in [Term::END, u64::MAX] {
        assert_eq!(begins(term), Err(RecordError::TermTooHigh(term)));
    }
}

#[test]
fn term_that_cannot_be_noted_is_not_announced() {
    let folder = TempDir::new().unwrap();
    let (store, _, _) = Store::open(known_run::options(folder.path())).unwrap();
    let in_the_way = folder.path().join("notes.json");
    fs::create_dir_all(in_the_way.join("full")).unwrap();
    let start = |store, standing| {
        Handle::start_replicated(known_run::plan(), Shard::default(), standing, None, store, None).map(drop)
    };
    let refused = start(store, Standing::new(&known_run::plan())).unwrap_err().to_string();
    assert!(
        refused.starts_with("cannot write the term 1 in ") && refused.contains("start again"),
        "{refused}"
    );
    fs::remove_dir_all(in_the_way).unwrap();
    let (store, standing, _) = Store::open(known_run::options(folder.path())).unwrap();
    start(store, standing).unwrap();
}

/// The terms on record in a folder.
fn terms(folder: &Path) -> Vec<u64> {
    let mut terms = Vec::new();
    audit_each(&RunDirectory::open(folder).unwrap(), |_, record| {
        if let Record::Term(term) = record {
            terms.push(term.term);
        }
    })
    .unwrap();
    terms
}

#[tokio::test]
async fn recording_process_writes_its_own_term_first() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    for session in 1..4 {
        let handle = replicated(folder.path(), FaultyDisk::default(), &clock, None);
        let worker = join(&handle).await;
        let leases = lease(&handle, worker, 3).await;
        handle.report(report(worker, &leases)).await.unwrap();
        let leases = lease(&handle, worker, 3).await;
        handle.report(report(worker, &leases)).await.unwrap();
        assert_eq!(handle.status().await.unwrap().term.unwrap().number, session);
        handle.close().await;
        // The next one records nothing; the checkpoint knows the last term all the same.
        let idle = replicated(folder.path(), FaultyDisk::default(), &clock, None);
        assert_eq!(idle.status().await.unwrap().term.unwrap().number, session + 1);
        idle.close().await;
    }
    assert_eq!(terms(folder.path()), [1, 2, 3]);
}

/// Registers a worker that has met this term.
async fn register(handle: &Handle, met: Term) -> Result<Option<Term>, CallError> {
    let registration = Registration { met: Some(met), ..registration("machine") };
    handle.register(registration).await.map(|welcome| welcome.term)
}

#[tokio::test]
async fn coordinator_that_hears_of_a_higher_term_stops() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = replicated(folder.path(), FaultyDisk::default(), &clock, Some(0));
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    // A worker waits for units, although none is left, with a clock that stands still.
    while !lease(&handle, worker, 100).await.is_empty() {}
    let mut waiting = pin!(handle.lease(worker, 1, Duration::from_mins(1)));
    assert!(timeout(Duration::from_millis(300), &mut waiting).await.is_err());
    let source = handle.source().unwrap();
    let other = source.key.prove(source.directory.run().hash(), 1001, CoordinatorId(2));
    // A proof without the key is invalid.
    let forged = Term { number: 5000, ..other };
    for harmless in [forged, source.term] {
        assert_eq!(register(&handle, harmless).await.unwrap(), Some(source.term));
        handle.meet(harmless).await.unwrap();
    }
    let stopped = CallError::OtherCoordinator(OtherCoordinator::Higher { own: source.term, other });
    assert_eq!(register(&handle, other).await.unwrap_err(), stopped);
    assert_eq!(timeout(Duration::from_secs(30), waiting).await.unwrap().unwrap_err(), stopped);
    assert_eq!(handle.report(report(worker, &leases)).await.unwrap_err(), stopped);
    assert_eq!(handle.lease(worker, 1, Duration::ZERO).await.unwrap_err(), stopped);
    assert_eq!(handle.renew(worker, leases).await.unwrap_err(), stopped);
    assert_eq!(handle.meet(source.term).await.unwrap_err(), stopped, "a follower is turned away, too");
    let status = handle.status().await.unwrap();
    assert!(status.trouble.contains("--take-over") && status.done == 0, "{}", status.trouble);
    handle.close().await;
    let open = |take_over| {
        let options = OpenOptions { take_over, ..known_run::options(folder.path()) };
        Store::open(options).map(|(store, _, _)| store.term().number)
    };
    assert!(matches!(open(false), Err(StoreError::Term(TermError::NotOwn { term: 1001, .. }))));
    assert_eq!(open(true).unwrap(), 1_001_001);
}

#[tokio::test]
async fn report_waiting_for_followers_is_refused_at_stop() {
    let (folder, clock) = (TempDir::new().unwrap(), SetClock::default());
    let handle = replicated(folder.path(), FaultyDisk::default(), &clock, Some(1));
    let worker = join(&handle).await;
    let leases = lease(&handle, worker, 3).await;
    let mut reported = pin!(handle.report(report(worker, &leases)));
    assert!(timeout(Duration::from_millis(300), &mut reported).await.is_err());
    let source = handle.source().unwrap();
    let other = source.key.prove(source.directory.run().hash(), source.term.number, CoordinatorId(2));
    let stopped = CallError::OtherCoordinator(OtherCoordinator::SameTerm { own: source.term, other });
    assert_eq!(handle.meet(other).await.unwrap_err(), stopped);
    assert_eq!(timeout(Duration::from_secs(30), reported).await.unwrap().unwrap_err(), stopped);
}

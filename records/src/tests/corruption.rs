//! Thousands of corrupted run directories: each resumes exactly or is refused with the place, none gives a wrong total.
//!
//! `DIADEM_CORRUPTIONS=2000 cargo test --release -p diadem-records corrupted` sets the number of attempts;
//! `DIADEM_SEED` selects other seeds than the usual ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ledger::{LedgerPosition, Record, UnitRecord, Writer};
use crate::run_directory::{RunDirectory, RunDirectoryError};
use crate::shard::Shard;
use crate::standing::Standing;
use crate::store::{OpenOptions, Store, StoreError};
use crate::testing::known_run;
use crate::{AuditError, audit};
use queens::UnitId;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

/// Files of a few groups each.
const FILE_SIZE: u64 = 2500;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// A run directory, half counted or wholly, with disputes, and a checkpoint from some moment.
struct Original {
    folder: TempDir,
}

impl Original {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let folder = TempDir::new().unwrap();
        let plan = known_run::plan();
        let directory =
            RunDirectory::begin(folder.path(), (*plan).clone(), Shard::default(), Duration::ZERO).unwrap();
        let beginning = LedgerPosition::beginning(directory.run().hash());
        let mut writer = Writer::new(&directory.ledger(), beginning).with_file_size(FILE_SIZE);
        let done = if random.random() { plan.units() } else { random.random_range(1..plan.units()) };
        let save_at = random.random_range(0..2 * done);
        let mut unit = 0;
        while unit < done {
            let group: Vec<Record> = (unit..done.min(unit + random.random_range(1..9)))
                .flat_map(|unit| story(unit, &mut random))
                .collect();
            unit = group.iter().filter_map(Record::unit).max().unwrap().0 + 1;
            writer.commit(&group, Duration::from_secs(unit), 2).unwrap();
            if (unit..unit + 8).contains(&save_at) {
                drop(Store::open(known_run::options(folder.path())).unwrap());
            }
        }
        Self { folder }
    }

    /// Every file of the run directory.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }

    fn copy_to(&self, target: &Path) {
        for file in self.files() {
            let copy = target.join(file.strip_prefix(self.folder.path()).unwrap());
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(file, copy).unwrap();
        }
    }
}

/// How a unit came to its count: mostly at once, sometimes after a lie that was found out.
fn story(unit: u64, random: &mut StdRng) -> Vec<Record> {
    let truth = known_run::record(unit);
    let another = known_run::unit_record(unit, 0, "another machine");
    match random.random_range(0..12) {
        0 => vec![truth, Record::Check(UnitRecord { of: Some("machine".into()), ..another })],
        1 => {
            let lie = known_run::unit_record(unit, 1, "a machine that errs");
            let retract = known_run::retraction(&lie);
            vec![Record::Count(lie), Record::Conflict(another), retract, truth]
        }
        _ => vec![truth],
    }
}

/// Applies one change to the ledger (or to `run.json`). Returns its description.
fn corrupt(run: &Path, random: &mut StdRng) -> String {
    let folder = run.join("ledger");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let last = files.last().filter(|_| random.random());
    let Some(path) = last.or(files.choose(random)).cloned() else { return "nothing left".into() };
    let other = files.choose(random).unwrap().clone();
    let bytes = fs::read(&path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let end = bytes.len().max(1);
    let from = if random.random() { 0 } else { 3 * end / 4 };
    let at = random.random_range(from..end);
    let (what, bytes) = match random.random_range(0..12) {
        0 => (format!("cut at {at}"), bytes[..at.min(bytes.len())].to_vec()),
        1 => {
            let len = *[1, 16, 512, 4096].choose(random).unwrap();
            (format!("{len} zeros from {at}"), changed(bytes, at, len, |_| 0))
        }
        2 => (format!("one bit of byte {at}"), changed(bytes, at, 1, |byte| byte ^ 1 << (at % 8))),
        3 => {
            let from = random.random_range(0..256u64);
            let noise = |byte: u8| byte.wrapping_mul(31).wrapping_add(from as u8);
            (format!("noise from {at}"), changed(bytes, at, random.random_range(1..200), noise))
        }
        4..=7 => with_lines(bytes, random),
        8 => {
            fs::copy(&other, folder.join("swap")).unwrap();
            fs::copy(&path, &other).unwrap();
            fs::rename(folder.join("swap"), &path).unwrap();
            return format!("{name} swapped with {}", other.display());
        }
        9 => {
            let copy = folder.join(format!("{:06}.jsonl", random.random_range(1..files.len() + 3)));
            fs::copy(&path, &copy).unwrap();
            return format!("{name} copied to {}", copy.display());
        }
        10 => {
            fs::remove_file(&path).unwrap();
            return format!("{name} removed");
        }
        _ => {
            let path = run.join("run.json");
            let bytes = fs::read(&path).unwrap();
            let at = random.random_range(0..bytes.len());
            fs::write(&path, changed(bytes, at, 1, |byte| byte ^ 1 << (at % 8))).unwrap();
            return format!("one bit of byte {at} of run.json");
        }
    };
    fs::write(&path, bytes).unwrap();
    format!("{name}: {what}")
}

fn changed(mut bytes: Vec<u8>, at: usize, len: usize, change: impl Fn(u8) -> u8) -> Vec<u8> {
    bytes.iter_mut().skip(at).take(len).for_each(|byte| *byte = change(*byte));
    bytes
}

/// The file with lines swapped, repeated, left out or moved to the end.
fn with_lines(bytes: Vec<u8>, random: &mut StdRng) -> (String, Vec<u8>) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return ("no lines".into(), bytes);
    }
    let [a, b] = [(); 2].map(|()| random.random_range(0..lines.len()));
    let what = match random.random_range(0..4) {
        0 => {
            lines.swap(a, b);
            format!("lines {a} and {b} swapped")
        }
        1 => {
            lines.insert(b, lines[a]);
            format!("line {a} repeated at {b}")
        }
        2 => {
            lines.remove(a);
            format!("without line {a}")
        }
        _ => {
            lines.rotate_left(a);
            format!("rotated by {a} lines")
        }
    };
    (what, lines.concat())
}

/// Opens the run, counts the remaining units and audits it: the exact total, or the step that refused it and why.
fn resume_and_finish(run: &Path, accept_loss: bool) -> Result<(), String> {
    let options = OpenOptions { accept_loss, ..known_run::options(run) };
    let (mut store, mut standing, _) = Store::open(options).map_err(refused_by_store)?;
    let plan = known_run::plan();
    let missing: Vec<UnitId> =
        (0..plan.units()).map(UnitId).filter(|unit| !standing.is_done(*unit)).collect();
    let rest: Vec<Record> = missing.iter().map(|unit| known_run::record(unit.0)).collect();
    if !rest.is_empty() {
        store.commit(&rest, Duration::ZERO, 1).map_err(|error| error.to_string())?;
        add(&mut standing, &rest);
    }
    let audit = audit(store.directory()).map_err(refused_by_audit)?;
    assert_eq!(audit.totals, known_run::totals());
    assert_eq!(audit.missing, None);
    // The tail after the last mark is cut off with the first write.
    assert!(audit.tail.bytes == 0 || rest.is_empty());
    let counts = (0..plan.units()).map(UnitId).map(|unit| audit.standing.count(unit).unwrap());
    assert!(counts.eq((0..plan.units()).map(UnitId).map(known_run::count)));
    Ok(())
}

fn add(standing: &mut Standing, records: &[Record]) {
    for record in records {
        standing.apply(&known_run::plan(), Shard::default(), record).unwrap();
    }
}

const RUN_FILE: &str = "refused: run.json";
const OTHER_RUN: &str = "refused: another run";

fn refused_by_store(error: StoreError) -> String {
    if let StoreError::Directory(error) = &error {
        let plan = matches!(error, RunDirectoryError::Plan { .. } | RunDirectoryError::OtherPlan { .. });
        assert!(plan || error.to_string().contains("run.json"), "{error}");
        return RUN_FILE.into();
    }
    names_a_place(error.to_string())
}

fn refused_by_audit(error: AuditError) -> String {
    names_a_place(error.to_string())
}

/// A refusal names file and line, or the file that is missing.
fn names_a_place(message: String) -> String {
    let place = message.find(".jsonl").unwrap_or_else(|| panic!("no place in: {message}"));
    let line = message[place + 6..].starts_with(':');
    assert!(line || message.contains("is missing"), "no line in: {message}");
    if message.contains("ledger of another run") {
        return OTHER_RUN.into();
    }
    if line { "refused: file and line".into() } else { "refused: missing file".into() }
}

#[test]
fn corrupted_ledger_resumes_exactly_or_names_damage() {
    let (corruptions, first_seed) = (number("DIADEM_CORRUPTIONS", 200), number("DIADEM_SEED", 1));
    let mut outcomes = BTreeMap::new();
    for seed in first_seed..first_seed + corruptions {
        let mut random = StdRng::seed_from_u64(seed);
        let (original, run) = (Original::new(seed), TempDir::new().unwrap());
        original.copy_to(run.path());
        let what: Vec<String> =
            (0..[1, 1, 2, 3][random.random_range(0..4)]).map(|_| corrupt(run.path(), &mut random)).collect();
        let run = run.path().to_owned();
        let outcome = |accept_loss| {
            let outcome = std::panic::catch_unwind(|| resume_and_finish(&run, accept_loss));
            outcome.unwrap_or_else(|_| panic!("seed {seed}, accepting {accept_loss}: {what:?}"))
        };
        let (plainly, accepting) = (outcome(false), outcome(true));
        *outcomes.entry(plainly.err().unwrap_or("resumed exactly".into())).or_insert(0) += 1;
        // Nothing helps a damaged run.json, or a ledger that begins as that of another run.
        if let Err(why) = accepting {
            assert!([RUN_FILE, OTHER_RUN].contains(&&*why), "seed {seed}: {what:?}: {why}");
        }
    }
    println!("{corruptions} corrupted ledgers: {outcomes:?}");
    assert!(outcomes.len() >= 3, "too uniform to mean anything: {outcomes:?}");
}

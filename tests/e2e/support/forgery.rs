//! Ledgers rewritten as a liar would, with all hashes, CRCs and, unless that is the lie, commit marks right.
//!
//! Lines are JSON here and nothing more, so that also records can be forged that diadem never writes.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use queens::{Summand, UnitId};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use records::run_directory::RunDirectory;
use serde_json::{Map, Value, json};

use crate::harness::{Folder, until};

/// The fields of a line without its hash and CRC, the kind first.
pub type Line = Map<String, Value>;

/// Begins the run of n = 16, stops it after some hundred counts, and damages its ledger.
pub fn interrupt_and_damage(folder: &Folder) {
    let running = folder.start("count 16 --run run --isa portable --quiet", "count.log");
    until("something is on record", || folder.counts("run") > 100);
    running.terminate();
    running.end();
    flip(folder);
}

/// A run directory to forge.
#[derive(Clone)]
pub struct Forgery {
    /// The content of `run.json`.
    pub run: Value,
    /// The lines of the ledger, marks included.
    pub lines: Vec<Line>,
    /// The hash before the first line; `None` for the hash of the run.
    pub first: Option<String>,
    /// The number of the file in which the second half of the lines is written, if there is one.
    pub second_file: Option<u32>,
}

impl Forgery {
    /// The run in that directory as it is.
    pub fn of(path: &Path) -> Self {
        let run = serde_json::from_slice(&fs::read(path.join("run.json")).unwrap()).unwrap();
        let mut files: Vec<_> =
            fs::read_dir(path.join("ledger")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let text: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        let mut lines: Vec<Line> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &mut lines {
            line.retain(|name, _| name != "prev" && name != "crc");
        }
        Self { run, lines, first: None, second_file: None }
    }

    /// The places of the lines of that kind.
    pub fn all(&self, kind: &str) -> Vec<usize> {
        (0..self.lines.len()).filter(|at| self.lines[*at]["kind"] == kind).collect()
    }

    /// The place of some line of that kind that suits.
    pub fn some(&self, random: &mut impl Rng, kind: &str, suits: impl Fn(&Line) -> bool) -> usize {
        let suitable: Vec<usize> = self.all(kind).into_iter().filter(|at| suits(&self.lines[*at])).collect();
        *suitable.choose(random).unwrap_or_else(|| panic!("no line of kind {kind} suits"))
    }

    /// Puts a record at a random place behind that line, in front of a mark at least.
    pub fn insert_behind(&mut self, random: &mut impl Rng, at: usize, record: Line) -> usize {
        let place = random.random_range(at + 1..self.lines.len());
        self.lines.insert(place, record);
        place
    }

    /// Appends a record to the last group.
    pub fn append(&mut self, record: Line) {
        self.lines.insert(self.lines.len() - 1, record);
    }

    /// Sets in every mark the number of records in front of it.
    pub fn number_marks(&mut self) {
        let mut records = 0;
        for line in &mut self.lines {
            if line["kind"] == "mark" {
                line["records"] = records.into();
            } else {
                records += 1;
            }
        }
    }

    /// Writes the run into that directory, which is created, or loses its ledger and the checkpoint that knows that one.
    pub fn write(&self, path: &Path) {
        let ledger = path.join("ledger");
        fs::remove_dir_all(&ledger).ok();
        fs::remove_dir_all(path.join("checkpoint")).ok();
        fs::create_dir_all(&ledger).unwrap();
        fs::write(path.join("run.json"), self.run.to_string()).unwrap();
        let first = || RunDirectory::open(path).unwrap().run().hash().to_string();
        let mut prev = self.first.clone().unwrap_or_else(first);
        let mut write = |file: u32, lines: &[Line]| {
            let text: String = lines.iter().map(|line| chained(line, &mut prev)).collect();
            fs::write(ledger.join(format!("{file:06}.jsonl")), text).unwrap();
        };
        let (some, others) = self.lines.split_at(match self.second_file {
            Some(_) => self.lines.len() / 2,
            None => self.lines.len(),
        });
        write(1, some);
        self.second_file.inspect(|file| write(*file, others));
    }
}

/// The line as bytes, with hash and CRC; `prev` becomes its hash.
fn chained(line: &Line, prev: &mut String) -> String {
    let mut text = serde_json::to_string(line).unwrap();
    text.pop();
    text.push_str(&format!(",\"prev\":\"{prev}\""));
    text.push_str(&format!(",\"crc\":\"{:08x}\"}}", crc32fast::hash(text.as_bytes())));
    blake3::hash(text.as_bytes()).to_hex()[..32].clone_into(prev);
    text + "\n"
}

/// A record of `kind` about the same unit by another machine, with `more` added to its count.
pub fn by_another(line: &Line, kind: &str, machine: &str, more: u64) -> Line {
    let mut record = line.clone();
    record.retain(|name, _| name != "recount" && name != "of");
    record["kind"] = kind.into();
    record["machine"] = machine.into();
    record["worker"] = machine.into();
    record["count"] = (count_of(line) + more).into();
    if kind == "check" {
        record.insert("of".into(), line["machine"].clone());
    }
    record
}

/// The record that retracts the count in that line.
pub fn retraction(line: &Line, quarantine: bool) -> Line {
    let mut record = line.clone();
    record.retain(|name, _| {
        ["kind", "unit", "count", "nodes", "machine", "kernel", "mirrored", "at"].contains(&&**name)
    });
    record["kind"] = "retract".into();
    if quarantine {
        record.insert("quarantine".into(), json!(true));
    }
    record
}

/// The count in a line.
pub fn count_of(line: &Line) -> u64 {
    line["count"].as_u64().unwrap()
}

/// The unit that a line names.
pub fn unit_of(line: &Line) -> u64 {
    line["unit"].as_u64().unwrap()
}

/// Flips a bit of one byte of the run's ledger, or flips it back, while others may have the file open.
pub fn flip(folder: &Folder) {
    let path = folder.path().join("run/ledger/000001.jsonl");
    let ledger = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    ledger.read_exact_at(&mut byte, 700).unwrap();
    ledger.write_all_at(&[byte[0] ^ 1], 700).unwrap();
}

/// Falsifies the count of the first unit of the plan for which `suits` holds, whatever the order of the
/// records, and removes the checks.
pub fn lie_about(folder: &Folder, run: &str, more: i64, suits: impl Fn(Summand) -> bool) -> u64 {
    let path = folder.path().join(run);
    let directory = RunDirectory::open(&path).unwrap();
    let mut forgery = Forgery::of(&path);
    forgery.lines.retain(|line| line["kind"] != "check");
    let suits = |line: &&mut Line| {
        line["kind"] == "count"
            && suits(directory.plan().summand(UnitId(unit_of(line))))
            && count_of(line) > 0
    };
    let line = forgery.lines.iter_mut().filter(suits).min_by_key(|line| unit_of(line)).unwrap();
    line["count"] = count_of(line).checked_add_signed(more).unwrap().into();
    // The unit must not look like one drawn for a check.
    if line.get("recount").is_some_and(|why| why == "sample") {
        line.remove("recount");
    }
    let unit = unit_of(line);
    forgery.number_marks();
    forgery.write(&path);
    unit
}

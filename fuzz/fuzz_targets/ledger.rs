//! The ledger reader: any bytes as files, and any lines with the CRCs and hashes that make them believable.

#![no_main]

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use queens::{Board, Plan, PlanSpec, UnitId};
use records::ledger::{LedgerError, LedgerPosition, LineHash, Record, Retraction, Writer, read};
use records::shard::Shard;
use records::standing::Standing;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().unwrap());
static PLAN: LazyLock<Plan> = LazyLock::new(|| Plan::derive(PlanSpec::new(Board::new(5).unwrap())).unwrap());

/// Between the files of a ledger.
const NEXT_FILE: u8 = 0xFF;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let run = LineHash::of(b"a run");
    let folder = FOLDER.path();
    for entry in fs::read_dir(folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let mut last = run;
    for (number, file) in bytes.split(|byte| *byte == NEXT_FILE).take(4).enumerate() {
        let bytes = if kind & 1 == 1 { sealed(file, &mut last) } else { file.to_vec() };
        fs::write(folder.join(format!("{:06}.jsonl", number + 1)), bytes).unwrap();
    }
    let beginning = LedgerPosition::beginning(run);
    let Ok((records, end)) = read_all(folder, &beginning) else { return };
    // A readable ledger can be continued, and read again from there and from the beginning.
    let record = Record::Retract(Retraction {
        unit: UnitId(0),
        count: 0,
        nodes: 0,
        owner: String::new(),
        machine: "m".into(),
        kernel: "search/portable".into(),
        mirrored: false,
        quarantine: false,
        contradiction: false,
        reason: None,
        at: 0,
    });
    let mut writer = Writer::new(folder, end.clone());
    writer.commit(std::slice::from_ref(&record), Duration::ZERO, 1).unwrap();
    let tail = read(folder, &end, None, |_, _, _| Ok::<_, Infallible>(())).unwrap();
    assert_eq!((&tail.end, tail.bytes), (writer.end(), 0));
    let mut again = Vec::new();
    read(folder, &beginning, None, |_, record, _| {
        if !matches!(record, Record::Mark(_)) {
            again.push(record.clone());
        }
        Ok::<_, Infallible>(())
    })
    .unwrap();
    assert_eq!(again.pop(), Some(record));
    assert_eq!(again, records);
});

fn read_all(folder: &Path, from: &LedgerPosition) -> Result<(Vec<Record>, LedgerPosition), LedgerError> {
    let mut records = Vec::new();
    let mut standing = Standing::new(&PLAN);
    let tail = read(folder, from, None, |_, record, _| {
        if !matches!(record, Record::Mark(_)) {
            records.push(record.clone());
        }
        standing.apply(&PLAN, Shard::default(), record)
    })?;
    let _ = standing.sums().tally.totals();
    Ok((records, tail.end))
}

/// The lines with the end that the writer gives them.
fn sealed(file: &[u8], last: &mut LineHash) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let mut sealed = line.strip_suffix(b"}").unwrap_or(line).to_vec();
        sealed.extend_from_slice(format!(",\"prev\":\"{last}\"").as_bytes());
        let crc = crc32fast::hash(&sealed);
        sealed.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}").as_bytes());
        *last = LineHash::of(&sealed);
        bytes.extend_from_slice(&sealed);
        bytes.push(b'\n');
    }
    bytes
}

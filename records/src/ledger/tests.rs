use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use queens::UnitId;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;

use super::files::files_after;
use super::*;
use crate::testing::known_run::unit_record;

fn run_hash() -> LineHash {
    LineHash::of(b"a run")
}

pub(super) fn record(unit: u64) -> Record {
    Record::Count(UnitRecord { unit: UnitId(unit), count: unit * 3, nodes: unit, ..unit_record(0, 0, "m") })
}

/// A ledger with groups of the units 0-1, 2-4 and 5, in files of the given size.
fn ledger(file_size: u64) -> (TempDir, LedgerPosition) {
    let folder = TempDir::new().unwrap();
    let mut writer =
        Writer::new(folder.path(), LedgerPosition::beginning(run_hash())).with_file_size(file_size);
    for group in [0..2, 2..5, 5..6] {
        let records: Vec<_> = group.map(record).collect();
        writer.commit(&records, Duration::from_secs(1), 2).unwrap();
    }
    let end = writer.end().clone();
    (folder, end)
}

fn units(folder: &Path) -> Result<(Vec<u64>, Tail), LedgerError> {
    let mut units = Vec::new();
    let tail = read(folder, &LedgerPosition::beginning(run_hash()), None, |_, record, _| {
        match record {
            Record::Count(r) => units.push(r.unit.0),
            Record::Mark(_) => {}
            _ => return Err(io::Error::other("no count")),
        }
        Ok(())
    })?;
    Ok((units, tail))
}

#[test]
fn committed_records_are_read_again() {
    for file_size in [1 << 20, 1] {
        let (folder, end) = ledger(file_size);
        let (found, tail) = units(folder.path()).unwrap();
        assert_eq!(found, [0, 1, 2, 3, 4, 5]);
        assert_eq!(tail, Tail { end: end.clone(), bytes: 0 });
        assert_eq!(end.file, if file_size == 1 { 3 } else { 1 });
        assert_eq!((end.mark.records, end.mark.threads), (6, 2));
        let before = |position: &LedgerPosition| line_before(folder.path(), position).unwrap();
        assert_eq!(before(&end), LineBefore::Fits);
        assert_eq!(before(&LedgerPosition { hash: run_hash(), ..end.clone() }), LineBefore::Differs);
        assert_eq!(before(&LedgerPosition { offset: end.offset + 9, ..end }), LineBefore::Short);
    }
}

#[test]
fn end_read_equals_end_written_at_any_time() {
    let folder = TempDir::new().unwrap();
    let mut writer = Writer::new(folder.path(), LedgerPosition::beginning(run_hash()));
    for step in 0..500u64 {
        let elapsed = Duration::from_nanos(1_234_567_891 * step * step);
        writer.commit(&[record(step)], elapsed, 1).unwrap();
        assert_eq!(units(folder.path()).unwrap().1.end, *writer.end(), "after {elapsed:?}");
    }
}

#[test]
fn ledger_cut_in_last_group_reads_without_that_group() {
    let (folder, _) = ledger(1 << 20);
    let path = folder.path().join("000001.jsonl");
    let whole = fs::read(&path).unwrap();
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
    // Lines: two records, mark, three records, mark, record, mark.
    let second_mark = lines[6];
    for cut in second_mark..whole.len() - 1 {
        fs::write(&path, &whole[..cut]).unwrap();
        let (found, tail) = units(folder.path()).unwrap();
        assert_eq!(found, [0, 1, 2, 3, 4], "cut at {cut}");
        assert_eq!((tail.end.offset, tail.bytes), (second_mark as u64, (cut - second_mark) as u64));
        // Writing continues where the tail began.
        let mut writer = Writer::new(folder.path(), tail.end);
        writer.commit(&[record(9)], Duration::from_secs(2), 1).unwrap();
        assert_eq!(units(folder.path()).unwrap().0, [0, 1, 2, 3, 4, 9], "cut at {cut}");
    }
}

#[test]
fn any_flipped_byte_is_damage_at_its_line() {
    let (folder, _) = ledger(1 << 20);
    let path = folder.path().join("000001.jsonl");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        fs::write(&path, &bytes).unwrap();
        let line = whole[..at].iter().filter(|b| **b == b'\n').count() as u64 + 1;
        match units(folder.path()) {
            Err(LedgerError::Damaged { location, .. }) => {
                assert_eq!(location.line, line, "byte {at}");
            }
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

#[test]
fn missing_swapped_and_repeated_files_are_found() {
    let (folder, _) = ledger(1);
    let file = |k| file_path(folder.path(), k);
    let [first, second, third] = [1, 2, 3].map(|k| fs::read(file(k)).unwrap());
    fs::remove_file(file(2)).unwrap();
    assert!(matches!(units(folder.path()), Err(LedgerError::Missing { path, .. }) if path == file(2)));
    for [a, b, c] in [[&second, &first, &third], [&first, &first, &third], [&first, &third, &second]] {
        fs::write(file(1), a).unwrap();
        fs::write(file(2), b).unwrap();
        fs::write(file(3), c).unwrap();
        assert!(matches!(units(folder.path()), Err(LedgerError::Damaged { .. })));
    }
}

#[test]
fn zeros_are_tail_at_end_and_damage_elsewhere() {
    let (folder, _) = ledger(1 << 20);
    let path = folder.path().join("000001.jsonl");
    let whole = fs::read(&path).unwrap();
    let zeros = vec![0; 200_000];
    fs::write(&path, [&whole[..], &zeros[..]].concat()).unwrap();
    let (found, tail) = units(folder.path()).unwrap();
    assert_eq!((found.len(), tail.bytes), (6, 200_000));
    fs::write(&path, [&zeros[..], b"\n", &whole[..]].concat()).unwrap();
    assert!(matches!(units(folder.path()), Err(LedgerError::Damaged { location, .. }) if location.line == 1));
}

#[test]
fn a_last_mark_without_its_newline_is_a_mark() {
    let (folder, end) = ledger(1 << 20);
    let path = folder.path().join("000001.jsonl");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let (found, tail) = units(folder.path()).unwrap();
    assert_eq!((found.len(), &tail), (6, &Tail { end: end.clone(), bytes: 0 }));
    assert_eq!(line_before(folder.path(), &end).unwrap(), LineBefore::Fits);
    Writer::new(folder.path(), end).commit(&[record(6)], Duration::from_secs(1), 2).unwrap();
    assert_eq!(units(folder.path()).unwrap().0, [0, 1, 2, 3, 4, 5, 6]);
    assert!(fs::read(&path).unwrap().starts_with(&whole), "the newline is mended");
}

#[test]
fn crlf_line_ends_are_distinguished_from_damage() {
    let (folder, _) = ledger(1 << 20);
    let path = folder.path().join("000001.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replace('\n', "\r\n")).unwrap();
    let error = units(folder.path()).unwrap_err();
    assert!(error.to_string().contains("sed -i 's/\\r$//'"), "{error}");
    let LedgerError::LineEnds { location, .. } = error else { panic!("{error}") };
    assert_eq!(location.line, 1);
    let spaced = LedgerError::LineEnds { path: "my runs/000001.jsonl".into(), location };
    assert!(spaced.to_string().contains("sed -i 's/\\r$//' 'my runs/000001.jsonl')"), "{spaced}");
    let last_changed = format!("{}\r\n", whole.trim_end());
    fs::write(&path, last_changed).unwrap();
    assert!(matches!(units(folder.path()), Err(LedgerError::LineEnds { .. })));
}

#[test]
fn only_torn_writes_after_last_mark_are_cut_off() {
    let (folder, end) = ledger(1 << 20);
    let path = folder.path().join("000001.jsonl");
    let whole = fs::read(&path).unwrap();
    let mut writer = Writer::new(folder.path(), end.clone());
    writer.commit(&(6..40).map(record).collect::<Vec<_>>(), Duration::from_secs(1), 2).unwrap();
    let longer = fs::read(&path).unwrap();
    let last_group = whole.len();
    let written = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        units(folder.path()).map(|(found, tail)| (found.len(), tail.end.offset))
    };
    let block = last_group.next_multiple_of(64);
    let with_zeros = |from: usize, len: usize| {
        let mut bytes = longer.clone();
        bytes.iter_mut().skip(from).take(len).for_each(|byte| *byte = 0);
        bytes[..bytes.len() - 100].to_vec()
    };
    for torn in [with_zeros(block, 64), with_zeros(block + 640, 512), with_zeros(last_group, longer.len())] {
        assert_eq!(written(&torn).unwrap(), (6, end.offset));
    }
    // Zeros for longer than any line, in the middle of lines.
    let long = [&longer[..block], &vec![0; 1 << 17], &longer[block + 64..longer.len() - 100]].concat();
    assert_eq!(written(&long).unwrap(), (6, end.offset));
    let mut elsewhere = with_zeros(block + 3, 1);
    assert!(matches!(written(&elsewhere), Err(LedgerError::Damaged { .. })), "no block begins there");
    elsewhere[block + 3] = b'?';
    assert!(matches!(written(&elsewhere), Err(LedgerError::Damaged { .. })), "a complete line");
    let wide: Vec<u8> = whole.iter().flat_map(|byte| [*byte, 0]).collect();
    assert!(matches!(written(&wide), Err(LedgerError::Damaged { .. })), "UTF-16");
    let zeros = vec![0; block + 64 - last_group];
    assert_eq!(written(&[&whole[..], &zeros, b"x\n"].concat()).unwrap(), (6, end.offset));
    for rewritten in [&b"x\r\n"[..], b"x\r\nhalf", b"\n\0x\r\n"] {
        let rewritten = written(&[&whole[..], &zeros, rewritten].concat());
        assert!(matches!(rewritten, Err(LedgerError::Damaged { .. })), "CR LF: {rewritten:?}");
    }
}

#[test]
fn a_file_that_was_renamed_is_named() {
    let (folder, _) = ledger(1);
    fs::rename(file_path(folder.path(), 2), folder.path().join("000002.jsonl.1")).unwrap();
    let error = units(folder.path()).unwrap_err().to_string();
    assert!(error.contains("000002.jsonl is missing") && error.contains("000002.jsonl.1"), "{error}");
}

#[test]
fn missing_file_behind_torn_file_is_reported() {
    let (folder, end) = ledger(1 << 20);
    let path = file_path(folder.path(), 1);
    fs::write(&path, [&fs::read(&path).unwrap()[..], b"{\"kind\":\"cou"].concat()).unwrap();
    fs::write(file_path(folder.path(), 2), "").unwrap();
    assert_eq!(units(folder.path()).unwrap().1.end, end);
    fs::rename(file_path(folder.path(), 2), file_path(folder.path(), 3)).unwrap();
    let error = units(folder.path()).unwrap_err().to_string();
    assert!(error.contains("000002.jsonl is missing"), "{error}");
}

#[test]
fn missing_file_before_any_later_number_is_reported() {
    for extra in ["000005", "4294967296", "99999999999999999999999999999999999999999"] {
        let (folder, _) = ledger(1);
        fs::write(folder.path().join(extra).with_extension("jsonl"), "").unwrap();
        let error = units(folder.path()).unwrap_err().to_string();
        assert!(error.contains("000004.jsonl is missing"), "{extra}: {error}");
    }
    for other in ["00005", "0000005", "+000005", "4294967296x"] {
        let (folder, _) = ledger(1);
        fs::write(folder.path().join(other).with_extension("jsonl"), "").unwrap();
        assert!(units(folder.path()).is_ok(), "{other} is none of its files");
    }
}

/// Rewrites the files of a ledger in pieces that ignore line boundaries, as other processes may see a write: as fast as
/// possible, or with a sync after each piece.
fn write_again(from: &Path, to: &Path, random: &mut StdRng, is_fast: bool) {
    for number in files_after(from, 0).unwrap() {
        let bytes = fs::read(file_path(from, number)).unwrap();
        let mut file = File::create(file_path(to, number)).unwrap();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, others) = rest.split_at(random.random_range(1..400).min(rest.len()));
            file.write_all(piece).unwrap();
            if !is_fast {
                file.sync_data().unwrap();
            }
            rest = others;
        }
    }
}

#[test]
fn growing_ledger_never_reads_as_damaged() {
    for (is_fast, groups, file_size) in [(true, 600, 40_000), (false, 40, 4000)] {
        let original = TempDir::new().unwrap();
        let beginning = LedgerPosition::beginning(run_hash());
        let mut writer = Writer::new(original.path(), beginning.clone()).with_file_size(file_size);
        for group in 0..groups {
            let records: Vec<_> = (0..5).map(|unit| record(5 * group + unit)).collect();
            writer.commit(&records, Duration::from_secs(1), 2).unwrap();
        }
        assert!(writer.end().file > 5, "several files");
        for seed in 0..5 {
            let folder = TempDir::new().unwrap();
            let (from, to) = (original.path().to_owned(), folder.path().to_owned());
            fs::write(file_path(&to, 1), "").unwrap();
            let mut random = StdRng::seed_from_u64(seed);
            let writing = std::thread::spawn(move || write_again(&from, &to, &mut random, is_fast));
            let mut last = beginning.clone();
            loop {
                let is_written = writing.is_finished();
                let end = units(folder.path()).unwrap().1.end;
                assert!((end.file, end.offset) >= (last.file, last.offset), "{end:?} {last:?}");
                last = end;
                if is_written {
                    break;
                }
            }
            writing.join().unwrap();
            assert_eq!(last, *writer.end());
        }
    }
}

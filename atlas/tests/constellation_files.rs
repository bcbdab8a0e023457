//! Constellation files: export and import are inverse, another file is refused with the record's number, and
//! counting from files gives the published totals.

use atlas::constellation_file::{ConstellationFile, FileCount, FileError, Kind, positions};
use atlas::record::{ByteOrder, ConstellationRecord};
use queens::kernel::{Method, Stop, kernel};
use queens::{Board, Position, Square, Symmetry, known};

fn file(n: u8, kind: Kind) -> ConstellationFile {
    ConstellationFile::of(Board::new(n).unwrap(), kind).unwrap()
}

fn read(n: u8, bytes: &[u8]) -> Result<ConstellationFile, FileError> {
    ConstellationFile::from_bytes(Board::new(n).unwrap(), bytes)
}

/// Why the bytes are no file of n = 8.
fn refusal(bytes: &[u8]) -> String {
    read(8, bytes).unwrap_err().to_string()
}

/// The start of the record of that number, counted from 1.
fn start_of(record: usize, bytes: &[u8]) -> usize {
    (1..record).fold(0, |at, _| at + usize::from(bytes[at]))
}

/// The same file with the two bytes of every number swapped.
fn big_endian(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while at < bytes.len() {
        let length = usize::from(bytes[at]);
        bytes.swap(at, at + 1);
        bytes.swap(at + 6, at + 7);
        at += length;
    }
    bytes
}

#[test]
fn export_then_import_is_identity_in_both_byte_orders() {
    for n in 4..=20 {
        for kind in Kind::ALL {
            let file = file(n, kind);
            assert_eq!(read(n, &file.to_bytes()), Ok(file.clone()), "n={n} {kind}");
            assert_eq!(read(n, &big_endian(file.to_bytes())), Ok(file), "n={n} {kind}");
        }
    }
}

#[test]
fn every_file_has_records_and_an_empty_one_is_refused() {
    for n in 4..=30 {
        assert!(Kind::ALL.iter().all(|kind| !file(n, *kind).orbits.is_empty()), "n={n}");
    }
    assert_eq!(refusal(b""), "the file is empty; it should begin with a record");
}

#[test]
fn n_30_has_files_and_n_3_and_31_have_none() {
    assert!(!file(30, Kind::Symmetric).orbits.is_empty());
    for n in [3, 31] {
        let error = ConstellationFile::of(Board::new(n).unwrap(), Kind::Symmetric).unwrap_err().to_string();
        assert_eq!(error, format!("constellation files are for n from 4 to 30, not {n}"));
    }
}

#[test]
fn import_accepts_any_image_and_queen_order() {
    let file = file(9, Kind::Asymmetric);
    let mut images = file.clone();
    for (orbit, symmetry) in images.orbits.iter_mut().zip(Symmetry::ALL.into_iter().cycle()) {
        orbit.representative = orbit.representative.image(file.board, symmetry);
    }
    let mut bytes = images.to_bytes();
    let queens = start_of(60, &bytes) + 8;
    bytes[queens..queens + 8].rotate_left(2);
    assert_eq!(read(9, &bytes), Ok(images));
}

#[test]
fn truncated_file_is_refused_with_its_last_record() {
    let whole = file(8, Kind::Symmetric);
    let bytes = whole.to_bytes();
    for cut in 0..bytes.len() {
        let complete = whole.orbits.iter().scan(0, |end, orbit| {
            *end += 8 + 2 * orbit.representative.queens(whole.board).len();
            Some(*end)
        });
        let ends: Vec<usize> = complete.take_while(|end| *end <= cut).collect();
        let error = refusal(&bytes[..cut]);
        if cut == 0 {
            assert!(error.contains("is empty"), "{error}");
        } else if ends.last() == Some(&cut) {
            assert!(error.contains(&format!("ends after record {}:", ends.len())), "{cut}: {error}");
        } else {
            let number = ends.len() + 1;
            assert!(error.starts_with(&format!("record {number}: the file ends")), "{cut}: {error}");
        }
    }
}

#[test]
fn foreign_files_are_called_foreign() {
    assert!(refusal(b"\x89PNG\r\n\x1a\n and more").contains("record 1: it should have the letters PP"));
    assert!(refusal(b"x").contains("record 1: the file ends within it"));
    let mut bytes = file(8, Kind::Asymmetric).to_bytes();
    let fourth = start_of(4, &bytes);
    bytes[fourth + 2] = b'Q';
    assert!(
        refusal(&bytes).starts_with("record 4: it should have the letters PP in bytes 3 and 4, not \"QP\"")
    );
}

#[test]
fn inconsistent_records_are_refused_with_their_number() {
    let good = file(8, Kind::Asymmetric).to_bytes();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        refusal(&bytes)
    };
    let start = start_of(50, &good);
    let length = usize::from(good[start]);
    assert_eq!(length, 16, "record 50 has four queens");
    let error = with(&|b| b[start + 4] = 2);
    assert_eq!(error, "record 50: it has version 2; only version 1 is known");
    let error = with(&|b| b[start + 9] = 1);
    assert_eq!(
        error,
        "record 50: its queens are no boundary constellation: one on each border line, and no other, none attacking another"
    );
    let error = with(&|b| b[start] = 18);
    assert_eq!(error, "record 50: its length is 18, but a record with 4 queens has 16 bytes");
    let error = with(&|b| b[start + 8] = 8);
    assert!(error.starts_with("record 50: its queen at x = 8, y = "), "{error}");
    let error = with(&|b| b.splice(start..start, good[..usize::from(good[0])].to_vec()).for_each(drop));
    assert_eq!(error, "record 50: its constellation is that of record 1, or an image of it");
    let symmetric = file(8, Kind::Symmetric).to_bytes();
    let error =
        with(&|b| b.splice(start..start, symmetric[..usize::from(symmetric[0])].to_vec()).for_each(drop));
    assert_eq!(error, "record 50: its constellation is symmetric, but the file began with asymmetric ones");
    let other = file(9, Kind::Asymmetric).to_bytes();
    let error = with(&|b| b.splice(start..start, other[..usize::from(other[0])].to_vec()).for_each(drop));
    assert_eq!(error, "record 50: it is for n = 9, but n = 8 was asked for");
    let error = with(&|b| b.drain(start..start + length).for_each(drop));
    assert!(
        error.contains("it has 68 of the 69 asymmetric constellations of n = 8; missing is top 1, bottom 4"),
        "{error}"
    );
}

#[test]
fn counts_from_both_files_give_published_totals() {
    let kernel = kernel(Method::Search, None).unwrap();
    for n in 4..=13 {
        let count = |kind| {
            let file = file(n, kind);
            let bytes = file.to_bytes();
            let positions = positions(file.board, &bytes).unwrap();
            let count = |position: Position| kernel.count(&position, &Stop::new()).unwrap().completions;
            let completions: Vec<u128> = positions.map(|position| count(position.unwrap()).into()).collect();
            file.total(&completions, &Stop::new()).unwrap()
        };
        let both = Kind::ALL.map(count).into_iter().fold(FileCount::default(), FileCount::and);
        let known = known::totals(Board::new(n).unwrap()).unwrap();
        assert_eq!((both.solutions, both.classes()), (known.solutions(), known), "n={n}");
    }
}

#[test]
fn records_of_any_queens_are_positions() {
    let board = Board::new(5).unwrap();
    let queens = [vec![], vec![Square::new(1, 2)], vec![Square::new(0, 0); 300]];
    let mut bytes = Vec::new();
    for queens in queens.clone() {
        ConstellationRecord { n: 5, queens }.write(ByteOrder::Little, &mut bytes);
    }
    let expected =
        queens.map(|queens| Ok(queens.into_iter().fold(Position::empty(board), Position::with_queen)));
    assert_eq!(positions(board, &bytes).unwrap().collect::<Vec<_>>(), expected);
    assert_eq!(positions(board, b"").err(), Some(FileError::Empty));
    let read = |n, bytes: &[u8]| {
        let read: Vec<_> = positions(Board::new(n).unwrap(), bytes).unwrap().collect();
        read.into_iter().map(|position| position.err().map(|error| error.to_string())).collect::<Vec<_>>()
    };
    let cut = read(5, &bytes[..17]);
    assert_eq!(cut[0], None);
    assert_eq!(cut[1].as_deref(), Some("record 2: the file ends within it: 9 bytes are left of 10"));
    assert_eq!(cut.len(), 2);
    let other = read(6, &bytes);
    assert!(other.iter().flatten().all(|error| error.contains("it is for n = 5, but n = 6")), "{other:?}");
}

#[test]
fn a_stopped_count_yields_nothing() {
    let stop = Stop::new();
    stop.stop();
    let file = file(24, Kind::Symmetric);
    assert_eq!(file.total(&vec![0; file.orbits.len()], &stop), None);
}

//! Constellation files: any bytes for boards of 4 to 8.

#![no_main]

use atlas::constellation_file::{ConstellationFile, positions};
use libfuzzer_sys::fuzz_target;
use queens::Board;

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, bytes)) = bytes.split_first() else { return };
    let board = Board::new(4 + kind % 5).unwrap();
    if let Ok(records) = positions(board, bytes) {
        records.for_each(drop);
    }
    if let Ok(file) = ConstellationFile::from_bytes(board, bytes) {
        let again = ConstellationFile::from_bytes(board, &file.to_bytes()).unwrap();
        assert_eq!(again, file);
    }
});
